// A short way to complete an output: the bytes, and the tokens that the grammar names, up to where it may end.
//
//     after `{"age": ` of {"age": integer}:  `0}`
//
// Each step goes to where fewer bytes are left (byte_distance.h), so that the end is a shortest one but for what that
// file only estimates: items in any order, large automata and products. Where several do, and where none does, as in
// texts that are recalled and in lists of distinct values, what closes something goes first, then digits, then letters,
// each after those that were written less often.
//
// Cost: mostly one byte is tried for each one written, by a look at its stack.
// Tested by tests/exhaustive/test_short_ends.py, tests/report/test_rejection.py.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "budget/byte_distance.h"
#include "recognizer/recognizer.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

// Some bytes, or if there are none, a token that the grammar names.
struct EndPiece {
  std::string bytes;
  TokenId token = 0;
};

class ShortEnd {
 public:
  // The recogniser stands where the output does, and moves on. All must outlive the use.
  ShortEnd(const Vocabulary& vocabulary, Recognizer& recognizer)
      : recognizer_(recognizer), distances_(vocabulary, ByteDistances::Bound::Bytes) {}
  // Nothing if no end is found within so many bytes and tokens. Throws LimitExceeded.
  std::optional<std::vector<EndPiece>> find(size_t most);

 private:
  struct Step {
    uint32_t order = 0;  // the lowest goes first
    bool is_token = false;
    uint8_t byte = 0;
    TokenId token = 0;
  };
  std::optional<Step> best_step(uint32_t distance);
  uint32_t distance();
  uint32_t below(StackId stack);
  bool take(const Step& step);

  Recognizer& recognizer_;
  ByteDistances distances_;
  std::unordered_map<StackId, uint32_t> below_;  // of stacks in the store
  std::array<uint16_t, 256> uses_{};
};

}  // namespace maskwright
