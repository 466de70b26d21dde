#include "masks/avoided_texts.h"

#include <unordered_map>

#include "masks/trie_walk.h"
#include "rules/rule.h"

namespace maskwright {
namespace {

constexpr size_t kStatesSeen = 16;
constexpr size_t kNodesSeen = 20'000;

// Whether there is a node of a sorted list in [begin, end).
bool has_within(const std::vector<NodeId>& nodes, NodeId begin, NodeId end) {
  const auto it = std::lower_bound(nodes.begin(), nodes.end(), begin);
  return it != nodes.end() && *it < end;
}

bool loops(DfaState& state) {
  return may_loop(state.live) && state.rule->loop_classes(state) != 0;
}

}  // namespace

StateMask without(const StateMask& mask, std::vector<TokenId> tokens) {
  std::sort(tokens.begin(), tokens.end());
  StateMask out;
  for (const TokenId token : mask.sparse)
    if (!std::binary_search(tokens.begin(), tokens.end(), token)) out.sparse.push_back(token);
  if (!mask.bits()) return out;
  out.base = mask.base ? mask.base : &mask;
  for (const TokenId token : tokens)
    if (has_bit(*mask.bits(), token)) out.removed.push_back(token);
  out.removed.insert(out.removed.end(), mask.removed.begin(), mask.removed.end());
  std::sort(out.removed.begin(), out.removed.end());
  out.removed.erase(std::unique(out.removed.begin(), out.removed.end()), out.removed.end());
  return out;
}

// It does where some state with a loop can be reached; a few are looked at.
bool reads_endlessly(DfaState& start) {
  std::vector<DfaState*> seen{&start};
  for (size_t i = 0; i < seen.size(); ++i) {
    DfaState& state = *seen[i];
    if (loops(state)) return true;
    state.live.for_each([&](uint8_t byte) {
      if (seen.size() == kStatesSeen) return;
      DfaState* next = state.rule->next(state, byte);
      if (next && std::ranges::find(seen, next) == seen.end()) seen.push_back(next);
    });
  }
  return false;
}

ElementEndings::ElementEndings(const Vocabulary& vocabulary, DfaState& state, const std::vector<NodeId>& exits) {
  is_limited_ = reads_endlessly(state) && find(vocabulary, state, exits);
  if (!is_limited_) {
    nodes_ = {};
    below_ = {};
    return;
  }
  std::ranges::sort(nodes_);
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
  below_ = merged(std::move(below_));
  for (int byte = 0; byte < 256; ++byte)
    if (const NodeId node = vocabulary.root_child(static_cast<uint8_t>(byte)); node != 0)
      if (std::ranges::binary_search(nodes_, node)) first_.set(static_cast<uint8_t>(byte));
}

// Whether so few nodes had to be looked at that it was done.
bool ElementEndings::find(const Vocabulary& vocabulary, DfaState& start, const std::vector<NodeId>& exits) {
  struct Level {
    NodeId node, next, end;
    DfaState* state;
    CharClasses loop;
  };
  std::vector<Level> path;
  std::unordered_map<DfaState*, bool> endless;
  const auto is_endless = [&](DfaState& state) {
    const auto [it, is_new] = endless.try_emplace(&state, false);
    if (is_new) it->second = reads_endlessly(state);
    return it->second;
  };
  const auto open = [&](NodeId node, DfaState& state) {
    const Vocabulary::Node& at = vocabulary.node(node);
    path.push_back({node, at.first_child, at.first_child + at.num_children, &state,
                    loops(state) ? state.rule->loop_classes(state) : 0});
  };
  const auto keep = [&] {
    for (const Level& level : path) nodes_.push_back(level.node);
  };
  open(Vocabulary::kRoot, start);
  for (size_t seen = 0; !path.empty();) {
    Level& level = path.back();
    if (level.next == level.end) {
      path.pop_back();
      continue;
    }
    const NodeId child = level.next++;
    const Vocabulary::Node& at = vocabulary.node(child);
    const bool loops_below = (at.classes_from & ~level.loop) == 0;
    if (loops_below && !(level.state->final && has_within(exits, at.first_child, at.below_end))) continue;
    if (++seen > kNodesSeen) return false;
    DfaState* next = level.state->rule->next(*level.state, vocabulary.byte(child));
    if (!next) continue;
    if (!is_endless(*next)) {
      keep();
      nodes_.push_back(child);
      below_.emplace_back(at.first_child, at.below_end);
      continue;
    }
    open(child, *next);
    if (next->final && has_within(exits, at.first_child, at.first_child + at.num_children)) keep();
  }
  return true;
}

}  // namespace maskwright
