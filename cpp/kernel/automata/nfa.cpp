#include "automata/nfa.h"

#include <algorithm>

namespace maskwright {

Nfa::Nfa(const NfaDraft& draft) : begin_(draft.num_states + 1), edges_(draft.edges.size()) {
  for (const auto& [source, edge] : draft.edges) ++begin_[source + 1];
  for (uint32_t s = 0; s < draft.num_states; ++s) begin_[s + 1] += begin_[s];
  std::vector<uint32_t> cursor(begin_.begin(), begin_.end() - 1);
  for (const auto& [source, edge] : draft.edges) edges_[cursor[source]++] = edge;
}

void Nfa::close(std::vector<uint32_t>& states, std::vector<uint8_t>& seen) const {
  for (const uint32_t s : states) seen[s] = 1;
  for (size_t i = 0; i < states.size(); ++i)
    for (auto e = begin(states[i]); e != end(states[i]); ++e)
      if (e->kind == EdgeKind::Epsilon && !seen[e->target]) {
        seen[e->target] = 1;
        states.push_back(e->target);
      }
  for (const uint32_t s : states) seen[s] = 0;
}

std::vector<uint32_t> Nfa::distances_to_end() const {
  NfaDraft reversed;
  reversed.num_states = num_states();
  reversed.edges.reserve(edges_.size());
  for (uint32_t s = 0; s < num_states(); ++s)
    for (auto e = begin(s); e != end(s); ++e) reversed.add(e->target, e->kind, e->argument, s);
  const Nfa backward(reversed);
  std::vector<uint32_t> out(num_states(), kNever), level{kFinal}, next_level;
  for (uint32_t distance = 0; !level.empty(); ++distance) {
    for (size_t i = 0; i < level.size(); ++i) {  // empty moves add to the level
      const uint32_t state = level[i];
      if (out[state] != kNever) continue;
      out[state] = distance;
      for (auto e = backward.begin(state); e != backward.end(state); ++e)
        if (out[e->target] == kNever) (e->kind == EdgeKind::Epsilon ? level : next_level).push_back(e->target);
    }
    level.swap(next_level);
    next_level.clear();
  }
  return out;
}

void NfaDraft::trim() {
  NfaDraft reversed;
  reversed.num_states = num_states;
  reversed.edges.reserve(edges.size());
  for (const auto& [source, edge] : edges) reversed.add(edge.target, EdgeKind::Epsilon, 0, source);
  const Nfa backward(reversed);
  std::vector<uint8_t> seen(num_states);
  std::vector<uint32_t> live{kFinal};
  backward.close(live, seen);
  for (const uint32_t s : live) seen[s] = 1;
  std::erase_if(edges, [&](const Edge& e) { return !seen[e.edge.target]; });
}

}  // namespace maskwright
