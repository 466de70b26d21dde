// Registers of rules that have to do with remembered text, with their texts in another store.
//
// What is searched for token budgets is kept by numbers of texts, and outlives the recogniser that asked: so the texts
// of its registers are copied into the store of the searches, where equal texts are equal numbers.
//
// Cost: one step for each cell that was not copied before. Tested by tests/exhaustive/test_remembered_budgets.py.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "recognizer/recognizer.h"

namespace maskwright {

class TextCopies {
 public:
  explicit TextCopies(CellStore& into) : into_(into) {}
  uint64_t of(const TextView& texts, const DfaState& state, uint64_t reg);
  size_t size() const { return known_.size(); }

 private:
  struct From {
    const CellStore* store;  // nullptr: of the recogniser asked
    CellId cell;
    bool operator==(const From&) const = default;
  };
  struct FromHash {
    size_t operator()(const From& at) const { return mix(reinterpret_cast<uintptr_t>(at.store), at.cell); }
  };
  using Known = std::unordered_map<From, CellId, FromHash>;
  CellId copy(const TextView& texts, CellId id);

  CellStore& into_;
  Known known_;
};

}  // namespace maskwright
