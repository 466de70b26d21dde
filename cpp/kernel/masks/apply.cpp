#include "masks/apply.h"

#include <algorithm>
#include <cstring>

#include "support/thread_pool.h"

namespace maskwright {
namespace {

constexpr int64_t kPieceWords = 2048;  // 64k logits

template <class Lane>
void fill(char* target, int64_t count, LogitType type) {
  std::fill_n(reinterpret_cast<Lane*>(target), count, static_cast<Lane>(minus_infinity_bits(type)));
}

void fill(char* target, int64_t count, LogitType type) {
  switch (bytes_of(type)) {
    case 2: return fill<uint16_t>(target, count, type);
    case 4: return fill<uint32_t>(target, count, type);
    default: return fill<uint64_t>(target, count, type);
  }
}

// Fewer than 32 logits at the end of a row.
void mask_some(char* logits, int64_t count, uint32_t word, LogitType type, MaskWords mask_words) {
  char values[32 * sizeof(uint64_t)] = {};
  const auto size = static_cast<size_t>(count * bytes_of(type));
  std::memcpy(values, logits, size);
  mask_words(values, &word, 1);
  std::memcpy(logits, values, size);
}

void mask_piece(char* logits, int64_t count, const uint32_t* words, int64_t num_words, LogitType type,
                MaskWords mask_words) {
  const int64_t whole = std::min(count / 32, num_words);
  mask_words(logits, words, whole);
  int64_t done = 32 * whole;
  if (whole < num_words && done < count) {
    mask_some(logits + done * bytes_of(type), count - done, words[whole], type, mask_words);
    done = count;
  }
  fill(logits + done * bytes_of(type), count - done, type);
}

}  // namespace

void apply_masks(const LogitRows& logits, const MaskRows& masks, const int64_t* rows, size_t num_rows,
                 unsigned max_threads, unsigned max_simd_bytes) {
  const int64_t value_bytes = bytes_of(logits.type);
  const MaskWords mask_words = mask_words_for(logits.type, max_simd_bytes);
  const int64_t pieces = (logits.num_columns + 32 * kPieceWords - 1) / (32 * kPieceWords);
  auto mask = [&](size_t index) {
    const auto at = static_cast<int64_t>(index);
    const int64_t row = rows ? rows[at / pieces] : at / pieces;
    const int64_t begin = at % pieces * kPieceWords;
    const int64_t num_words = std::clamp<int64_t>(masks.num_words - begin, 0, kPieceWords);
    const char* const words = masks.data + row * masks.row_bytes;
    mask_piece(logits.data + row * logits.row_bytes + 32 * begin * value_bytes,
               std::min(logits.num_columns - 32 * begin, 32 * kPieceWords),
               reinterpret_cast<const uint32_t*>(words) + (num_words > 0 ? begin : 0), num_words, logits.type,
               mask_words);
  };
  const size_t count = num_rows * static_cast<size_t>(pieces);
  const int64_t bytes = static_cast<int64_t>(num_rows) * logits.num_columns * value_bytes;
  const unsigned threads = static_cast<unsigned>(std::min<int64_t>(max_threads, bytes / kApplyBytesPerThread));
  if (threads > 1) return ThreadPool::shared().run(count, threads, mask);
  for (size_t i = 0; i < count; ++i) mask(i);
}

}  // namespace maskwright
