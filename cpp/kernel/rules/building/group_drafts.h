// The rules of one component, or of instances linked together, while they are drafts; and what is done to drafts.
//
//   collapse    rules that become each other over nothing are one rule (group_collapsing.cpp).
//   inline      rules called from one place, and small ones, become part of their callers (group_inlining.cpp).
//   loops       a rule that ends by calling itself jumps back to its start instead.
//   start       gets edges of its own and no way back, so that it never counts as an end.
//   left calls  cycles of calls before the first byte are removed: within such a cycle a rule's automaton is the union
//               of all members' bodies; when a member's body is done, whoever begins with that member goes on (the
//               left-corner transform, done on automata: Rosenkrantz and Lewis 1970; Moore 2000). Quadratic in the
//               cycle.
//   freeze      the draft becomes the rule's automaton.
//
// Where the drafts come from: group_builder.h, from a blueprint; instance_linker.h, from templates.
// Tested by tests/exhaustive.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "automata/nfa.h"
#include "automata/nfa_reduction.h"
#include "grammar/blueprint.h"
#include "rules/rule.h"

namespace maskwright {

// What a rule is made of.
struct RuleDraft {
  BlueprintUnit::Kind kind;
  Rule* rule;
  NfaDraft draft = {};
  std::vector<Callee> callees = {};
  std::vector<ByteSet> sets = {};
  std::vector<TokenSet> token_sets = {};
  std::unordered_map<uint64_t, uint32_t> callee_index = {}, set_index = {};  // by hash
};

class GroupDrafts {
 protected:
  using Member = RuleDraft;
  static constexpr size_t kMaxEdges = 5'000'000;
  [[noreturn]] static void too_large();

  void add_member(BlueprintUnit::Kind kind, Rule& rule);
  static uint32_t callee_index(Member& member, Callee callee);
  static uint32_t set_index(Member& member, const ByteSet& set);
  static uint32_t tokens_index(Member& member, const TokenSet& tokens);

  void collapse_unit_cycles();
  void inline_members();
  void loop_self_calls(Member& member);
  static void split_start(Member& member);
  void remove_left_recursion();
  // Raises the members' ranks above those of the rules they call first, where facts took a left-recursive cycle
  // together: of the calls in it some may be left, in one direction.
  void rank_members();
  // The components of the left-call graph, callees first.
  std::vector<std::vector<uint32_t>> left_call_components() const;
  static void freeze(Member& member);

  std::vector<Member> members_;

 private:
  // What becomes part of its callers.
  struct Inlining {
    std::vector<uint32_t> callers_first;       // the members that are reached
    std::vector<uint32_t> position;            // there, by member
    std::vector<uint8_t> is_inlined, is_rule;  // by member; both, where some calls stay, maybe from outside
  };

  static uint32_t moved_argument(const Member& from, Member& to, const NfaEdge& edge);
  std::vector<uint32_t> unit_edges(const Member& member) const;
  uint32_t called_member(const Member& member, uint32_t edge) const;
  static void take_over(Member& heir, Member& member);
  static void drop_idle_calls(Member& member);
  bool calls_some_twice(const Member& member) const;
  std::vector<uint32_t> member_callees(const Member& member) const;
  std::vector<uint32_t> members_callees_first() const;
  Inlining plan_inlining() const;
  bool splice_calls(uint32_t caller, const Inlining& inlining);
  static std::vector<NfaDraft::Edge> self_calls(const Member& member);
  static bool is_closed_under_concatenation(const Member& member);
  bool replace_self_calls(Member& member);
  static uint64_t num_copies(const Member& member, const NfaEdge& call);
  static bool is_call_of(const std::unordered_set<const Rule*>& rules, const Member& member, const NfaEdge& edge);
  void unroll_calls(const std::unordered_set<const Rule*>& counters);
  void unroll_calls(Member& member, const std::unordered_set<const Rule*>& counters);
  void merge_left_corner(const std::vector<uint32_t>& cycle, const std::vector<Member>& before, uint32_t member);
  void add_left_callees(const Member& member, std::vector<uint32_t>& out) const;

  std::unordered_map<const Rule*, size_t> member_of_;
  size_t num_merged_edges_ = 0, num_inlined_edges_ = 0;
  ReductionBudget reduction_budget_;
};

}  // namespace maskwright
