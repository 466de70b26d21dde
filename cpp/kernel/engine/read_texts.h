// Remembered texts of an output that is read once more, to find its captures: registers of rules that have to do with
// texts (recognizer/remembered.h, recognizer/text_sets.h), one byte, call and return at a time.
//
// They are what a Recognizer makes of them, but every cell is interned at once, and what is forgotten stays: readings
// are few, and equal texts must be equal numbers.
// Cost: a step a byte; a step for each byte of an element that is added to a set. Tested by
// tests/exhaustive/test_remembered_captures.py.
#pragma once

#include <optional>
#include <string_view>

#include "recognizer/text_sets.h"
#include "rules/rule.h"

namespace maskwright {

class ReadTexts {
 public:
  struct Place {
    DfaState* state;
    uint64_t reg;
  };
  // Where a rule that reads a text goes on after a byte, on which its automaton goes to `target`.
  std::optional<Place> after_byte(DfaState* state, DfaState* target, uint64_t reg, uint8_t byte);
  // What a call at a position of the output passes on; none if it recalls a text that is not there.
  std::optional<uint64_t> called_register(DfaState* state, uint64_t reg, const CallEdge& call, size_t position) const;
  // Whether the texts let a rule end whose automaton may end.
  bool may_end(DfaState* state, uint64_t reg) const;
  // Of a list of distinct elements: whether another one may follow, or the rest of what comes before it.
  bool may_have_another(DfaState* state, uint64_t reg) const;
  // The register of the caller after the return of a rule that remembers.
  uint64_t after_text(DfaState* state, uint64_t reg, DfaState* caller, uint64_t caller_reg);
  // The same of a list after a value, which is where the output ends; none if it has that value.
  std::optional<uint64_t> after_value(std::string_view value, DfaState* list, uint64_t reg);

 private:
  const Cell& cell(CellId id) const { return cells_.cell(id); }
  CellId extend(CellId text, uint8_t byte);
  CellStore cells_;
};

}  // namespace maskwright
