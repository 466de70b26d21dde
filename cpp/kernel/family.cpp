#include "family.h"

#include <algorithm>

#include "errors.h"
#include "instance_linker.h"
#include "progress.h"
#include "rule_store.h"

namespace maskwright {
namespace {

constexpr size_t kMaxInstances = 4'000'000;
constexpr size_t kRecordBytes = sizeof(Instance) + 48;  // with its place in the table

// Edges that can be passed without consuming anything, on some way from start to end.
Nfa silent_part(const Rule& model, const std::vector<Callee>& callees, const NfaDraft& draft) {
  NfaDraft out;
  out.num_states = draft.num_states;
  for (const auto& [source, edge] : draft.edges) {
    if (edge.kind == EdgeKind::Epsilon || edge.kind == EdgeKind::Guard)
      out.add(source, edge.kind, edge.argument, edge.target);
    if (edge.kind != EdgeKind::Call || model.counts()) continue;
    const Callee& callee = callees[edge.argument];
    if (callee.rule->is_template())
      out.add(source, edge.kind, edge.argument, edge.target);
    else if (is_nullable(callee))
      out.add(source, EdgeKind::Epsilon, 0, edge.target);
  }
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

void Family::add(Rule& model, Unit::Kind kind, int terminator, bool parametric, NfaDraft draft) {
  model.nfa_ = Nfa(draft);
  Nfa silent = silent_part(model, model.callees_, draft);
  templates_.push_back({{.kind = kind, .terminator = terminator}, std::move(draft), std::move(silent), parametric});
}

void Family::finish() {
  std::vector<Rule*> models;
  for (const auto& rule : group_.rules_) models.push_back(rule.get());
  const std::vector<bool> progresses = find_progress(*this, models);
  for (size_t m = 0; m < models.size(); ++m) templates_[m].progresses = progresses[m];
}

Instance& Family::instance(Rule& model, uint64_t parameter) {
  if (!of(model).parametric) parameter = 0;
  const auto [it, fresh] = instances_.try_emplace(Key{model.index(), parameter}, &model, parameter);
  if (fresh && instances_.size() > kMaxInstances)
    throw LimitExceeded("parametric_instances", "rules with a parameter were needed with more than " +
                                                    std::to_string(kMaxInstances) + " different ones");
  if (fresh) account(kRecordBytes);
  return it->second;
}

void Family::keep(std::unique_ptr<Rule> rule) {
  account(rule->memory_bytes());
  num_linked_.fetch_add(1, std::memory_order_relaxed);
  linked_.push_back(std::move(rule));
}

size_t Family::memory_bytes() {
  const std::lock_guard guard(group_.store().linking_lock());
  size_t bytes = sizeof(*this) + instances_.size() * kRecordBytes;
  for (const Template& t : templates_) bytes += t.draft.edges.capacity() * sizeof(NfaDraft::Edge);
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
