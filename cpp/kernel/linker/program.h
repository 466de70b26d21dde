// From a GrammarIr to rules: normal form, structural identity, sharing.
//
// The steps, each linear:
//   1. measure   expressions; long repetitions and every & and ~ become rules of their own ("units").
//   2. group     units into strongly connected components of the reference graph, callees first; small rules without
//                loops and calls are inlined into their callers.
//   3. intern    each component by its structure, written as a blueprint, in the RuleStore: one seen before, in any
//                grammar, is reused with its automata and masks.
//   4. make      the others (group_builder.h): what must be known of them at once; automata follow when they are used,
//                the root's at once.
//                A component with a parametric rule is drafted only; its instances are made as needed (family.h).
//
// No step walks the vocabulary and none recurses on the C stack.
#pragma once

#include <memory>
#include <vector>

#include "grammar/ir.h"
#include "rules/rule.h"
#include "rules/rule_store.h"

namespace maskwright {

struct Program {
  Rule* root = nullptr;
  std::shared_ptr<RuleGroup> group;  // keeps all others alive
  bool has_budgets = false;          // some rule lies in so many tokens at most
  bool has_memory = false;           // some rule remembers text
  bool has_values = false;           // some list compares values
  bool has_temperatures = false;

  // All groups that it leads to, its own first.
  std::vector<RuleGroup*> groups() const;
  std::vector<Family*> families() const;
  // Those that stand for deferred subgrammars and have no grammar yet.
  std::vector<RuleGroup*> deferred() const;
  // What instances of parametric rules hold, whoever made them.
  size_t instance_bytes() const;
  size_t num_instances() const;
};

// Throws Unsatisfiable if the root derives nothing, LimitExceeded if the automata would be too large.
Program link(const GrammarIr& ir, RuleStore& store);

}  // namespace maskwright
