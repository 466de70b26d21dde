#include "rule_store.h"

#include "family.h"
#include "optimisations.h"

namespace maskwright {

std::shared_ptr<RuleGroup> RuleStore::in_use(const Entry& entry) {
  std::shared_ptr<RuleGroup> group = entry.alive.lock();
  return group && group->family() && group->family()->is_retired() ? nullptr : group;
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
    groups_.erase(it);  // its key dies with the group
  }
  Entry& entry = groups_[group->blueprint()];
  entry.group = group.get();
  entry.alive = group;
  keep_recent(entry, group);
  idle.splice(idle.begin(), take_idle());
  return group;
}

void RuleStore::keep_recent(Entry& entry, const std::shared_ptr<RuleGroup>& group) {
  if (entry.is_recent) return recent_.splice(recent_.begin(), recent_, entry.recent);
  recent_.push_front(group);
  entry.recent = recent_.begin();
  entry.is_recent = true;
}

RuleStore::Recent RuleStore::take_idle() {
  Recent idle;
  while (memory_bytes() > budget_bytes_ && recent_.size() > 1) {
    Entry& oldest = groups_.find(recent_.back()->blueprint())->second;
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
