// The rule groups and the families of parametric rules that a group leads to.
// Cost: linear in the groups reached. Tested by tests/kernel, wherever grammars share rules.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace maskwright {

// The group itself first.
std::vector<RuleGroup*> groups_reached(RuleGroup& group);
// Those that stand for deferred subgrammars and have no grammar yet.
std::vector<RuleGroup*> missing_of(RuleGroup& group);
std::vector<Family*> families_reached(RuleGroup& group);

// How many bits of their parameters families move that lead to each other, at most: an object whose members come in any
// order within a member of such an object counts both. More than 64 count as 64.
uint32_t most_bits_moved(RuleGroup& group);

// Whether it leads to a family that is retired, and so has to be linked again.
bool is_retired(RuleGroup& group);

}  // namespace maskwright
