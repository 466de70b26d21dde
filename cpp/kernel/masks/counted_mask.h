// Masks of states that count characters, from the mask of the same state without bounds.
//
// Example: a string of at most 20 characters, 7 of which have come. Of what an unbounded string allows, every token of
// at most 13 characters is allowed here, which is an AND with a bitset that the vocabulary keeps. Only tokens that are
// longer than that and hold something else than characters (`\n` is two characters that count as one, `"` is none) are
// walked for. While characters are still needed, tokens with the closing quote are walked for, too.
//
// In a product the bounds also depend on the state: what a pattern still asks for must fit. No state asks for more than
// `slack` characters, so tokens that leave that many are settled as above.
// Cost: some microseconds where few characters of any token are beyond the bounds. Tested by tests/exhaustive,
// tests/kernel/test_large_vocabulary.py.
#pragma once

#include <memory>

#include "rules/rule.h"
#include "rules/state_mask.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

// The register's canonical form: registers with the same have the same mask. Of a product's state, unless it is
// kUnboundedReg, the unbounded mask must be known.
uint64_t canonical_register(const Vocabulary& vocabulary, const DfaState& state, uint64_t reg);

// The mask, or nullptr where it has to be walked for. `unbounded` is the state's mask for kUnboundedReg.
std::unique_ptr<StateMask> counted_mask(const Vocabulary& vocabulary, DfaState& state, Count count,
                                        const StateMask& unbounded);

}  // namespace maskwright
