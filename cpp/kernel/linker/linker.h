// From the flat form of a grammar to rule groups: what becomes a rule of its own, and how its component is written.
//
//   measure how large each expression is, whether it loops, counts, depends on a parameter (expr_properties.h)
//   units   what becomes a rule: declared rules' bodies, &, ~, captures, spans, counted repetitions and what these call
//           (linker_units.cpp)
//   write   each component of units as a blueprint, its identity (linker_writing.cpp)
//   link    component by component, callees first: inlined where small, else interned by the blueprint (linker.cpp);
//           subgrammars before all else, unless they are known
//
// Example: root ::= name ("," name){0,100}, name ::= [a-z]+  has the units root, name, the item  "," name  and its
// counter, which all repetitions of that item share, whatever their bounds.
//
// Cost: linear in the grammar. Automata are made when a rule is first started, which here happens only to a counter
// that may become an operand of a product; and those of the root's component, as it is started next.
// Tested by tests/kernel/test_link.py.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grammar/blueprint.h"
#include "grammar/expr_properties.h"
#include "linker/program.h"

namespace maskwright {

// Collects the units of a grammar and links them, component by component.
class Linker {
 public:
  Linker(const GrammarIr& ir, RuleStore& store);
  // `starts_root`: the root's rule will be started next.
  LinkedRule link(bool starts_root);

 private:
  using Kind = BlueprintUnit::Kind;
  // No unit, no name.
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  // The component that something was last written for, and its number there.
  struct Written {
    uint32_t component = 0, number = 0;
  };

  // Something that becomes a rule: a declared rule's body, an & or ~, a counter, or what these call.
  struct Unit {
    Kind kind = Kind::Expression;
    ExprId expr = 0;             // the body; of a counter, the item
    int terminator = -1;         // of a counter
    bool unrolled = false;       // an operand of a product: its counted repetitions are spelled out
    ExprId counted = kNone;      // of a product: the operand that counts, if one does
    uint32_t capture = kNone;    // the name of what it matches, by its index in the IR
    uint32_t span = kNone;       // what is said of a span, by its index in the IR
    MemoryRole memory = {};      // what it has to do with remembered text
    Written place = {};          // as member or callee
    Written outlined_call = {};  // of a part of a parametric rule
    // Once its own component is done; of a subgrammar, from the beginning:
    bool inlined = false;
    Rule* rule = nullptr;
    std::shared_ptr<RuleGroup> group = nullptr;
  };

  // What became of an expression.
  struct Node {
    uint32_t unit = kNone;  // of an And, Not, Capture, Span or Repeat that became one
    uint32_t visit = 0;     // the walk that saw it last
    Written written;
  };
  LinkedRule link_subgrammar(const Subgrammar& subgrammar);
  void add_callees(uint32_t unit, std::vector<uint32_t>& out);
  void visit_callees(ExprId root, std::vector<uint32_t>& out);
  uint32_t counter(ExprId repetition, int terminator);
  uint32_t part(ExprId expr, bool unrolled);
  int terminator(const ExprNode& sequence, uint32_t child) const;
  uint32_t boolean_unit(ExprId id);
  uint32_t capture_unit(const ExprNode& capture);
  uint32_t span_unit(const ExprNode& span);
  uint32_t scope_unit(const ExprNode& scope);
  uint32_t text_unit(ExprId expr, MemoryRole memory);
  uint32_t list_unit(ExprId id);
  bool is_list(const Unit& unit) const {
    return unit.memory.kind == MemoryRole::Kind::Distinct && ir_.nodes[unit.expr].op == Op::Distinct;
  }
  void check_part_of_list(ExprId expr) const;
  bool has_element(const ExprNode& list) const;
  uint32_t element_unit(const ExprNode& list);
  uint32_t multiple_unit(ExprId id);
  uint32_t numbers_unit(const ExprNode& multiple);
  uint32_t value_unit(ExprId expr);
  void refuse_memory(ExprId expr, const char* where) const;
  uint32_t operand_unit(const Unit& product, ExprId operand);
  int64_t counted(ExprId operand) const;
  bool counts_exactly(ExprId operand);
  bool may_inline(const std::vector<uint32_t>& component);
  void intern(const std::vector<uint32_t>& component);
  void write_unit(uint32_t index);
  ExprId write_list(const Unit& unit);
  ExprId write(ExprId root, bool regular);
  uint32_t called_unit(ExprId id, bool regular);
  bool is_outlined(ExprId id) const { return outlines_ && properties_[id].outlined; }
  Written& written(ExprId id);
  ExprId write_node(const ExprNode& node, bool regular);
  ExprId write_call(uint32_t unit, const ExprNode& node);
  const ValueFunction& passed_value(uint32_t unit, const ExprNode& node) const;
  uint32_t place(uint32_t unit, uint64_t parameter);
  bool is_parametric(uint32_t unit) const { return properties_[units_[unit].expr].uses_parameter; }
  ExprId resolve(ExprId id) const;
  // The unit that an expression is or refers to, or kNone.
  uint32_t unit_of(ExprId id) const;

  const GrammarIr& ir_;
  RuleStore& store_;
  bool starts_root_ = false;
  std::vector<ExprProperties> properties_;           // by expression
  std::vector<Node> nodes_;                          // by expression
  std::deque<Unit> units_;                           // the declared rules first, in order; then the subgrammars
  uint32_t num_named_ = 0;                           // of these
  std::unordered_map<uint64_t, uint32_t> counters_;  // by item and terminator
  std::unordered_map<uint64_t, uint32_t> parts_;     // what counters and products call, by expression and unrolled
  std::unordered_map<uint64_t, uint32_t>
      text_units_;  // what is remembered, recalled or an element, by it and the number
  uint32_t visit_ = 0;
  std::vector<ExprId> walk_;  // what a walk over expressions comes to next

  // Of the component that is being written.
  BlueprintWriter writer_;
  uint32_t component_ = 0;
  uint32_t num_members_ = 0;
  bool is_family_ = false;
  bool outlines_ = false;  // the unit that is being written is parametric
  struct Called {
    uint32_t unit;
    uint64_t parameter;  // of an instance
  };
  std::vector<Called> callees_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> instance_places_;
  std::vector<std::pair<ExprId, bool>> open_;  // whether the operands are written
  std::vector<ExprId> operands_;
};

}  // namespace maskwright
