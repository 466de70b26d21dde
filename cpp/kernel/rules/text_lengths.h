// How long the texts are that an automaton reads from a state on, by ascending length.
//
//     [ab]+     1st and 2nd: 1 byte, 3rd to 6th: 2 bytes, ...        "x" | "xyz"    1st: 1 byte, 2nd: 3 bytes, no more
//
// Texts of one length are counted together, by the states that they lead to; once for each state that is asked for.
// Cost: a step for each byte of each state, for each length up to what is asked. Thread-safe if its owner is. Tested by
// tests/exhaustive/test_distinct_budgets.py.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rules/rule.h"
#include "support/byte_set.h"

namespace maskwright {

class TextLengths {
 public:
  static constexpr uint32_t kNever = 0xFFFFFFFF;
  static constexpr uint64_t kManyTexts = uint64_t{1} << 40;  // as many, or more
  explicit TextLengths(const ByteSet& bytes) : bytes_(bytes) {}

  // Of the n-th text, the empty one apart; kNever if there are fewer.
  uint32_t of_nth(DfaState& from, uint64_t n);
  // The same, or so many bytes if it is longer; kNever also where it is not known whether there is one.
  uint32_t of_nth_within(DfaState& from, uint64_t n, uint32_t bytes);
  // Of the n-th one, or if there are fewer, of the longest.
  uint32_t of_nth_at_most(DfaState& from, uint64_t n);
  // How many texts there are, the empty one included.
  uint64_t number(DfaState& from);
  // Whether there are many; false also after a long search.
  bool are_many(DfaState& from) const;
  size_t memory_bytes() const;

 private:
  struct Texts {
    std::unordered_map<DfaState*, uint64_t> leading;   // how many lead to each state, of the length looked at last
    std::vector<std::pair<uint64_t, uint32_t>> found;  // so many have at most this length
    uint32_t length = 0;
    bool is_given_up = false;
    uint64_t number() const { return found.empty() ? 0 : found.back().first; }
  };
  const Texts& at_least(DfaState& from, uint64_t n, uint32_t within = kNever);
  void lengthen(Texts& texts) const;

  const ByteSet bytes_;
  std::unordered_map<DfaState*, Texts> texts_;
};

// Whether more texts can be read from a state than a set can hold. Found once; thread-safe.
bool reads_plenty(DfaState& state);

}  // namespace maskwright
