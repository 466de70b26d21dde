// Of the states that an automaton is in at once, those that another one makes needless: whatever leads from them to the
// end leads there from it, too.
//
// Example: "json" is sought anywhere in a text, .* "json" .*  : once it has come, the last loop takes all that may
// follow, and what is still sought from the first one changes nothing. Without the states of that search, what follows
// is one state that loops, whatever has been read.
//
// Only states with a loop over many bytes are asked what they cover, when they are first met beside others. Every state
// is followed together with the set of those that the same bytes lead to from the one with the loop; it is covered
// unless bytes lead it to an end, or on, where they lead that one nowhere. Cost: linear in such pairs, of which there
// are mostly as many as states; where they become too many, nothing is said to be covered any more. Source: the
// inclusion of regular languages (Hopcroft and Ullman 1979). Tested by tests/kernel/test_covered_states.py,
// tests/exhaustive.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "automata/nfa.h"
#include "support/byte_set.h"

namespace maskwright {

// Precondition: the automaton's edges are bytes, sets and empty moves. It and the sets must outlive the use.
class CoveredStates {
 public:
  CoveredStates(const Nfa& nfa, const std::vector<ByteSet>& sets);
  // Whether a state has a loop over many bytes: without such states nothing is left out.
  static bool loops(const Nfa& nfa, const std::vector<ByteSet>& sets, uint32_t state);
  // Takes what others cover out of a set that is closed under empty moves, and leaves it closed.
  void leave_out(std::vector<uint32_t>& states, std::vector<uint8_t>& seen);
  size_t memory_bytes() const { return bytes_; }

 private:
  struct Loop {
    std::vector<uint32_t> closure;               // under empty moves
    std::optional<std::vector<uint8_t>> covers;  // by state; empty if none is known that it does
  };
  Loop* loop_at(uint32_t state, std::vector<uint8_t>& seen);

  const Nfa& nfa_;
  const std::vector<ByteSet>& sets_;
  size_t steps_left_;  // for what is not known yet
  std::unordered_map<uint32_t, Loop> known_;
  std::vector<uint32_t> distances_;  // to the end, once asked for
  size_t bytes_ = sizeof(*this);
};

}  // namespace maskwright
