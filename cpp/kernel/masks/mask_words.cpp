#include "masks/mask_words.h"

#include <algorithm>
#include <cstring>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define MASKWRIGHT_CHOOSES_SIMD
#define MASKWRIGHT_AVX2 __attribute__((target("avx2")))
#endif

namespace maskwright {
namespace {

constexpr uint32_t kAll = 0xFFFFFFFF;

// Two words are looked at together: half as many branches to mispredict where words of ones are about as frequent as
// others. A macro, since compilers do not inline a function template into functions for other instruction sets
// reliably.
#define MASKWRIGHT_MASK_WORDS(mask_word)             \
  int64_t i = 0;                                     \
  for (; i + 2 <= num_words; i += 2) {               \
    if ((words[i] & words[i + 1]) == kAll) continue; \
    mask_word(logits + 32 * i, words[i]);            \
    mask_word(logits + 32 * (i + 1), words[i + 1]);  \
  }                                                  \
  if (i < num_words && words[i] != kAll) mask_word(logits + 32 * i, words[i])

#ifdef __GNUC__
// Vectors of 16 bytes, which GCC and Clang have for every processor. Bits are looked at in parts that fit in a lane.
template <class Lane, uint64_t kFill>
inline void mask_word(Lane* logits, uint32_t word) {
  typedef Lane Vector __attribute__((vector_size(16)));
  constexpr unsigned kLanes = 16 / sizeof(Lane);
  const Lane minus_infinity = static_cast<Lane>(kFill);
  const Vector fill = Vector{} + minus_infinity;
  Vector bit = {};
  for (unsigned lane = 0; lane < kLanes; ++lane) bit[lane] = static_cast<Lane>(Lane{1} << lane);
  for (unsigned begin = 0; begin < 32; begin += kLanes) {
    const Lane part = static_cast<Lane>(word >> begin);
    const Vector bits = Vector{} + part;
    Vector values;
    std::memcpy(&values, logits + begin, sizeof values);
    values = (bits & bit) == 0 ? fill : values;
    std::memcpy(logits + begin, &values, sizeof values);
  }
}
#else
template <class Lane, uint64_t kFill>
inline void mask_word(Lane* logits, uint32_t word) {
  for (unsigned lane = 0; lane < 32; ++lane) logits[lane] = word >> lane & 1 ? logits[lane] : static_cast<Lane>(kFill);
}
#endif

template <class Lane, uint64_t kFill>
void mask_by_16(void* target, const uint32_t* words, int64_t num_words) {
  Lane* const logits = static_cast<Lane*>(target);
  MASKWRIGHT_MASK_WORDS((mask_word<Lane, kFill>));
}

#ifdef MASKWRIGHT_CHOOSES_SIMD

template <class Lane, uint64_t kFill>
MASKWRIGHT_AVX2 inline void mask_word_avx2(Lane* logits, uint32_t word) {
  constexpr auto kBits = static_cast<long long>(kFill);
  for (unsigned begin = 0; begin < 32; begin += 32 / sizeof(Lane)) {
    auto* const at = reinterpret_cast<__m256i*>(logits + begin);
    const __m256i values = _mm256_loadu_si256(at);
    const uint32_t part = word >> begin;
    __m256i fill, bit, allowed;
    if constexpr (sizeof(Lane) == 2) {
      fill = _mm256_set1_epi16(static_cast<short>(kBits));
      bit = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
      allowed = _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16(static_cast<short>(part)), bit), bit);
    } else if constexpr (sizeof(Lane) == 4) {
      fill = _mm256_set1_epi32(static_cast<int>(kBits));
      bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
      allowed = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(part)), bit), bit);
    } else {
      fill = _mm256_set1_epi64x(kBits);
      bit = _mm256_setr_epi64x(1, 2, 4, 8);
      allowed = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(part), bit), bit);
    }
    _mm256_storeu_si256(at, _mm256_blendv_epi8(fill, values, allowed));
  }
}

template <class Lane, uint64_t kFill>
MASKWRIGHT_AVX2 void mask_by_32(void* target, const uint32_t* words, int64_t num_words) {
  Lane* const logits = static_cast<Lane*>(target);
  MASKWRIGHT_MASK_WORDS((mask_word_avx2<Lane, kFill>));
}

#endif

template <class Lane, LogitType kType>
MaskWords choose([[maybe_unused]] unsigned bytes) {
  constexpr uint64_t kFill = minus_infinity_bits(kType);
#ifdef MASKWRIGHT_CHOOSES_SIMD
  if (bytes >= 32) return mask_by_32<Lane, kFill>;
#endif
  return mask_by_16<Lane, kFill>;
}

}  // namespace

unsigned simd_bytes() {
#ifdef MASKWRIGHT_CHOOSES_SIMD
  if (__builtin_cpu_supports("avx2")) return 32;
#endif
  return 16;
}

MaskWords mask_words_for(LogitType type, unsigned max_simd_bytes) {
  const unsigned bytes = std::min(max_simd_bytes, simd_bytes());
  switch (type) {
    case LogitType::Float32: return choose<uint32_t, LogitType::Float32>(bytes);
    case LogitType::Float16: return choose<uint16_t, LogitType::Float16>(bytes);
    case LogitType::BFloat16: return choose<uint16_t, LogitType::BFloat16>(bytes);
    case LogitType::Float64: break;
  }
  return choose<uint64_t, LogitType::Float64>(bytes);
}

}  // namespace maskwright
