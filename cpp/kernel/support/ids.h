// Small distinct types and sizes used throughout the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace maskwright {

using TokenId = int32_t;    // an LLM token, never a grammar terminal
using ConfigId = uint32_t;  // a parse configuration of one engine
using StackId = uint32_t;   // a node of a stack store
using NodeId = uint32_t;    // a node of the vocabulary trie
using ExprId = uint32_t;    // a node of a GrammarIr

inline constexpr ConfigId kNoConfig = 0xFFFFFFFF;

inline uint64_t mix(uint64_t h, uint64_t value) {
  h ^= value + 0x9E3779B97F4A7C15ULL + (h << 6) + (h >> 2);
  h *= 0xFF51AFD7ED558CCDULL;
  return h ^ (h >> 32);
}

}  // namespace maskwright
