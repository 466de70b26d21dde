// Finds out which part of an output each named capture matched.
//
// Masks know nothing of captures: the grammar that they are made from has them left out. To tell what they matched, the
// output is read again with a grammar in which every capture is a rule. A reading is a state with its stack, where a
// capture's frame is marked, and the list of captures that were opened and closed on the way to it. Readings that come
// to the same state and stack have the same future, so only the better one is kept.
//
// Example: root ::= key: <x: [a-z]+> ";"?   After "key: ab" there is one reading, with x open since byte 5; reading ";"
// returns through x's frame and closes it at byte 7.
//
// Better is, at the first event in which two readings differ: the capture that opens earlier; then the one that closes
// later, or has not closed yet. So captures are leftmost and longest, and depend on the output alone. One that matches
// nothing is not listed. Special tokens are no text: they add no bytes.
//
// Cost: one step of each reading a byte; an unambiguous grammar has few. Past kMaxReadings a LimitExceeded says so.
// State is kept for each entry of the history, so that going back is forgetting.
// Source: Pike's threads with submatches, over stacks; Laurikari 2000 on keeping the better of two.
// Tested by tests/contract/test_captures.py.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "program.h"
#include "vocabulary.h"

namespace maskwright {

struct Capture {
  std::string name;
  size_t begin, end;  // bytes of the output; up to its end if not closed
  bool closed;
};

class CaptureTracker {
 public:
  CaptureTracker(std::shared_ptr<const Program> program, std::shared_ptr<const Vocabulary> vocabulary);

  size_t num_entries() const { return levels_.size() - 1; }
  // Goes back to this many entries of the history, if there are more, and drops what is left of one at which reading
  // was broken off by an error.
  void truncate(size_t num_entries);
  // Reads one more entry. Precondition: the matcher accepted it.
  void read_token(TokenId token);
  void read_bytes(std::string_view bytes);
  // Captures of the best reading, in the order in which they begin. Only whole outputs count if it is known to be over.
  std::vector<Capture> captures(bool over) const;
  const std::string& text() const { return text_; }

 private:
  using EventId = uint32_t;  // the last event of a list, or kNone
  using NodeId = uint32_t;   // a stack; kBottom: the grammar ends
  static constexpr uint32_t kNone = 0xFFFFFFFF, kBottom = 0xFFFFFFFF;
  struct Event {
    EventId previous;
    uint32_t length;  // of the list
    const std::string* name;
    size_t position;
    bool opens;
  };
  struct Node {
    DfaState* target;
    uint64_t reg;
    NodeId parent;
    const std::string* closes;  // the capture that the call was, or nullptr
    bool operator==(const Node&) const = default;
  };
  struct NodeHash {
    size_t operator()(const Node& n) const {
      return mix(mix(mix(reinterpret_cast<uintptr_t>(n.target), n.reg), n.parent),
                 reinterpret_cast<uintptr_t>(n.closes));
    }
  };
  struct Reading {
    DfaState* state;
    uint64_t reg;
    NodeId stack;
    EventId events;
  };
  struct Level {
    std::vector<Reading> readings;
    EventId complete;  // the events of the best reading that ends here
    bool is_complete;
    size_t num_events, num_bytes;
  };
  // The next set of readings, while it is made.
  struct Next {
    std::vector<Reading> readings;
    std::unordered_map<uint64_t, std::vector<uint32_t>> by_place = {};
    EventId complete = kNone;
    bool is_complete = false;
  };
  template <class Scan>
  Next advance(const std::vector<Reading>& from, size_t length, Scan&& scan);
  Reading called_by(const Reading& caller, CallEdge& edge);
  static DfaState* sole_move(const std::vector<Reading>& from, uint8_t byte);
  size_t add(Next& next, const Reading& reading);
  void push_level(Next next);
  bool is_better(EventId a, EventId b) const;
  EventId add_event(EventId previous, const std::string* name, size_t position, bool opens);
  NodeId intern(const Node& node);

  std::shared_ptr<const Program> program_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::string text_;
  std::vector<Event> events_;
  std::vector<Node> nodes_;
  std::unordered_map<Node, NodeId, NodeHash> interned_;
  std::vector<Level> levels_;
};

}  // namespace maskwright
