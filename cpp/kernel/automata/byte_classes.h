// Bytes that an automaton cannot tell apart fall into one class, so that its rows of transitions are short.
#pragma once

#include <cstdint>
#include <vector>

#include "support/byte_set.h"

namespace maskwright {

// Numbers the classes densely from 0 into `class_of` and returns how many there are. Bytes in `single` are alone in
// theirs; each set is a union of classes.
inline uint32_t split_into_classes(const ByteSet& single, const std::vector<ByteSet>& sets, uint8_t (&class_of)[256]) {
  uint32_t num = 1;
  uint32_t of[256] = {};
  single.for_each([&](uint8_t b) { of[b] = num++; });
  const auto split = [&](const ByteSet& set) {
    std::vector<int> inside(num, -1), outside(num, -1);
    uint32_t fresh = 0;
    for (int b = 0; b < 256; ++b) {
      int& slot = (set.test(static_cast<uint8_t>(b)) ? inside : outside)[of[b]];
      if (slot < 0) slot = static_cast<int>(fresh++);
      of[b] = static_cast<uint32_t>(slot);
    }
    num = fresh;
  };
  split(ByteSet());  // class 0 is empty if every byte is single
  for (const ByteSet& set : sets) split(set);
  for (int b = 0; b < 256; ++b) class_of[b] = static_cast<uint8_t>(of[b]);
  return num;
}

}  // namespace maskwright
