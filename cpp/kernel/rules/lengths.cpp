#include "rules/lengths.h"

#include <algorithm>

#include "rules/rule.h"
#include "support/best_first.h"
#include "support/errors.h"

namespace maskwright {
namespace {

constexpr size_t kMaxSearch = 200'000;
constexpr size_t kMoreSearch = 10;  // for a steady way, once there is one
constexpr size_t kMaxPairs = 1'000'000;

[[noreturn]] void too_large() {
  throw LimitExceeded("regular_expression_work", "an intersection with a counted repetition grew too large");
}

// A product whose other operands have died goes on in the counter's own automaton, where any number of items will do.
bool is_plain_counter(const DfaState& state) {
  return !state.bounded;
}

// Inside a character, few bytes are live.
DfaState* after(DfaState& state, uint8_t byte) {
  return state.live.test(byte) ? state.rule->next(state, byte) : nullptr;
}

bool has_item_loop(DfaState& state, const std::vector<uint8_t>& bytes) {
  return state.counter_head && std::ranges::any_of(bytes, [&](uint8_t byte) { return after(state, byte) == &state; });
}

}  // namespace

size_t Lengths::PairHash::operator()(const Pair& pair) const {
  return mix(reinterpret_cast<uintptr_t>(pair.state), pair.reg);
}

Way Lengths::way(DfaState& state) {
  if (const auto known = state.way.load()) return *known;
  const std::lock_guard guard(lock_);
  return search_any(state);
}

Way Lengths::shortest(DfaState& state) {
  const Way some = way(state);
  if (some.shortest) return some;
  const std::lock_guard guard(lock_);
  return search_shortest(state, some);
}

uint32_t Lengths::spare(DfaState& state, uint32_t remaining, uint32_t most) {
  if (const uint32_t items = way(state).items; items <= remaining && remaining - items >= most) return most;
  return std::min(most, remaining - shortest(state).items);
}

bool Lengths::admits(DfaState& state, Count count) {
  Way way = this->way(state);
  if (way.items > count.remaining) way = shortest(state);
  if (way.items == Way::kNever || way.items > count.remaining) return false;
  if (way.items >= count.needed || way.steady) return true;
  const std::lock_guard guard(lock_);
  return search_pairs(state, count);
}

// The way from a state where a search may stop: where the rule may end, or from where a way is known.
std::optional<Way> Lengths::rest(DfaState& state) const {
  if (is_plain_counter(state)) return Way{state.counter_head ? 0u : 1u, true, true};
  if (const auto known = state.way.load()) return known;
  if (state.terminates) return Way{0, has_item_loop(state, bytes_), true};
  return std::nullopt;
}

// Whether one item leads from a state, which some way of so many items completes, back to it; or to another that every
// number of items completes from as many on.
bool Lengths::goes_on_steadily(DfaState& state, uint32_t items) const {
  if (!state.counter_head) return false;
  return std::ranges::any_of(bytes_, [&](uint8_t byte) {
    DfaState* next = after(state, byte);
    if (!next || !next->counter_head || next == &state) return next == &state;
    const auto way = rest(*next);
    return way && way->steady && way->items <= items;
  });
}

// The way from the last state of a path, on from its first. Others only tell how long it is; what is kept, all states
// on the path know.
Way Lengths::along(const std::vector<DfaState*>& path, bool keep, bool shortest) {
  Way way = *rest(*path.back());
  for (size_t i = path.size(); i-- > 0;) {
    way.steady = way.steady || goes_on_steadily(*path[i], way.items);
    if (keep) know(*path[i], way);
    if (i > 0 && path[i]->counter_head) ++way.items;
    way.shortest = shortest;
  }
  return way;
}

// One item cannot be less where the rule may not end, nor can none.
void Lengths::know(DfaState& state, Way way) {
  if (is_plain_counter(state)) return;
  way.shortest = way.shortest || way.items <= (state.terminates ? 0 : 1);
  state.way.store(way);
  if (way.items == Way::kNever || &state == state.rule->start()) return;  // no token leads to the start
  slack_.items = std::max(slack_.items, way.items - (state.counter_head ? 0 : 1));
  slack_.steady = slack_.steady && way.steady;
}

// A steady way is preferred, if one that is no longer is found soon after.
Way Lengths::search_any(DfaState& origin) {
  if (const auto known = rest(origin)) return along({&origin}, true, known->shortest);
  using Search = BestFirst<DfaState*, std::hash<DfaState*>>;
  Search search(&origin);
  const auto follow = [this](DfaState* state, uint32_t edge, DfaState*& next) {
    next = after(*state, bytes_[edge]);
    return next != nullptr;
  };
  const auto guess = [this](DfaState* state) {
    if (const auto known = rest(*state)) return known->items == Way::kNever ? Search::kNever : Search::kEnd;
    return state->rule->guess(*state);
  };
  std::vector<DfaState*> best;
  Way way{Way::kNever, false, true};
  size_t most = kMaxSearch;
  while (!way.steady) {
    const auto outcome = search.run(static_cast<uint32_t>(bytes_.size()), most, 0, follow, guess);
    if (outcome == Search::Outcome::TooMuch && best.empty()) too_large();
    if (outcome != Search::Outcome::Ended) break;
    std::vector<DfaState*> path = search.path();
    const Way found = along(path, false, false);
    if (found.items > way.items || (found.items == way.items && !found.steady)) continue;
    way = found;
    best = std::move(path);
    most = search.num_visits() + kMoreSearch;
  }
  if (!best.empty()) return along(best, true, false);
  for (size_t v = 0; v < search.num_visits(); ++v) know(*search.node(v), way);
  return way;
}

// Breadth first, states after the same number of items together, as far as a way that is shorter than `some` may be.
// Only where an item has ended can the rule end.
Way Lengths::search_shortest(DfaState& origin, const Way& some) {
  struct Reached {
    DfaState* state;
    size_t predecessor;
    uint32_t items;
  };
  std::vector<Reached> reached{{&origin, 0, 0}};
  std::vector<size_t> level{0}, next_level;  // the second: one item further
  uint32_t nearest = some.items;
  size_t last = 0;  // of the path to the nearest end; 0: that of `some`
  origin.last_search = ++num_searches_;
  const auto meet = [&](DfaState& state, size_t predecessor, uint32_t items) {
    const bool is_ours = !is_plain_counter(state);
    if (is_ours && state.last_search == num_searches_) return;
    const auto known = rest(state);
    const bool is_nearer = known && known->items != Way::kNever && items + known->items < nearest;
    if (!is_ours && !is_nearer) return;
    if (is_ours) state.last_search = num_searches_;
    reached.push_back({&state, predecessor, items});
    if (is_nearer) {
      nearest = items + known->items;
      last = reached.size() - 1;
    }
    if (is_ours && !(known && known->shortest) && items + state.fewest_items < nearest)
      (state.counter_head ? next_level : level).push_back(reached.size() - 1);
  };
  for (uint32_t items = 0; !level.empty() && items + 1 < nearest; ++items) {
    next_level.clear();
    for (size_t i = 0; i < level.size() && items + 1 < nearest; ++i) {
      if (reached.size() > kMaxSearch) too_large();
      const size_t from = level[i];
      DfaState& state = *reached[from].state;
      for (const uint8_t byte : bytes_)
        if (DfaState* next = after(state, byte)) meet(*next, from, items + (next->counter_head ? 1 : 0));
    }
    std::swap(level, next_level);
  }
  for (const auto& [state, predecessor, items] : reached)
    if (!is_plain_counter(*state) && items < nearest)
      state->fewest_items = std::max(state->fewest_items, nearest - items);
  if (last == 0) {
    know(origin, {some.items, some.steady, true});
    return *origin.way.load();
  }
  std::vector<DfaState*> path;
  for (size_t i = last; i != 0; i = reached[i].predecessor) path.push_back(reached[i].state);
  path.push_back(&origin);
  std::ranges::reverse(path);
  return along(path, true, true);
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
      DfaState* next = after(state, *byte);
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
