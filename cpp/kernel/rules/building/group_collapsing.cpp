// Members that become each other over nothing are one member.
//
// a ::= b c | "x", b ::= a? , c ::= "y"?: `a` becomes `b`, with `c` empty, and `b` becomes `a`. So both match the same
// texts, and one may stand for the other: `a` takes over the branches of `b`, which calls `a` from then on. Without
// this, a ring of n rules that may all be empty is n mutually left-recursive automata of n bodies each, and reads every
// byte in as many ways as there are paths in it.
//
// Source: eliminating unit cycles is folklore of context-free grammars (Hopcroft and Ullman 1979, section 4.4); done
// on automata here, where a call is a unit if empty moves lead to it and on from it. Linear in the component's edges.
// Tested by tests/exhaustive/test_recursive_grammars.py.
#include <algorithm>

#include "rules/building/group_drafts.h"
#include "support/components.h"

namespace maskwright {
namespace {

// What empty moves reach from a state of the draft; backwards, what they reach it from.
std::vector<uint8_t> reached_by_empty_moves(const NfaDraft& draft, uint32_t from, bool backwards) {
  NfaDraft empty_moves;
  empty_moves.num_states = draft.num_states;
  for (const auto& [source, edge] : draft.edges)
    if (edge.kind == EdgeKind::Epsilon)
      empty_moves.add(backwards ? edge.target : source, EdgeKind::Epsilon, 0, backwards ? source : edge.target);
  std::vector<uint8_t> seen(draft.num_states), out(draft.num_states);
  std::vector<uint32_t> states{from};
  Nfa(empty_moves).close(states, seen);
  for (const uint32_t s : states) out[s] = 1;
  return out;
}

}  // namespace

// A captured text is told by the call of its rule, a budget counted from there, and a counter's call told by its
// bounds: none of them is a unit.
std::vector<uint32_t> GroupDrafts::unit_edges(const Member& member) const {
  std::vector<uint32_t> out;
  if (member.kind != BlueprintUnit::Kind::Expression || member.rule->is_kept()) return out;
  const auto from_start = reached_by_empty_moves(member.draft, kStart, false);
  const auto to_end = reached_by_empty_moves(member.draft, kFinal, true);
  for (uint32_t e = 0; e < member.draft.edges.size(); ++e) {
    const auto& [source, edge] = member.draft.edges[e];
    if (edge.kind != EdgeKind::Call || !from_start[source] || !to_end[edge.target]) continue;
    const auto it = member_of_.find(member.callees[edge.argument].rule);
    if (it == member_of_.end()) continue;
    const Member& callee = members_[it->second];
    if (callee.kind == BlueprintUnit::Kind::Expression && !callee.rule->is_kept()) out.push_back(e);
  }
  return out;
}

uint32_t GroupDrafts::called_member(const Member& member, uint32_t edge) const {
  const Rule* callee = member.callees[member.draft.edges[edge].edge.argument].rule;
  return static_cast<uint32_t>(member_of_.at(callee));
}

void GroupDrafts::collapse_unit_cycles() {
  std::vector<uint32_t> all(members_.size());
  for (uint32_t i = 0; i < members_.size(); ++i) all[i] = i;
  const auto add_units = [this](uint32_t i, std::vector<uint32_t>& out) {
    for (const uint32_t e : unit_edges(members_[i])) out.push_back(called_member(members_[i], e));
  };
  std::unordered_map<const Rule*, Rule*> stands_for;
  for (auto& cycle : strong_components(all, add_units)) {
    std::ranges::sort(cycle);  // the entry of the component stays what it is
    Member& first = members_[cycle[0]];
    for (size_t k = 1; k < cycle.size(); ++k) {
      take_over(first, members_[cycle[k]]);
      stands_for[members_[cycle[k]].rule] = first.rule;
    }
  }
  for (Member& member : members_) {
    for (auto& [source, edge] : member.draft.edges) {
      if (edge.kind != EdgeKind::Call) continue;
      const auto it = stands_for.find(member.callees[edge.argument].rule);
      if (it != stands_for.end()) edge.argument = callee_index(member, {it->second, 0});
    }
    drop_idle_calls(member);
  }
}

// The branches of one member become another's, and it calls that one.
void GroupDrafts::take_over(Member& heir, Member& member) {
  const uint32_t offset = heir.draft.num_states;
  heir.draft.num_states += member.draft.num_states;
  const auto moved = [&](uint32_t state) { return state <= kFinal ? state : offset + state; };
  heir.draft.edges.reserve(heir.draft.edges.size() + member.draft.edges.size());
  for (const auto& [source, edge] : member.draft.edges)
    heir.draft.add(moved(source), edge.kind, moved_argument(member, heir, edge), moved(edge.target));
  member.draft = NfaDraft();
  member.draft.add(kStart, EdgeKind::Call, callee_index(member, {heir.rule, 0}), kFinal);
}

// A branch that is a call of the rule itself gains nothing. Where a call is a unit only if what is around it is empty,
// it may have a meaning; see `loop_self_calls`.
void GroupDrafts::drop_idle_calls(Member& member) {
  if (member.rule->is_kept()) return;
  std::erase_if(member.draft.edges, [&](const NfaDraft::Edge& e) {
    return e.source == kStart && e.edge.target == kFinal && e.edge.kind == EdgeKind::Call &&
           member.callees[e.edge.argument].rule == member.rule;
  });
}

}  // namespace maskwright
