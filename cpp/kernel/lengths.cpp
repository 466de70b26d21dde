#include "lengths.h"

#include <algorithm>

#include "errors.h"
#include "rule.h"

namespace maskwright {
namespace {

constexpr size_t kMaxSearch = 200'000;
constexpr size_t kMaxPairs = 1'000'000;

[[noreturn]] void too_large() {
  throw LimitExceeded("regular_expression_work", "an intersection with a counted repetition grew too large");
}

// A product whose other operands have died goes on in the counter's own automaton, where any number of items will do.
bool is_plain_counter(const DfaState& state) {
  return !state.bounded;
}

bool has_item_loop(DfaState& state, const std::vector<uint8_t>& bytes) {
  return state.counter_head &&
         std::ranges::any_of(bytes, [&](uint8_t byte) { return state.rule->next(state, byte) == &state; });
}

}  // namespace

size_t Lengths::PairHash::operator()(const Pair& pair) const {
  return mix(reinterpret_cast<uintptr_t>(pair.state), pair.reg);
}

Distance Lengths::distance(DfaState& state) {
  const uint64_t known = state.distance.load(std::memory_order_relaxed);
  if (known != DfaState::kDistanceUnknown) return {static_cast<uint32_t>(known), (known >> 32) != 0};
  const std::lock_guard guard(lock_);
  return search_nearest(state);
}

bool Lengths::admits(DfaState& state, Count count) {
  const Distance distance = this->distance(state);
  if (distance.shortest == Distance::kNever || distance.shortest > count.remaining) return false;
  if (distance.shortest >= count.needed || distance.steady) return true;
  const std::lock_guard guard(lock_);
  return search_pairs(state, count);
}

// Breadth first, states after the same number of items together. Only where an item has ended can the rule end.
Distance Lengths::search_nearest(DfaState& origin) {
  struct Reached {
    DfaState* state;
    size_t predecessor;
    uint32_t items;
  };
  std::vector<Reached> reached{{&origin, 0, 0}};
  std::vector<size_t> level{0}, next_level;  // the second: one item further
  std::unordered_map<const DfaState*, char> seen{{&origin, 0}};
  uint32_t nearest = Distance::kNever;
  size_t last = 0;  // of the way to the nearest end
  bool steady = false;
  // Notes the end that a state is, or whose distance it knows. A steady one is preferred.
  const auto ends = [&](size_t index) {
    DfaState& state = *reached[index].state;
    Distance rest{0, true};
    if (const uint64_t known = state.distance.load(std::memory_order_relaxed); known != DfaState::kDistanceUnknown)
      rest = {static_cast<uint32_t>(known), (known >> 32) != 0};
    else if (is_plain_counter(state))
      rest.shortest = state.counter_head ? 0 : 1;
    else if (state.terminates)
      rest.steady = has_item_loop(state, bytes_);
    else
      return false;
    if (rest.shortest == Distance::kNever) return true;
    const uint32_t items = reached[index].items + rest.shortest;
    if (items < nearest || (items == nearest && rest.steady && !steady)) {
      nearest = items;
      last = index;
      steady = rest.steady;
    }
    return true;
  };
  bool expands = !ends(0);
  // Ends in the next level are met before this one is through; none can be nearer, so that a steady one settles it.
  for (uint32_t items = 0; expands && items < nearest; ++items) {
    next_level.clear();
    for (size_t i = 0; i < level.size() && !(nearest <= items + 1 && steady); ++i) {
      if (reached.size() > kMaxSearch) too_large();
      DfaState& state = *reached[level[i]].state;
      for (const uint8_t byte : bytes_) {
        DfaState* next = state.rule->next(state, byte);
        if (!next || !seen.emplace(next, 0).second) continue;
        const bool further = next->counter_head;
        reached.push_back({next, level[i], items + (further ? 1 : 0)});
        if (!ends(reached.size() - 1)) (further ? next_level : level).push_back(reached.size() - 1);
        if (nearest <= items + 1 && steady) break;
      }
    }
    std::swap(level, next_level);
    expands = !level.empty();
  }
  // All states on the way know now.
  for (size_t i = last;; i = reached[i].predecessor) {
    DfaState& state = *reached[i].state;
    if (!is_plain_counter(state)) {
      steady = steady || has_item_loop(state, bytes_);
      const uint32_t items = nearest == Distance::kNever ? Distance::kNever : nearest - reached[i].items;
      state.distance.store((uint64_t{steady} << 32) | items, std::memory_order_relaxed);
      const bool is_start = &state == state.rule->start();  // no token leads to it
      if (nearest != Distance::kNever && !is_start) {
        slack_.items = std::max(slack_.items, items - (state.counter_head ? 0 : 1));
        slack_.steady = slack_.steady && steady;
      }
    }
    if (i == 0) return {nearest, steady};
  }
}

Slack Lengths::slack() {
  const std::lock_guard guard(lock_);
  return slack_;
}

bool Lengths::ends_at(DfaState& state, Count count) const {
  return is_plain_counter(state) || (state.terminates && count.needed == 0);
}

bool Lengths::search_pairs(DfaState& origin, Count origin_count) {
  const Pair start{&origin, origin_count.reg()};
  if (const auto it = admitted_.find(start); it != admitted_.end()) return it->second;
  std::vector<std::pair<Pair, size_t>> reached{{start, 0}};
  std::vector<size_t> open{0};  // depth first: an end is as many items away as are needed
  std::unordered_map<Pair, bool, PairHash> seen{{start, false}};
  const auto succeed = [&](size_t last) {
    for (size_t i = last;; i = reached[i].second) {
      admitted_[reached[i].first] = true;
      if (i == 0) return true;
    }
  };
  while (!open.empty()) {
    const size_t index = open.back();
    open.pop_back();
    DfaState& state = *reached[index].first.state;
    const Count count = Count::of(reached[index].first.reg);
    if (ends_at(state, count)) return succeed(index);
    if (!may_repeat(state, count.reg())) continue;
    if (reached.size() > kMaxSearch || admitted_.size() > kMaxPairs) too_large();
    for (auto byte = bytes_.rbegin(); byte != bytes_.rend(); ++byte) {
      DfaState* next = state.rule->next(state, *byte);
      if (!next) continue;
      const Pair pair{next, entering(*next, count.reg())};
      if (const auto it = admitted_.find(pair); it != admitted_.end()) {
        if (it->second) return succeed(index);
        continue;
      }
      if (!seen.emplace(pair, false).second) continue;
      reached.emplace_back(pair, index);
      open.push_back(reached.size() - 1);
    }
  }
  for (const auto& [pair, predecessor] : reached) admitted_[pair] = false;
  return false;
}

}  // namespace maskwright
