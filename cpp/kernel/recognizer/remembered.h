// Remembered texts, and environments of them, as numbers that fit into a register.
//
// A grammar may name what an expression matched and ask for the same text later: an end tag that repeats its begin tag.
// The expression is read by a rule of its own, whose register is the text so far. Where that rule ends, the text goes
// into the register of the scope that called it, an environment; it lies in the scope's frame while other rules are
// read above it. Where the text is recalled, a rule is called whose register is the text and how much of it has come.
//
//     element ::= "<" name=[a-z]+ ">" content "</" $name ">"
//     after "<ab><c"   item (in [a-z]+ of the inner element, text "c"), above the frame (the outer one's "</", {ab})
//
// Texts grow by one byte at a time and environments by one text, and both are cells of the same kind: a parent, and
// what comes after it. So one byte more takes one step, nothing is ever copied, and going back is forgetting. Each cell
// has a jump to one farther down, so that any byte of a text is found in a number of steps that grows as the logarithm
// of its length (Myers 1983, "An applicative random-access stack").
//
// A scope's texts are told apart by numbers: the outer ones' are higher. Those of a store are interned by content, so
// that equal texts are equal numbers, and configurations with equal texts the same. From kScratchCell on they live in
// one Recognizer. Tested by tests/exhaustive/test_remembered_text.py.
#pragma once

#include <cstdint>

#include "support/by_content.h"
#include "support/chunked_vector.h"
#include "support/ids.h"

namespace maskwright {

using CellId = uint32_t;
inline constexpr CellId kNoCell = 0;        // the empty text, and the environment with nothing in it
inline constexpr CellId kAllTexts = 1;      // a set of texts that leaves nothing else to be read
inline constexpr CellId kUnknownTexts = 2;  // a set of which nothing is known, taken not to hold what is asked for
// Those after it: the same, but with at most 1, 2, 4, ... texts.
inline constexpr CellId kLastUnknown = kUnknownTexts + 41;
inline constexpr CellId kScratchCell = 0x80000000;

struct Cell {
  enum class Kind : uint8_t {
    Text,         // `value`: its last byte; `size`: in bytes
    Environment,  // `value`: its last text; `size`: the number of that
    Branch,       // of a set of texts (text_sets.h); `value`: what lies below; `size`: its key
    Grown         // a set, the parent, with one more: the text `value`; or the value that begins there at `size` - 1
  };
  CellId parent = kNoCell;
  uint32_t value = 0;
  uint32_t size = 0;
  CellId jump = kNoCell;
  Kind kind = Kind::Text;
  bool operator==(const Cell&) const = default;
};

// Where a text is recalled: how many of its bytes have come.
struct Recalled {
  CellId text;
  uint32_t position;
  static constexpr Recalled of(uint64_t reg) { return {static_cast<CellId>(reg >> 32), static_cast<uint32_t>(reg)}; }
  constexpr uint64_t reg() const { return uint64_t{text} << 32 | position; }
};

// A text with one more byte. `cell` finds a cell by its number.
template <class Find>
Cell longer(CellId text, uint8_t byte, Find&& cell) {
  const Cell last = cell(text), jumped = cell(last.jump);
  const bool doubles = last.size - jumped.size == jumped.size - cell(jumped.jump).size;
  return {text, byte, last.size + 1, doubles ? jumped.jump : text, Cell::Kind::Text};
}

// The byte at a position of a text.
template <class Find>
uint8_t byte_at(CellId text, uint32_t position, Find&& cell) {
  while (cell(text).size != position + 1) {
    const Cell& at = cell(text);
    text = cell(at.jump).size > position ? at.jump : at.parent;
  }
  return static_cast<uint8_t>(cell(text).value);
}

// The environment without the texts of inner scopes, so far as these have numbers up to `number`.
template <class Find>
CellId outside_of(CellId environment, uint32_t number, Find&& cell) {
  while (environment != kNoCell && cell(environment).size <= number) environment = cell(environment).parent;
  return environment;
}

// The text with this number; none if there is none.
template <class Find>
CellId text_in(CellId environment, uint32_t number, Find&& cell) {
  while (environment != kNoCell && cell(environment).size < number) environment = cell(environment).parent;
  return cell(environment).size == number ? cell(environment).value : kNoCell;
}

// Cells by content. Readers need no lock for those they have learnt from a published configuration.
class CellStore {
 public:
  CellStore() {
    add(Cell());
    add({kNoCell, 0, 0, kNoCell, Cell::Kind::Grown});  // kAllTexts
    for (CellId id = kUnknownTexts; id <= kLastUnknown; ++id) add({kNoCell, id, 0, kNoCell, Cell::Kind::Grown});
  }
  const Cell& cell(CellId id) const { return cells_[id]; }
  // The lock of the owner is held.
  CellId intern(const Cell& cell) {
    const uint64_t hash = mix(mix(cell.parent, cell.value), uint64_t{cell.size} * 4 + static_cast<uint64_t>(cell.kind));
    const CellId known = interned_.find(hash, [&](CellId id) { return cells_[id] == cell; });
    if (known != interned_.kNone) return known;
    const CellId id = add(cell);
    interned_.add(hash, id);
    return id;
  }
  size_t memory_bytes() const { return cells_.memory_bytes() + interned_.memory_bytes(); }

 private:
  CellId add(const Cell& cell) {
    const uint32_t id = cells_.reserve_one();
    cells_[id] = cell;
    cells_.publish();
    return id;
  }
  ChunkedVector<Cell> cells_;
  ByContent<CellId> interned_;
};

}  // namespace maskwright
