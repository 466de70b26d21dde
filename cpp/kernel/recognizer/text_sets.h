// Sets of texts, as tries in cells: what the elements of a list must not be again.
//
// A list of distinct elements (Op::Distinct) has a set in its register, and an element in progress has the part of the
// set below what it has read: the endings that would repeat an earlier element. That part is mostly empty after a few
// bytes, and then the element is as free as any.
//
//     elements "ab" | "ac" | "b"*   set after  ab, b     {a: {b: ALL}, b: {()}}
//     an element that has read "a"  may go on by "c" only: below "b" is ALL, as nothing else can follow there
//
// ALL stands for whatever can be read from a state of the element's automaton. A part of a set that has grown to hold
// all of that becomes ALL at once, so "is a completion left" is the question whether the part is ALL: masks have no
// dead ends, however few texts there are.
//
// A set is a list of branches, by ascending keys: 0 for a text that ends there, a byte + 1 for what lies below it.
// Equal sets are equal numbers. Adding a text makes as many cells as it has bytes, and those of the branches before
// each. A set with one more text may also be written as that, `Grown`, until it is looked into: most such sets never
// are.
//
// In a list of elements of several kinds, each by an automaton of its own, no part is ALL: what is left is asked for
// the automaton at hand (`holds_rest`), which mostly ends at its first byte that is in no text.
//
// Values that are compared whatever their spelling stand in the same set, under a key of their own, by their identities
// (value_identity.h). They never run out: the grammar sees to it that what has begun can become infinitely many values
// wherever it can go on at all.
//
// Cost: a look below a byte takes a step for each branch. Source: Okasaki, Purely Functional Data Structures, 1998 (a
// trie that shares what does not change). Tested by tests/exhaustive/test_distinct_texts.py.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "recognizer/remembered.h"
#include "rules/rule.h"

namespace maskwright {

inline constexpr CellId kNoTexts = kNoCell;

// Whether a set has branches.
constexpr bool is_trie(CellId set) {
  return set > kLastUnknown;
}

constexpr bool is_unknown(CellId set) {
  return kUnknownTexts <= set && set <= kLastUnknown;
}

// Whether it is known how many texts an unknown set has at most; a set of at most so many; and how many one has.
constexpr bool is_sized(CellId set) {
  return kUnknownTexts < set && set <= kLastUnknown;
}

constexpr CellId unknown_texts(uint64_t most) {
  return std::min(kUnknownTexts + 1 + static_cast<CellId>(std::bit_width(most - 1)), kLastUnknown);
}

constexpr uint64_t most_texts(CellId unknown) {
  return uint64_t{1} << (unknown - kUnknownTexts - 1);
}

// The register of a list: its elements, and how many there are, as far as that matters.
struct Chosen {
  uint32_t count;
  CellId set;
  static constexpr Chosen of(uint64_t reg) { return {static_cast<uint32_t>(reg >> 32), static_cast<CellId>(reg)}; }
  constexpr uint64_t reg() const { return uint64_t{count} << 32 | set; }
};

// The register of an element: what it must not go on with, and what it has read.
struct Spelled {
  CellId avoided;
  CellId text;
  static constexpr Spelled of(uint64_t reg) { return {static_cast<CellId>(reg >> 32), static_cast<CellId>(reg)}; }
  constexpr uint64_t reg() const { return uint64_t{avoided} << 32 | text; }
};

// A register with other cells in the place of its own: of a text, an environment or a part of a set by `cell`, of the
// set of a list by `set`.
template <class MoveCell, class MoveSet>
uint64_t with_cells(MemoryRole::Kind kind, uint64_t reg, MoveCell&& cell, MoveSet&& set) {
  switch (kind) {
    case MemoryRole::Kind::None:
    case MemoryRole::Kind::Multiple:
    case MemoryRole::Kind::Value: break;
    case MemoryRole::Kind::Scope:
    case MemoryRole::Kind::Remember: return cell(static_cast<CellId>(reg));
    case MemoryRole::Kind::Recall: return Recalled{cell(Recalled::of(reg).text), Recalled::of(reg).position}.reg();
    case MemoryRole::Kind::Element: return Spelled{cell(Spelled::of(reg).avoided), cell(Spelled::of(reg).text)}.reg();
    case MemoryRole::Kind::Distinct: return Chosen{Chosen::of(reg).count, set(Chosen::of(reg).set)}.reg();
  }
  return reg;
}

// What lies below a byte. `cell` finds a cell by its number.
template <class Find>
CellId below(CellId set, uint8_t byte, Find&& cell) {
  const uint32_t key = uint32_t{byte} + 1;
  for (; is_trie(set); set = cell(set).parent) {
    const Cell& branch = cell(set);
    if (branch.size >= key) return branch.size == key ? branch.value : kNoTexts;
  }
  return set;
}

// The branch of a set below which its values lie. All other keys are lower.
inline constexpr uint32_t kValuesKey = 0x101;

template <class Find>
CellId values_in(CellId set, Find&& cell) {
  for (; is_trie(set); set = cell(set).parent)
    if (cell(set).size == kValuesKey) return cell(set).value;
  return kNoTexts;
}

// Whether one of the values is this one.
template <class Find>
bool holds_value(CellId values, std::string_view identity, Find&& cell) {
  for (const char c : identity) values = below(values, static_cast<uint8_t>(c), cell);
  return is_trie(values) && cell(values).size == 0;
}

// Whether the text that ends here is in the set.
template <class Find>
bool holds_end(CellId set, Find&& cell) {
  return set == kAllTexts || (is_trie(set) && cell(set).size == 0);
}

// Whether all that an automaton can read from a state, the empty text too if it may end there, is in the set.
template <class Find>
bool holds_all(DfaState& state, CellId set, Find&& cell) {
  if (set == kAllTexts) return true;
  if (set == kNoTexts || (state.final && !holds_end(set, cell))) return false;
  return state.live.all_of(
      [&](uint8_t byte) { return below(set, byte, cell) == kAllTexts || !state.rule->next(state, byte); });
}

// The same where no part is ALL.
template <class Find>
bool holds_rest(DfaState& state, CellId set, Find&& cell) {
  std::vector<std::pair<DfaState*, CellId>> open{{&state, set}};
  while (!open.empty()) {
    DfaState* const at = open.back().first;
    const CellId texts = open.back().second;
    open.pop_back();
    if (!is_trie(texts) || (at->final && !holds_end(texts, cell))) return false;
    const bool are_in_set = at->live.all_of([&](uint8_t byte) {
      DfaState* next = at->rule->next(*at, byte);
      if (!next) return true;
      const CellId there = below(texts, byte, cell);
      if (there != kNoTexts) open.emplace_back(next, there);
      return there != kNoTexts;
    });
    if (!are_in_set) return false;
  }
  return true;
}

// What an element must not go on with behind a byte, which leads to this state; nothing if the byte leads only to that.
template <class Find>
std::optional<CellId> avoided_behind(CellId avoided, uint8_t byte, DfaState& target, Find&& cell) {
  avoided = below(avoided, byte, cell);
  const bool is_all = target.rule->is_of_kinds() ? holds_rest(target, avoided, cell) : avoided == kAllTexts;
  return is_all ? std::nullopt : std::optional(avoided);
}

// Whether a set with one text more, which is given by its bytes, is all that the automaton can read.
template <class Find, class ByteAt>
bool would_hold_all(Rule& element, CellId set, uint32_t size, ByteAt&& byte_at, Find&& cell) {
  DfaState* state = element.start();
  for (uint32_t i = 0; i <= size; ++i) {
    if (i < size && state->final && !holds_end(set, cell)) return false;
    const int next = i < size ? byte_at(i) : -1;
    const bool has_others = state->live.all_of([&](uint8_t byte) {
      return byte == next || below(set, byte, cell) == kAllTexts || !element.next(*state, byte);
    });
    if (!has_others) return false;
    if (next < 0) return true;
    set = below(set, static_cast<uint8_t>(next), cell);
    state = element.next(*state, static_cast<uint8_t>(next));
  }
  return true;
}

// Whether the automaton can read more than is in a set and one text more, whatever that is, if it has this beginning.
template <class Find>
bool stays_open(Rule& element, CellId set, std::string_view beginning, Find&& cell) {
  DfaState* state = element.start();
  for (size_t i = 0; i <= beginning.size(); ++i) {
    const int next = i < beginning.size() ? static_cast<uint8_t>(beginning[i]) : -1;
    int open = state->final && !holds_end(set, cell);
    state->live.all_of([&](uint8_t byte) {
      open += byte != next && below(set, byte, cell) != kAllTexts && element.next(*state, byte);
      return open < 2;
    });
    if (open >= (next < 0 ? 2 : 1)) return true;
    if (next < 0) return false;
    set = below(set, static_cast<uint8_t>(next), cell);
    state = element.next(*state, static_cast<uint8_t>(next));
  }
  return false;
}

// The set with something else below a key. `add` gives a cell a number.
template <class Find, class Add>
CellId with_branch(CellId set, uint32_t key, CellId value, Find&& cell, Add&& add) {
  std::vector<Cell> before;
  for (; set != kNoTexts && cell(set).size < key; set = cell(set).parent) before.push_back(cell(set));
  if (set != kNoTexts && cell(set).size == key) set = cell(set).parent;
  set = add(Cell{set, value, key, kNoCell, Cell::Kind::Branch});
  for (auto branch = before.rbegin(); branch != before.rend(); ++branch)
    set = add(Cell{set, branch->value, branch->size, kNoCell, Cell::Kind::Branch});
  return set;
}

// The set of the texts alone.
template <class Find, class Add>
CellId without_values(CellId set, Find&& cell, Add&& add) {
  if (values_in(set, cell) == kNoTexts) return set;
  std::vector<Cell> texts;
  for (; cell(set).size != kValuesKey; set = cell(set).parent) texts.push_back(cell(set));
  CellId out = kNoTexts;
  for (auto text = texts.rbegin(); text != texts.rend(); ++text)
    out = add(Cell{out, text->value, text->size, kNoCell, Cell::Kind::Branch});
  return out;
}

// The set with one text more, which it does not hold, whatever an automaton could read.
template <class Find, class Add>
CellId with_plain_text(CellId set, std::string_view text, Find&& cell, Add&& add) {
  std::vector<CellId> sets{set};
  for (const char c : text) sets.push_back(below(sets.back(), static_cast<uint8_t>(c), cell));
  CellId out = with_branch(sets.back(), 0, kNoTexts, cell, add);
  for (size_t i = text.size(); i-- > 0;)
    out = with_branch(sets[i], uint32_t{static_cast<uint8_t>(text[i])} + 1, out, cell, add);
  return out;
}

// The set with one value more, which it does not hold.
template <class Find, class Add>
CellId with_value(CellId set, std::string_view identity, Find&& cell, Add&& add) {
  const CellId values = with_plain_text(values_in(set, cell), identity, cell, add);
  return with_branch(set, kValuesKey, values, cell, add);
}

// The set of a list with one text more, which the automaton of its elements reads and the set does not hold.
template <class Find, class Add>
CellId with_text(const Rule& list, CellId set, std::string_view text, Find&& cell, Add&& add) {
  if (list.is_of_kinds()) return with_plain_text(set, text, cell, add);
  Rule& element = *list.element();
  std::vector<DfaState*> states{element.start()};
  std::vector<CellId> sets{set};
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    states.push_back(element.next(*states.back(), byte));
    sets.push_back(below(sets.back(), byte, cell));
  }
  CellId out = with_branch(sets.back(), 0, kNoTexts, cell, add);
  if (holds_all(*states.back(), out, cell)) out = kAllTexts;
  for (size_t i = text.size(); i-- > 0;) {
    const bool may_fill = out == kAllTexts && (i > 0 || !list.has_values());
    out = with_branch(sets[i], uint32_t{static_cast<uint8_t>(text[i])} + 1, out, cell, add);
    if (may_fill && holds_all(*states[i], out, cell)) out = kAllTexts;
  }
  return out;
}

}  // namespace maskwright
