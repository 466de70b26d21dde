// What the rules of a component have in common: memory, masks kept, what it keeps alive.
#include <algorithm>

#include "rules/instances/family.h"
#include "rules/rule.h"
#include "rules/rule_store.h"

namespace maskwright {

size_t RuleGroup::memory_bytes() {
  const std::lock_guard guard(lock_);
  size_t bytes = sizeof(*this);
  for (const auto& rule : rules_) bytes += rule->memory_bytes();
  for (const auto& mask : masks_) bytes += mask->memory_bytes();
  if (family_) bytes += family_->memory_bytes();
  return bytes;
}

RuleGroup::RuleGroup(RuleStore& store, std::string blueprint, std::vector<LinkedRule> callees)
    : id_(store.next_id()), blueprint_(std::move(blueprint)), callees_(std::move(callees)), store_(store) {
  account(sizeof(*this) + blueprint_.capacity() + callees_.capacity() * sizeof(LinkedRule));
}

Rule& RuleGroup::add_rule(const RuleFacts& facts) {
  account(sizeof(Rule));
  const auto index = static_cast<uint32_t>(rules_.size());
  return *rules_.emplace_back(std::make_unique<Rule>(*this, index, facts));
}

void RuleGroup::account(size_t more_bytes) {
  bytes_.fetch_add(more_bytes, std::memory_order_relaxed);
  store_.account(more_bytes);
}

// A long chain of groups is let go link by link: the groups called wait until the one that let go of them is gone.
RuleGroup::~RuleGroup() {
  store_.forget(*this);
  thread_local std::vector<std::shared_ptr<RuleGroup>> waiting;
  thread_local bool releasing = false;
  for (LinkedRule& link : callees_) waiting.push_back(std::move(link.group));
  for (auto& tail : tails_) waiting.push_back(std::move(tail));
  waiting.push_back(std::move(content_storage_.group));
  if (releasing) return;
  releasing = true;
  while (!waiting.empty()) {
    const std::shared_ptr<RuleGroup> next = std::move(waiting.back());
    waiting.pop_back();
  }
  releasing = false;
}

DfaState* RuleGroup::shared_tail(const DerivativeAutomaton& automaton, TermId term) {
  const std::string key = "tail" + automaton.serialise(term);
  std::shared_ptr<RuleGroup> group = store_.find(key);
  if (!group) {
    group = std::make_shared<RuleGroup>(store_, key, std::vector<LinkedRule>());
    RuleFacts facts;
    facts.productive = true;
    Rule& rule = group->add_rule(facts);
    rule.derivatives_ = std::make_unique<DerivativeAutomaton>(automaton, term);
    rule.use_classes(*rule.derivatives_);
    group->is_built_ = true;
    group = store_.insert(std::move(group));
  }
  if (std::find(tails_.begin(), tails_.end(), group) == tails_.end()) tails_.push_back(group);
  const std::lock_guard guard(group->lock_);
  Rule& rule = group->rule(0);
  return rule.state_of_term(rule.derivatives_->start());
}

const StateMask* RuleGroup::keep(std::unique_ptr<const StateMask> mask) {
  account(mask->memory_bytes());
  masks_.push_back(std::move(mask));
  return masks_.back().get();
}

}  // namespace maskwright
