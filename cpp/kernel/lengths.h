// How many items a state of a counted product still needs, and whether a count leaves it a completion.
//
// Example: ("[a-z]+-[0-9]{4}" `"`) & (character{0,20} `"`): after "ab" at least five characters are still to come, so
// with four left the state must not be entered, although both automata could go on. `shortest` is found by a search
// for the nearest end, where reading an item costs one and bytes inside it nothing. A state is *steady* if a state on
// its way to that end returns to itself by one item: then all greater numbers of items will do, too. Only for states
// that are not steady, and only while items are still needed, are pairs of state and count searched.
//
// Exact. What is found is kept with the states, read without a lock. A search steps the automaton, so its lock comes
// before the group's. A search that exceeds its limit throws
// LimitExceeded. Tested by tests/exhaustive/test_counted_products.py.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "registers.h"

namespace maskwright {

struct DfaState;

// The fewest items with which a state can be completed, and whether every greater number will do.
struct Distance {
  uint32_t shortest;
  bool steady;
  static constexpr uint32_t kNever = 0xFFFFFFFF;  // it cannot be completed at all
};

// What a state and all states that a token leads to from it ask for at most, beyond an item that has begun.
struct Slack {
  uint32_t items = 0;
  bool steady = true;  // all of them are
};

class Lengths {
 public:
  // `bytes`: one of each byte class of the rule.
  explicit Lengths(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}

  Distance distance(DfaState& state);
  // Whether the state has a completion of at least `needed` and at most `remaining` items.
  bool admits(DfaState& state, Count count);
  // Over all states whose distance has been asked for, but for the start, which no token leads to.
  Slack slack();

 private:
  Distance search_nearest(DfaState& state);
  bool search_pairs(DfaState& state, Count count);
  bool ends_at(DfaState& state, Count count) const;

  struct Pair {
    DfaState* state;
    uint64_t reg;
    bool operator==(const Pair&) const = default;
  };
  struct PairHash {
    size_t operator()(const Pair& pair) const;
  };
  std::vector<uint8_t> bytes_;
  std::mutex lock_;
  Slack slack_;
  std::unordered_map<Pair, bool, PairHash> admitted_;
};

}  // namespace maskwright
