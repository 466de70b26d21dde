// Builds the rules of one strongly connected component from their blueprint.
//
// Most groups are built when one of their rules is first started. Those of which a search must tell whether they match
// anything at all, and those that are left recursive and so may grow too large, are built when they are made.
//
//   draft       an NFA per unit, of live parts only; choices between many literals become minimal automata. A call of a
//               rule that matches the empty string gets an empty move beside it.
//   inline      rules called from one place, and small ones, become part of their callers (group_inlining.cpp).
//   loops       a rule that ends by calling itself jumps back to its start instead.
//   start       gets edges of its own and no way back, so that it never counts as an end.
//   left calls  cycles of calls before the first byte are removed: within such a cycle a rule's automaton is the union
//               of all members' bodies; when a member's body is done, whoever begins with that member goes on (the
//               left-corner transform, done on automata: Rosenkrantz and Lewis 1970; Moore 2000). Quadratic in the
//               cycle.
//
// Tested by tests/exhaustive.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "blueprint.h"
#include "facts.h"
#include "nfa.h"
#include "rule.h"

namespace maskwright {

class GroupBuilder {
 public:
  // A new group: its rules' facts are known, their automata may be still to be built. Throws LimitExceeded if these
  // would be too large.
  static std::shared_ptr<RuleGroup> make(RuleStore& store, std::string blueprint,
                                         std::vector<RuleGroup::CalleeLink> callees);

  explicit GroupBuilder(RuleGroup& group);
  // The group's lock is held, or no other thread knows the group.
  void build();

 private:
  struct Member {
    BlueprintUnit::Kind kind;
    Rule* rule;
    NfaDraft draft;
    std::vector<Callee> callees;
    std::vector<ByteSet> sets;
    std::vector<std::vector<TokenId>> token_sets;
    std::unordered_map<uint64_t, uint32_t> callee_index, set_index;  // by hash
  };
  void draft_expression(Member& member, ExprId root);
  void draft_literals(Member& member, std::vector<std::string_view> literals, uint32_t from, uint32_t to);
  void draft_counter(Member& member, const ExprNode& call);
  void build_product(Rule& rule, const ExprNode& intersection);
  void decide(Rule& rule);
  void unroll_calls(Member& member, const Member& counter);
  uint32_t callee_index(Member& member, Callee callee);
  uint32_t set_index(Member& member, const ByteSet& set);
  Rule& target(const ExprNode& call);
  uint32_t tokens_index(Member& member, const std::vector<TokenId>& tokens);
  uint32_t moved_argument(const Member& from, Member& to, const NfaEdge& edge);
  void inline_members();
  std::vector<uint32_t> member_callees(const Member& member) const;
  std::vector<uint32_t> members_callees_first() const;
  std::vector<uint8_t> members_to_inline(const std::vector<uint32_t>& reached) const;
  bool splice_calls(Member& caller, const std::function<bool(uint32_t)>& is_inlined);
  void loop_self_calls(Member& member);
  void split_start(Member& member);
  void remove_left_recursion();
  void merge_left_corner(const std::vector<uint32_t>& cycle, const std::vector<Member>& before, uint32_t member);
  std::vector<std::vector<uint32_t>> left_call_components() const;
  std::vector<uint32_t> left_callees(const Member& member) const;
  void freeze(Member& member);

  RuleGroup& group_;
  const std::vector<Rule*> callees_;
  const Blueprint blueprint_;
  const GroupFacts facts_;
  std::vector<Member> members_;
  std::unordered_map<const Rule*, size_t> member_of_;
  size_t num_merged_edges_ = 0, num_inlined_edges_ = 0;
};

}  // namespace maskwright
