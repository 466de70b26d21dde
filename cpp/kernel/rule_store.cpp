#include "rule_store.h"

#include <vector>

#include "family.h"

namespace maskwright {
namespace {

constexpr size_t kSweepEvery = 256;
constexpr size_t kMaxIdleGroups = 16'384;

// The group, unless it is gone or not to be used any more.
std::shared_ptr<RuleGroup> in_use(const std::weak_ptr<RuleGroup>& known) {
  auto group = known.lock();
  return group && group->family() && group->family()->is_retired() ? nullptr : group;
}

}  // namespace

std::shared_ptr<RuleGroup> RuleStore::find(const std::string& key) {
  const std::lock_guard guard(lock_);
  const auto it = groups_.find(key);
  std::shared_ptr<RuleGroup> group = it == groups_.end() ? nullptr : in_use(it->second);
  if (group) keep_recent(group);
  return group;
}

std::shared_ptr<RuleGroup> RuleStore::insert(const std::string& key, std::shared_ptr<RuleGroup> group) {
  std::vector<std::shared_ptr<RuleGroup>> recent;
  {
    const std::lock_guard guard(lock_);
    std::weak_ptr<RuleGroup>& slot = groups_[key];
    if (auto earlier = in_use(slot)) return earlier;
    slot = group;
    keep_recent(group);
    if (++inserts_since_sweep_ < kSweepEvery) return group;
    inserts_since_sweep_ = 0;
    recent.assign(recent_.begin(), recent_.end());
  }
  sweep(recent, *group);
  return group;
}

void RuleStore::keep_recent(const std::shared_ptr<RuleGroup>& group) {
  if (const auto it = recent_position_.find(group.get()); it != recent_position_.end()) {
    recent_.splice(recent_.begin(), recent_, it->second);
    return;
  }
  recent_.push_front(group);
  recent_position_[group.get()] = recent_.begin();
}

// Lets go of the groups used longest ago, and forgets the keys of those that are gone. They are weighed without their
// locks, as the caller may hold one; `current` is the group just inserted and is not weighed.
void RuleStore::sweep(const std::vector<std::shared_ptr<RuleGroup>>& recent, const RuleGroup& current) {
  std::vector<const RuleGroup*> idle;
  size_t bytes = 0;
  for (size_t i = 0; i < recent.size(); ++i) {
    if (recent[i].get() != &current) bytes += recent[i]->approximate_bytes();
    if (i >= kMaxIdleGroups || bytes > idle_budget_bytes_) idle.push_back(recent[i].get());
  }
  const std::lock_guard guard(lock_);
  for (const RuleGroup* group : idle)
    if (const auto it = recent_position_.find(group); it != recent_position_.end()) {
      recent_.erase(it->second);
      recent_position_.erase(it);
    }
  std::erase_if(groups_, [](const auto& entry) { return entry.second.expired(); });
}

size_t RuleStore::size() {
  const std::lock_guard guard(lock_);
  return groups_.size();
}

}  // namespace maskwright
