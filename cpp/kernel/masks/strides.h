// How many items of a repetition one token takes at most, from the end of an item to the end of an item.
//
//     "a"{1000000}, with tokens `a`, `aa` and `aaaaaaaa`: eight, so that 125,000 tokens are enough
//
// It bounds from above, without walking through the items, the tokens that a long repetition needs (byte_distance.h).
//
// Cost: one walk of the vocabulary for each rule that counts, once for all grammars that share it; where characters are
// counted, of what leaves their loop only. Thread-safe.
// Tested by tests/contract/test_work_limits.py.
#pragma once

#include <cstdint>

#include "rules/rule.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

// Precondition: the rule counts, is no product, and has been started.
uint32_t stride_of(const Vocabulary& vocabulary, Rule& rule);

}  // namespace maskwright
