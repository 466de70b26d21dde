// A draft without empty moves, its equivalent states merged.
//
// `term (op term)*` calls `term` at two places; after the reduction both are one state, so the rule can be inlined
// there at no cost. Two states are equivalent if they both may end the rule or both may not, and their edges have the
// same labels to equivalent states, a call being a label like any other: the coarsest forward bisimulation, found by
// refining a partition (Hopcroft 1971; Kanellakis and Smolka 1990). The language stays the same.
//
// Cost: edges times the logarithm of the states. Gives up, and says so, where removing empty moves makes too many
// edges, or where all that is done for one component is too much: a ring of rules that may all be empty merges into
// members as large as the ring, each of which would be refined over and over. Tested by tests/exhaustive.
#pragma once

#include <span>
#include <vector>

#include "automata/nfa.h"

namespace maskwright {

// The edges of a state and of all that empty moves reach from it, sorted and without duplicates, the empty moves left
// out.
struct ReducedState {
  std::span<const NfaEdge> edges = {};
  bool accepting = false;

  // Whether whatever `other` can do can also be done from here, edge by edge.
  bool covers(const ReducedState& other) const;
};

// Edges that may still be looked at, for all drafts of a component together.
struct ReductionBudget {
  size_t num_edges = 4'000'000;

  bool spend(size_t edges) {
    num_edges -= edges < num_edges ? edges : num_edges;
    return num_edges > 0;
  }
};

struct ReducedNfa {
  std::vector<ReducedState> states;  // by state of the draft; empty for those that cannot be reached
  std::vector<NfaEdge> edges;        // of all states, which point into it

  ReducedNfa() = default;
  ReducedNfa(ReducedNfa&&) = default;  // where the edges lie stays the same; a copy's states would point elsewhere
};

// Without states if there are too many edges.
ReducedNfa without_empty_moves(const NfaDraft& draft, ReductionBudget& budget);

// False, and nothing changes, if the draft is too large for it.
bool reduce(NfaDraft& draft, ReductionBudget& budget);

}  // namespace maskwright
