// A stack whose copies share what they have in common: copying and popping cost the same whatever its length.
//
// It is a list of chunks, the last of which is being written. A copy shares all chunks; a push copies the last one
// first if another stack may still read it. So a matcher's fork costs a pointer, and its rollback a subtraction. Each
// stack belongs to one thread at a time; copies may live in different threads. Tested by tests/contract.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace maskwright {

template <class T>
class SharedLog {
 public:
  size_t size() const { return before_ + used_; }
  bool empty() const { return size() == 0; }
  const T& back() const { return chunk_->entries[used_ - 1]; }

  void push(T entry) {
    if (!chunk_ || used_ == kChunk) {
      auto fresh = std::make_shared<Chunk>();
      fresh->previous = std::move(chunk_);
      chunk_ = std::move(fresh);
      before_ += used_;
      used_ = 0;
    } else if (is_shared(chunk_)) {
      chunk_ = std::make_shared<Chunk>(*chunk_);
    }
    chunk_->entries[used_++] = std::move(entry);
  }

  // Precondition: count <= size().
  void pop(size_t count) {
    while (count > used_) {
      count -= used_;
      to_previous_chunk();
    }
    used_ -= count;
    if (used_ == 0 && before_ > 0) to_previous_chunk();
  }

  void clear() { *this = SharedLog(); }

  // The entries from this one on, the oldest first. Precondition: first <= size().
  std::vector<T> entries(size_t first = 0) const {
    std::vector<T> out(size() - first);
    size_t begin = before_, used = used_;
    for (const Chunk* chunk = chunk_.get(); chunk && begin + used > first; chunk = chunk->previous.get()) {
      for (size_t i = begin < first ? first - begin : 0; i < used; ++i) out[begin + i - first] = chunk->entries[i];
      used = kChunk;
      begin = begin >= kChunk ? begin - kChunk : 0;
    }
    return out;
  }

 private:
  static constexpr size_t kChunk = 64;
  struct Chunk {
    std::shared_ptr<Chunk> previous;
    std::array<T, kChunk> entries{};
    Chunk() = default;
    Chunk(const Chunk&) = default;
    Chunk& operator=(const Chunk&) = delete;
    // A long chain is let go link by link, not by recursion.
    ~Chunk() {
      auto link = std::move(previous);
      while (link && !is_shared(link)) link = std::move(link->previous);
    }
  };
  // Another thread that has just let go of the chunk may have read it: what it did comes before what is written next.
  static bool is_shared(const std::shared_ptr<Chunk>& chunk) {
    if (chunk.use_count() > 1) return true;
    std::atomic_thread_fence(std::memory_order_acquire);
    return false;
  }
  void to_previous_chunk() {
    chunk_ = std::shared_ptr<Chunk>(chunk_->previous);
    used_ = kChunk;
    before_ -= kChunk;
  }

  std::shared_ptr<Chunk> chunk_;
  size_t before_ = 0;  // entries in earlier chunks, all of them full
  size_t used_ = 0;    // entries in this one
};

}  // namespace maskwright
