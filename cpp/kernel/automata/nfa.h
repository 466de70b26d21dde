// The automaton of one rule: bytes, calls of other rules, single tokens, and empty moves.
//
// An `NfaDraft` is an unordered list of edges, cheap to build and to transform; `Nfa` is its frozen form with the edges
// of a state adjacent. State 0 is the start and state 1 the end of the rule.
//
// Example: "a" [0-9]* "b"  →  0 -a-> 2, 2 -ε-> 3, 3 -[0-9]-> 3, 3 -ε-> 4, 4 -b-> 1.
// Size and time are linear in the expression, repetitions with small bounds counted by their copies.
// Tested by tests/exhaustive.
#pragma once

#include <cstdint>
#include <vector>

#include "support/byte_set.h"
#include "support/ids.h"

namespace maskwright {

// Guards are in the templates of parametric rules only (family.h): empty moves on a condition.
enum class EdgeKind : uint8_t { Epsilon, Byte, Set, Call, Tokens, Guard };

struct NfaEdge {
  EdgeKind kind;
  uint32_t argument;  // Byte: the byte. Set, Call, Tokens: an index into the rule's sets, callees, token_sets.
  uint32_t target;
  bool consumes() const { return kind == EdgeKind::Byte || kind == EdgeKind::Set || kind == EdgeKind::Tokens; }
};

inline constexpr uint32_t kStart = 0, kFinal = 1;

struct NfaDraft {
  struct Edge {
    uint32_t source;
    NfaEdge edge;
  };
  uint32_t num_states = 2;
  std::vector<Edge> edges;

  uint32_t add_state() { return num_states++; }
  void add(uint32_t source, EdgeKind kind, uint32_t argument, uint32_t target) {
    edges.push_back({source, {kind, argument, target}});
  }
  // Removes the edges from which the end cannot be reached. Calls count as passable.
  void trim();
};

class Nfa {
 public:
  Nfa() = default;
  explicit Nfa(const NfaDraft& draft);
  uint32_t num_states() const { return static_cast<uint32_t>(begin_.size()) - 1; }
  const NfaEdge* begin(uint32_t state) const { return edges_.data() + begin_[state]; }
  const NfaEdge* end(uint32_t state) const { return edges_.data() + begin_[state + 1]; }
  const std::vector<NfaEdge>& edges() const { return edges_; }
  // Adds to `states` all that empty moves reach from them; `seen` has num_states() zeros and is left so.
  void close(std::vector<uint32_t>& states, std::vector<uint8_t>& seen) const;
  // By state, how many edges that are no empty moves lead to the end at least; kNever if none do.
  std::vector<uint32_t> distances_to_end() const;
  static constexpr uint32_t kNever = 0xFFFFFFFF;
  size_t memory_bytes() const { return begin_.capacity() * 4 + edges_.capacity() * sizeof(NfaEdge); }

 private:
  std::vector<uint32_t> begin_;
  std::vector<NfaEdge> edges_;
};

}  // namespace maskwright
