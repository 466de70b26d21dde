#include "byte_distance.h"

#include <algorithm>
#include <queue>

#include "work.h"

namespace maskwright {

ByteDistances::ByteDistances(const Vocabulary& vocabulary) {
  for (int byte = 0; byte < 256; ++byte) {
    const NodeId node = vocabulary.root_child(static_cast<uint8_t>(byte));
    if (node == Vocabulary::kRoot) continue;
    const Vocabulary::Node& at = vocabulary.node(node);
    if (at.token_begin < at.token_own_end) bytes_.set(static_cast<uint8_t>(byte));
  }
}

// A way out needs at most two items more than it must have: with fewer allowed, counts that differ meet.
uint64_t ByteDistances::bounded_register(const DfaState& state, uint64_t reg) {
  if (!state.rule->counts() || state.bounded) return reg;
  Count count = Count::of(reg);
  count.remaining = std::min(count.remaining, count.needed < Count::kUnlimited - 2 ? count.needed + 2 : count.needed);
  return count.reg();
}

uint32_t ByteDistances::of(const Place& place) {
  if (const auto it = known_.find(place); it != known_.end()) return it->second;
  bounds_.clear();
  open_.assign(1, place);
  bounds_[place] = kNever;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < open_.size(); ++i) {
      const Place at = open_[i];
      const uint32_t found = search(at);
      uint32_t& bound = bounds_[at];
      changed = changed || found < bound;
      bound = std::min(bound, found);
    }
  }
  known_.insert(bounds_.begin(), bounds_.end());
  const uint32_t found = search(place);
  if (found == kVeryFar) return found;  // how much of it is left farther on is not known
  // Whatever lies on the way knows its distance, too.
  for (uint32_t v = last_; v != kNever; v = visits_[v].before)
    known_.try_emplace(visits_[v].place, found - visits_[v].distance);
  return found;
}

uint32_t ByteDistances::search(const Place& from) {
  using Entry = std::pair<uint32_t, uint32_t>;  // distance, visit
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::unordered_map<Place, uint32_t, PlaceHash> best;
  visits_.clear();
  last_ = kNever;
  uint32_t shortest = kNever;
  visits_.push_back({from, 0, kNever});
  queue.emplace(0, 0);
  while (!queue.empty() && queue.top().first < shortest) {
    Work::spend(1);
    const auto [distance, visit] = queue.top();
    queue.pop();
    const Place at = visits_[visit].place;
    for_each_edge(at, [&, distance = distance, visit = visit](DfaState* target, uint64_t reg, uint32_t bytes) {
      const uint32_t there = sum(distance, bytes);
      if (there == kNever) return;
      if ((!target || may_end(*target, reg)) && there < shortest) {
        shortest = there;
        last_ = visit;
      }
      if (!target || !may_continue(*target, reg)) return;
      const auto [it, fresh] = best.try_emplace({target, reg}, there);
      if (!fresh && it->second <= there) return;
      it->second = there;
      visits_.push_back({{target, reg}, there, visit});
      queue.emplace(there, static_cast<uint32_t>(visits_.size() - 1));
    });
  }
  return shortest;
}

// What a call's rule needs, as far as it is known; a rule met for the first time is looked at in the next round.
uint32_t ByteDistances::call_bytes(const CallEdge& call) {
  DfaState& start = *call.callee->start();
  const Place place{&start, bounded_register(start, call.reg)};
  uint32_t bytes = kNever;
  if (const auto it = known_.find(place); it != known_.end()) {
    bytes = it->second;
  } else if (const auto [bound, fresh] = bounds_.try_emplace(place, kNever); fresh) {
    open_.push_back(place);
  } else {
    bytes = bound->second;
  }
  const auto& span = call.callee->span();
  return span && span->max_tokens > 0 && bytes > span->max_tokens ? kNever : bytes;
}

// Reports where one byte, token or call leads: the state, its register and the bytes; no state where the rule ends.
template <class Edge>
void ByteDistances::for_each_edge(const Place& from, Edge&& edge) {
  DfaState& state = *from.state;
  Rule& rule = *state.rule;
  rule.link(state);
  if (may_terminate(state, from.reg) && bytes_.test(static_cast<uint8_t>(rule.terminator()))) edge(nullptr, 0, 1);
  if (!may_repeat(state, from.reg)) return;
  (state.live & bytes_).for_each([&](uint8_t byte) {
    DfaState* target = rule.next(state, byte);
    if (!target) return;
    const uint64_t reg = entering(*target, from.reg);
    if (may_complete(*target, reg)) edge(target, bounded_register(*target, reg), 1);
  });
  for (TokenEdge& tokens : state.token_edges) {
    if (rule.token_set(tokens.argument).empty()) continue;
    DfaState* target = rule.target(state, tokens);
    edge(target, entering(*target, from.reg), 1);
  }
  for (CallEdge& call : state.calls) {
    DfaState* target = rule.target(state, call);
    edge(target, entering(*target, from.reg), call_bytes(call));
  }
}

}  // namespace maskwright
