#include "instance_linker.h"

#include <string>

#include "errors.h"
#include "witness_search.h"

namespace maskwright {
namespace {

constexpr size_t kMaxBatch = 5'000;
constexpr size_t kMaxEdges = 5'000'000;
constexpr uint8_t kProductive = 1, kNullable = 2;

}  // namespace

Rule* InstanceLinker::link() {
  if (root_.rule) return root_.rule;
  add(root_);
  for (size_t i = 0; i < batch_.size(); ++i) {
    draft(i);
    link_left_calls(i);
  }
  builder_.remove_left_recursion();
  builder_.rank_and_first();
  for (auto& member : builder_.members_) builder_.freeze(member);
  for (size_t i = 0; i < batch_.size(); ++i) {
    batch_[i]->rule = rules_[i].get();
    batch_[i]->model->group().family()->keep(std::move(rules_[i]));
  }
  return root_.rule;
}

Rule* InstanceLinker::add(Instance& instance) {
  Rule& model = *instance.model;
  if (batch_.size() >= kMaxBatch || num_edges_ > kMaxEdges)
    throw LimitExceeded("parametric_left_calls",
                        "a rule with a parameter calls, before its first byte, too many rules with other parameters");
  auto rule = std::make_unique<Rule>(model.group(), model.index());
  rule->sets_ = model.sets_;
  rule->token_sets_ = model.token_sets_;
  rule->counts_ = model.counts_;
  rule->terminator_ = model.terminator_;
  rule->capture_ = model.capture_;
  rule->nullable_ = WitnessSearch::is_nullable(instance);
  rule->productive_ = WitnessSearch::is_productive(instance);
  const Family& family = *model.group().family();
  builder_.member_of_[rule.get()] = builder_.members_.size();
  builder_.members_.push_back({&family.of(model).unit, rule.get()});
  batch_.push_back(&instance);
  rules_.push_back(std::move(rule));
  in_batch_[&instance] = rules_.back().get();
  return rules_.back().get();
}

// Fills the rule's callees, numbered as the template's, and notes which calls can be passed.
void InstanceLinker::decide_calls(Instance& instance, Rule& rule) {
  const Rule& model = *instance.model;
  const Family& family = *model.group().family();
  passable_.assign(model.callees_.size(), 0);
  rule.callees_.reserve(model.callees_.size());
  for (size_t i = 0; i < model.callees_.size(); ++i) {
    const Callee& called = model.callees_[i];
    rule.callees_.push_back({called.rule, called.reg});
  }
  const auto decide = [&](uint32_t argument) {
    if (passable_[argument] != 0) return;
    const Callee& called = model.callees_[argument];
    Callee& callee = rule.callees_[argument];
    bool productive, nullable;
    if (called.rule->is_template()) {
      Rule& other = *called.rule;
      Instance& target = other.group().family()->instance(other, family.value(called.value, instance.parameter));
      const auto it = in_batch_.find(&target);
      callee.rule = target.rule ? target.rule : it != in_batch_.end() ? it->second : nullptr;
      callee.instance = callee.rule ? nullptr : &target;
      productive = WitnessSearch::is_productive(target);
      nullable = WitnessSearch::is_nullable(target);
      if (other.counts()) {
        const Count count = Count::of(called.reg);
        const bool terminated = other.terminator() >= 0;
        if (nullable) callee.reg = Count{0, count.remaining}.reg();  // an item that can be empty makes up any number
        productive = productive || (terminated && Count::of(callee.reg).needed == 0);
        nullable = !terminated && (nullable || count.needed == 0);
      }
    } else {
      productive = is_productive(called);
      nullable = is_nullable(called);
      if (called.rule->counts_ && called.rule->nullable_) callee.reg = Count{0, Count::of(called.reg).remaining}.reg();
    }
    passable_[argument] = static_cast<uint8_t>(4 | (productive ? kProductive : 0) | (nullable ? kNullable : 0));
  };
  // Only calls that some guard lets through need an answer.
  const Nfa& nfa = model.nfa_;
  std::vector<uint8_t> seen(nfa.num_states());
  std::vector<uint32_t> reached{kStart};
  seen[kStart] = 1;
  for (size_t i = 0; i < reached.size(); ++i)
    for (const NfaEdge* e = nfa.begin(reached[i]); e != nfa.end(reached[i]); ++e) {
      if (e->kind == EdgeKind::Guard && !family.holds(e->argument, instance.parameter)) continue;
      if (e->kind == EdgeKind::Call) {
        decide(e->argument);
        if ((passable_[e->argument] & (kProductive | kNullable)) == 0) continue;
      }
      if (!seen[e->target]) {
        seen[e->target] = 1;
        reached.push_back(e->target);
      }
    }
}

void InstanceLinker::draft(size_t index) {
  Instance& instance = *batch_[index];
  Rule& rule = *rules_[index];
  if (!rule.productive_ && !rule.counts_) return;
  const Family& family = *instance.model->group().family();
  const Family::Template& pattern = family.of(*instance.model);
  decide_calls(instance, rule);
  NfaDraft& out = builder_.members_[index].draft;
  out.num_states = pattern.draft.num_states;
  out.edges.reserve(pattern.draft.edges.size() + 2);
  for (const auto& [source, edge] : pattern.draft.edges) {
    if (edge.kind == EdgeKind::Guard) {
      if (family.holds(edge.argument, instance.parameter)) out.add(source, EdgeKind::Epsilon, 0, edge.target);
    } else if (edge.kind == EdgeKind::Call) {
      const uint8_t passable = passable_[edge.argument];
      if (passable & kProductive) out.edges.push_back({source, edge});
      if (passable & kNullable && !rule.counts_) out.add(source, EdgeKind::Epsilon, 0, edge.target);
    } else {
      out.edges.push_back({source, edge});
    }
  }
  num_edges_ += out.edges.size();
  if (rule.counts_) return;
  out.trim();
  builder_.loop_self_tail_calls(builder_.members_[index]);
  builder_.split_start(builder_.members_[index]);
}

void InstanceLinker::link_left_calls(size_t index) {
  for (size_t i = 0; i < builder_.members_[index].draft.edges.size(); ++i) {
    const auto [source, edge] = builder_.members_[index].draft.edges[i];
    if (source != kStart || edge.kind != EdgeKind::Call) continue;
    Callee& callee = rules_[index]->callees_[edge.argument];
    if (callee.rule) continue;
    const auto it = in_batch_.find(callee.instance);
    callee.rule = callee.instance->rule   ? callee.instance->rule
                  : it != in_batch_.end() ? it->second
                                          : add(*callee.instance);
    callee.instance = nullptr;
  }
}

}  // namespace maskwright
