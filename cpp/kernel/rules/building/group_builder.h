// Builds the rules of one strongly connected component from their blueprint.
//
// Most groups are built when one of their rules is first started. Those of which a search must tell whether they match
// anything at all, and those that are left recursive and so may grow too large, are built when they are made.
//
// Each unit is drafted as an NFA, of live parts only; choices between many literals become minimal automata. A call of
// a rule that matches the empty string gets an empty move beside it. What follows is said in group_drafts.h; the drafts
// of parametric components are kept as templates instead (family.h).
//
// Tested by tests/exhaustive.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/blueprint.h"
#include "rules/building/group_drafts.h"
#include "rules/facts.h"
#include "rules/rule.h"

namespace maskwright {

class GroupBuilder : GroupDrafts {
 public:
  // A new group: its rules' facts are known, their automata may be still to be built. Throws LimitExceeded if these
  // would be too large. With `at_once` the automata are built, too: one that is to be used next is not read twice.
  static std::shared_ptr<RuleGroup> make(RuleStore& store, std::string blueprint, std::vector<LinkedRule> callees,
                                         bool at_once);

  explicit GroupBuilder(RuleGroup& group);
  // The group's lock is held, or no other thread knows the group.
  void build();

 private:
  // An expression of a member that is still to be drafted, between two states.
  struct Part {
    ExprId expr;
    uint32_t from, to;
  };
  void draft_members();
  void keep_templates();
  void draft_expression(Member& member, ExprId root);
  void draft_part(Member& member, const Part& part);
  void draft_literal(NfaDraft& draft, const ExprNode& node, uint32_t from, uint32_t to);
  void draft_reference(Member& member, const ExprNode& node, uint32_t from, uint32_t to);
  void draft_sequence(NfaDraft& draft, const ExprNode& node, uint32_t from, uint32_t to);
  void draft_choice(Member& member, const ExprNode& node, uint32_t from, uint32_t to);
  void draft_repetition(NfaDraft& draft, const ExprNode& node, uint32_t from, uint32_t to);
  void draft_literals(Member& member, std::vector<std::string_view> literals, uint32_t from, uint32_t to);
  void draft_substrings(Member& member, const ChunkList& chunks, uint32_t from, uint32_t to);
  void draft_counter(Member& member, const ExprNode& call);
  void build_product(Rule& rule, const ExprNode& intersection);
  void build_multiples(Rule& rule, const ExprNode& multiple);
  void decide(Rule& rule);
  Rule& target(const ExprNode& call);
  Callee template_call(const ExprNode& call);

  RuleGroup& group_;
  const std::vector<Rule*> callees_;
  const Blueprint blueprint_;
  const GroupFacts facts_;
  std::vector<Part> parts_;
};

}  // namespace maskwright
