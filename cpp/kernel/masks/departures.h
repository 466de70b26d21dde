// Where tokens leave a loop: a state's mask without walking to the places at which it is left.
//
// Inside a JSON string, characters lead back to the same state but for `"`, `\` and what is refused. So all tokens of
// nothing but such characters are allowed (Vocabulary::tokens_of), and a token that holds something else leaves the
// loop at the first such byte: at one of the nodes with `"` or `\` before which there are only characters of the loop.
// The vocabulary lists the nodes of each byte, and knows for each node what comes before it.
//
// Cost: some microseconds for the bitsets and a few nanoseconds for each node listed; with Llama-3's vocabulary 394
// nodes hold `"` or a backslash. Tested by tests/exhaustive, tests/kernel/test_large_vocabulary.py.
#pragma once

#include "support/byte_set.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

// Whether a loop is on classes with so many tokens that this pays: words, or characters beyond ASCII.
inline bool is_wide(CharClasses classes) {
  constexpr CharClasses kOthers = ~CharClasses{0} << kClassOther2 & ~(CharClasses{1} << kClassMalformed);
  return (classes & (CharClasses{1} << ascii_class('z') | kOthers)) != 0;
}

// Whether a character that begins with the byte may be of a class that is not among these.
inline bool begins_other_class(uint8_t byte, CharClasses classes) {
  const auto lacks = [&](int character_class) { return (classes >> character_class & 1) == 0; };
  if (byte < 0x80) return lacks(ascii_class(byte));
  if (byte < 0xC2 || byte > 0xF4) return false;  // malformed
  const bool may_be_space = byte == 0xC2 || byte == 0xE1 || byte == 0xE2 || byte == 0xE3 || byte == 0xEF;
  return lacks(byte < 0xE0   ? kClassOther2
               : byte < 0xF0 ? kClassOther3
                             : kClassOther4) ||
         (may_be_space && lacks(kClassOtherSpace));
}

// Calls visit(byte, node) for the nodes at which tokens may leave a loop on these classes by one of these bytes, the
// state of the loop being the one before the node. One may lie below another, where the byte of that one only might
// have left the loop.
template <class Visit>
void for_each_departure(const Vocabulary& vocabulary, CharClasses classes, const ByteSet& bytes, Visit&& visit) {
  const auto in_loop_before = [&](NodeId node) { return (vocabulary.classes_before(node) & ~classes) == 0; };
  const auto may_leave = [&](uint8_t byte, NodeId node) {
    return byte < 0x80 || (vocabulary.classes_from(node) & ~classes) != 0;
  };
  bytes.for_each([&](uint8_t byte) {
    if (!begins_other_class(byte, classes)) return;
    for (const NodeId node : vocabulary.nodes_with(byte))
      if (in_loop_before(node) && may_leave(byte, node)) visit(byte, node);
  });
  if (classes >> kClassMalformed & 1) return;
  for (const NodeId node : vocabulary.malformed()) {
    const uint8_t byte = vocabulary.byte(node);
    if (bytes.test(byte) && !begins_other_class(byte, classes) && in_loop_before(node)) visit(byte, node);
  }
}

}  // namespace maskwright
