// All rule groups of one tokenizer, by structure, so that grammars share automata and masks.
//
// The key of a group is its whole serialised structure, not a hash of it: equal keys mean equal automata. Groups in use
// by a grammar are always found; of those that are not, the most recent stay alive within a byte budget. Tested by
// tests/exhaustive (several grammars on one tokenizer).
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "rule.h"

namespace maskwright {

// Thread-safe. A group's lock may be held when calling it.
class RuleStore {
 public:
  explicit RuleStore(size_t idle_budget_bytes = size_t{256} << 20) : idle_budget_bytes_(idle_budget_bytes) {}
  std::shared_ptr<RuleGroup> find(const std::string& key);
  // Returns the group that is stored under the key from now on: the given one, or one that another thread put there
  // first.
  std::shared_ptr<RuleGroup> insert(const std::string& key, std::shared_ptr<RuleGroup> group);
  uint64_t next_id() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  size_t size();
  // Held while instances of parametric rules are linked, of whatever group. No other lock is taken under it.
  std::mutex& linking_lock() { return linking_lock_; }

 private:
  void keep_recent(const std::shared_ptr<RuleGroup>& group);
  void sweep(const std::vector<std::shared_ptr<RuleGroup>>& recent, const RuleGroup& current);
  std::mutex lock_;
  std::mutex linking_lock_;
  std::unordered_map<std::string, std::weak_ptr<RuleGroup>> groups_;
  std::list<std::shared_ptr<RuleGroup>> recent_;
  std::unordered_map<const RuleGroup*, std::list<std::shared_ptr<RuleGroup>>::iterator> recent_position_;
  std::atomic<uint64_t> next_id_{1};
  size_t idle_budget_bytes_;
  size_t inserts_since_sweep_ = 0;
};

}  // namespace maskwright
