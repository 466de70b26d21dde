// Intersections of plain rules and complements of plain rules, as tuples of their automata's states.
//
// Example: any name but "ab" or "c"  =  name & ~("ab" | "c"): a state is (state of name, state of "ab" | "c"). A
// complement's automaton that has died can object no more; when all have, what remains is the first rule's own state,
// which every grammar shares. Transitions are two table look-ups; nothing is computed before it is visited. Tuples that
// admit no string are found by search and never entered, so that there are no dead ends. Not thread-safe: the owning
// rule locks. Tested by tests/exhaustive, tests/kernel/test_large_vocabulary.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "byte_set.h"

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

  // Precondition: all rules are plain, at least one operand is not negated.
  explicit ProductAutomaton(std::vector<Operand> operands);

  Tuple start() const;
  Tuple next(const Tuple& tuple, uint8_t byte) const;
  bool final(const Tuple& tuple) const;
  bool nullable() const;
  ByteSet first(const Tuple& tuple) const;  // a superset of the bytes that may come next
  // The state that alone decides from here on, or nullptr.
  DfaState* sole(const Tuple& tuple) const;
  // Whether any string follows. Throws LimitExceeded after too much work.
  bool is_live(const Tuple& tuple);
  bool has_nonempty_string();
  uint32_t class_of(uint8_t byte) const { return class_of_[byte]; }
  uint32_t num_classes() const { return static_cast<uint32_t>(by_size_.size()); }
  size_t memory_bytes() const { return life_.size() * (48 + operands_.size() * sizeof(void*)); }

 private:
  std::vector<Operand> operands_;
  std::map<Tuple, bool> life_;
  std::set<Tuple> too_large_;  // searched in vain
  uint8_t class_of_[256] = {};
  std::vector<uint8_t> by_size_;  // a byte of each class, that of the largest first
};

}  // namespace maskwright
