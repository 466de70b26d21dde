// (configuration, token) -> configuration, of those steps that are known.
//
// Open addressing. Readers need no lock; there is one writer at a time. A table that has become too small stays
// readable: who reads it meanwhile may miss what is new, and finds it out once more. Cost: a look-up in one cache line,
// mostly. Tested by tests/exhaustive, tests/contract/test_threads.py.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "support/ids.h"

namespace maskwright {

class TransitionTable {
 public:
  TransitionTable() { grow(256); }
  ConfigId find(ConfigId config, TokenId token) const;
  void insert(ConfigId config, TokenId token, ConfigId next);
  size_t size() const { return used_; }
  size_t memory_bytes() const { return bytes_; }

 private:
  struct Slot {
    std::atomic<uint64_t> key{kFree};
    std::atomic<ConfigId> next{kNoConfig};
  };
  struct Table {
    size_t mask;
    std::unique_ptr<Slot[]> slots;
  };
  static constexpr uint64_t kFree = ~uint64_t{0};
  static uint64_t key_of(ConfigId config, TokenId token) {
    return (uint64_t{config} << 32) | static_cast<uint32_t>(token);
  }
  void grow(size_t size);
  std::atomic<const Table*> table_{nullptr};
  std::vector<std::unique_ptr<Table>> tables_;  // outgrown ones stay readable
  size_t used_ = 0;
  size_t bytes_ = 0;
};

}  // namespace maskwright
