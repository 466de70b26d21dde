// Where one token leads from a place within a rule, whatever stands below the rule.
//
// A place is a state and where the next byte is read: between two tokens, or inside one, at any of the trie nodes at
// which what came before may have ended. Such sets are numbered by content, nodes that are alike (alike_nodes.h) being
// one: of all tokens such as `x",`, `",` and `"}` by which a string is left, what follows takes the rest in one step.
//
//     state after a string, entered at {`,` of `x",` and of `y",`, `,` of `",`, `}` of `"}`, ...}
//         -> the items behind these tokens, and where in them the rule ends again
//
// A rule that is called where the next byte is read is not walked: its own ends, from its start, are asked for instead,
// by all its callers. And most states of a text lead to the same one by most bytes, so what follows a token's first
// byte is kept by where it leads.
//
// A rule may end between two tokens or inside one, and says so by the entry of the place that follows it. A repetition
// that needs more items than a token has bytes takes the same steps however many they are.
//
// Where text is remembered, what follows its end depends on it. So a place inside of such a text lies *above* the scope
// that the text returns to, and its steps and ends are the scope's. Each text is a place of its own.
// Cost: one walk of the vocabulary a place, once. Tested by tests/exhaustive/test_token_budgets.py,
// test_remembered_budgets.py.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "budget/byte_distance.h"
#include "budget/text_copies.h"
#include "recognizer/recognizer.h"
#include "rules/state_mask.h"
#include "support/by_content.h"
#include "vocabulary/alike_nodes.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

using EntryId = uint32_t;
inline constexpr EntryId kBetweenTokens = 0, kNowhere = 1;  // others are sets of nodes

struct Place {
  DfaState* state;
  uint64_t reg;
  EntryId entry;
  StackId above = kRootStack;  // of a text that is remembered: one frame, that of its scope, on the unknown stack
  bool operator==(const Place&) const = default;
};

struct PlaceHash {
  size_t operator()(const Place& p) const {
    return mix(mix(reinterpret_cast<uintptr_t>(p.state), p.reg), uint64_t{p.above} << 32 | p.entry);
  }
};

class TokenSteps {
 public:
  // An item behind a token, above the unknown stack, and the bytes that it needs to come down to it.
  struct Landing {
    Item item;
    uint32_t bytes;
  };
  // A rule that begins there, and the stack that it is called on.
  struct Call {
    DfaState* start;
    uint64_t reg;
    StackId stack;
  };
  struct Steps {
    std::vector<Call> calls;
    std::vector<Landing> landings;  // but those behind the calls
    std::vector<EntryId> ends;      // of the rule, within the token or behind it
  };

  TokenSteps(const Vocabulary& vocabulary, ByteDistances& bytes)
      : vocabulary_(vocabulary), bytes_(bytes), alike_(vocabulary) {}

  // The steps of the rest of the token that is in progress, or of a new one.
  const Steps& from(const Place& place);
  // What a state that is entered there takes of an entry. The state is linked.
  EntryId narrowed(EntryId entry, DfaState& state);
  // Whether whoever may leave a rule at the one entry may do as much as at the other.
  bool covers(EntryId entry, EntryId other);
  // Of the landings: above the unknown stack, which is the root.
  const StackStore& stacks() const { return stacks_; }
  // Calls visit(place, stack) for each place that an item is, between two tokens, and the stack that its ends come down
  // to. The texts of its register, and of its frames, are in `texts`.
  template <class Visit>
  void for_each_place(const TextView& texts, const Item& item, std::span<const Frame> frames, Visit&& visit) {
    const uint64_t reg = copies_.of(texts, *item.state, item.reg);
    if (!item.state->rule->remembers()) return visit(Place{item.state, reg, kBetweenTokens}, item.stack);
    for (const Frame& frame : frames) visit(Place{item.state, reg, kBetweenTokens, above(texts, frame)}, frame.parent);
  }
  // The place that a frame is returned to, where the next byte is read there.
  Place returned_to(const TextView& texts, const Frame& frame, EntryId entry) {
    const uint64_t reg = entering(*frame.target, frame.reg);
    return {frame.target, copies_.of(texts, *frame.target, reg), entry};
  }
  size_t memory_bytes() const;

 private:
  class Sink;
  // What is found behind a token's first byte.
  struct Part {
    std::vector<Item> items;
    StateMask exits;
    bool ends_behind = false;
  };
  Steps walked(const Place& place);
  std::optional<Place> nearest_alike(const Place& place) const;
  Steps moved(const Steps& steps, const Place& from, const Place& to);
  StackId moved_stack(StackId id, const Place& from, const Place& to, std::unordered_map<StackId, StackId>& known);
  void walk(const Place& place, Sink& sink);
  void walk_new_token(const Place& place, Sink& sink);
  const Part& part(NodeId node);
  void add_calls(const Place& place, Steps& steps);
  EntryId intern(StateMask exits);
  void make_alike(StateMask& exits);
  uint32_t bytes_down(const Item& item);
  StackId above(const TextView& texts, const Frame& frame);
  std::optional<uint64_t> called_register(const Place& caller, const CallEdge& call) const;

  const Vocabulary& vocabulary_;
  ByteDistances& bytes_;
  StackStore stacks_;
  TextCopies copies_{stacks_.cells()};
  Recognizer recognizer_;
  std::unordered_map<Place, std::unique_ptr<Steps>, PlaceHash> steps_;
  std::unordered_map<Place, std::unique_ptr<Part>, PlaceHash> parts_;  // by where the byte leads; its node as the entry
  AlikeNodes alike_;
  std::vector<std::unique_ptr<StateMask>> entries_{2};  // nothing but exits
  std::unordered_map<Place, EntryId, PlaceHash> narrowed_;
  std::unordered_map<uint64_t, bool> covers_;
  ByContent<EntryId> interned_;
  size_t bytes_held_ = 0;
};

}  // namespace maskwright
