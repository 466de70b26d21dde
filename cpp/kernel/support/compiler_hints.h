// What compilers can be told beyond the standard, each in its own words; nothing where one has no word for it.
//
// All that is not C++20 in the kernel stands here and behind #if in masks/mask_words.cpp (vectors) and in support/
// (what the operating system is asked for). Tested by all tests, built with GCC, Clang and Emscripten.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__)
#define MASKWRIGHT_NOINLINE [[msvc::noinline]]
#else
#define MASKWRIGHT_NOINLINE [[gnu::noinline]]
#endif

namespace maskwright {

// What lies there will be read soon.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#endif
}

}  // namespace maskwright
