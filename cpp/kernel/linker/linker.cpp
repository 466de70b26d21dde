#include "linker/linker.h"

#include <algorithm>

#include "rules/building/group_builder.h"
#include "rules/instances/deferred.h"
#include "rules/instances/family.h"
#include "support/components.h"
#include "support/errors.h"
#include "support/optimisations.h"

namespace maskwright {
namespace {

// A rule for one character is inlined even if it is a large class, so that repetitions of it are loops of their own.
constexpr uint64_t kMaxInlinedCharacterWeight = 4096;

}  // namespace

Linker::Linker(const GrammarIr& ir, RuleStore& store)
    : ir_(ir), store_(store), properties_(properties_of(ir)), nodes_(ir.nodes.size()) {}

LinkedRule Linker::link(bool starts_root) {
  starts_root_ = starts_root;
  for (const ExprId body : ir_.rules) {
    refuse_memory(body, "a rule");
    units_.push_back({.kind = Kind::Expression, .expr = body});
  }
  for (const Subgrammar& known : ir_.subgrammars) {
    LinkedRule linked = link_subgrammar(known);
    units_.push_back({.rule = linked.rule, .group = std::move(linked.group)});
  }
  num_named_ = static_cast<uint32_t>(units_.size());
  for (const auto& component :
       strong_components({ir_.root}, [this](uint32_t unit, std::vector<uint32_t>& out) { add_callees(unit, out); })) {
    if (may_inline(component))
      units_[component[0]].inlined = true;
    else
      intern(component);
  }
  return {units_[ir_.root].group, units_[ir_.root].rule};
}

// Another thread may link the same one meanwhile: both get the same groups, by their structure.
LinkedRule Linker::link_subgrammar(const Subgrammar& subgrammar) {
  if (subgrammar.linked.rule) return subgrammar.linked;
  Subgrammar known = store_.find(subgrammar.key);
  if (!known.linked.rule) {
    known = subgrammar;
    known.linked = known.deferred ? DeferredGroup::link(store_, known.key, *known.deferred)
                                  : Linker(*known.ir, store_).link(false);
    store_.insert(known);
  }
  return known.linked;
}

// One for single characters, or a small rule without loops, that calls no rule of its own component. Its size
// counts every occurrence, as inlining copies it.
bool Linker::may_inline(const std::vector<uint32_t>& component) {
  const uint32_t index = component[0];
  if (!optimisations.inlining || component.size() > 1 || index == ir_.root || index >= ir_.rules.size()) return false;
  if (is_parametric(index)) return false;
  const ExprProperties& body = properties_[units_[index].expr];
  if (body.form == Form::Plain && body.longest <= kCharacterBytes && body.weight <= kMaxInlinedCharacterWeight)
    return true;
  uint64_t weight = 0;
  walk_.assign(1, units_[index].expr);
  while (!walk_.empty()) {
    const ExprId id = walk_.back();
    walk_.pop_back();
    const ExprProperties& known = properties_[id];
    if (known.loops || known.counting || known.uses_memory) return false;
    const ExprNode& node = ir_.nodes[id];
    if (const uint32_t unit = unit_of(id); unit != kNone) {
      if (unit == index) return false;
      if (units_[unit].inlined) walk_.push_back(units_[unit].expr);
    } else if (node.op == Op::Seq || node.op == Op::Alt) {
      if (node.end - node.begin > kMaxInlinedWeight) return false;
      const auto operands = ir_.children.slice(node.begin, node.end);
      walk_.insert(walk_.end(), operands.begin(), operands.end());
    } else if (node.op == Op::Repeat) {
      walk_.insert(walk_.end(), static_cast<size_t>(node.maximum), node.begin);
    }
    weight += node.op == Op::Literal || node.op == Op::Substrings ? known.weight : 1;
    if (weight + walk_.size() > kMaxInlinedWeight) return false;
  }
  return true;
}

void Linker::intern(const std::vector<uint32_t>& component) {
  if (units_[component[0]].rule) return;
  ++component_;
  num_members_ = static_cast<uint32_t>(component.size());
  is_family_ = std::ranges::any_of(component, [this](uint32_t unit) { return is_parametric(unit); });
  if (is_family_ &&
      std::ranges::any_of(component, [this](uint32_t u) { return units_[u].memory.kind != MemoryRole::Kind::None; }))
    throw LimitExceeded("remembered_text",
                        "text is remembered inside of a rule with a parameter that leads back to itself");
  const auto needs_element = [this](uint32_t u) {
    return is_list(units_[u]) && has_element(ir_.nodes[units_[u].expr]);
  };
  if (num_members_ > 1 && std::ranges::any_of(component, needs_element))
    throw LimitExceeded("remembered_text", "a list of distinct elements leads back to itself");
  callees_.clear();
  instance_places_.clear();
  writer_.clear();
  for (uint32_t i = 0; i < num_members_; ++i) units_[component[i]].place = {component_, i};
  for (const uint32_t member : component) write_unit(member);
  for (const Called& callee : callees_)
    writer_.callee(units_[callee.unit].group->id(), units_[callee.unit].rule->index(), callee.parameter);

  std::shared_ptr<RuleGroup> group = store_.find(writer_.text());
  if (!group) {
    std::vector<LinkedRule> links;
    links.reserve(callees_.size());
    for (const auto& [unit, parameter] : callees_) {
      Rule& rule = *units_[unit].rule;
      const bool as_instance = rule.group().family() && !is_family_;
      links.push_back({units_[unit].group, as_instance ? instantiate(rule, parameter) : &rule});
    }
    const bool at_once = starts_root_ && std::ranges::find(component, ir_.root) != component.end();
    group = store_.insert(GroupBuilder::make(store_, writer_.text(), std::move(links), at_once));
  }
  for (uint32_t i = 0; i < num_members_; ++i) {
    units_[component[i]].rule = &group->rule(i);
    units_[component[i]].group = group;
    if (group->rule(i).remembers() && group->rule(i).nullable())
      throw MalformedGrammar("a text that is remembered may be empty");
  }
}

}  // namespace maskwright
