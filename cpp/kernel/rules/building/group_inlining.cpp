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
#include <unordered_map>

#include "automata/nfa_reduction.h"
#include "rules/building/group_drafts.h"
#include "support/optimisations.h"

namespace maskwright {
namespace {

constexpr size_t kMaxInlinedEdges = 2000;  // of a member that is called from one place
constexpr size_t kMaxCopiedEdges = 128;    // that inlining a member in several places may add
constexpr size_t kMaxTotalEdges = 50'000;  // copied in all, in one component
constexpr double kWorthReducing = 1.25;    // edges of a member that has taken others in, to those before
constexpr int kMaxRounds = 8;              // an inlined member may turn its caller's calls into jumps, and so on

bool is_expression(const RuleDraft& member) {  // a scope's register is its own
  return member.kind == BlueprintUnit::Kind::Expression && !member.rule->is_scope();
}

bool goes_on_at_end(const NfaDraft& draft) {
  return std::ranges::any_of(draft.edges, [](const NfaDraft::Edge& e) { return e.source == kFinal; });
}

}  // namespace

void GroupDrafts::inline_members() {
  if (!optimisations.inlining) return;
  std::vector<uint32_t> changed;
  for (uint32_t i = 0; i < members_.size(); ++i)
    if (is_expression(members_[i]) && !member_callees(members_[i]).empty()) changed.push_back(i);
  std::vector<size_t> reduced_edges(members_.size());  // that each had when it was reduced
  for (int round = 0; round < kMaxRounds && !changed.empty() && num_inlined_edges_ <= kMaxTotalEdges; ++round) {
    for (const uint32_t i : changed) {
      NfaDraft& draft = members_[i].draft;
      if (draft.edges.size() > kWorthReducing * reduced_edges[i] && calls_some_twice(members_[i])) {
        reduce(draft, reduction_budget_);
        reduced_edges[i] = draft.edges.size();
      }
      loop_self_calls(members_[i]);
    }
    changed.clear();
    const Inlining inlining = plan_inlining();
    // Callers first, so that what they take in is as it was.
    for (const uint32_t i : inlining.callers_first)
      if (inlining.is_rule[i] && splice_calls(i, inlining)) changed.push_back(i);
  }
}

// Whether some member is called from two places, which may be one once the draft is reduced, or calls itself.
bool GroupDrafts::calls_some_twice(const Member& member) const {
  std::unordered_map<const Rule*, uint32_t> places{{member.rule, ~0u}};
  return std::ranges::any_of(member.draft.edges, [&](const NfaDraft::Edge& e) {
    if (e.edge.kind != EdgeKind::Call) return false;
    const Rule* callee = member.callees[e.edge.argument].rule;
    return member_of_.contains(callee) && places.try_emplace(callee, e.edge.target).first->second != e.edge.target;
  });
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

// What is called where, all told by the calls that lead to members later in `callers_first`; others go back and stay
// calls. A member is inlined if it has one place, or is small. Two calls from which the automaton goes on at the same
// state have one place; so have all by which the members of an object, each a rule that ends with a call of a later
// one, lead to that one. Counters call their items, whatever these are.
GroupDrafts::Inlining GroupDrafts::plan_inlining() const {
  const size_t size = members_.size();
  Inlining out{members_callees_first(), std::vector<uint32_t>(size), std::vector<uint8_t>(size),
               std::vector<uint8_t>(size, 1)};
  std::ranges::reverse(out.callers_first);
  for (uint32_t i = 0; i < out.callers_first.size(); ++i) out.position[out.callers_first[i]] = i;
  const auto each_call = [&](uint32_t caller, const auto& visit) {
    for (const auto& [source, edge] : members_[caller].draft.edges)
      if (edge.kind == EdgeKind::Call)
        if (const auto it = member_of_.find(members_[caller].callees[edge.argument].rule); it != member_of_.end())
          visit(static_cast<uint32_t>(it->second), edge.target);
  };
  std::vector<uint8_t> stays(size), is_called_back(size), is_called_within(size);
  for (const uint32_t i : out.callers_first)
    each_call(i, [&](uint32_t callee, uint32_t target) {
      if (callee == i || !is_expression(members_[i])) stays[callee] = 1;
      if (out.position[callee] <= out.position[i]) is_called_back[callee] = 1;
      if (target != kFinal) is_called_within[callee] = 1;
    });
  // The places of a member are the states that its copies go on at: (an automaton, a state), the automata being the
  // members, then the copies of each in the order of its places. No more places are told than are too many.
  std::vector<std::vector<uint64_t>> places(size);
  size_t num_automata = size;
  for (const uint32_t i : out.callers_first) {
    const Member& member = members_[i];
    const size_t num_copies = places[i].size() + is_called_back[i];
    out.is_inlined[i] = i != 0 && !stays[i] && is_expression(member) && !member.rule->is_kept() && !places[i].empty() &&
                        member.draft.edges.size() <= kMaxInlinedEdges &&
                        (num_copies - 1) * member.draft.edges.size() <= kMaxCopiedEdges;
    out.is_rule[i] = is_expression(member) && (!out.is_inlined[i] || is_called_back[i] || is_called_within[i]);
    const size_t num_inlined = out.is_inlined[i] ? places[i].size() : 0;
    const bool ends = !goes_on_at_end(member.draft);
    each_call(i, [&](uint32_t callee, uint32_t target) {
      if (out.position[callee] <= out.position[i]) return;
      std::vector<uint64_t>& of_callee = places[callee];
      const size_t too_many = kMaxCopiedEdges / std::max<size_t>(members_[callee].draft.edges.size(), 1) + 2;
      const auto add = [&](uint64_t place) {
        if (std::ranges::find(of_callee, place) == of_callee.end()) of_callee.push_back(place);
      };
      if (out.is_rule[i] && of_callee.size() < too_many) add(uint64_t{i} << 32 | target);
      for (size_t p = 0; p < num_inlined && of_callee.size() < too_many; ++p)
        add(ends && target == kFinal ? places[i][p] : (num_automata + p) << 32 | target);
    });
    num_automata += num_inlined;
  }
  return out;
}

// Puts an automaton of the callee in the place of each call that is inlined, and of calls in there.
bool GroupDrafts::splice_calls(uint32_t caller, const Inlining& inlining) {
  NfaDraft& draft = members_[caller].draft;
  std::vector<uint32_t> origin(draft.edges.size(), caller);  // by edge: the member whose it was
  std::unordered_map<uint64_t, uint32_t> starts;             // of copies, by member and the state after them
  bool changed = false;
  for (size_t i = 0; i < draft.edges.size(); ++i) {
    const NfaEdge edge = draft.edges[i].edge;
    if (edge.kind != EdgeKind::Call) continue;
    const auto it = member_of_.find(members_[caller].callees[edge.argument].rule);
    if (it == member_of_.end()) continue;
    const auto called = static_cast<uint32_t>(it->second);
    if (!inlining.is_inlined[called] || inlining.position[called] <= inlining.position[origin[i]]) continue;
    const auto [start, is_new] = starts.try_emplace(uint64_t{called} << 32 | edge.target, draft.num_states + kStart);
    if (is_new) {
      const Member& callee = members_[called];
      num_inlined_edges_ += callee.draft.edges.size();
      if (num_inlined_edges_ > kMaxTotalEdges) return changed;
      const uint32_t offset = draft.num_states;
      draft.num_states += callee.draft.num_states;
      const bool ends = !goes_on_at_end(callee.draft);
      for (const auto& [source, inner] : callee.draft.edges)
        draft.add(offset + source, inner.kind, moved_argument(callee, members_[caller], inner),
                  ends && inner.target == kFinal ? edge.target : offset + inner.target);
      if (!ends) draft.add(offset + kFinal, EdgeKind::Epsilon, 0, edge.target);
      origin.resize(draft.edges.size(), called);
    }
    draft.edges[i].edge = {EdgeKind::Epsilon, 0, start->second};
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
