#include "linker.h"

#include <algorithm>

#include "components.h"
#include "errors.h"
#include "family.h"
#include "group_builder.h"
#include "optimisations.h"

namespace maskwright {
namespace {

// A rule for one character is inlined even if it is a large class, so that repetitions of it are loops of their own.
constexpr uint64_t kMaxInlinedCharacterWeight = 4096;

}  // namespace

Program Linker::link() {
  weigh();
  for (const ExprId body : ir_.rules) units_.push_back({.kind = Kind::Expression, .expr = body});
  for (const auto& component : strong_components({ir_.root}, [this](uint32_t unit) { return callees(unit); })) {
    if (may_inline(component))
      units_[component[0]].inlined = true;
    else
      intern(component);
  }
  program_.root = units_[ir_.root].rule;
  for (const SpanRule& span : ir_.spans) {
    program_.has_budgets = program_.has_budgets || span.max_tokens > 0;
    program_.has_temperatures = program_.has_temperatures || span.temperature >= 0;
  }
  if (program_.root->group().family()) program_.root = instantiate(*program_.root, 0);
  if (!program_.root->productive() && !program_.root->nullable())
    throw Unsatisfiable("no output at all satisfies this structure");
  return std::move(program_);
}

// One for single characters, or a small rule without loops, that calls no rule of its own component. Weighed by
// occurrences, as inlining copies it.
bool Linker::may_inline(const std::vector<uint32_t>& component) {
  const uint32_t index = component[0];
  if (!optimisations.inlining || component.size() > 1 || index == ir_.root || index >= ir_.rules.size()) return false;
  if (is_parametric(index)) return false;
  const Node& body = nodes_[units_[index].expr];
  if (body.form == Form::Plain && body.longest <= kCharacterBytes && body.weight <= kMaxInlinedCharacterWeight)
    return true;
  uint64_t weight = 0;
  std::vector<ExprId> open{units_[index].expr};
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    const Node& known = nodes_[id];
    if (known.loops || known.counting) return false;
    const ExprNode& node = ir_.nodes[id];
    if (known.unit != kNone) {
      if (known.unit == index) return false;
      if (units_[known.unit].inlined) open.push_back(units_[known.unit].expr);
    } else if (node.op == Op::Seq || node.op == Op::Alt) {
      if (node.end - node.begin > kMaxInlinedWeight) return false;
      open.insert(open.end(), ir_.children.begin() + node.begin, ir_.children.begin() + node.end);
    } else if (node.op == Op::Repeat) {
      open.insert(open.end(), static_cast<size_t>(node.maximum), node.begin);
    }
    weight += node.op == Op::Literal ? known.weight : 1;
    if (weight + open.size() > kMaxInlinedWeight) return false;
  }
  return true;
}

void Linker::intern(const std::vector<uint32_t>& component) {
  if (units_[component[0]].rule) return;
  ++component_;
  num_members_ = static_cast<uint32_t>(component.size());
  is_family_ = std::ranges::any_of(component, [this](uint32_t unit) { return is_parametric(unit); });
  callees_.clear();
  instance_places_.clear();
  writer_.clear();
  for (uint32_t i = 0; i < num_members_; ++i) units_[component[i]].place = {component_, i};
  for (const uint32_t member : component) write_unit(member);
  for (const Called& callee : callees_)
    writer_.callee(units_[callee.unit].group->id(), units_[callee.unit].rule->index(), callee.parameter);

  std::shared_ptr<RuleGroup> group = store_.find(writer_.text());
  if (!group) {
    std::vector<RuleGroup::CalleeLink> links;
    links.reserve(callees_.size());
    for (const auto& [unit, parameter] : callees_) {
      Rule& rule = *units_[unit].rule;
      const bool as_instance = rule.group().family() && !is_family_;
      links.push_back({units_[unit].group, as_instance ? instantiate(rule, parameter) : &rule});
    }
    group = store_.insert(GroupBuilder::make(store_, writer_.text(), std::move(links)));
  }
  for (uint32_t i = 0; i < num_members_; ++i) {
    units_[component[i]].rule = &group->rule(i);
    units_[component[i]].group = group;
  }
  if (group->family()) program_.families.push_back(group->family());
  program_.groups.push_back(std::move(group));
}

}  // namespace maskwright
