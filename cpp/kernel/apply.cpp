#include "apply.h"

#include <algorithm>
#include <limits>

namespace maskwright {
namespace {

template <class T>
void apply_row(T* logits, int64_t size, const uint32_t* words, int64_t num_words, T minus_infinity) {
  const int64_t covered = std::min(size, num_words * 32);
  for (int64_t begin = 0; begin < covered; begin += 32) {
    const uint32_t word = words[begin / 32];
    const int64_t end = std::min(begin + 32, covered);
    if (word == 0xFFFFFFFF) continue;
    if (word == 0) {
      std::fill(logits + begin, logits + end, minus_infinity);
      continue;
    }
    for (int64_t i = begin; i < end; ++i)
      if (!(word >> (i - begin) & 1)) logits[i] = minus_infinity;
  }
  std::fill(logits + covered, logits + size, minus_infinity);
}

}  // namespace

void apply_mask(void* logits, LogitType type, int64_t size, const uint32_t* words, int64_t num_words) {
  switch (type) {
    case LogitType::Float32:
      return apply_row(static_cast<float*>(logits), size, words, num_words, -std::numeric_limits<float>::infinity());
    case LogitType::Float16: return apply_row(static_cast<uint16_t*>(logits), size, words, num_words, uint16_t{0xFC00});
    case LogitType::BFloat16:
      return apply_row(static_cast<uint16_t*>(logits), size, words, num_words, uint16_t{0xFF80});
  }
}

}  // namespace maskwright
