// What is known of an expression by itself: how large it is, and whether it loops, counts or needs a parameter.
//
// It decides what becomes a rule of its own and what is inlined (linker.h). Nodes are numbered children first, so one
// ascending pass suffices.
//
// Example: [a-z]{3} weighs 3, loops not and is plain; [a-z]{1,500} counts, and weighs what a call does.
// Tested by tests/kernel/test_link.py.
#pragma once

#include <cstdint>
#include <vector>

#include "support/ids.h"

namespace maskwright {

struct GrammarIr;

inline constexpr uint64_t kMaxInlinedWeight = 16;
inline constexpr uint32_t kCharacterBytes = 4;

enum class Form : uint8_t { Plain, Boolean, Irregular };  // neither; with & or ~; with references, guards or tokens

struct ExprProperties {
  uint64_t weight = 1;
  uint64_t unrolled_weight = 1;  // with counted repetitions spelled out
  uint32_t longest = 0;          // bytes of the longest string, up to one more than a character's; if plain
  bool uses_parameter = false;   // it depends on the parameter of the rule that it is in
  bool uses_memory = false;      // it remembers or recalls a text of the scope that it is in
  bool outlined = false;         // in a parametric rule or a scope, it is a rule of its own that all share
  bool loops = false;            // an unbounded repetition inside
  bool counting = false;         // a repetition that is counted instead of unrolled
  Form form = Form::Plain;       // of the expression and all in it
  // Whether one automaton can have it whole, with its counted repetitions spelled out.
  bool is_unrollable() const;
};

// By expression.
std::vector<ExprProperties> properties_of(const GrammarIr& ir);

}  // namespace maskwright
