// What can be said of a group's rules without building their automata.
//
//   nullable    matches the empty string
//   productive  matches some other string; what is neither is dead and left out of every automaton
//   infinite    certainly matches infinitely many strings
//   finite      certainly does not
//   first       the bytes that its strings begin with; a superset in rules with & and ~
//   rank        above the rank of every rule that it can call before its first byte
//
// The first three are least solutions of Horn clauses over the blueprint's nodes ("a sequence is nullable if all its
// parts are"), found in linear time by counting the conditions that each node still misses (Dowling and Gallier 1984);
// or, where no member of the group calls one, in one pass.
// Of templates (family.h) all of them are bounds: what holds of an instance holds of its template, for which every
// guard counts as open.
//
// `first` and `rank` follow the calls before the first byte, cycles taken together.
// Tested by tests/exhaustive, tests/kernel/test_link.py.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grammar/blueprint.h"
#include "support/byte_set.h"

namespace maskwright {

class Rule;

struct RuleFacts {
  bool nullable = false;
  bool productive = false;
  bool infinite = false;
  bool finite = false;
  bool first_has_tokens = false;
  bool counts = false;  // repeats an item as often as its caller says; nullable and productive are those of the item
  bool sets_bounds = false;  // counts within bounds of its own: nullable and productive are those of the whole
  int terminator = -1;       // of a counting rule: the byte that ends it, or -1
  uint32_t rank = 0;
  ByteSet first;
};

// Of one call, whose bounds matter if the rule counts. An item that can be empty makes up any missing count.
bool is_nullable(const RuleFacts& rule, int64_t minimum);
bool is_productive(const RuleFacts& rule, int64_t minimum);

// What a call before the first byte adds to its caller.
void follow_call(const RuleFacts& callee, RuleFacts& caller);

class GroupFacts {
 public:
  // `callees` are the rules of other groups that the blueprint refers to.
  GroupFacts(const Blueprint& blueprint, std::span<Rule* const> callees);

  const std::vector<RuleFacts>& rules() const { return rules_; }
  bool live(ExprId node) const { return is(kLive, node); }
  // Some rule calls itself, perhaps by way of others, before its first byte.
  bool left_recursive() const { return left_recursive_; }
  // Whether a unit's emptiness was left open: only a search of its automaton can tell.
  bool undecided(uint32_t unit) const { return undecided_[unit]; }
  // An upper bound of the edges of the members' automata before left recursion is removed.
  uint64_t num_edges() const { return num_edges_; }

 private:
  enum Fact : uint8_t { kNullable = 1, kLive = 2, kProductive = 4, kInfinite = 8, kBoolean = 16 };
  static constexpr uint32_t kNever = 0xFFFFFFFF;
  void find_dependents();
  template <class Missing>
  void solve(Fact fact, Missing&& missing);
  uint32_t num_true_operands(const ExprNode& node, Fact fact) const;
  // How many operands must have a fact before a node has it.
  static constexpr uint32_t known(bool truth) { return truth ? 0 : kNever; }
  static constexpr uint32_t if_any(bool possible) { return possible ? 1 : kNever; }
  uint32_t missing_to_consume(const ExprNode& node) const;
  void solve_nullable();
  void solve_live();
  void solve_productive();
  void solve_infinite();
  void measure_nodes();
  void describe_boolean(uint32_t unit);
  void describe_list(uint32_t unit);
  void describe_multiples(uint32_t unit);
  void describe_first();
  // Adds what the node's strings begin with, and the members called there.
  void add_first(ExprId root, RuleFacts& out, std::vector<uint32_t>& members_called);
  bool is_member(const ExprNode& node) const { return node.begin < blueprint_.units.size(); }
  const RuleFacts& callee(const ExprNode& node) const;

  const Blueprint& blueprint_;
  std::span<Rule* const> callees_;
  std::vector<RuleFacts> rules_;
  std::vector<uint32_t> dependents_begin_;
  std::vector<ExprId> dependents_;
  bool is(Fact fact, ExprId node) const { return facts_[node] & fact; }
  std::vector<uint8_t> facts_;     // by node, what holds of it; boolean: an & or ~ inside
  std::vector<uint32_t> visited_;  // by node: the number of the walk that saw it
  uint32_t walk_ = 0;
  std::vector<ExprId> open_;  // of that walk
  bool has_calls_ = false;
  bool calls_members_ = false;
  bool left_recursive_ = false;
  std::vector<uint8_t> undecided_;
  uint64_t num_edges_ = 0;
};

}  // namespace maskwright
