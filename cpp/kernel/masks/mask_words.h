// Whole words of a bitmask on logits: the loop that runs over every logit of every step.
//
//   word 0xFFFFFFFF: nothing is read or written, so rows in which most is allowed cost a look at their bitmask
//   any other word:  its 32 logits are loaded, those without a bit replaced by minus infinity, and stored
//
// No branch looks at a single bit, since at middle densities none can be predicted. Vectors have 16 bytes (SSE2, NEON,
// WebAssembly: what the target has anyway), or 32 (AVX2) where the processor has them, which is asked
// at run time. Logits are moved as bits: values that are allowed, NaNs among them, stay what they are.
//
// Cost: that of copying the logits, less where words of ones are frequent.
// Tested by tests/kernel/test_apply.py; measured by benchmarks/bench_apply.py.
#pragma once

#include <cstdint>

namespace maskwright {

enum class LogitType : uint8_t { Float32, Float16, BFloat16, Float64 };

// `logits` holds 32 values of the type for each word. Both are aligned to their elements, not to vectors.
using MaskWords = void (*)(void* logits, const uint32_t* words, int64_t num_words);

// The widest vectors that this processor has, in bytes: 16, 32 or 64.
unsigned simd_bytes();
// The function for a type, with vectors of at most so many bytes.
MaskWords mask_words_for(LogitType type, unsigned max_simd_bytes);

// What replaces a logit, as bits, and how many bytes it has.
constexpr uint64_t minus_infinity_bits(LogitType type) {
  switch (type) {
    case LogitType::Float16: return 0xFC00;
    case LogitType::BFloat16: return 0xFF80;
    case LogitType::Float32: return 0xFF800000;
    case LogitType::Float64: break;
  }
  return 0xFFF0000000000000;
}
constexpr int64_t bytes_of(LogitType type) {
  return type == LogitType::Float64 ? 8 : type == LogitType::Float32 ? 4 : 2;
}

}  // namespace maskwright
