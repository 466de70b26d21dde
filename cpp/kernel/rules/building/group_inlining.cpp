// Members of a component become part of their callers, so that one automaton does what took a chain of calls.
//
// expr ::= term ("+" term)*, term ::= factor ("*" factor)*, factor ::= name | "(" expr ")": after a name, whether "*",
// "+", or ")" comes is decided by three returns, unless the three are one rule. Drafts are reduced first
// (nfa_reduction.h), so `term` is called from one place. What is still called from several is copied if it is small.
// The rule by which the component is entered stays; others stay for callers from outside. What is captured is told by
// the calls of its rule (capture_tracker.h), as is a span (stack_store.h), so these stay calls.
//
// Source: inlining and node merging as in XGrammar (Dong et al. 2024); self calls as jumps after Nederhof 2000.
#include <algorithm>

#include "automata/nfa_reduction.h"
#include "rules/building/group_drafts.h"
#include "support/optimisations.h"

namespace maskwright {
namespace {

constexpr size_t kMaxInlinedEdges = 2000;  // of a member that is called from one place
constexpr size_t kMaxCopiedEdges = 256;    // that inlining a member in several places may add
constexpr size_t kMaxTotalEdges = 50'000;  // copied in all, in one component
constexpr int kMaxRounds = 8;              // an inlined member may turn its caller's calls into jumps, and so on

}  // namespace

void GroupDrafts::inline_members() {
  if (!optimisations.inlining) return;
  const auto is_expression = [](const Member& m) {  // a scope's register is its own
    return m.kind == BlueprintUnit::Kind::Expression && !m.rule->is_scope();
  };
  std::vector<uint32_t> changed;
  for (uint32_t i = 0; i < members_.size(); ++i)
    if (is_expression(members_[i]) && !member_callees(members_[i]).empty()) changed.push_back(i);
  for (int round = 0; round < kMaxRounds && !changed.empty(); ++round) {
    for (const uint32_t i : changed) {
      reduce(members_[i].draft, reduction_budget_);
      loop_self_calls(members_[i]);
    }
    changed.clear();
    const std::vector<uint32_t> order = members_callees_first();
    std::vector<uint8_t> chosen = members_to_inline(order), done(members_.size());
    for (const uint32_t i : order) {
      done[i] = 1;
      if (is_expression(members_[i]) &&
          splice_calls(members_[i], [&](uint32_t callee) { return chosen[callee] && done[callee]; }))
        changed.push_back(i);
      if (members_[i].draft.edges.size() > kMaxInlinedEdges) chosen[i] = 0;
    }
  }
}

// The members that a member calls, once for each call.
std::vector<uint32_t> GroupDrafts::member_callees(const Member& member) const {
  std::vector<uint32_t> out;
  for (const auto& [source, edge] : member.draft.edges)
    if (edge.kind == EdgeKind::Call)
      if (const auto it = member_of_.find(member.callees[edge.argument].rule); it != member_of_.end())
        out.push_back(static_cast<uint32_t>(it->second));
  return out;
}

// Those that can be reached from the entry: members inlined everywhere are left out.
std::vector<uint32_t> GroupDrafts::members_callees_first() const {
  struct Visit {
    uint32_t member;
    std::vector<uint32_t> callees;
  };
  std::vector<uint32_t> out;
  std::vector<uint8_t> met(members_.size());
  std::vector<Visit> path;
  const auto enter = [&](uint32_t member) {
    met[member] = 1;
    path.push_back({member, member_callees(members_[member])});
  };
  enter(0);
  while (!path.empty()) {
    if (path.back().callees.empty()) {
      out.push_back(path.back().member);
      path.pop_back();
      continue;
    }
    const uint32_t callee = path.back().callees.back();
    path.back().callees.pop_back();
    if (!met[callee]) enter(callee);
  }
  return out;
}

// By member: whether it is called from one place, or small. Counters call their items, whatever these are.
std::vector<uint8_t> GroupDrafts::members_to_inline(const std::vector<uint32_t>& reached) const {
  std::vector<size_t> num_calls(members_.size());
  std::vector<uint8_t> out(members_.size(), 1);
  for (const uint32_t i : reached)
    for (const uint32_t callee : member_callees(members_[i])) {
      ++num_calls[callee];
      if (callee == i || members_[i].kind != BlueprintUnit::Kind::Expression) out[callee] = 0;
    }
  for (uint32_t i = 0; i < members_.size(); ++i)
    if (members_[i].kind != BlueprintUnit::Kind::Expression || members_[i].rule->is_kept() ||
        (num_calls[i] > 1 && (num_calls[i] - 1) * members_[i].draft.edges.size() > kMaxCopiedEdges))
      out[i] = 0;
  out[0] = 0;
  return out;
}

// Puts a copy of the callee's automaton in the place of each call that `is_inlined` says.
bool GroupDrafts::splice_calls(Member& caller, const std::function<bool(uint32_t)>& is_inlined) {
  NfaDraft& draft = caller.draft;
  const size_t num_edges = draft.edges.size();
  bool changed = false;
  for (size_t i = 0; i < num_edges; ++i) {
    const NfaEdge edge = draft.edges[i].edge;
    if (edge.kind != EdgeKind::Call) continue;
    const auto it = member_of_.find(caller.callees[edge.argument].rule);
    if (it == member_of_.end() || !is_inlined(static_cast<uint32_t>(it->second))) continue;
    const Member& callee = members_[it->second];
    num_inlined_edges_ += callee.draft.edges.size();
    if (num_inlined_edges_ > kMaxTotalEdges) return changed;
    const uint32_t offset = draft.num_states;
    draft.num_states += callee.draft.num_states;
    draft.edges[i].edge = {EdgeKind::Epsilon, 0, offset + kStart};
    for (const auto& [source, inner] : callee.draft.edges)
      draft.add(offset + source, inner.kind, moved_argument(callee, caller, inner), offset + inner.target);
    draft.add(offset + kFinal, EdgeKind::Epsilon, 0, edge.target);
    changed = true;
  }
  return changed;
}

// Calls of itself that a rule can do without, until there are no more.
void GroupDrafts::loop_self_calls(Member& member) {
  if (member.rule->is_kept()) return;
  if (self_calls(member).empty()) return;
  if (is_closed_under_concatenation(member)) member.draft.add(kFinal, EdgeKind::Epsilon, 0, kStart);
  while (replace_self_calls(member) && reduce(member.draft, reduction_budget_)) {
  }
}

std::vector<NfaDraft::Edge> GroupDrafts::self_calls(const Member& member) {
  std::vector<NfaDraft::Edge> out;
  for (const NfaDraft::Edge& e : member.draft.edges)
    if (e.edge.kind == EdgeKind::Call && member.callees[e.edge.argument].rule == member.rule) out.push_back(e);
  return out;
}

// Whether the rule becomes two of itself in a row, so that what it matches may be followed by what it matches.
bool GroupDrafts::is_closed_under_concatenation(const Member& member) {
  const Nfa nfa(member.draft);
  std::vector<uint8_t> seen(member.draft.num_states);
  const std::vector<NfaDraft::Edge> calls = self_calls(member);
  std::vector<uint32_t> states{kStart};
  for (int i = 0; i < 2; ++i) {
    nfa.close(states, seen);
    for (const uint32_t s : states) seen[s] = 1;
    std::vector<uint32_t> after;
    for (const auto& [source, edge] : calls)
      if (seen[source]) after.push_back(edge.target);
    for (const uint32_t s : states) seen[s] = 0;
    states = std::move(after);
  }
  std::ranges::sort(states);
  states.erase(std::unique(states.begin(), states.end()), states.end());
  nfa.close(states, seen);
  return std::ranges::find(states, kFinal) != states.end();
}

// If, wherever the rule ends, it can go on as it does after the call, then the callee's end may as well be the
// caller's: S·L(after) ⊆ S. If it may also end after the call, or if the strings of S can begin at the call in any
// case, the call adds S itself and is a jump to the start: `S → S S | "a"` is regular.
bool GroupDrafts::replace_self_calls(Member& member) {
  const ReducedNfa reduced = without_empty_moves(member.draft, reduction_budget_);
  const std::vector<ReducedState>& states = reduced.states;
  if (states.empty()) return false;
  const auto is_absorbed = [&](const ReducedState& after) {  // what follows the call, by the rule's own ends
    return std::all_of(states.begin(), states.end(),
                       [&](const ReducedState& end) { return !end.accepting || end.covers(after); });
  };
  bool changed = false;
  for (auto& e : member.draft.edges) {
    if (e.edge.kind != EdgeKind::Call || member.callees[e.edge.argument].rule != member.rule) continue;
    const ReducedState& after = states[e.edge.target];
    const bool adds_itself = after.accepting || states[e.source].covers(states[kStart]);
    if (!adds_itself || !is_absorbed({after.edges, false})) continue;
    e.edge = {EdgeKind::Epsilon, 0, kStart};
    changed = true;
  }
  return changed;
}

}  // namespace maskwright
