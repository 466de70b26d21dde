#include "engine/transition_table.h"

#include <utility>

#include "support/by_content.h"

namespace maskwright {

ConfigId TransitionTable::find(ConfigId config, TokenId token) const {
  const Table& table = *table_.load(std::memory_order_acquire);
  const uint64_t key = key_of(config, token);
  for (size_t s = mix(0, key) & table.mask;; s = (s + 1) & table.mask) {
    const uint64_t found = table.slots[s].key.load(std::memory_order_acquire);
    if (found == key) return table.slots[s].next.load(std::memory_order_relaxed);
    if (found == kFree) return kNoConfig;
  }
}

void TransitionTable::insert(ConfigId config, TokenId token, ConfigId next) {
  if (2 * used_ > tables_.back()->mask) grow(2 * (tables_.back()->mask + 1));
  const Table& table = *tables_.back();
  const uint64_t key = key_of(config, token);
  size_t s = mix(0, key) & table.mask;
  for (; table.slots[s].key.load(std::memory_order_relaxed) != kFree; s = (s + 1) & table.mask)
    if (table.slots[s].key.load(std::memory_order_relaxed) == key) return;
  table.slots[s].next.store(next, std::memory_order_relaxed);
  table.slots[s].key.store(key, std::memory_order_release);
  ++used_;
}

void TransitionTable::grow(size_t size) {
  auto table = std::make_unique<Table>(Table{size - 1, std::make_unique<Slot[]>(size)});
  if (!tables_.empty()) {
    const Table& old = *tables_.back();
    for (size_t i = 0; i <= old.mask; ++i) {
      const uint64_t key = old.slots[i].key.load(std::memory_order_relaxed);
      if (key == kFree) continue;
      size_t s = mix(0, key) & table->mask;
      while (table->slots[s].key.load(std::memory_order_relaxed) != kFree) s = (s + 1) & table->mask;
      table->slots[s].next.store(old.slots[i].next.load(std::memory_order_relaxed), std::memory_order_relaxed);
      table->slots[s].key.store(key, std::memory_order_relaxed);
    }
  }
  bytes_ += size * sizeof(Slot);
  table_.store(table.get(), std::memory_order_release);
  tables_.push_back(std::move(table));
}

}  // namespace maskwright
