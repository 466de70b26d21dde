#include "rules/instances/family.h"

#include <algorithm>
#include <bit>

#include "rules/instances/instance_linker.h"
#include "rules/instances/progress.h"
#include "rules/rule_store.h"
#include "support/errors.h"

namespace maskwright {
namespace {

constexpr size_t kMaxInstances = 4'000'000;
constexpr size_t kRecordBytes = sizeof(Instance) + 48;  // with its place in the table

// Edges that can be passed without consuming anything, on some way from start to end.
Nfa silent_part(const RuleDraft& body) {
  NfaDraft out;
  out.num_states = body.draft.num_states;
  for (const auto& [source, edge] : body.draft.edges)
    if (edge.kind == EdgeKind::Epsilon || edge.kind == EdgeKind::Guard ||
        (edge.kind == EdgeKind::Call && body.callees[edge.argument].is_template()))
      out.add(source, edge.kind, edge.argument, edge.target);
  out.trim();
  return Nfa(out);
}

}  // namespace

uint32_t Family::add_value(const ValueFunction& value) {
  const auto it = std::find(values_.begin(), values_.end(), value);
  if (it != values_.end()) return static_cast<uint32_t>(it - values_.begin());
  values_.push_back(value);
  return static_cast<uint32_t>(values_.size() - 1);
}

uint32_t Family::add_condition(const Condition& condition) {
  conditions_.push_back(condition);
  return static_cast<uint32_t>(conditions_.size() - 1);
}

void Family::add(RuleDraft draft, bool parametric) {
  if (draft.kind == BlueprintUnit::Kind::Expression) draft.draft.trim();
  Nfa nfa(draft.draft), silent = silent_part(draft);
  template_bytes_ += sizeof(Template) + draft.draft.edges.capacity() * sizeof(NfaDraft::Edge) + nfa.memory_bytes() +
                     silent.memory_bytes() + draft.callees.capacity() * sizeof(Callee);
  templates_.push_back({std::move(draft), std::move(nfa), std::move(silent), parametric});
}

void Family::finish() {
  find_progress(group_, templates_);
  uint64_t moved = 0;
  for (const ValueFunction& value : values_)
    for (const ValueStep& step : value)
      if (step.kind == ValueStep::Kind::Mask && step.a != 0) moved |= step.b | ~step.a;
  num_bits_moved_ = static_cast<uint32_t>(std::popcount(moved));
  group_.account(sizeof(*this) + template_bytes_);
  template_bytes_ = group_.approximate_bytes();
}

Instance& Family::instance(Rule& model, uint64_t parameter) {
  if (!of(model).parametric) parameter = 0;
  const auto [it, fresh] = instances_.try_emplace(Key{model.index(), parameter}, Instance{&model, parameter});
  if (fresh && instances_.size() > kMaxInstances)
    throw LimitExceeded("parametric_instances", "rules with a parameter were used with more than " +
                                                    std::to_string(kMaxInstances) + " different values");
  if (fresh) group_.account(kRecordBytes);
  return it->second;
}

Instance& Family::called(const Callee& callee, uint64_t parameter) const {
  return callee.rule->group().family()->instance(*callee.rule, value_of(values_[callee.value], parameter));
}

void Family::keep(std::unique_ptr<Rule> rule) {
  group_.account(sizeof(Rule));
  num_linked_.fetch_add(1, std::memory_order_relaxed);
  linked_.push_back(std::move(rule));
}

size_t Family::memory_bytes() {
  const std::lock_guard guard(group_.store().linking_lock());
  size_t bytes = sizeof(*this) + instances_.size() * kRecordBytes;
  for (const Template& t : templates_)
    bytes += sizeof(t) + t.nfa.memory_bytes() + t.silent.memory_bytes() +
             t.body.draft.edges.capacity() * sizeof(NfaDraft::Edge) + t.body.callees.capacity() * sizeof(Callee);
  for (const auto& rule : linked_) bytes += rule->memory_bytes();
  return bytes;
}

Rule* link(Instance& instance) {
  const std::lock_guard guard(instance.model->group().store().linking_lock());
  return InstanceLinker(instance).link();
}

Rule* instantiate(Rule& model, uint64_t parameter) {
  const std::lock_guard guard(model.group().store().linking_lock());
  return InstanceLinker(model.group().family()->instance(model, parameter)).link();
}

}  // namespace maskwright
