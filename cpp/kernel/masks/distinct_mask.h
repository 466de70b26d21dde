// A state's mask for an element of a list whose elements all differ, without the tokens by which it would become an
// earlier one, or could become no other (text_sets.h).
//
// The set of earlier elements is followed down the vocabulary's trie, so the cost is that of the nodes that both have.
// Tested by tests/exhaustive/test_distinct_texts.py.
#pragma once

#include <vector>

#include "recognizer/stack_store.h"
#include "recognizer/text_sets.h"
#include "rules/state_mask.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

// It holds as long as the mask that it is made from, and this object.
class DistinctMask {
 public:
  DistinctMask(const Vocabulary& vocabulary, const StateMask& mask, const StackStore& store, DfaState& state,
               CellId avoided);
  const StateMask& mask() const { return mask_; }

 private:
  void find_avoided(DfaState& start, CellId avoided);

  const Vocabulary& vocabulary_;
  const StackStore& store_;
  std::vector<TokenId> tokens_;  // that are avoided
  StateMask mask_;
};

}  // namespace maskwright
