// Applies a bitmask to logits: what is not allowed becomes minus infinity.
//
// Rows are cut into pieces, and large batches are shared among the kernel's threads; a piece is masked in one pass
// (mask_words.h). Bits beyond the row of the bitmask count as not allowed.
// Tested by tests/kernel/test_apply.py; measured by benchmarks/bench_apply.py.
#pragma once

#include <cstddef>
#include <cstdint>

#include "masks/mask_words.h"

namespace maskwright {

// Rows may lie anywhere, also in descending order; values of a row are adjacent.
struct LogitRows {
  char* data;
  LogitType type;
  int64_t row_bytes;  // from one row to the next
  int64_t num_columns;
};

struct MaskRows {
  const char* data;
  int64_t row_bytes;
  int64_t num_words;
};

// Row i of the bitmask belongs to row i of the logits. Masks rows[0 .. num_rows), each of which comes once, or the
// first num_rows rows if `rows` is null.
void apply_masks(const LogitRows& logits, const MaskRows& masks, const int64_t* rows, size_t num_rows,
                 unsigned max_threads, unsigned max_simd_bytes);

// The bytes that are worth a thread of their own: below, the call ends before another thread has begun.
constexpr int64_t kApplyBytesPerThread = int64_t{4} << 20;

}  // namespace maskwright
