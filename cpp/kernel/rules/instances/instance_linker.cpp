#include "rules/instances/instance_linker.h"

#include "automata/registers.h"
#include "rules/instances/witness_search.h"
#include "support/errors.h"

namespace maskwright {
namespace {

constexpr size_t kMaxBatch = 5'000;

// Without FIRST and rank. Of a counter they are those of its item, as for any other.
RuleFacts facts_of(Instance& instance) {
  RuleFacts out;
  out.counts = instance.model->counts();
  out.terminator = instance.model->terminator();
  out.nullable = WitnessSearch::is_nullable(instance);
  out.productive = WitnessSearch::is_productive(instance);
  return out;
}

}  // namespace

Rule* InstanceLinker::link() {
  if (root_.rule) return root_.rule;
  add(root_);
  for (size_t i = 0; i < batch_.size(); ++i) {
    draft(i);
    link_left_calls(i);
  }
  remove_left_recursion();
  describe();
  for (Member& member : members_) freeze(member);
  for (size_t i = 0; i < batch_.size(); ++i) {
    batch_[i]->rule = rules_[i].get();
    batch_[i]->family().keep(std::move(rules_[i]));
  }
  return root_.rule;
}

Rule* InstanceLinker::add(Instance& instance) {
  if (batch_.size() >= kMaxBatch || num_edges_ > kMaxEdges)
    throw LimitExceeded("parametric_left_calls",
                        "a rule with a parameter calls, before its first byte, too many rules with other parameters");
  Rule& model = *instance.model;
  rules_.push_back(std::make_unique<Rule>(model.group(), model.index(), facts_of(instance)));
  Rule& rule = *rules_.back();
  rule.parameter_ = instance.parameter;
  rule.capture_ = model.capture();
  rule.span_ = model.span();
  const RuleDraft& body = instance.pattern().body;
  add_member(body.kind, rule);
  members_.back().sets = body.sets;
  members_.back().token_sets = body.token_sets;
  batch_.push_back(&instance);
  in_batch_[&instance] = &rule;
  return &rule;
}

Rule* InstanceLinker::known_rule(const Instance& instance) const {
  if (instance.rule) return instance.rule;
  const auto it = in_batch_.find(&instance);
  return it == in_batch_.end() ? nullptr : it->second;
}

void InstanceLinker::decide(Call& call, const Instance& caller) {
  if (call.decided) return;
  call.decided = true;
  if (!call.callee.is_template()) {
    call.productive = true;
    return;
  }
  Instance& target = caller.family().called(call.callee, caller.parameter);
  const RuleFacts facts = facts_of(target);
  const Count bounds = Count::of(call.callee.reg);
  call.callee = {known_rule(target), facts.counts ? start_register(bounds, facts.nullable) : 0};
  if (!call.callee.rule) call.callee.instance = &target;
  call.productive = is_productive(facts, bounds.needed);
  call.nullable = is_nullable(facts, bounds.needed);
}

// Only calls that some guard lets through need an answer.
void InstanceLinker::decide_calls(const Instance& instance) {
  const Template& pattern = instance.pattern();
  calls_.clear();
  for (const Callee& callee : pattern.body.callees) calls_.push_back({callee});
  const Nfa& nfa = pattern.nfa;
  std::vector<uint8_t> seen(nfa.num_states());
  std::vector<uint32_t> reached{kStart};
  seen[kStart] = 1;
  for (size_t i = 0; i < reached.size(); ++i)
    for (const NfaEdge* e = nfa.begin(reached[i]); e != nfa.end(reached[i]); ++e) {
      if (e->kind == EdgeKind::Guard && !instance.holds(e->argument)) continue;
      if (e->kind == EdgeKind::Call) {
        Call& call = calls_[e->argument];
        decide(call, instance);
        if (!call.productive && !call.nullable) continue;
      }
      if (seen[e->target]) continue;
      seen[e->target] = 1;
      reached.push_back(e->target);
    }
}

void InstanceLinker::draft(size_t index) {
  const Instance& instance = *batch_[index];
  Member& member = members_[index];
  const bool counts = member.rule->counts();
  if (!member.rule->productive() && !counts) return;
  decide_calls(instance);
  const NfaDraft& pattern = instance.pattern().body.draft;
  NfaDraft& out = member.draft;
  out.num_states = pattern.num_states;
  out.edges.reserve(pattern.edges.size() + 2);
  for (const auto& [source, edge] : pattern.edges) {
    if (edge.kind == EdgeKind::Guard) {
      if (instance.holds(edge.argument)) out.add(source, EdgeKind::Epsilon, 0, edge.target);
    } else if (edge.kind == EdgeKind::Call) {
      const Call& call = calls_[edge.argument];
      if (call.productive) out.add(source, EdgeKind::Call, callee_index(member, call.callee), edge.target);
      if (call.nullable && !counts) out.add(source, EdgeKind::Epsilon, 0, edge.target);
    } else {
      out.edges.push_back({source, edge});
    }
  }
  num_edges_ += out.edges.size();
  if (counts) return;
  out.trim();
  loop_self_calls(member);
  split_start(member);
}

void InstanceLinker::link_left_calls(size_t index) {
  for (size_t i = 0; i < members_[index].draft.edges.size(); ++i) {
    const auto [source, edge] = members_[index].draft.edges[i];
    if (source != kStart || edge.kind != EdgeKind::Call) continue;
    const Callee callee = members_[index].callees[edge.argument];
    if (callee.rule) continue;
    Rule* known = known_rule(*callee.instance);
    members_[index].callees[edge.argument] = {known ? known : add(*callee.instance), callee.reg};
  }
}

// FIRST and rank, callees first.
void InstanceLinker::describe() {
  for (const auto& component : left_call_components()) {
    const Member& member = members_[component[0]];
    RuleFacts& facts = member.rule->facts_;
    for (const auto& [source, edge] : member.draft.edges) {
      if (source != kStart) continue;
      switch (edge.kind) {
        case EdgeKind::Byte: facts.first.set(static_cast<uint8_t>(edge.argument)); break;
        case EdgeKind::Set: facts.first |= member.sets[edge.argument]; break;
        case EdgeKind::Tokens: facts.first_has_tokens = true; break;
        case EdgeKind::Call: follow_call(member.callees[edge.argument].rule->facts(), facts); break;
        case EdgeKind::Epsilon:
        case EdgeKind::Guard: break;
      }
    }
    if (facts.terminator >= 0) facts.first.set(static_cast<uint8_t>(facts.terminator));
  }
}

}  // namespace maskwright
