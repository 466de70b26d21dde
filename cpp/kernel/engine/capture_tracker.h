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
// A capture may have ends: strings that close it and do not belong to it. While it is open, what may yet turn out to be
// the beginning of one is not told either. capture_name.h spells them.
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
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/read_texts.h"
#include "linker/program.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

struct Capture {
  std::string name;
  size_t begin, end;  // bytes of the output; up to its end if it is open
  int64_t rank;       // how many were closed before it, or kOpen
  static constexpr int64_t kOpen = -1;
};

// One end of a capture, at a byte of the output.
struct CaptureEdge {
  std::string name;
  size_t position;
  bool opens;
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
  // What all readings have in common, and more output cannot change: appends the edges past the first `num_edges`, and
  // returns up to which byte the text is known to lie in the innermost capture that is open after them.
  size_t settled(bool over, size_t num_edges, std::vector<CaptureEdge>& edges) const;
  // Tells the history up to an entry from any other, also after going back; 0 if there is no such entry.
  uint64_t serial(size_t num_entries) const { return num_entries < levels_.size() ? levels_[num_entries].serial : 0; }
  const std::string& text() const { return text_; }

 private:
  using EventId = uint32_t;  // the last event of a list, or kNone
  using NodeId = uint32_t;   // a stack; kBottom: the grammar ends
  static constexpr uint32_t kNone = 0xFFFFFFFF, kBottom = 0xFFFFFFFF;
  // What a capture is called, and the strings that close it and are no part of it.
  struct Definition {
    const std::string* name;  // one pointer a name
    std::vector<std::string> ends;
  };
  struct Event {
    EventId previous;
    uint32_t length;  // of the list
    const std::string* name;
    size_t position;
    bool opens;
    bool operator==(const Event&) const = default;
  };
  struct EventHash {
    size_t operator()(const Event& e) const {
      return mix(mix(e.previous, reinterpret_cast<uintptr_t>(e.name)), e.position * 2 + e.opens);
    }
  };
  struct Node {
    DfaState* target;
    uint64_t reg;
    NodeId parent;
    const Definition* closes;  // the capture that the call was, or nullptr
    NodeId captured_in;        // the nearest frame below that closes a capture, or kBottom
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
    uint64_t serial;
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
  std::optional<uint64_t> register_after(const Reading& ended, const Node& caller);
  Reading called_by(const Reading& caller, CallEdge& edge, uint64_t reg, size_t position);
  static DfaState* sole_move(const std::vector<Reading>& from, uint8_t byte);
  size_t add(Next& next, const Reading& reading);
  void push_level(Next next);
  bool is_better(EventId a, EventId b) const;
  EventId add_event(EventId previous, const std::string* name, size_t position, bool opens);
  NodeId intern(const Node& node);
  const Definition* definition_of(const std::string& spelled);
  // The innermost frame that closes a capture.
  NodeId capturing(NodeId stack) const;
  // Up to where the text surely belongs to an open capture in which nothing happened since `begin`.
  size_t known_end(const Definition& capture, size_t begin) const;
  EventId common(EventId a, EventId b) const;

  std::shared_ptr<const Program> program_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::string text_;
  std::vector<Event> events_;
  std::unordered_map<Event, EventId, EventHash> event_ids_;  // also of events that were dropped since
  std::set<std::string> names_;
  std::unordered_map<const std::string*, Definition> definitions_;  // by the names of rules
  ReadTexts texts_;
  std::vector<Node> nodes_;
  std::unordered_map<Node, NodeId, NodeHash> interned_;
  std::vector<Level> levels_;
};

}  // namespace maskwright
