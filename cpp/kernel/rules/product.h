// Intersections of regular rules, complements of such and a counted repetition, as tuples of their automata's states.
// An operand that cannot be spelled out, as it counts in counts, is a derived rule.
//
// Example: any name but "ab" or "c"  =  name & ~("ab" | "c"): a state is (state of name, state of "ab" | "c"). A
// complement's automaton that has died can object no more; when all have, what remains is the first rule's own state,
// which every grammar shares. Transitions are two table look-ups; nothing is computed before it is visited. Tuples that
// admit no string are never entered, so that there are no dead ends. Where a complement's automaton takes whatever
// follows, as it does after a text that a lookahead excludes, that is plain; else it takes a search. It goes where the
// operands are nearest to their ends; if that does not succeed soon, some two operands may have no string in common,
// which is told by their product alone and remembered by the rule store; the same is asked of the states of a tuple.
//
// One operand may count: a pattern of at most 500 characters is  ("^[a-z]" ... `"`) & (character{0,500} `"`).  Its
// state is where it stands inside a character; how many have come is in the register, as for any counting rule
// (registers.h), so that a tuple's mask is the same far from the bounds. What the bounds leave of a tuple's completions
// is known to `Lengths` (lengths.h); here they are left out of account.
//
// Not thread-safe: the owning rule locks. Tested by tests/exhaustive, tests/kernel/test_large_vocabulary.py,
// tests/kernel/test_words_that_exclude_each_other.py, tests/kernel/test_excluded_texts.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "support/best_first.h"
#include "support/byte_set.h"
#include "support/ids.h"
#include "support/work.h"

namespace maskwright {

class Rule;
struct DfaState;

class ProductAutomaton {
 public:
  struct Operand {
    Rule* rule;
    bool negated;
  };
  // One state an operand, nullptr where a complement's automaton has died. Empty: the product is dead.
  using Tuple = std::vector<DfaState*>;
  struct TupleHash {
    size_t operator()(const Tuple& tuple) const {
      uint64_t h = 0;  // mixed at the end only: a tuple is long, and each step waits for the one before
      for (const DfaState* state : tuple) h = (h ^ reinterpret_cast<uintptr_t>(state)) * 0x9E3779B97F4A7C15ULL;
      return mix(h, tuple.size());
    }
  };

  // Precondition: at least one operand is not negated. No rule calls others; one may count: a counter that
  // spells its item out and has a terminator, with which it is started as `reg` says.
  explicit ProductAutomaton(std::vector<Operand> operands, uint64_t reg = 0);

  Tuple start() const;
  // Where a byte leads: sets `out`, or returns false if it is plain that the product is dead there.
  bool follow(const Tuple& tuple, uint8_t byte, Tuple& out) const;
  bool final(const Tuple& tuple) const;
  // Of the operand that counts, or nullptr.
  Rule* counter() const { return counter_; }
  uint64_t start_register() const { return reg_; }
  // Whether an item of the counting operand has just ended; whether its terminator may come, if the count allows.
  bool at_head(const Tuple& tuple) const;
  bool terminates(const Tuple& tuple) const;
  bool nullable() const;
  ByteSet first(const Tuple& tuple) const;  // a superset of the bytes that may come next
  // Where `sole` is the state of the only operand that is no complement: the bytes on which a complement goes on.
  std::optional<ByteSet> complement_bytes(const Tuple& tuple, const DfaState& sole) const;
  // The state that alone decides from here on, or nullptr.
  DfaState* sole(const Tuple& tuple) const;
  // How many bytes a tuple seems to need to the end: what its operands need, each by itself. Never zero.
  uint32_t guess(const Tuple& tuple) const;
  // Whether any string follows. Throws LimitExceeded after too much work.
  bool is_live(const Tuple& tuple);
  bool has_nonempty_string();
  uint32_t class_of(uint8_t byte) const { return class_of_[byte]; }
  uint32_t num_classes() const { return static_cast<uint32_t>(by_size_.size()); }
  // A byte of each class, that of the largest first.
  const std::vector<uint8_t>& class_bytes() const { return by_size_; }
  size_t memory_bytes() const { return life_.size() * (48 + operands_.size() * sizeof(void*)); }

 private:
  using Search = BestFirst<Tuple, TupleHash>;
  bool is_end(const Tuple& tuple) const { return sole(tuple) || final(tuple) || terminates(tuple); }
  Search::Outcome run(Search& search, size_t most) const;
  bool conclude(const Search& search, Search::Outcome outcome, const Work::Measure& work);
  bool has_disjoint_operands() const;
  bool has_disjoint_states(const Tuple& tuple);
  static bool are_disjoint(const Operand& a, const Operand& b);
  bool takes_everything(DfaState& state) const;
  std::vector<Operand> operands_;
  std::unordered_map<Tuple, bool, TupleHash> life_;
  std::set<Tuple> too_large_;  // searched in vain
  std::map<std::pair<DfaState*, DfaState*>, bool> disjoint_states_;
  uint8_t class_of_[256] = {};
  std::vector<uint8_t> by_size_;
  Rule* counter_ = nullptr;
  size_t counter_index_ = 0;
  uint64_t reg_;
};

}  // namespace maskwright
