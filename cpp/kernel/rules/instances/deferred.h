// Subgrammars that are read when an output comes to them: of 128 tools, only those that are called.
//
// To its callers a deferred subgrammar is a rule like any other. Its facts are promised by whoever defers it: it has
// strings besides the empty one, which is one of them or not; all begin with certain bytes, or perhaps named tokens, in
// its root or a few calls below it; it has no spans, no lists of distinct elements, and no parametric rules or
// remembered text unless that is said. In how many bytes it can end may be promised, too, so that budgets need not look
// (budget/budget.h). When a byte is first to be read in it, `GrammarNeeded` is thrown, through whatever asked, to the
// binding, which supplies the grammar and asks again. By then nothing was changed but what is known: the same holds of
// any limit on work (work.h). Supplied, the rule is a call of the grammar's root and nothing else. One whose parametric
// rules were retired (family.h) is made anew for whoever links it from then on.
//
// Only its group's lock is held when it is thrown; no lock is held while the grammar is made, which is Python's work.
// Tested by tests/kernel/test_deferred.py.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "rules/building/group_drafts.h"

namespace maskwright {

// Not an error: it does not leave the extension module. The group is that of a deferred subgrammar, or another of which
// all that it leads to is needed.
struct GrammarNeeded : std::exception {
  explicit GrammarNeeded(std::shared_ptr<RuleGroup> deferred) : group(std::move(deferred)) {}
  const char* what() const noexcept override { return "a deferred subgrammar is needed"; }
  std::shared_ptr<RuleGroup> group;
};

class DeferredGroup : GroupDrafts {
 public:
  // The rule that stands for the subgrammar with this key, found or made.
  static LinkedRule link(RuleStore& store, uint64_t key, const DeferredFacts& promised);
  // Gives its grammar to the group, unless it has one. Throws std::logic_error if a promise is broken.
  static void supply(RuleGroup& group, const LinkedRule& content);
  // Makes the automaton. The group's lock is held. Throws GrammarNeeded.
  static void build(RuleGroup& group);
};

}  // namespace maskwright
