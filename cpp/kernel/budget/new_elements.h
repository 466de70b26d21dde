// In how few bytes an element of a list becomes another text than those before it.
//
//     [a-z]+ after  a, b, ab:   "c", 1 byte        having read "a":  "aa", 1 byte more
//     "x" | "xy" | "xyz" after  x:                  "xy", 2 bytes
//
// What is searched is the set of earlier elements (text_sets.h) and the automaton together, level by level: where the
// set has nothing, the automaton's own distance is known. Of elements that are still to come after this one, the texts
// before them are not known, only how many they are: with n of them, one of the n + 1 shortest texts is left. So what
// is enough never grows on a shortest way. The same is said of sets that are known by their sizes only.
//
// Only bytes that are tokens are used. Elements compared by their values (value_identity.h) are not looked at here:
// kNever where all are. Cost: a step for each branch of the set that is shorter than what is found. Tested by
// tests/exhaustive/test_distinct_budgets.py.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recognizer/recognizer.h"
#include "recognizer/text_sets.h"
#include "rules/growing_places.h"
#include "rules/text_lengths.h"

namespace maskwright {

// The register of a list, measured: how many elements it has, and in how few bytes another one may follow.
struct MeasuredList {
  uint32_t next;
  uint32_t count;
  static constexpr MeasuredList of(uint64_t reg) {
    return {static_cast<uint32_t>(reg >> 32), static_cast<uint32_t>(reg)};
  }
  constexpr uint64_t reg() const { return uint64_t{next} << 32 | count; }
};

class NewElements {
 public:
  static constexpr uint32_t kNever = 0xFFFFFFFF;
  // `to_end`: the bytes from a state of an element to its end, none if it may end there.
  NewElements(const ByteSet& bytes, std::function<uint32_t(DfaState&)> to_end)
      : bytes_(bytes), to_end_(std::move(to_end)), lengths_(bytes) {}

  // From a state of an element, which has what it must not go on with in its register, by at least one byte.
  uint32_t rest(const TextView& texts, DfaState& state, uint64_t reg);
  // A whole one, of a list with this register.
  uint32_t next(const TextView& texts, Rule& list, uint64_t reg);
  // From a state on, one that is none of any kMostElements; kNever if there are too few. Of texts of which few have so
  // many bytes, such as of one letter only, kAssumedBytes are taken to do.
  uint32_t any(DfaState& state) { return lengths_.of_nth_within(state, kMostElements + 1, kAssumedBytes); }
  // One of a list that has so many, whatever these are; kNever if there may be none.
  uint32_t next_of(Rule& list, uint32_t count);
  size_t memory_bytes() const;

 private:
  // Where bytes lead, by how far it is from there to the end.
  struct Step {
    uint32_t bytes;  // this one included
    uint8_t byte;
    DfaState* target;
  };
  struct AtState {
    const CellStore* store;
    DfaState* state;
    CellId avoided;
    bool operator==(const AtState&) const = default;
  };
  struct AtStateHash {
    size_t operator()(const AtState& at) const { return mix(reinterpret_cast<uintptr_t>(at.state), at.avoided); }
  };
  uint32_t length_of_another(DfaState& state, CellId sized);
  uint32_t shortest(const TextView& texts, DfaState& state, CellId avoided);
  uint32_t shortest_but(const TextView& texts, DfaState& state, CellId avoided, std::string_view text);
  uint32_t search(const TextView& texts, DfaState& state, CellId avoided);
  const std::vector<Step>& steps(DfaState& state);

  const ByteSet bytes_;
  const std::function<uint32_t(DfaState&)> to_end_;
  std::unordered_map<DfaState*, std::vector<Step>> steps_;
  std::unordered_map<AtState, uint32_t, AtStateHash> known_;
  TextLengths lengths_;
};

}  // namespace maskwright
