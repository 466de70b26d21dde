// The parameter of a rule: functions from it to the values that calls pass, and conditions on it.
//
// src/maskwright/ir/parameters.py lists the same numbers and says what they mean. A condition is kept as a list of
// tests, each with the test to go on with if it holds and if it does not, so that deciding one needs no stack. Tested
// by tests/test_parameters.py, tests/exhaustive/test_parametric.py.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace maskwright {

// The number in bits [first, last) of a parameter.
inline uint64_t ones(uint32_t count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}
inline uint64_t bits_of(uint64_t parameter, uint32_t first, uint32_t last) {
  return parameter >> first & ones(last - first);
}

struct ValueStep {
  enum class Kind : uint8_t { Mask, Increment, Decrement } kind;
  uint64_t a, b;  // Mask: v -> (v & a) | b. Others: one up or down within bits [a, b), saturating.
  bool operator==(const ValueStep&) const = default;

  uint64_t of(uint64_t v) const {
    if (kind == Kind::Mask) return (v & a) | b;
    const auto first = static_cast<uint32_t>(a), last = static_cast<uint32_t>(b);
    const uint64_t most = ones(last - first), number = bits_of(v, first, last);
    const uint64_t next = kind == Kind::Increment ? std::min(number, most - 1) + 1 : std::max<uint64_t>(number, 1) - 1;
    return (v & ~(most << first)) | next << first;
  }
};

// What a call passes. No steps: the caller's own parameter.
using ValueFunction = std::vector<ValueStep>;

inline uint64_t value_of(const ValueFunction& function, uint64_t parameter) {
  for (const ValueStep& step : function) parameter = step.of(parameter);
  return parameter;
}

inline bool is_constant(const ValueFunction& function) {
  return !function.empty() && function.back().kind == ValueStep::Kind::Mask && function.back().a == 0;
}

class Condition {
 public:
  // Where to go on after a test.
  static constexpr uint32_t kTrue = 0xFFFFFFFF, kFalse = 0xFFFFFFFE;
  struct Test {
    uint8_t first, last;
    bool counts;  // bits that are set, rather than their number
    uint64_t minimum, maximum;
    uint32_t if_true, if_false;
    bool operator==(const Test&) const = default;

    bool holds(uint64_t parameter) const {
      uint64_t number = bits_of(parameter, first, last);
      if (counts) number = static_cast<uint64_t>(std::popcount(number));
      return minimum <= number && number <= maximum;
    }
  };

  bool holds(uint64_t parameter) const {
    uint32_t at = entry;
    while (at < kFalse) at = tests[at].holds(parameter) ? tests[at].if_true : tests[at].if_false;
    return at == kTrue;
  }

  std::vector<Test> tests;
  uint32_t entry = kTrue;
};

}  // namespace maskwright
