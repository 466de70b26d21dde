// What a rule's register holds while it counts: items still needed, and items that may still come.
//
// Counting down makes registers canonical: once enough items have come and no maximum is set, the register stays the
// same, and repetitions with different bounds meet in the same values.
#pragma once

#include <cstdint>

namespace maskwright {

struct Count {
  uint32_t needed = 0;
  uint32_t remaining = 0;
  static constexpr uint32_t kUnlimited = 0xFFFFFFFF;

  static constexpr Count of(uint64_t reg) { return {static_cast<uint32_t>(reg), static_cast<uint32_t>(reg >> 32)}; }
  constexpr uint64_t reg() const { return (uint64_t{remaining} << 32) | needed; }
  // Whether whatever may follow the other may follow this.
  constexpr bool covers(const Count& other) const { return needed <= other.needed && remaining >= other.remaining; }
  constexpr Count after_item() const {
    return {needed > 0 ? needed - 1 : 0, remaining == kUnlimited ? kUnlimited : remaining - 1};
  }
};

// With what a call within these bounds starts to count. An item that can be empty makes up any missing count.
constexpr uint64_t start_register(Count bounds, bool item_nullable) {
  return Count{item_nullable ? 0 : bounds.needed, bounds.remaining}.reg();
}

// Counting without bounds.
inline constexpr uint64_t kUnboundedReg = Count{0, Count::kUnlimited}.reg();

}  // namespace maskwright
