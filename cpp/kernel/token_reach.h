// In how few tokens a rule can end, and where in a token.
//
// A rule may end between two tokens, or in the middle of one, whose rest then is the caller's. So the answer for a
// state is a *profile*: the fewest tokens to an end between tokens, and for each trie node before which the rule may
// end, the fewest tokens up to there, the one in progress included. Tokens that were in progress at the beginning are
// not counted.
//
//     state inside a string:  {between tokens: 1, before the `,` of tokens such as `x",`: 1}
//
// A place is a state and where the next byte is read: at the beginning of a token, or at a node of the trie. One walk
// tells where a token leads from there (`Steps`): the items behind it, and the nodes before which the rule ends. The
// profile of a place is the least solution of
//
//     profile(place) = ends of this token, and 1 + profile(state) through the frames, for each item behind a token
//
// found by going over what has changed until nothing does (Bellman and Ford). Only solutions of up to `most` tokens are
// sought, as more are of no use to who asks: what is farther away is not looked at. A rule within such a profile that
// lies in at most N tokens drops the ends that take longer. Fewest tokens are best for each rule by itself and for all
// around it, so profiles may be composed.
//
// Cost: a walk for each state that lies within so many tokens, once. Tested by tests/exhaustive/test_token_budgets.py.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "byte_distance.h"
#include "exits.h"
#include "masks.h"
#include "recognizer.h"

namespace maskwright {

inline constexpr uint32_t kAnyTokens = 0x7FFFFFFF;  // no bound

class TokenProfile {
 public:
  // Takes over what another profile says, so many tokens later, as far as it needs at most `most`. Returns whether
  // that changed anything.
  bool add(const TokenProfile& other, uint32_t tokens, uint32_t most);
  bool add_edge(uint32_t tokens);
  bool add_exits(const StateMask* exits, uint32_t tokens);
  void keep_within(int64_t most);
  bool empty() const { return !edge_ && exits_.empty(); }
  // The tokens to an end between tokens.
  const std::optional<uint32_t>& edge() const { return edge_; }
  // Reports each node with one of these bytes before which the rule may end, and the tokens up to there.
  template <class Report>
  void for_each_node(const Vocabulary& vocabulary, const ByteSet& bytes, Report&& report) const;

 private:
  std::optional<uint32_t> edge_;
  std::map<const StateMask*, uint32_t> exits_;  // of the steps of some place, all of them
};

class TokenReach {
 public:
  struct Place {
    DfaState* state;
    uint64_t reg;
    NodeId node;  // to be entered; the root: a new token begins
    bool operator==(const Place&) const = default;
  };
  // An item behind a token, above the unknown stack, and the bytes that it needs to come down to it.
  struct Landing {
    Item item;
    uint32_t bytes;
  };
  // Where one token leads, or the rest of one.
  struct Steps {
    std::vector<Landing> landings;
    StateMask exits;  // the nodes before which the rule may end, and nothing else
    bool ends_at_edge = false;
  };

  TokenReach(const Vocabulary& vocabulary, ByteDistances& bytes) : vocabulary_(vocabulary), bytes_(bytes) {}

  // The profile of a place, up to so many tokens.
  const TokenProfile& profile(const Place& place, uint32_t most);
  // What follows the ends in `before` in a state that a rule has returned to, up to so many tokens in all.
  TokenProfile after(DfaState& target, uint64_t reg, const TokenProfile& before, uint32_t most);
  const Steps& steps(const Place& place);
  size_t memory_bytes() const;
  ByteDistances& bytes() { return bytes_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  struct PlaceHash {
    size_t operator()(const Place& p) const { return mix(mix(reinterpret_cast<uintptr_t>(p.state), p.reg), p.node); }
  };
  struct Known {
    explicit Known(const Place& at) : place(at) {}
    const Place place;
    std::optional<uint32_t> most;  // tokens up to which it is known, once it was asked for
    bool waits = false;            // to be evaluated
    TokenProfile profile;
    std::set<Known*> users;
  };
  class StepsSink;
  Known& ask(const Place& place, uint32_t most);
  void wake(Known& known);
  void solve();
  void evaluate(Known& known);
  TokenProfile come_down(const Landing& landing, uint32_t most);
  TokenProfile follow(DfaState& target, uint64_t reg, const TokenProfile& before, uint32_t most);
  uint32_t bytes_down(const StackStore& stacks, const Item& item);

  const Vocabulary& vocabulary_;
  ByteDistances& bytes_;
  StackStore stacks_;  // above the unknown stack, which is its root
  Recognizer recognizer_;
  std::unordered_map<Place, std::unique_ptr<Steps>, PlaceHash> steps_;
  size_t steps_bytes_ = 0;
  std::unordered_map<Place, std::unique_ptr<Known>, PlaceHash> known_;
  std::deque<Known*> waiting_;  // first in, first out: Bellman and Ford's order
  Known* evaluated_ = nullptr;
};

template <class Report>
void TokenProfile::for_each_node(const Vocabulary& vocabulary, const ByteSet& bytes, Report&& report) const {
  for (const auto& [exits, count] : exits_)
    for_each_exit(
        vocabulary, *exits, bytes, [](uint8_t) { return true; },
        [&, count = count](NodeId node) { report(node, count); }, [] {});
}

}  // namespace maskwright
