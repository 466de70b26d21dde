#include "rules/instances/deferred.h"

#include <stdexcept>
#include <string>

#include "rules/rule_store.h"

namespace maskwright {
namespace {

constexpr uint32_t kRank = 8;  // above that of what its grammar's root may call before the first byte

}  // namespace

LinkedRule DeferredGroup::link(RuleStore& store, uint64_t key, const DeferredFacts& promised) {
  std::string name = "deferred" + std::to_string(key);
  std::shared_ptr<RuleGroup> group = store.find(name);
  if (!group) {
    group = std::make_shared<RuleGroup>(store, std::move(name), std::vector<LinkedRule>());
    group->deferred_key_ = key;
    group->leads_to_families_ = promised.has_families;
    group->has_memory_ = promised.has_memory;
    group->promised_bytes_ = promised.num_bytes;
    RuleFacts facts;
    facts.productive = true;
    facts.nullable = promised.nullable;
    facts.first = promised.first;
    facts.first_has_tokens = promised.first_has_tokens;
    facts.rank = kRank;
    group->add_rule(facts);
    group = store.insert(std::move(group));
  }
  return {group, &group->rule(0)};
}

void DeferredGroup::supply(RuleGroup& group, const LinkedRule& content) {
  const RuleFacts& facts = content.rule->facts();
  const RuleFacts& promised = group.rule(0).facts();
  if (facts.nullable != promised.nullable || !facts.productive || facts.rank >= kRank ||
      (facts.first_has_tokens && !promised.first_has_tokens) || (facts.first & promised.first) != facts.first ||
      (content.group->leads_to_families() && !group.leads_to_families()) || content.group->has_budgets() ||
      content.group->has_temperatures() || (content.group->has_memory() && !group.has_memory()) ||
      content.group->has_lists())
    throw std::logic_error("a deferred subgrammar is not what was promised");
  const std::lock_guard guard(group.lock_);
  if (group.content()) return;
  group.content_storage_ = content;
  group.content_.store(&group.content_storage_, std::memory_order_release);
}

void DeferredGroup::build(RuleGroup& group) {
  const LinkedRule* content = group.content();
  if (!content) throw GrammarNeeded(group.shared_from_this());
  DeferredGroup drafts;
  drafts.add_member(BlueprintUnit::Kind::Expression, group.rule(0));
  Member& member = drafts.members_[0];
  member.draft.add(kStart, EdgeKind::Call, callee_index(member, {content->rule, 0}), kFinal);
  freeze(member);
  group.is_built_ = true;
}

}  // namespace maskwright
