#include "rules/building/group_drafts.h"

#include <algorithm>

#include "automata/registers.h"
#include "support/components.h"
#include "support/errors.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr uint64_t kMaxUnrolledCalls = 10'000;

}  // namespace

void GroupDrafts::too_large() {
  throw LimitExceeded("grammar_size", "the grammar's automata grew past " + std::to_string(kMaxEdges) + " edges");
}

void GroupDrafts::add_member(BlueprintUnit::Kind kind, Rule& rule) {
  member_of_[&rule] = members_.size();
  members_.push_back({kind, &rule});
}

uint32_t GroupDrafts::callee_index(Member& member, Callee callee) {
  const uint64_t hash = mix(mix(reinterpret_cast<uintptr_t>(callee.rule), callee.reg),
                            reinterpret_cast<uintptr_t>(callee.instance) + callee.value);
  const auto [it, fresh] = member.callee_index.try_emplace(hash, static_cast<uint32_t>(member.callees.size()));
  if (!fresh && member.callees[it->second] == callee) return it->second;
  member.callees.push_back(callee);
  return static_cast<uint32_t>(member.callees.size() - 1);
}

uint32_t GroupDrafts::set_index(Member& member, const ByteSet& set) {
  uint64_t hash = 0;
  for (int w = 0; w < 4; ++w) hash = mix(hash, set.word(w));
  const auto [it, fresh] = member.set_index.try_emplace(hash, static_cast<uint32_t>(member.sets.size()));
  if (!fresh && member.sets[it->second] == set) return it->second;
  member.sets.push_back(set);
  return static_cast<uint32_t>(member.sets.size() - 1);
}

uint32_t GroupDrafts::tokens_index(Member& member, const TokenSet& tokens) {
  auto& known = member.token_sets;
  const auto index = static_cast<uint32_t>(std::find(known.begin(), known.end(), tokens) - known.begin());
  if (index == known.size()) known.push_back(tokens);
  return index;
}

// Indices of sets, tokens and callees mean their owner's tables; an edge that moves to another member needs its own.
uint32_t GroupDrafts::moved_argument(const Member& from, Member& to, const NfaEdge& edge) {
  if (from.rule == to.rule) return edge.argument;
  switch (edge.kind) {
    case EdgeKind::Call: return callee_index(to, from.callees[edge.argument]);
    case EdgeKind::Set: return set_index(to, from.sets[edge.argument]);
    case EdgeKind::Tokens: return tokens_index(to, from.token_sets[edge.argument]);
    default: return edge.argument;
  }
}

void GroupDrafts::split_start(Member& member) {
  NfaDraft& draft = member.draft;
  const bool is_split = std::none_of(draft.edges.begin(), draft.edges.end(), [](const NfaDraft::Edge& e) {
    return e.edge.target == kStart || (e.source == kStart && e.edge.kind == EdgeKind::Epsilon);
  });
  if (is_split) return;
  const uint32_t old_start = draft.add_state();
  for (auto& [source, edge] : draft.edges) {
    if (source == kStart) source = old_start;
    if (edge.target == kStart) edge.target = old_start;
  }
  const Nfa nfa(draft);
  std::vector<uint8_t> seen(draft.num_states);
  std::vector<uint32_t> reached{old_start};
  nfa.close(reached, seen);
  for (const uint32_t s : reached)
    for (auto e = nfa.begin(s); e != nfa.end(s); ++e)
      if (e->kind != EdgeKind::Epsilon) draft.add(kStart, e->kind, e->argument, e->target);
  if (draft.edges.size() > kMaxEdges) too_large();
}

// Of a call of a counter, how often its item is called in its place.
uint64_t GroupDrafts::num_copies(const Member& member, const NfaEdge& call) {
  const Count count = Count::of(member.callees[call.argument].reg);
  const bool bounded = count.remaining != Count::kUnlimited;
  const uint64_t copies = bounded ? count.remaining : std::max<uint32_t>(count.needed, 1);
  if (copies > kMaxUnrolledCalls)
    throw LimitExceeded("left_recursive_repetition", "a repetition of up to " + std::to_string(copies) +
                                                         " items begins with the rule that contains it");
  return copies;
}

bool GroupDrafts::is_call_of(const std::unordered_set<const Rule*>& rules, const Member& member, const NfaEdge& edge) {
  return edge.kind == EdgeKind::Call && rules.contains(member.callees[edge.argument].rule);
}

// Replaces the members' calls of some counters by chains of calls of their items. An item that begins with its own
// counter cannot be counted in a register: its copies would belong to different instances.
void GroupDrafts::unroll_calls(const std::unordered_set<const Rule*>& counters) {
  const auto is_unrolled = [](const Member& m) { return m.kind == BlueprintUnit::Kind::Expression; };
  // All of it is counted before any is made, so that what is too much is refused at once.
  for (const Member& m : members_)
    for (const auto& [source, edge] : m.draft.edges)
      if (is_unrolled(m) && is_call_of(counters, m, edge)) Work::spend(2 * num_copies(m, edge));
  for (Member& m : members_)
    if (is_unrolled(m)) unroll_calls(m, counters);
}

void GroupDrafts::unroll_calls(Member& member, const std::unordered_set<const Rule*>& counters) {
  std::vector<NfaDraft::Edge> edges;
  std::swap(edges, member.draft.edges);
  for (const auto& [source, edge] : edges) {
    if (!is_call_of(counters, member, edge)) {
      member.draft.edges.push_back({source, edge});
      continue;
    }
    const Member& counter = members_[member_of_.at(member.callees[edge.argument].rule)];
    const Callee item = counter.callees[0];
    const int terminator = counter.rule->terminator();
    const Count count = Count::of(member.callees[edge.argument].reg);
    const uint64_t minimum = std::max<uint32_t>(count.needed, 1);
    const bool bounded = count.remaining != Count::kUnlimited;
    const uint64_t copies = num_copies(member, edge);
    const uint32_t argument = callee_index(member, item);
    const auto may_end = [&, target = edge.target](uint32_t state) {
      if (terminator < 0)
        member.draft.add(state, EdgeKind::Epsilon, 0, target);
      else
        member.draft.add(state, EdgeKind::Byte, static_cast<uint32_t>(terminator), target);
    };
    if (member.draft.edges.size() + 2 * copies > kMaxEdges) too_large();
    uint32_t state = source;
    if (count.needed == 0 && terminator >= 0) may_end(state);
    for (uint64_t i = 1; i <= copies; ++i) {
      const uint32_t next = member.draft.add_state();
      member.draft.add(state, EdgeKind::Call, argument, next);
      if (i >= minimum) may_end(next);
      state = next;
    }
    if (!bounded) member.draft.add(state, EdgeKind::Call, argument, state);
  }
}

void GroupDrafts::add_left_callees(const Member& member, std::vector<uint32_t>& out) const {
  for (const auto& [source, edge] : member.draft.edges)
    if (source == kStart && edge.kind == EdgeKind::Call)
      if (const auto it = member_of_.find(member.callees[edge.argument].rule); it != member_of_.end())
        out.push_back(static_cast<uint32_t>(it->second));
}

std::vector<std::vector<uint32_t>> GroupDrafts::left_call_components() const {
  std::vector<uint32_t> all(members_.size());
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return strong_components(all, [this](uint32_t i, std::vector<uint32_t>& out) { add_left_callees(members_[i], out); });
}

void GroupDrafts::remove_left_recursion() {
  const auto is_cycle = [this](const std::vector<uint32_t>& component) {
    std::vector<uint32_t> callees;
    add_left_callees(members_[component[0]], callees);
    return component.size() > 1 || std::find(callees.begin(), callees.end(), component[0]) != callees.end();
  };
  std::unordered_set<const Rule*> counters;
  for (const auto& cycle : left_call_components()) {
    if (!is_cycle(cycle)) continue;
    for (const uint32_t i : cycle) {
      if (const auto& name = members_[i].rule->capture())
        throw LimitExceeded("left_recursive_capture", "the capture \"" + *name + "\" is left-recursive");
      if (members_[i].rule->span())
        throw LimitExceeded(
            "left_recursive_span",
            "a rule with max_tokens or temperature is left-recursive; give the option to a rule around it");
      if (members_[i].rule->counts()) counters.insert(members_[i].rule);
    }
  }
  if (!counters.empty()) unroll_calls(counters);
  for (const auto& cycle : left_call_components()) {
    if (!is_cycle(cycle)) continue;
    std::vector<Member> before;
    for (const uint32_t i : cycle) before.push_back(members_[i]);
    size_t num_edges = 1;  // of each member, when all are merged into it
    for (const Member& member : before) num_edges += member.draft.edges.size();
    Work::spend(8 * num_edges * cycle.size());
    for (const uint32_t i : cycle) merge_left_corner(cycle, before, i);
  }
}

void GroupDrafts::rank_members() {
  for (const auto& component : left_call_components()) {
    const Member& member = members_[component[0]];
    uint32_t& rank = member.rule->facts_.rank;
    for (const auto& [source, edge] : member.draft.edges)
      if (source == kStart && edge.kind == EdgeKind::Call)
        rank = std::max(rank, member.callees[edge.argument].rule->rank() + 1);
  }
}

void GroupDrafts::merge_left_corner(const std::vector<uint32_t>& cycle, const std::vector<Member>& before,
                                    uint32_t target) {
  Member& out = members_[target];
  out.draft = NfaDraft();
  std::vector<uint32_t> offset(cycle.size());
  for (size_t k = 0; k < cycle.size(); ++k) {
    offset[k] = out.draft.num_states;
    out.draft.num_states += before[k].draft.num_states;
  }
  std::unordered_map<const Rule*, size_t> positions;
  for (size_t k = 0; k < cycle.size(); ++k) positions[before[k].rule] = k;
  const auto position = [&](const Rule* rule) {
    const auto it = positions.find(rule);
    return it == positions.end() ? cycle.size() : it->second;
  };
  for (size_t k = 0; k < cycle.size(); ++k) {
    for (const auto& [source, edge] : before[k].draft.edges) {
      const Callee callee = edge.kind == EdgeKind::Call ? before[k].callees[edge.argument] : Callee{nullptr, 0};
      const uint32_t to = offset[k] + edge.target;
      if (source == kStart && callee.rule && position(callee.rule) < cycle.size()) {
        // Whoever has just finished as `callee` may be the beginning of this member.
        out.draft.add(offset[position(callee.rule)] + kFinal, EdgeKind::Epsilon, 0, to);
        continue;
      }
      const uint32_t argument = moved_argument(before[k], out, edge);
      out.draft.add(source == kStart ? kStart : offset[k] + source, edge.kind, argument, to);
    }
    if (before[k].rule == out.rule) out.draft.add(offset[k] + kFinal, EdgeKind::Epsilon, 0, kFinal);
  }
  num_merged_edges_ += out.draft.edges.size();
  if (num_merged_edges_ > kMaxEdges) too_large();
  out.draft.trim();
  loop_self_calls(out);
}

void GroupDrafts::freeze(Member& member) {
  Rule& rule = *member.rule;
  if (rule.derivatives_) return rule.use_classes(*rule.derivatives_);
  if (rule.product_) return rule.use_classes(*rule.product_);
  if (rule.multiples_) return rule.use_classes(*rule.multiples_);
  const auto is_call = [](const NfaDraft::Edge& e) { return e.edge.kind == EdgeKind::Call; };
  if (std::any_of(member.draft.edges.begin(), member.draft.edges.end(), is_call))
    rule.callees_ = std::move(member.callees);
  rule.sets_ = std::move(member.sets);
  rule.token_sets_ = std::move(member.token_sets);
  rule.nfa_ = Nfa(member.draft);
  rule.seen_.assign(rule.nfa_.num_states(), 0);
  rule.group().account(rule.nfa_.memory_bytes() + rule.seen_.size() + rule.sets_.size() * sizeof(ByteSet) +
                       rule.callees_.size() * sizeof(Callee));
  rule.build_classes();
  rule.find_loops();
}

}  // namespace maskwright
