// Builds the rules of one strongly connected component.
//
//   draft       an NFA per unit; choices between many literals become tries.
//   nullable    which rules match the empty string; their callers get an empty move beside the call.
//   productive  which match anything else; calls of the others go, and with them every dead end.
//   loops       a rule that ends by calling itself jumps back to its start instead.
//   start       gets edges of its own and no way back, so that it never counts as an end.
//   left calls  cycles of calls before the first byte are removed: within such a cycle a rule's automaton is the union
//   of all
//               members' bodies; when a member's body is done, whoever begins with that member goes on (the left-corner
//               transform, done on automata: Rosenkrantz and Lewis 1970; Moore 2000). Quadratic in the cycle.
//   rank, FIRST by the now acyclic left calls.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir.h"
#include "nfa.h"
#include "rule.h"

namespace maskwright {

// Something that becomes a rule: a declared rule's body, an & or ~, or an item to be counted.
struct Unit {
  enum class Kind : uint8_t { Expression, Regular, Counter } kind = Kind::Expression;
  ExprId expr = 0;                // the body, or the item that a counter repeats
  int terminator = -1;            // of a counter: the byte after the last item, if it belongs to the rule
  uint32_t capture = 0xFFFFFFFF;  // the name of what it matches, by its index in the IR, or none
  // Once its component is done:
  bool inlined = false;
  Rule* rule = nullptr;
  std::shared_ptr<RuleGroup> group = nullptr;
};

// The units of a grammar, and how expressions refer to them.
struct UnitTable {
  const GrammarIr& ir;
  std::deque<Unit> units;         // the declared rules first, in order
  std::vector<uint32_t> of_node;  // by node: the unit of a Ref, or of an And, Not, Repeat that became one
  std::unordered_map<uint64_t, uint32_t> counters;  // by item and terminator
  std::vector<bool> counting;                       // by node: a repetition that is counted instead of unrolled
  std::unordered_map<ExprId, uint32_t> item_units;  // expressions that are rules: what is counted, what is outlined
  std::vector<bool> uses_parameter = {};            // by node: it depends on the parameter of the rule that it is in
  std::vector<bool> outlined = {};  // by node: in a parametric rule, a rule of its own that all parameters share
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  // The unit of a counted repetition, made if there is none yet.
  uint32_t counter(ExprId repetition, int terminator);
  // Whether a unit's rule has a parameter.
  bool is_parametric(const Unit& unit) const { return uses_parameter[unit.expr]; }
  // Whether an expression has no references, tokens, & and ~, and nothing counted.
  bool is_plain(ExprId expr) const;
  // The byte that a counted repetition at this place of a sequence takes over from the literal after it, or -1.
  int terminator(const ExprNode& sequence, uint32_t child) const;
  // The register with which a node's unit starts.
  uint64_t start_register(ExprId node) const;
};

// Whether a call can be passed without consuming anything.
bool is_nullable(const Callee& callee);
// Whether a call can consume anything. A terminator can come without any item.
bool is_productive(const Callee& callee);

class GroupBuilder {
 public:
  // `members` are indices into the table; their rules are created in `group` in this order.
  GroupBuilder(UnitTable& table, const std::vector<uint32_t>& members, RuleGroup& group);
  // For instances of templates, which bring their drafts along (instance_linker.h).
  explicit GroupBuilder(RuleGroup& group);
  // `intern_item` makes a unit of a regular expression that a counter must call.
  void build(const std::function<const Unit&(ExprId)>& intern_item);

 private:
  friend class InstanceLinker;
  struct Member {
    const Unit* unit;
    Rule* rule;
    NfaDraft draft = {};
    std::unordered_map<uint64_t, uint32_t> callee_index = {};
    bool dirty = false;  // edges may lead nowhere
  };
  void draft_expression(Member& member, ExprId root);
  void draft_bytes(Member& member, uint32_t begin, uint32_t end, uint32_t from, uint32_t to);
  void draft_literals(Member& member, std::vector<std::string_view> literals, uint32_t from, uint32_t to);
  void draft_regular(Member& member, const std::function<const Unit&(ExprId)>& intern_item);
  void keep_alive(const std::shared_ptr<RuleGroup>& callee);
  void draft_counter(Member& member, const std::function<const Unit&(ExprId)>& intern_item);
  void draft_counted_call(Member& member, const std::function<const Unit&(ExprId)>& intern_item);
  void unroll_calls(Member& member, const Rule* counter);
  uint32_t call(Member& member, const Unit& callee, uint64_t reg, const ValueFunction& value);
  const ValueFunction& passed_value(ExprId node) const;
  void keep_templates();
  uint32_t callee_index(Member& member, Callee callee);
  bool expression_is_nullable(const Member& member) const;
  bool has_nonempty_string(const Member& member) const;
  void find_nullable();
  void find_productive();
  void remove_dead_calls();
  void loop_self_tail_calls(Member& member);
  void split_start(Member& member);
  void remove_left_recursion();
  void merge_left_corner(const std::vector<uint32_t>& cycle, const std::vector<Member>& before, uint32_t member);
  std::vector<std::vector<uint32_t>> left_call_components() const;
  std::vector<uint32_t> left_callees(const Member& member) const;
  void rank_and_first();
  void freeze(Member& member);

  UnitTable& table_;
  RuleGroup& group_;
  std::vector<Member> members_;
  std::unordered_map<const Rule*, size_t> member_of_;
  size_t num_merged_edges_ = 0;
};

}  // namespace maskwright
