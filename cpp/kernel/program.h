// From a GrammarIr to rules: normal form, structural identity, sharing.
//
// The steps, each linear but where said:
//   1. weigh     expressions; long repetitions and every & and ~ become rules of their own ("units").
//   2. group     units into strongly connected components of the reference graph, callees first; small rules without
//                loops and calls are inlined into their callers.
//   3. intern    each component by its serialised structure in the RuleStore: one seen before, in whatever grammar, is reused
//                with its automata and masks.
//   4. build     the others (group_builder.h): NFAs, empty strings and left recursion removed, dead ends trimmed.
//
// No step walks the vocabulary and none recurses on the C stack.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir.h"
#include "rule.h"

namespace maskwright {

struct Program {
  Rule* root = nullptr;
  std::vector<std::shared_ptr<RuleGroup>> groups;
};

// All rule groups of one tokenizer by structure. Groups in use by a grammar are always found; of those that are not, the most
// recent stay alive within a byte budget. Thread-safe.
class RuleStore {
 public:
  explicit RuleStore(size_t idle_budget_bytes = size_t{256} << 20) : idle_budget_bytes_(idle_budget_bytes) {}
  std::shared_ptr<RuleGroup> find(const std::string& key);
  // Returns the group that is stored under the key from now on: the given one, or one that another thread put there first.
  std::shared_ptr<RuleGroup> insert(const std::string& key, std::shared_ptr<RuleGroup> group);
  uint64_t next_id() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  size_t size();

 private:
  void keep_recent(const std::shared_ptr<RuleGroup>& group);
  void sweep();
  std::mutex lock_;
  std::unordered_map<std::string, std::weak_ptr<RuleGroup>> groups_;
  std::list<std::shared_ptr<RuleGroup>> recent_;
  std::unordered_map<const RuleGroup*, std::list<std::shared_ptr<RuleGroup>>::iterator> recent_position_;
  std::atomic<uint64_t> next_id_{1};
  size_t idle_budget_bytes_;
  size_t inserts_since_sweep_ = 0;
};

// Throws Unsatisfiable if the root derives nothing, LimitExceeded if the automata would be too large.
Program link(const GrammarIr& ir, RuleStore& store);

}  // namespace maskwright
