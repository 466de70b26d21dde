#include "known_rules.h"

#include <algorithm>

#include "ir.h"
#include "rule_store.h"

namespace maskwright {

KnownRules::KnownRules(const GrammarIr& beginning) : rules_(beginning.rules.size(), Known{.is_closed = true}) {
  std::vector<uint8_t> is_closed(beginning.nodes.size());
  for (bool changed = true; changed;) {  // as many rounds as open rules follow each other; mostly all are closed
    for (ExprId id = 0; id < beginning.nodes.size(); ++id) {
      const ExprNode& node = beginning.nodes[id];
      const auto is_child_closed = [&](ExprId child) { return is_closed[child] != 0; };
      switch (node.op) {
        case Op::Seq:
        case Op::Alt:
        case Op::And:
          is_closed[id] = std::all_of(beginning.children.begin() + node.begin, beginning.children.begin() + node.end,
                                      is_child_closed);
          break;
        case Op::Repeat:
        case Op::Not:
        case Op::Guard:
        case Op::Capture:
        case Op::Span: is_closed[id] = is_closed[node.begin]; break;
        case Op::Ref:
        case Op::Call: is_closed[id] = node.begin < rules_.size() && rules_[node.begin].is_closed; break;
        default: is_closed[id] = true;
      }
    }
    changed = false;
    for (size_t r = 0; r < rules_.size(); ++r)
      if (rules_[r].is_closed && !is_closed[beginning.rules[r]]) {
        rules_[r].is_closed = false;
        changed = true;
      }
  }
}

std::vector<LinkedRule> KnownRules::find(RuleStore& store) {
  std::vector<LinkedRule> out(rules_.size());
  const std::lock_guard guard(lock_);
  for (size_t r = 0; r < rules_.size(); ++r)
    if (auto group = rules_[r].group.lock()) {
      store.use(group);
      out[r] = {std::move(group), rules_[r].rule};
    }
  return out;
}

void KnownRules::keep(const std::vector<LinkedRule>& linked) {
  const std::lock_guard guard(lock_);
  for (size_t r = 0; r < rules_.size(); ++r) {
    const auto& [group, rule] = linked[r];
    if (!rule || !rules_[r].is_closed || group->leads_to_families() || rules_[r].group.lock() == group) continue;
    rules_[r].group = group;
    rules_[r].rule = rule;
  }
}

}  // namespace maskwright
