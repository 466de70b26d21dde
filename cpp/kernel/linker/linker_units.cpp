// Which expressions become rules of their own, and which of these a rule calls.
#include <algorithm>
#include <span>

#include "linker/linker.h"
#include "linker/text_scopes.h"
#include "rules/rule.h"
#include "support/errors.h"

namespace maskwright {

// The byte that a counted repetition at this place of a sequence takes over from the literal after it, or -1.
int Linker::terminator(const ExprNode& sequence, uint32_t child) const {
  if (!properties_[ir_.children[child]].counting || child + 1 >= sequence.end) return -1;
  const ExprNode& next = ir_.nodes[ir_.children[child + 1]];
  return next.op == Op::Literal && next.end > next.begin ? static_cast<uint8_t>(ir_.bytes[next.begin]) : -1;
}

// The unit of a counted repetition. All repetitions of one item share it, whatever their bounds.
uint32_t Linker::counter(ExprId repetition, int terminator) {
  const ExprId item = ir_.nodes[repetition].begin;
  const uint64_t key = (uint64_t{item} << 16) | static_cast<uint64_t>(terminator + 1);
  const auto [it, fresh] = counters_.try_emplace(key, static_cast<uint32_t>(units_.size()));
  if (fresh) units_.push_back({.kind = Kind::Counter, .expr = item, .terminator = terminator});
  return it->second;
}

// The unit of an expression that a counter or a product calls.
uint32_t Linker::part(ExprId expr, bool unrolled) {
  const auto [it, fresh] =
      parts_.try_emplace((uint64_t{expr} << 1) | (unrolled ? 1 : 0), static_cast<uint32_t>(units_.size()));
  if (!fresh) return it->second;
  const bool is_derived = unrolled && !properties_[expr].is_unrollable();
  units_.push_back(
      {.kind = is_derived ? Kind::Derivative : Kind::Expression, .expr = expr, .unrolled = unrolled && !is_derived});
  return it->second;
}

// The unit of an & or ~. An intersection of plain expressions, complements of such and at most one counted repetition
// is a product of their automata; anything else is derived.
uint32_t Linker::boolean_unit(ExprId id) {
  if (properties_[id].form == Form::Irregular)
    throw LimitExceeded("regular_operands",
                        "an operand of & or ~ refers to a rule, a parameter or a token; operands must be regular");
  const ExprNode& node = ir_.nodes[id];
  const auto operands = ir_.children.slice(node.begin, node.op == Op::And ? node.end : node.begin);
  const auto is_negated = [&](ExprId operand) { return ir_.nodes[operand].op == Op::Not; };
  Unit unit{.kind = Kind::Derivative, .expr = id};
  if (!std::ranges::all_of(operands, is_negated)) {
    const ExprId farthest = *std::ranges::max_element(operands, {}, [&](ExprId operand) { return counted(operand); });
    if (counted(farthest) > 0 && counts_exactly(farthest)) unit.counted = farthest;
    const auto is_plain = [&](ExprId operand) {
      return operand == unit.counted ||
             properties_[is_negated(operand) ? ir_.nodes[operand].begin : operand].form == Form::Plain;
    };
    if (std::ranges::all_of(operands, is_plain)) unit.kind = Kind::Product;
  }
  units_.push_back(std::move(unit));
  return static_cast<uint32_t>(units_.size() - 1);
}

uint32_t Linker::capture_unit(const ExprNode& capture) {
  refuse_memory(capture.begin, "a capture");
  units_.push_back({.kind = Kind::Expression, .expr = capture.begin, .capture = capture.end});
  return static_cast<uint32_t>(units_.size() - 1);
}

uint32_t Linker::span_unit(const ExprNode& span) {
  refuse_memory(span.begin, "an expression with max_tokens or temperature");
  units_.push_back({.kind = Kind::Expression, .expr = span.begin, .span = span.end});
  return static_cast<uint32_t>(units_.size() - 1);
}

uint32_t Linker::scope_unit(const ExprNode& scope) {
  const bool has_values = check_text_scope(ir_, properties_, scope.begin);
  units_.push_back({.kind = Kind::Expression,
                    .expr = scope.begin,
                    .memory = has_values ? MemoryRole{MemoryRole::Kind::Distinct, MemoryRole::kOfKinds}
                                         : MemoryRole{MemoryRole::Kind::Scope}});
  return static_cast<uint32_t>(units_.size() - 1);
}

// The unit of what is remembered in a scope, or of where that is recalled; or of an element that must be distinct. A
// text is read by one automaton that calls nothing, so that each byte can be added to it.
uint32_t Linker::text_unit(ExprId expr, MemoryRole memory) {
  const bool recalls = memory.kind == MemoryRole::Kind::Recall;
  const uint64_t key =
      (recalls ? 0 : uint64_t{expr} << 16) | uint32_t{memory.number} << 8 | static_cast<uint64_t>(memory.kind);
  const auto [it, fresh] = text_units_.try_emplace(key, static_cast<uint32_t>(units_.size()));
  if (!fresh) return it->second;
  Unit unit{.kind = Kind::Expression, .expr = expr, .memory = memory};
  if (!recalls && ir_.nodes[expr].op == Op::Capture) {  // the text has a name as well
    unit.capture = ir_.nodes[expr].end;
    unit.expr = expr = ir_.nodes[expr].begin;
  }
  if (!recalls) {
    if (properties_[expr].form == Form::Irregular)
      throw LimitExceeded("remembered_text",
                          "what is remembered must be regular: it cannot refer to a rule or a token");
    if (properties_[expr].is_unrollable())
      unit.unrolled = true;
    else
      unit.kind = Kind::Derivative;
  }
  units_.push_back(std::move(unit));
  return it->second;
}

// The unit of a list of distinct elements: an element or a value, and any number of times a separator and another one.
uint32_t Linker::list_unit(ExprId id) {
  const ExprNode& list = ir_.nodes[id];
  for (uint32_t c = list.begin + 1; c < list.end; c += 2) check_part_of_list(ir_.children[c]);  // but for values
  const auto bound = [](int64_t count) {
    return count == kUnbounded ? MemoryRole::kAnyCount
                               : static_cast<uint32_t>(std::min<int64_t>(count, MemoryRole::kAnyCount - 1));
  };
  if (list.minimum >= MemoryRole::kAnyCount)
    throw LimitExceeded("repetition_bound", "a list needs more elements than can be counted");
  units_.push_back({.kind = Kind::Expression,
                    .expr = id,
                    .memory = {MemoryRole::Kind::Distinct, 0, bound(list.minimum), bound(list.maximum)}});
  return static_cast<uint32_t>(units_.size() - 1);
}

// Whether elements may be texts that are compared as such; of values alone, none may.
bool Linker::has_element(const ExprNode& list) const {
  return list.op == Op::Distinct && (list.end - list.begin == 2 || ir_.nodes[ir_.children[list.begin]].op != Op::Never);
}

uint32_t Linker::element_unit(const ExprNode& list) {
  return text_unit(ir_.children[list.begin], {MemoryRole::Kind::Element});
}

void Linker::check_part_of_list(ExprId expr) const {
  if (properties_[expr].uses_parameter)
    throw LimitExceeded("remembered_text", "a list of distinct elements uses a parameter");
  refuse_memory(expr, "a list of distinct elements");
}

// The unit of a value that must be distinct. Its text is remembered by the configuration, as it may be nested.
uint32_t Linker::value_unit(ExprId expr) {
  check_part_of_list(expr);
  const MemoryRole memory{MemoryRole::Kind::Value};
  const uint64_t key = uint64_t{expr} << 16 | static_cast<uint64_t>(memory.kind);
  const auto [it, fresh] = text_units_.try_emplace(key, static_cast<uint32_t>(units_.size()));
  if (fresh) units_.push_back({.kind = Kind::Expression, .expr = expr, .memory = memory});
  return it->second;
}

// The unit of numbers that are multiples. They are read by an automaton that calls nothing, so that each digit can be
// added to the remainder.
uint32_t Linker::multiple_unit(ExprId id) {
  if (properties_[ir_.nodes[id].begin].form == Form::Irregular)
    throw LimitExceeded("regular_operands", "numbers that are multiples must be regular");
  units_.push_back({.kind = Kind::Multiple, .expr = id});
  return static_cast<uint32_t>(units_.size() - 1);
}

uint32_t Linker::numbers_unit(const ExprNode& multiple) {
  const Op op = ir_.nodes[multiple.begin].op;
  if (op != Op::And && op != Op::Not) return part(multiple.begin, true);
  uint32_t& unit = nodes_[multiple.begin].unit;
  if (unit == kNone) unit = boolean_unit(multiple.begin);
  return unit;
}

// A text is remembered in the register of one rule, its scope's.
void Linker::refuse_memory(ExprId expr, const char* where) const {
  if (properties_[expr].uses_memory)
    throw LimitExceeded("remembered_text",
                        std::string("text remembered outside of ") + where + " is used inside of it");
}

// How far an operand of the form `item{m,n} byte` counts; 0 if it is none.
int64_t Linker::counted(ExprId operand) const {
  const ExprNode& sequence = ir_.nodes[operand];
  if (sequence.op != Op::Seq || sequence.end - sequence.begin != 2 || terminator(sequence, sequence.begin) < 0)
    return 0;
  const ExprNode& end = ir_.nodes[ir_.children[sequence.begin + 1]];
  const ExprNode& repetition = ir_.nodes[ir_.children[sequence.begin]];
  return end.end - end.begin == 1 ? std::max(repetition.minimum, repetition.maximum) : 0;
}

// Whether the counter of such an operand spells its item out, and the byte after the last item cannot begin another.
bool Linker::counts_exactly(ExprId operand) {
  const ExprNode& sequence = ir_.nodes[operand];
  const ExprId repetition = ir_.children[sequence.begin], item = ir_.nodes[repetition].begin;
  const int end = terminator(sequence, sequence.begin);
  if (properties_[item].form != Form::Plain || properties_[item].unrolled_weight != properties_[item].weight)
    return false;
  const uint32_t unit = counter(repetition, end);
  intern({part(item, false)});
  intern({unit});
  Rule& rule = *units_[unit].rule;
  if (!rule.productive() || rule.nullable()) return false;
  DfaState& start = *rule.start();
  return rule.spells_item() && !rule.next(start, static_cast<uint8_t>(end));
}

// The units that a unit calls. Nodes that become units of their own get one here.
void Linker::add_callees(uint32_t unit, std::vector<uint32_t>& out) {
  const Unit at = units_[unit];
  if (at.rule || at.unrolled) return;
  if (is_list(at)) {
    const ExprNode list = ir_.nodes[at.expr];
    if (has_element(list)) out.push_back(element_unit(list));
    visit_callees(ir_.children[list.begin + 1], out);
    for (uint32_t c = list.begin + 2; c < list.end; c += 2) {
      out.push_back(value_unit(ir_.children[c]));
      visit_callees(ir_.children[c + 1], out);
    }
  } else if (at.kind == Kind::Expression) {
    visit_callees(at.expr, out);
  } else if (at.kind == Kind::Counter) {
    out.push_back(part(at.expr, false));
  } else if (at.kind == Kind::Multiple) {
    out.push_back(numbers_unit(ir_.nodes[at.expr]));
  } else if (at.kind == Kind::Product) {
    const ExprNode& node = ir_.nodes[at.expr];
    for (uint32_t c = node.begin; c < node.end; ++c) out.push_back(operand_unit(at, ir_.children[c]));
  }
}

uint32_t Linker::operand_unit(const Unit& product, ExprId operand) {
  const ExprNode& node = ir_.nodes[operand];
  if (operand == product.counted) return counter(ir_.children[node.begin], terminator(node, node.begin));
  return part(node.op == Op::Not ? node.begin : operand, true);
}

void Linker::visit_callees(ExprId root, std::vector<uint32_t>& out) {
  const bool outlines = properties_[root].uses_parameter || properties_[root].uses_memory;
  ++visit_;
  walk_.assign(1, root);
  while (!walk_.empty()) {
    const ExprId id = walk_.back();
    walk_.pop_back();
    Node& known = nodes_[id];
    if (known.visit == visit_) continue;
    known.visit = visit_;
    const ExprNode& node = ir_.nodes[id];
    uint32_t unit = unit_of(id);
    if (unit == kNone) {
      if (node.op == Op::And || node.op == Op::Not)
        unit = boolean_unit(id);
      else if (node.op == Op::Capture)
        unit = capture_unit(node);
      else if (node.op == Op::Span)
        unit = span_unit(node);
      else if (node.op == Op::Scope)
        unit = scope_unit(node);
      else if (node.op == Op::Remember)
        unit = text_unit(node.begin, {MemoryRole::Kind::Remember, static_cast<uint8_t>(node.end)});
      else if (node.op == Op::Recall)
        unit = text_unit(node.begin, {MemoryRole::Kind::Recall, static_cast<uint8_t>(node.end)});
      else if (node.op == Op::Distinct)
        unit = list_unit(id);
      else if (node.op == Op::Value)
        unit = node.end ? text_unit(node.begin, {MemoryRole::Kind::Element, MemoryRole::kOfKinds})
                        : value_unit(node.begin);
      else if (node.op == Op::Multiple)
        unit = multiple_unit(id);
      else if (properties_[id].counting)
        unit = counter(id, -1);
      known.unit = unit;
    }
    if (unit != kNone) {
      out.push_back(unit);
    } else if (outlines && properties_[id].outlined) {
      out.push_back(part(id, false));
    } else if (node.op == Op::Alt) {
      for (uint32_t c = node.end; c-- > node.begin;) walk_.push_back(ir_.children[c]);
    } else if (node.op == Op::Seq) {
      for (uint32_t c = node.begin; c < node.end; ++c) {
        const int end = terminator(node, c);
        if (end < 0)
          walk_.push_back(ir_.children[c]);
        else
          out.push_back(counter(ir_.children[c], end));
      }
    } else if (node.op == Op::Repeat || node.op == Op::Guard) {
      walk_.push_back(node.begin);
    }
  }
}

}  // namespace maskwright
