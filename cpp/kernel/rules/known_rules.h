// What the rules became that many grammars begin with, so that these are read and linked once for each tokenizer.
//
// The binding finds out which rules those are (read_ir.cpp): all grammars that have them have the very same nodes for
// them, under the same numbers. So what such a rule was linked to in one grammar it is linked to in all, if all rules
// that it leads to are among them, too. The same holds of an expression in them that a product or a counter elsewhere
// calls: "any name but these" stands in every open object. All are held weakly: the rule store decides how long they
// live.
//
// Thread-safe. Tested by tests/kernel/test_beginnings.py.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "grammar/expr_properties.h"
#include "grammar/subgrammar.h"
#include "support/ids.h"

namespace maskwright {

class RuleStore;

class KnownRules {
 public:
  // An expression that a product or a counter calls, in a rule of its own.
  struct Part {
    ExprId expr = 0;
    bool unrolled = false;
    LinkedRule linked;
  };
  // What was linked: by rule (nothing for those that were not, or whose group is gone), and some parts.
  struct Linked {
    std::vector<LinkedRule> rules;
    std::vector<Part> parts;
  };

  // `beginning` has the rules that all those grammars have, and nothing else.
  explicit KnownRules(const GrammarIr& beginning);
  size_t num_rules() const { return rules_.size(); }
  // What its expressions are by themselves.
  const Continued<ExprProperties>& properties() const { return properties_; }
  Linked find(RuleStore& store);
  // Keeps what rules and parts were linked to, if it is the same in every grammar.
  void keep(const Linked& linked);

 private:
  struct Known {
    std::weak_ptr<RuleGroup> group = {};
    Rule* rule = nullptr;
  };
  struct KnownPart {
    ExprId expr;
    bool unrolled;
    Known known;
  };
  void find_closed(const GrammarIr& beginning);
  static void keep(Known& known, const LinkedRule& linked);

  Continued<ExprProperties> properties_;
  std::vector<uint8_t> is_closed_;       // by expression: leads to no rule but these
  std::vector<uint8_t> is_rule_closed_;  // by rule
  std::mutex lock_;
  std::vector<Known> rules_;
  std::vector<KnownPart> parts_;
};

}  // namespace maskwright
