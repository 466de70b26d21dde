#include "vocabulary/alike_nodes.h"

namespace maskwright {
namespace {

constexpr NodeId kManyBelow = 64;

}  // namespace

// Children come after their parent: the last node first, so that they are known when it is looked at.
NodeId AlikeNodes::standing_for(NodeId node) {
  const Vocabulary::Node& at = vocabulary_.node(node);
  if (at.below_end - at.first_child > kManyBelow) return node;
  if (const auto it = known_.find(node); it != known_.end()) return it->second;
  for (NodeId below = at.below_end; below > at.first_child;) classify(--below);
  return classify(node);
}

NodeId AlikeNodes::classify(NodeId node) {
  if (const auto it = known_.find(node); it != known_.end()) return it->second;
  const uint64_t h = hash(node);
  const NodeId alike = standing_.find(h, [&](NodeId other) { return are_alike(other, node); });
  if (alike != standing_.kNone) return known_[node] = alike;
  standing_.add(h, node);
  return known_[node] = node;
}

uint64_t AlikeNodes::hash(NodeId node) const {
  const Vocabulary::Node& at = vocabulary_.node(node);
  uint64_t h = mix(vocabulary_.byte(node), is_token(node));
  for (NodeId i = 0; i < at.num_children; ++i) h = mix(h, known_.at(at.first_child + i));
  return h;
}

bool AlikeNodes::are_alike(NodeId a, NodeId b) const {
  const Vocabulary::Node &at_a = vocabulary_.node(a), &at_b = vocabulary_.node(b);
  if (vocabulary_.byte(a) != vocabulary_.byte(b) || is_token(a) != is_token(b)) return false;
  if (at_a.num_children != at_b.num_children) return false;
  for (NodeId i = 0; i < at_a.num_children; ++i)
    if (known_.at(at_a.first_child + i) != known_.at(at_b.first_child + i)) return false;
  return true;
}

bool AlikeNodes::is_token(NodeId node) const {
  const Vocabulary::Node& at = vocabulary_.node(node);
  return at.token_begin < at.token_own_end;
}

}  // namespace maskwright
