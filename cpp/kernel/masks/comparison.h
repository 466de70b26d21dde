// A state's mask from a similar state's.
//
// In an object with known names and others allowed, each prefix of a known name is a state of its own: another name may
// begin with `na`, but not be `name`. Nearly all tokens lead from it where they lead from the state of strings that can
// no longer become a known name. Both are followed down the trie side by side; a subtree is left as soon as both reach
// the same state, for then all that follows is equal by definition, and only where they part do the masks differ. Where
// the differences are few, they are the mask: the bits and the exits of the other state serve as its base.
// Tested by tests/exhaustive, tests/kernel/test_large_vocabulary.py.
#pragma once

#include <memory>
#include <vector>

#include "rules/rule.h"
#include "rules/state_mask.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

inline constexpr size_t kMaxCompared = 20'000;  // children looked at before two states count as too different

// Whether the bytes that follow a state are all that follows: no calls, and no count that matters.
bool is_self_contained(const DfaState& state);

// A node at which two states have gone apart; nullptr for the one that does not go on there.
struct Parting {
  NodeId node;
  DfaState* a;
  DfaState* b;
};

// Adds the children of a node that lead from two states to different ones; returns how many were looked at.
// Precondition: both are self-contained.
size_t part_at(const Vocabulary& vocabulary, NodeId node, DfaState& a, DfaState& b, std::vector<Parting>& out);

// A state of the same rule, or of one it leads into, that nearly all characters lead to as they do from `state`;
// nullptr if there is none. Neither calls rules. Of counted products, masks without bounds are meant.
DfaState* similar_state(DfaState& state);

// The mask of `state`, or nullptr if the two differ in too many places for this to pay. `base` is the mask of
// `similar`.
std::unique_ptr<StateMask> mask_by_comparison(const Vocabulary& vocabulary, DfaState& state, DfaState& similar,
                                              const StateMask& base);

}  // namespace maskwright
