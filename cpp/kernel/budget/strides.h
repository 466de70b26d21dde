// How many items of a repetition one token takes at most, from the end of an item to the end of an item.
//
//     "a"{1000000}, with tokens `a`, `aa` and `aaaaaaaa`: eight, so that 125,000 tokens are enough
//
// It bounds from above, without walking through the items, the tokens that a long repetition needs (byte_distance.h).
//
// Cost: one walk of the vocabulary for each rule that counts, once.
// Tested by tests/contract/test_work_limits.py.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "recognizer/recognizer.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

class Strides {
 public:
  explicit Strides(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}
  // Precondition: the rule counts, is no product, and has been started.
  uint32_t of(Rule& rule);

 private:
  class Sink;
  const Vocabulary& vocabulary_;
  StackStore stacks_;
  Recognizer recognizer_;
  std::unordered_map<const Rule*, uint32_t> known_;
};

}  // namespace maskwright
