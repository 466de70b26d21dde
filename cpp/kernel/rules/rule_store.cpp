#include "rules/rule_store.h"

#include <algorithm>
#include <utility>

#include "grammar/ir.h"
#include "rules/instances/family.h"
#include "rules/reached.h"
#include "support/optimisations.h"

namespace maskwright {

std::shared_ptr<RuleGroup> RuleStore::in_use(const Entry& entry) {
  std::shared_ptr<RuleGroup> group = entry.alive.lock();
  if (!group) return nullptr;
  const bool retired = group->family() ? group->family()->is_retired() : group->deferred_key() && is_retired(*group);
  return retired ? nullptr : group;
}

std::shared_ptr<RuleGroup> RuleStore::find(std::string_view blueprint) {
  if (!optimisations.sharing) return nullptr;
  const std::lock_guard guard(lock_);
  const auto it = groups_.find(blueprint);
  std::shared_ptr<RuleGroup> group = it == groups_.end() ? nullptr : in_use(it->second);
  if (group) keep_recent(it->second, group);
  return group;
}

std::shared_ptr<RuleGroup> RuleStore::insert(std::shared_ptr<RuleGroup> group) {
  if (!optimisations.sharing) return group;
  Recent idle;  // dies after the lock is released, as groups take it to be forgotten
  const std::lock_guard guard(lock_);
  const auto it = groups_.find(group->blueprint());
  if (it != groups_.end()) {
    if (auto earlier = in_use(it->second)) return earlier;
    if (it->second.is_recent) idle.splice(idle.begin(), recent_, it->second.recent);
    if (auto retired = it->second.alive.lock()) {
      retired->entry_ = nullptr;
      idle.push_back(std::move(retired));
    }
    groups_.erase(it);  // its key dies with the group
  }
  Entry& entry = groups_[group->blueprint()];
  entry.group = group.get();
  entry.alive = group;
  group->entry_ = &entry;
  keep_recent(entry, group);
  idle.splice(idle.begin(), take_idle(kMostAtOnce));
  return group;
}

Subgrammar RuleStore::find(uint64_t subgrammar_key) {
  Subgrammar out{.key = subgrammar_key};
  if (!optimisations.sharing) return out;
  std::shared_ptr<RuleGroup> group;  // let go of after the lock, as groups take it to be forgotten
  const std::lock_guard guard(lock_);
  const auto known = subgrammars_.find(subgrammar_key);
  if (known == subgrammars_.end()) return out;
  group = known->second.group.lock();
  if (!group || is_retired(*group)) return out;
  if (group->entry_) keep_recent(*group->entry_, group);
  out.linked = {group, known->second.rule};
  out.ir = known->second.ir;
  out.deferred = known->second.deferred;
  out.num_nodes = known->second.num_nodes;
  return out;
}

void RuleStore::insert(const Subgrammar& made) {
  if (!optimisations.sharing) return;
  const RuleGroup& group = *made.linked.group;
  std::vector<KnownSubgrammar> gone;  // as above
  const std::lock_guard guard(lock_);
  const bool is_linked_again = group.leads_to_families();
  gone.push_back(
      std::exchange(subgrammars_[made.key], {made.linked.group, made.linked.rule, is_linked_again ? made.ir : nullptr,
                                             is_linked_again ? made.deferred : std::nullopt, made.num_nodes}));
  if (subgrammars_.size() < sweep_at_) return;
  std::erase_if(subgrammars_, [&](auto& entry) {
    if (!entry.second.group.expired()) return false;
    gone.push_back(std::move(entry.second));
    return true;
  });
  sweep_at_ = std::max(kFirstSweep, 2 * subgrammars_.size());
}

std::optional<bool> RuleStore::are_disjoint(const OperandPair& pair) {
  const std::lock_guard guard(lock_);
  const auto it = disjoint_.find(pair);
  return it == disjoint_.end() ? std::nullopt : std::optional(it->second);
}

void RuleStore::know_disjoint(const OperandPair& pair, bool disjoint) {
  const std::lock_guard guard(lock_);
  if (disjoint_.size() >= kMaxPairs) disjoint_.clear();
  disjoint_[pair] = disjoint;
}

void RuleStore::keep_recent(Entry& entry, const std::shared_ptr<RuleGroup>& group) {
  if (entry.is_recent) return recent_.splice(recent_.begin(), recent_, entry.recent);
  recent_.push_front(group);
  entry.recent = recent_.begin();
  entry.is_recent = true;
}

void RuleStore::keep_within(size_t budget_bytes) {
  budget_bytes_.store(budget_bytes, std::memory_order_relaxed);
  Recent idle;  // dies after the lock is released
  const std::lock_guard guard(lock_);
  idle = take_idle(budget_bytes > 0 ? kMostWithin : SIZE_MAX);  // a cache that is cleared may take its time
}

RuleStore::Recent RuleStore::take_idle(size_t most) {
  Recent idle;
  const size_t bytes = memory_bytes(), budget = budget_bytes_.load(std::memory_order_relaxed);
  size_t excess = bytes > budget ? bytes - budget : 0;
  while (excess > 0 && idle.size() < most && recent_.size() > 1) {
    const std::shared_ptr<RuleGroup>& group = recent_.back();
    if (group.use_count() == 1) excess -= std::min(excess, group->approximate_bytes());  // it dies with `idle`
    Entry& oldest = groups_.find(group->blueprint())->second;
    oldest.is_recent = false;
    idle.splice(idle.begin(), recent_, oldest.recent);
  }
  return idle;
}

void RuleStore::forget(const RuleGroup& group) {
  bytes_.fetch_sub(group.approximate_bytes(), std::memory_order_relaxed);
  const std::lock_guard guard(lock_);
  const auto it = groups_.find(group.blueprint());
  if (it != groups_.end() && it->second.group == &group) groups_.erase(it);
}

size_t RuleStore::size() {
  const std::lock_guard guard(lock_);
  return groups_.size();
}

}  // namespace maskwright
