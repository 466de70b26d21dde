// Which classes of characters lead from a state back to itself: over them, subtrees of the vocabulary are skipped
// whole.
#include <algorithm>
#include <array>

#include "rules/rule.h"

namespace maskwright {
namespace {

// Whether white space beyond ASCII may follow the leading bits of a character that still needs some bytes.
bool begins_other_space(uint32_t bits, int needed) {
  const uint32_t begin = bits << (6 * needed), end = begin + (1u << (6 * needed));
  for (const uint32_t c : {0x85u, 0xA0u, 0x1680u, 0x2000u, 0x2028u, 0x205Fu, 0x3000u, 0xFEFFu})
    if (c >= begin && c < end) return true;
  return false;
}

// White space and line ends beyond ASCII, all of them.
constexpr uint32_t kLastOtherSpace = 0xFEFF;
constexpr size_t kNumOtherSpaces = [] {
  size_t count = 0;
  for (uint32_t c = 0x80; c <= kLastOtherSpace; ++c) count += is_other_space(c) ? 1 : 0;
  return count;
}();
constexpr auto kOtherSpaces = [] {
  std::array<uint32_t, kNumOtherSpaces> out{};
  for (uint32_t c = 0x80, i = 0; c <= kLastOtherSpace; ++c)
    if (is_other_space(c)) out[i++] = c;
  return out;
}();

// Whether nothing but the character goes on in a state inside it: what begins or ends there is not met again behind it.
bool is_quiet(const DfaState& inside) {
  return !inside.final && inside.calls.empty();
}

}  // namespace

CharClasses Rule::compute_loop_classes(DfaState& state) {
  CharClasses out = 0;
  if (!multiples_ && (loops_on(state, 'e') || loops_on(state, '0') || loops_on(state, ' ') || loops_on(state, 'A'))) {
    CharClasses broken = 0;
    for (int b = 0; b < 128; ++b) {
      const CharClasses bit = CharClasses{1} << ascii_class(static_cast<uint8_t>(b));
      (loops_on(state, static_cast<uint8_t>(b)) ? out : broken) |= bit;
    }
    out &= ~broken;
    bool raw = !counts();  // raw bytes would be counted, not characters
    for (int b = 128; b < 256 && raw; ++b) raw = loops_on(state, static_cast<uint8_t>(b));
    if (raw) {
      out |= kBeyondAscii;
    } else {
      if (loops_on_characters(state, 2)) out |= CharClasses{1} << kClassOther2;
      if (loops_on_characters(state, 3)) out |= CharClasses{1} << kClassOther3;
      if (loops_on_characters(state, 4)) out |= CharClasses{1} << kClassOther4;
      if (loops_on_other_spaces(state)) out |= CharClasses{1} << kClassOtherSpace;
    }
  }
  state.loop_classes.store(out, std::memory_order_relaxed);
  return out;
}

// Whether every well-formed character of this encoded length (Unicode 15, table 3-7), other white space apart, leads
// from the state back to it, and nothing else goes on inside it. Where items are counted, none may end there: it would
// count apart.
bool Rule::loops_on_characters(DfaState& state, int length) {
  if (terminator() >= 0x80) return false;
  const int first = length == 2 ? 0xC2 : length == 3 ? 0xE0 : 0xF0;
  const int last = length == 2 ? 0xDF : length == 3 ? 0xEF : 0xF4;
  std::vector<std::pair<DfaState*, int>> checked;  // a state inside a character, and how many bytes it still needs
  const auto continues = [&](auto&& self, DfaState* inside, int needed, int low, int high, uint32_t bits) -> bool {
    // Where no white space can come, a state inside a character is checked once for all characters that lead to it.
    const bool plain = low == 0x80 && high == 0xBF && !begins_other_space(bits, needed);
    if (plain && std::find(checked.begin(), checked.end(), std::pair{inside, needed}) != checked.end()) return true;
    for (int b = low; b <= high; ++b) {
      const uint32_t read = bits << 6 | (static_cast<uint32_t>(b) & 0x3F);
      if (needed == 1 && is_other_space(read)) continue;
      DfaState* t = inside->rule->next(*inside, static_cast<uint8_t>(b));  // products go on in operands
      if (!t || (needed > 1 && (t == &state || t->counter_head || !is_quiet(*t)))) return false;
      if (needed == 1 ? t != &state : !self(self, t, needed - 1, 0x80, 0xBF, read)) return false;
    }
    if (plain) checked.emplace_back(inside, needed);
    return true;
  };
  for (int lead = first; lead <= last; ++lead) {
    DfaState* inside = next(state, static_cast<uint8_t>(lead));
    if (!inside || !is_quiet(*inside) || (counts() && (inside == &state || inside->counter_head))) return false;
    const int low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const int high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (!continues(continues, inside, length - 1, low, high, static_cast<uint32_t>(lead) & (0xFFu >> (length + 1))))
      return false;
  }
  return true;
}

bool Rule::loops_on_other_spaces(DfaState& state) {
  if (terminator() >= 0x80) return false;
  for (const uint32_t c : kOtherSpaces) {
    const bool two = c < 0x800;
    DfaState* t = next(state, static_cast<uint8_t>(two ? 0xC0 | c >> 6 : 0xE0 | c >> 12));
    if (t && !two && t != &state && !t->counter_head && is_quiet(*t))
      t = t->rule->next(*t, static_cast<uint8_t>(0x80 | (c >> 6 & 0x3F)));
    if (!t || t == &state || t->counter_head || !is_quiet(*t) ||
        t->rule->next(*t, static_cast<uint8_t>(0x80 | (c & 0x3F))) != &state)
      return false;
  }
  return true;
}

}  // namespace maskwright
