#include "rules/known_rules.h"

#include <algorithm>

#include "grammar/ir.h"
#include "rules/rule_store.h"

namespace maskwright {

KnownRules::KnownRules(const GrammarIr& beginning) : rules_(beginning.rules.size()) {
  add_properties(beginning, properties_);
  properties_.share();
  find_closed(beginning);
}

void KnownRules::find_closed(const GrammarIr& beginning) {
  is_closed_.resize(beginning.nodes.size());
  is_rule_closed_.resize(rules_.size(), 1);
  for (bool changed = true; changed;) {  // as many rounds as open rules follow each other; mostly all are closed
    for (ExprId id = 0; id < beginning.nodes.size(); ++id) {
      const ExprNode& node = beginning.nodes[id];
      const auto is_child_closed = [&](ExprId child) { return is_closed_[child] != 0; };
      switch (node.op) {
        case Op::Seq:
        case Op::Alt:
        case Op::And:
        case Op::Distinct:
          is_closed_[id] = std::ranges::all_of(beginning.children.slice(node.begin, node.end), is_child_closed);
          break;
        case Op::Repeat:
        case Op::Not:
        case Op::Guard:
        case Op::Capture:
        case Op::Span:
        case Op::Scope:
        case Op::Value:
        case Op::Remember:
        case Op::Recall:
        case Op::Multiple: is_closed_[id] = is_closed_[node.begin]; break;
        case Op::Ref:
        case Op::Call: is_closed_[id] = node.begin < rules_.size() && is_rule_closed_[node.begin]; break;
        default: is_closed_[id] = 1;
      }
    }
    changed = false;
    for (size_t r = 0; r < rules_.size(); ++r)
      if (is_rule_closed_[r] && !is_closed_[beginning.rules[r]]) {
        is_rule_closed_[r] = 0;
        changed = true;
      }
  }
}

KnownRules::Linked KnownRules::find(RuleStore& store) {
  Linked out;
  out.rules.resize(rules_.size());
  const auto find = [&](const Known& known) {
    LinkedRule linked{known.group.lock(), known.rule};
    if (linked.group)
      store.use(linked.group);
    else
      linked.rule = nullptr;
    return linked;
  };
  const std::lock_guard guard(lock_);
  for (size_t r = 0; r < rules_.size(); ++r) out.rules[r] = find(rules_[r]);
  for (const KnownPart& part : parts_)
    if (LinkedRule linked = find(part.known); linked.rule)
      out.parts.push_back({part.expr, part.unrolled, std::move(linked)});
  return out;
}

void KnownRules::keep(const Linked& linked) {
  const std::lock_guard guard(lock_);
  for (size_t r = 0; r < rules_.size(); ++r)
    if (is_rule_closed_[r]) keep(rules_[r], linked.rules[r]);
  for (const Part& part : linked.parts) {
    if (part.expr >= is_closed_.size() || !is_closed_[part.expr]) continue;
    auto known = std::ranges::find_if(
        parts_, [&](const KnownPart& each) { return each.expr == part.expr && each.unrolled == part.unrolled; });
    if (known == parts_.end()) known = parts_.insert(known, {part.expr, part.unrolled, {}});
    keep(known->known, part.linked);
  }
}

void KnownRules::keep(Known& known, const LinkedRule& linked) {
  if (!linked.rule || linked.group->leads_to_families() || known.group.lock() == linked.group) return;
  known = {linked.group, linked.rule};
}

}  // namespace maskwright
