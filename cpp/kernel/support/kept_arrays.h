// Copies of small arrays, which stay where they are until all of them go.
//
// They lie one behind the other in chunks that double up to a limit, as most have one or two elements, and one
// allocation for each would cost more than they do.
// Tested by tests/contract.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace maskwright {

template <class T>
class KeptArrays {
 public:
  const T* keep(std::span<const T> array) {
    if (array.empty()) return nullptr;
    if (array.size() > left_) begin_chunk(array.size());
    T* const at = chunks_.back().get() + length_ - left_;
    std::copy(array.begin(), array.end(), at);
    left_ -= array.size();
    return at;
  }
  size_t memory_bytes() const { return total_ * sizeof(T) + chunks_.capacity() * sizeof(void*); }

 private:
  static constexpr size_t kFirst = 8, kMost = 2048;
  void begin_chunk(size_t needed) {
    length_ = left_ = std::max(needed, std::clamp(2 * length_, kFirst, kMost));
    total_ += length_;
    chunks_.push_back(std::make_unique<T[]>(length_));
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  size_t length_ = 0, left_ = 0;  // of the last chunk
  size_t total_ = 0;
};

}  // namespace maskwright
