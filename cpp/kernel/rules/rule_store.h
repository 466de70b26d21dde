// All rule groups of one tokenizer, by structure, so that grammars share automata and masks.
//
// The key of a group is its whole blueprint, not a hash of it. Groups in use by a grammar are always found; those that
// are not stay alive, the most recent first, while all groups together are within a byte budget, which is what the
// grammars in a compiler's cache leave of its limit. A group takes its
// entry with it when it dies, so that the store holds nothing for what is gone. Subgrammars are found by their keys as
// well, as long as their groups live. Tested by tests/exhaustive (several
// grammars on one tokenizer), tests/kernel/test_link.py.
#pragma once

#include <array>
#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/subgrammar.h"
#include "rules/rule.h"

namespace maskwright {

// What the store knows of a group.
struct StoreEntry {
  using Recent = std::list<std::shared_ptr<RuleGroup>>;
  const RuleGroup* group = nullptr;
  std::weak_ptr<RuleGroup> alive;
  Recent::iterator recent;
  bool is_recent = false;
};

// Thread-safe. A group's lock may be held when calling it.
class RuleStore {
 public:
  explicit RuleStore(uint32_t vocab_size, size_t budget_bytes = size_t{256} << 20)
      : vocab_size_(vocab_size), budget_bytes_(budget_bytes) {}
  uint32_t vocab_size() const { return vocab_size_; }
  std::shared_ptr<RuleGroup> find(std::string_view blueprint);
  // Returns the group that is stored under the blueprint from now on: the given one, or one that another thread put
  // there first.
  std::shared_ptr<RuleGroup> insert(std::shared_ptr<RuleGroup> group);
  // A subgrammar that was linked before, and if it has parametric rules what it is linked from, too; nothing of one
  // that is not known.
  Subgrammar find(uint64_t subgrammar_key);
  void insert(const Subgrammar& made);
  // Two operands of products, by group and by rule and sign: whether they are known to have no string in common.
  using OperandPair = std::array<uint64_t, 4>;
  std::optional<bool> are_disjoint(const OperandPair& pair);
  void know_disjoint(const OperandPair& pair, bool disjoint);
  // Called by a group that dies.
  void forget(const RuleGroup& group);
  // Held while instances of parametric rules are linked, of whatever group. No other lock is taken under it.
  std::mutex& linking_lock() { return linking_lock_; }
  uint64_t next_id() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  size_t size();
  // Sets the budget, and lets go of groups that are in no use, some at once and others as new ones come in.
  void keep_within(size_t budget_bytes);
  // What all groups that are alive hold, as they last reported it.
  size_t memory_bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // What they have taken ever, those that are gone included.
  size_t bytes_ever() const { return bytes_ever_.load(std::memory_order_relaxed); }
  void account(size_t more_bytes) {
    bytes_.fetch_add(more_bytes, std::memory_order_relaxed);
    bytes_ever_.fetch_add(more_bytes, std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kFirstSweep = 1024;
  static constexpr size_t kMostAtOnce = 16, kMostWithin = 64;
  static constexpr size_t kMaxPairs = 4096;  // then they are forgotten, as most of the groups may be
  using Recent = StoreEntry::Recent;
  using Entry = StoreEntry;
  // A subgrammar's group, while it lives. Entries that outlived theirs go when there may be many.
  struct KnownSubgrammar {
    std::weak_ptr<RuleGroup> group;
    Rule* rule = nullptr;
    std::shared_ptr<const GrammarIr> ir;
    std::optional<DeferredFacts> deferred;
    size_t num_nodes = 0;
  };
  // The entry's group, unless it is gone or not to be used any more.
  static std::shared_ptr<RuleGroup> in_use(const Entry& entry);
  void keep_recent(Entry& entry, const std::shared_ptr<RuleGroup>& group);
  // Takes the least recent groups out while there are too many bytes: a few each time that one comes in, so that nobody
  // waits for many to be freed. The caller lets go of them without the lock.
  Recent take_idle(size_t most);
  std::atomic<uint64_t> next_id_{1};
  std::atomic<size_t> bytes_{0};
  std::atomic<size_t> bytes_ever_{0};
  const uint32_t vocab_size_;
  std::atomic<size_t> budget_bytes_;
  std::mutex lock_;
  std::mutex linking_lock_;
  std::unordered_map<std::string_view, Entry> groups_;  // the keys belong to the groups
  std::unordered_map<uint64_t, KnownSubgrammar> subgrammars_;
  std::map<OperandPair, bool> disjoint_;
  size_t sweep_at_ = kFirstSweep;  // so many subgrammars
  Recent recent_;                  // dies first: its groups are forgotten
};

}  // namespace maskwright
