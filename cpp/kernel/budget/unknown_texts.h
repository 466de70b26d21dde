// Configurations without the texts of their lists, so that they are the same for many of them.
//
// What fits into a budget depends on the elements that a list of distinct ones has. But far from the end it does not
// matter which they are: as many as there are make an element but a few bytes longer. So the clock from which on a
// configuration is safe (budget.h) is found for one whose sets are known by their sizes only, up to the next power of
// two, and holds for all that have such sets. Of values that are compared whatever their spelling, not even that
// counts.
//
//     ["red", "gre        sets of 1 and of 1:   the same as     ["up", "gre       and as    ["red", "blue", "gre
//
// Cost: a step for each branch of a set that is new. Not thread-safe. Tested by
// tests/exhaustive/test_distinct_budgets.py.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "recognizer/recognizer.h"
#include "rules/text_lengths.h"

namespace maskwright {

class UnknownTexts {
 public:
  // `longest`: the most bytes of a token. As many elements may be added before the next configuration.
  UnknownTexts(const StackStore& store, uint32_t longest) : store_(store), longest_(longest) {}

  // Counts the texts of all sets that the items have to do with.
  void count(std::span<const Item> items);
  // An item without texts, which have been counted. The lock of the store's owner is held.
  Item without_texts(const Item& item, StackStore& store);
  size_t memory_bytes() const;

 private:
  struct Part {
    const DfaState* state;
    CellId set;
    bool operator==(const Part&) const = default;
  };
  struct PartHash {
    size_t operator()(const Part& at) const { return mix(reinterpret_cast<uintptr_t>(at.state), at.set); }
  };
  void count_set(Rule& list, CellId set);
  void count_part(DfaState& state, CellId set);
  uint64_t sized(const DfaState& state, uint64_t reg) const;

  const StackStore& store_;
  const uint32_t longest_;
  TextLengths lengths_{~ByteSet()};
  std::unordered_map<Part, uint64_t, PartHash> numbers_;
  std::unordered_map<StackId, StackId> moved_;  // stacks that have been counted, and what they became
};

}  // namespace maskwright
