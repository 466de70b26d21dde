// A set of byte values: four machine words.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace maskwright {

class ByteSet {
 public:
  constexpr bool test(uint8_t byte) const { return (words_[byte >> 6] >> (byte & 63)) & 1; }
  constexpr void set(uint8_t byte) { words_[byte >> 6] |= uint64_t{1} << (byte & 63); }
  constexpr void clear(uint8_t byte) { words_[byte >> 6] &= ~(uint64_t{1} << (byte & 63)); }
  constexpr bool empty() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  constexpr int count() const {
    return std::popcount(words_[0]) + std::popcount(words_[1]) + std::popcount(words_[2]) + std::popcount(words_[3]);
  }
  // Precondition: not empty.
  constexpr uint8_t lowest() const {
    for (int i = 0; i < 4; ++i)
      if (words_[i]) return static_cast<uint8_t>(i * 64 + std::countr_zero(words_[i]));
    return 0;
  }
  constexpr ByteSet& operator|=(const ByteSet& other) {
    for (int i = 0; i < 4; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  constexpr ByteSet operator&(const ByteSet& other) const {
    ByteSet out;
    for (int i = 0; i < 4; ++i) out.words_[i] = words_[i] & other.words_[i];
    return out;
  }
  constexpr ByteSet operator~() const {
    ByteSet out;
    for (int i = 0; i < 4; ++i) out.words_[i] = ~words_[i];
    return out;
  }
  constexpr bool operator==(const ByteSet&) const = default;

  template <class F>
  void for_each(F&& f) const {
    for (int i = 0; i < 4; ++i)
      for (uint64_t word = words_[i]; word; word &= word - 1) f(static_cast<uint8_t>(i * 64 + std::countr_zero(word)));
  }

  // Ends at the first byte of which it does not hold.
  template <class F>
  bool all_of(F&& f) const {
    for (int i = 0; i < 4; ++i)
      for (uint64_t word = words_[i]; word; word &= word - 1)
        if (!f(static_cast<uint8_t>(i * 64 + std::countr_zero(word)))) return false;
    return true;
  }

  constexpr uint64_t& word(int i) { return words_[i]; }
  constexpr uint64_t word(int i) const { return words_[i]; }

 private:
  std::array<uint64_t, 4> words_{};
};

}  // namespace maskwright
