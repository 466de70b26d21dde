#include "lengths.h"

#include <algorithm>
#include <deque>

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

// Breadth first, states at the same number of items together.
Distance Lengths::search_nearest(DfaState& origin) {
  struct Reached {
    DfaState* state;
    size_t predecessor;
    uint32_t items;
  };
  std::vector<Reached> reached{{&origin, 0, 0}};
  std::deque<size_t> open{0};
  std::unordered_map<const DfaState*, uint32_t> best{{&origin, 0}};
  uint32_t nearest = Distance::kNever;
  size_t last = 0;  // of the way to the nearest end
  bool steady = false;
  const auto found = [&](size_t index, uint32_t items, bool is_steady) {
    if (items > nearest || (items == nearest && (steady || !is_steady))) return;
    nearest = items;
    last = index;
    steady = is_steady;
  };
  while (!open.empty()) {
    const size_t index = open.front();
    open.pop_front();
    DfaState& state = *reached[index].state;
    const uint32_t items = reached[index].items;
    if (items > nearest) break;
    if (best[&state] < items) continue;
    if (is_plain_counter(state)) {
      found(index, items + (state.counter_head ? 0 : 1), true);
      continue;
    }
    if (const uint64_t known = state.distance.load(std::memory_order_relaxed); known != DfaState::kDistanceUnknown) {
      found(index, items + static_cast<uint32_t>(known), (known >> 32) != 0);
      continue;
    }
    if (state.terminates) {
      found(index, items, has_item_loop(state, bytes_));
      continue;
    }
    if (reached.size() > kMaxSearch) too_large();
    for (const uint8_t byte : bytes_) {
      DfaState* next = state.rule->next(state, byte);
      if (!next) continue;
      const uint32_t cost = items + (next->counter_head ? 1 : 0);
      const auto [it, fresh] = best.emplace(next, cost);
      if (!fresh && it->second <= cost) continue;
      it->second = cost;
      reached.push_back({next, index, cost});
      if (cost == items)
        open.push_front(reached.size() - 1);
      else
        open.push_back(reached.size() - 1);
    }
  }
  // All states on the way know now.
  for (size_t i = last;; i = reached[i].predecessor) {
    DfaState& state = *reached[i].state;
    if (!is_plain_counter(state)) {
      steady = steady || has_item_loop(state, bytes_);
      const uint32_t items = nearest == Distance::kNever ? Distance::kNever : nearest - reached[i].items;
      state.distance.store((uint64_t{steady} << 32) | items, std::memory_order_relaxed);
      if (nearest != Distance::kNever) {
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
