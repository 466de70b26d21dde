// An append-only array whose elements never move.
//
// One writer at a time appends (under the owner's lock); any thread may read an element whose index it learnt through
// a release/acquire hand-over, without a lock. Chunks double, so a few chunk pointers cover every 32-bit index and the
// table of chunks itself never moves either.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

namespace maskwright {

template <class T>
class ChunkedVector {
 public:
  ChunkedVector() = default;
  ChunkedVector(const ChunkedVector&) = delete;
  ChunkedVector& operator=(const ChunkedVector&) = delete;
  ~ChunkedVector() {
    for (int c = 0; c < kChunks; ++c) delete[] chunks_[c].load(std::memory_order_relaxed);
  }

  T& operator[](uint32_t index) {
    const auto [chunk, offset] = locate(index);
    return chunks_[chunk].load(std::memory_order_acquire)[offset];
  }
  const T& operator[](uint32_t index) const {
    const auto [chunk, offset] = locate(index);
    return chunks_[chunk].load(std::memory_order_acquire)[offset];
  }
  uint32_t size() const { return size_.load(std::memory_order_acquire); }
  size_t memory_bytes() const { return capacity_ * sizeof(T); }

  // Returns the index of a fresh default-constructed element, not yet visible through size().
  uint32_t reserve_one() {
    const uint32_t index = size_.load(std::memory_order_relaxed);
    const auto [chunk, offset] = locate(index);
    if (chunks_[chunk].load(std::memory_order_relaxed) == nullptr) {
      const size_t length = size_t{kFirst} << chunk;
      chunks_[chunk].store(new T[length](), std::memory_order_release);
      capacity_ += length;
    }
    return index;
  }
  void publish() { size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

 private:
  static constexpr uint32_t kFirst = 16;
  static constexpr int kChunks = 28;
  static std::pair<int, uint32_t> locate(uint32_t index) {
    const uint32_t shifted = index / kFirst + 1;
    const int chunk = std::bit_width(shifted) - 1;
    return {chunk, index - kFirst * ((uint32_t{1} << chunk) - 1)};
  }
  std::atomic<T*> chunks_[kChunks] = {};
  std::atomic<uint32_t> size_{0};
  size_t capacity_ = 0;
};

}  // namespace maskwright
