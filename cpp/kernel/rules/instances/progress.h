// Which templates of a family derive something whatever their parameter, shown once instead of sought each time.
//
// A template makes progress if for every parameter some way through it is open on which each call is of a rule that is
// known to derive something, or of a template that makes progress too and gets a greater parameter: then a derivation
// exists by induction from the greatest parameter down. "For every parameter some way is open" is refuted by
// propagation: suppose that all ways are closed, and see whether bits and numbers that follow contradict each other.
//
// Example: rest::_ ::= "" %if [0:2] == 3 | "a" rest::set_bit(0) %if bit_clear(0) | "b" rest::set_bit(1) %if ... :
// if both letters are closed, bits 0 and 1 are set, so the empty string is open.
//
// What is not shown is left to WitnessSearch; a yes here saves it from walking to the end of every permutation.
// Cost: once a component, bounded by kMaxWays. Tested by tests/exhaustive/test_parametric.py.
#pragma once

#include <vector>

#include "rules/instances/family.h"

namespace maskwright {

// Says so in each of the group's templates.
void find_progress(const RuleGroup& group, std::vector<Template>& templates);

}  // namespace maskwright
