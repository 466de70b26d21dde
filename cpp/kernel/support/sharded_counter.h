// A count to which many threads add without getting in each other's way: each adds to a cache line that few others use.
// A single one would be a line at which all threads that fill masks of one grammar take turns.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace maskwright {

class ShardedCounter {
 public:
  void add() { shards_[own_shard()].value.fetch_add(1, std::memory_order_relaxed); }
  uint64_t value() const {
    uint64_t sum = 0;
    for (const Shard& shard : shards_) sum += shard.value.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  static constexpr size_t kShards = 8;
  struct alignas(64) Shard {
    std::atomic<uint64_t> value{0};
  };
  static size_t own_shard() {
    static std::atomic<size_t> num_threads{0};
    thread_local const size_t mine = num_threads.fetch_add(1, std::memory_order_relaxed) % kShards;
    return mine;
  }
  std::array<Shard, kShards> shards_;
};

}  // namespace maskwright
