// What the rules became that many grammars begin with, so that these are linked once for each tokenizer.
//
// The binding finds out which rules those are (read_ir.cpp): all grammars that have them have the very same nodes for
// them, under the same numbers. So what such a rule was linked to in one grammar it is linked to in all, if all rules
// that it leads to are among them, too. It is held weakly: the rule store decides how long it lives.
//
// Thread-safe. Tested by tests/kernel/test_beginnings.py.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "subgrammar.h"

namespace maskwright {

class RuleStore;

class KnownRules {
 public:
  // `beginning` has the rules that all those grammars have, and nothing else.
  explicit KnownRules(const GrammarIr& beginning);
  size_t size() const { return rules_.size(); }
  // By rule, what it was linked to; nothing for those that were not, or whose group is gone.
  std::vector<LinkedRule> find(RuleStore& store);
  // Keeps what rules were linked to, if it is the same in every grammar.
  void keep(const std::vector<LinkedRule>& linked);

 private:
  struct Known {
    bool is_closed = false;  // leads to no rule but these
    std::weak_ptr<RuleGroup> group = {};
    Rule* rule = nullptr;
  };
  std::mutex lock_;
  std::vector<Known> rules_;
};

}  // namespace maskwright
