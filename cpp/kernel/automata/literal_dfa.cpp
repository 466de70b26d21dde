#include "automata/literal_dfa.h"

#include <algorithm>

namespace maskwright {
namespace {

constexpr uint32_t kFree = 0xFFFFFFFF;

}  // namespace

LiteralDfa::LiteralDfa(std::span<const std::string_view> strings) : states_(1), path_(1), known_(1024, kFree) {
  for (const std::string_view text : strings) {
    size_t shared = 0;
    while (shared < last_.size() && shared < text.size() && last_[shared] == text[shared]) ++shared;
    close_below(shared);
    if (path_.size() <= text.size()) path_.resize(text.size() + 1);
    depth_ = text.size();
    path_[depth_].final = true;
    last_ = text;
  }
  close_below(0);
  states_[kRoot] = {static_cast<uint32_t>(edges_.size()), static_cast<uint32_t>(path_[0].edges.size()), path_[0].final};
  edges_.insert(edges_.end(), path_[0].edges.begin(), path_[0].edges.end());
}

// Closes the states of the last string that lie deeper.
void LiteralDfa::close_below(size_t depth) {
  for (; depth_ > depth; --depth_)
    path_[depth_ - 1].edges.push_back({static_cast<uint8_t>(last_[depth_ - 1]), close(path_[depth_])});
}

// The state that stands for an open one from now on.
uint32_t LiteralDfa::close(Open& open) {
  if (2 * states_.size() > known_.size()) {
    std::vector<uint32_t> old(2 * known_.size(), kFree);
    old.swap(known_);
    for (uint32_t s = 1; s < states_.size(); ++s) known_[place(edges(s), states_[s].final)] = s;
  }
  uint32_t& slot = known_[place(open.edges, open.final)];
  if (slot == kFree) {
    slot = num_states();
    states_.push_back({static_cast<uint32_t>(edges_.size()), static_cast<uint32_t>(open.edges.size()), open.final});
    edges_.insert(edges_.end(), open.edges.begin(), open.edges.end());
  }
  open.edges.clear();
  open.final = false;
  return slot;
}

// Where a state of this content is in the table, or would be.
size_t LiteralDfa::place(std::span<const Edge> edges, bool final) const {
  uint64_t hash = final ? 1 : 0;
  for (const Edge& edge : edges) hash = mix(hash, (uint64_t{edge.target} << 8) | edge.byte);
  size_t s = hash & (known_.size() - 1);
  while (known_[s] != kFree &&
         (states_[known_[s]].final != final || !std::ranges::equal(this->edges(known_[s]), edges)))
    s = (s + 1) & (known_.size() - 1);
  return s;
}

}  // namespace maskwright
