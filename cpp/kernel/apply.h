// Applies a bitmask row to a row of logits: what is not allowed becomes minus infinity.
#pragma once

#include <cstdint>

namespace maskwright {

enum class LogitType : uint8_t { Float32, Float16, BFloat16 };

// Bits beyond num_words count as not allowed. `logits` holds `size` values of the type.
void apply_mask(void* logits, LogitType type, int64_t size, const uint32_t* words, int64_t num_words);

}  // namespace maskwright
