// How many items a state of a counted product still needs, and whether a count leaves it a completion.
//
// Example: ("[a-z]+-[0-9]{4}" `"`) & (character{0,20} `"`):  after "ab" at least five characters are still to come, so
// with four left the state must not be entered, although both automata could go on.
//
// Mostly it is enough to know some way to the end that is short: a search that goes where the operands are nearest to
// their ends (best_first.h) finds one, and all states on it know theirs. Only where that way has more items than may
// come is the shortest one sought, breadth first, where reading an item costs one and bytes inside it nothing. All
// states met then know how many items they need at least, by the triangle inequality, so that later searches stop
// before them (Adaptive A*: Koenig and Likhachev 2005). A way is *steady* if a state on it returns to itself by one
// item, or goes on by one to a steady way that is no longer: then all greater numbers of items will do, too. Only for
// states whose ways are not steady, and only while items are still needed, are pairs of state and count searched.
//
// Exact. What is found is kept with the states, read without a lock. A search steps the automaton, so its lock comes
// before the group's. A search that exceeds its limit throws LimitExceeded.
// Tested by tests/exhaustive/test_counted_products.py.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automata/registers.h"

namespace maskwright {

struct DfaState;

// A way on which a state can be completed.
struct Way {
  uint32_t items = 0;
  bool steady = false;                            // every greater number of items will do, too
  bool shortest = false;                          // no way has fewer
  static constexpr uint32_t kNever = 0x7FFFFFFF;  // as the number of items: there is none
};

// What is known of a state's ways, as one word.
class KnownWay {
 public:
  std::optional<Way> load() const {
    const uint64_t word = word_.load(std::memory_order_relaxed);
    if (word == kUnknown) return std::nullopt;
    return Way{static_cast<uint32_t>(word), (word >> 32 & 1) != 0, (word >> 33 & 1) != 0};
  }
  void store(const Way& way) {
    word_.store(uint64_t{way.shortest} << 33 | uint64_t{way.steady} << 32 | way.items, std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kUnknown = ~uint64_t{0};
  std::atomic<uint64_t> word_{kUnknown};
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

  // Some way, which need not be the shortest.
  Way way(DfaState& state);
  // With so many items left, how many may come before the last that the state needs; exactly, up to `most`.
  uint32_t spare(DfaState& state, uint32_t remaining, uint32_t most);
  // Whether the state has a completion of at least `needed` and at most `remaining` items.
  bool admits(DfaState& state, Count count);
  // Over all states for which a way has been asked for, but for the start, which no token leads to.
  Slack slack();

 private:
  Way shortest(DfaState& state);
  std::optional<Way> rest(DfaState& state) const;
  bool goes_on_steadily(DfaState& state, uint32_t items) const;
  Way search_any(DfaState& state);
  Way search_shortest(DfaState& state, const Way& some);
  Way along(const std::vector<DfaState*>& path, bool keep, bool shortest);
  void know(DfaState& state, Way way);
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
  uint32_t num_searches_ = 0;
  std::unordered_map<Pair, bool, PairHash> admitted_;
};

}  // namespace maskwright
