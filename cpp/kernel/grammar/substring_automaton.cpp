#include "grammar/substring_automaton.h"

#include <unordered_map>

namespace maskwright {

// Equal chunks go by the number of the first of them.
SubstringAutomaton::SubstringAutomaton(const ChunkList& chunks) : chunks_(chunks), edge_of_(1024, kNone) {
  std::unordered_map<std::string_view, uint32_t> numbers;
  add_state(kNone, 0);
  uint32_t last = kStart;
  for (uint32_t i = 0; i < chunks.size(); ++i) last = append(last, numbers.try_emplace(chunks[i], i).first->second);
}

// Lets every end of what was read so far go on with one more chunk; returns the state of all that was read.
uint32_t SubstringAutomaton::append(uint32_t last, uint32_t chunk) {
  const uint32_t fresh = add_state(chunk, states_[last].length + 1);
  uint32_t at = last;
  for (; at != kNone; at = states_[at].link) {
    const uint32_t known = *edge_place(at, chunk);
    if (known != kNone) {
      const uint32_t target = edges_[known].target;
      states_[fresh].link = states_[target].length == states_[at].length + 1 ? target : split(at, chunk, target);
      return fresh;
    }
    add_edge(at, chunk, fresh);
  }
  states_[fresh].link = kStart;
  return fresh;
}

// Gives the shorter paths into a state one of their own, and returns that.
uint32_t SubstringAutomaton::split(uint32_t at, uint32_t chunk, uint32_t target) {
  const uint32_t clone = add_state(chunk, states_[at].length + 1);
  for (uint32_t e = states_[target].first_edge; e != kNone; e = edges_[e].next)
    add_edge(clone, edges_[e].chunk, edges_[e].target);
  states_[clone].link = states_[target].link;
  states_[target].link = clone;
  for (; at != kNone; at = states_[at].link) {
    const uint32_t edge = *edge_place(at, chunk);
    if (edge == kNone || edges_[edge].target != target) break;
    edges_[edge].target = clone;
  }
  return clone;
}

uint32_t SubstringAutomaton::add_state(uint32_t chunk, uint32_t length) {
  states_.push_back({.chunk = chunk, .length = length});
  return num_states() - 1;
}

void SubstringAutomaton::add_edge(uint32_t source, uint32_t chunk, uint32_t target) {
  if (2 * (edges_.size() + 1) > edge_of_.size()) {
    edge_of_.assign(2 * edge_of_.size(), kNone);
    for (uint32_t e = 0; e < edges_.size(); ++e) *edge_place(edges_[e].source, edges_[e].chunk) = e;
  }
  const auto edge = static_cast<uint32_t>(edges_.size());
  *edge_place(source, chunk) = edge;
  edges_.push_back({source, chunk, target, states_[source].first_edge});
  states_[source].first_edge = edge;
}

// Where the edge with this chunk is in the table, or would be.
uint32_t* SubstringAutomaton::edge_place(uint32_t source, uint32_t chunk) {
  const size_t mask = edge_of_.size() - 1;
  size_t place = mix(source, chunk) & mask;
  while (edge_of_[place] != kNone &&
         (edges_[edge_of_[place]].source != source || edges_[edge_of_[place]].chunk != chunk))
    place = (place + 1) & mask;
  return &edge_of_[place];
}

}  // namespace maskwright
