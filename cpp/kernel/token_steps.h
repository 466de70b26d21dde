// Where one token leads from a place within a rule, whatever stands below the rule.
//
// A place is a state and where the next byte is read: between two tokens, or inside one, at any of the trie nodes at
// which what came before may have ended. Such sets of nodes are numbered by content: of all the tokens `x",`, `",` and
// `"}` that may leave a string, what follows the string takes in one step, not in one for each node.
//
//     state after a string, entered at {`,` of `x",`, `,` of `",`, `}` of `"}`, ...}
//         -> the items behind these tokens, and where in them the rule ends again
//
// A rule may end between two tokens or inside one, and says so by the entry of the place that follows it.
// Cost: one walk of the vocabulary a place, once. Tested by tests/exhaustive/test_token_budgets.py.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "byte_distance.h"
#include "recognizer.h"
#include "state_mask.h"
#include "vocabulary.h"

namespace maskwright {

using EntryId = uint32_t;
inline constexpr EntryId kBetweenTokens = 0;  // others are sets of nodes

struct Place {
  DfaState* state;
  uint64_t reg;
  EntryId entry;
  bool operator==(const Place&) const = default;
};

struct PlaceHash {
  size_t operator()(const Place& p) const { return mix(mix(reinterpret_cast<uintptr_t>(p.state), p.reg), p.entry); }
};

class TokenSteps {
 public:
  // An item behind a token, above the unknown stack, and the bytes that it needs to come down to it.
  struct Landing {
    Item item;
    uint32_t bytes;
  };
  struct Steps {
    std::vector<Landing> landings;
    std::vector<EntryId> ends;  // of the rule, within the token or behind it
  };

  TokenSteps(const Vocabulary& vocabulary, ByteDistances& bytes) : vocabulary_(vocabulary), bytes_(bytes) {}

  // The steps of the rest of the token that is in progress, or of a new one.
  const Steps& from(const Place& place);
  // Of the landings: above the unknown stack, which is the root.
  const StackStore& stacks() const { return stacks_; }
  size_t memory_bytes() const;

 private:
  class Sink;
  void walk(const Place& place, Sink& sink);
  EntryId intern(StateMask exits);
  uint32_t bytes_down(const Item& item);

  const Vocabulary& vocabulary_;
  ByteDistances& bytes_;
  StackStore stacks_;
  Recognizer recognizer_;
  std::unordered_map<Place, std::unique_ptr<Steps>, PlaceHash> steps_;
  std::vector<std::unique_ptr<StateMask>> entries_{1};  // nothing but exits; none between tokens
  std::unordered_multimap<uint64_t, EntryId> interned_;
  size_t bytes_held_ = 0;
};

}  // namespace maskwright
