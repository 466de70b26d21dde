// A component's units as a blueprint: expressions children first, calls by the numbers of members and callees.
#include <algorithm>
#include <vector>

#include "automata/registers.h"
#include "linker/linker.h"
#include "rules/instances/family.h"
#include "support/errors.h"

namespace maskwright {

void Linker::write_unit(uint32_t index) {
  const Unit& unit = units_[index];
  ExprId root = 0;
  switch (unit.kind) {
    case Kind::Expression: root = is_list(unit) ? write_list(unit) : write(unit.expr, unit.unrolled); break;
    case Kind::Derivative: root = write(unit.expr, true); break;
    case Kind::Counter: root = write_call(part(unit.expr, false), ir_.nodes[unit.expr]); break;
    case Kind::Multiple: {
      const ExprNode& node = ir_.nodes[unit.expr];
      root = writer_.multiple(write_call(numbers_unit(node), node), node.minimum, node.maximum);
      break;
    }
    case Kind::Product: {
      const ExprNode& node = ir_.nodes[unit.expr];
      std::vector<ExprId> operands;
      for (uint32_t c = node.begin; c < node.end; ++c) {
        const ExprId operand = ir_.children[c];
        const bool negated = ir_.nodes[operand].op == Op::Not;
        const ExprNode& bounds = operand == unit.counted ? ir_.nodes[ir_.children[ir_.nodes[operand].begin]] : node;
        const ExprId call = write_call(operand_unit(unit, operand), bounds);
        operands.push_back(negated ? writer_.negation(call) : call);
      }
      root = writer_.many(Op::And, operands);
      break;
    }
  }
  std::optional<std::string> capture;
  if (unit.capture != kNone) capture = ir_.names[unit.capture];
  std::optional<SpanRule> span;
  if (unit.span != kNone) span = ir_.spans[unit.span];
  writer_.unit({unit.kind, root, unit.terminator, is_parametric(index), std::move(capture), span, unit.memory});
}

// An element or a value, and any number of times a separator and another one. How many is told by the rule's register.
ExprId Linker::write_list(const Unit& unit) {
  const ExprNode& list = ir_.nodes[unit.expr];
  const ExprId separator = write(ir_.children[list.begin + 1], false);
  std::vector<ExprId> ways;
  if (has_element(list)) ways.push_back(write_call(element_unit(list), list));
  for (uint32_t c = list.begin + 2; c < list.end; c += 2) {
    const ExprId closed[] = {write_call(value_unit(ir_.children[c]), list), write(ir_.children[c + 1], false)};
    ways.push_back(writer_.many(Op::Seq, closed));
  }
  const ExprId element = ways.size() == 1 ? ways[0] : writer_.many(Op::Alt, ways);
  const ExprId further[] = {separator, element};
  const ExprId whole[] = {element, writer_.repeat(writer_.many(Op::Seq, further), 0, kUnbounded)};
  return writer_.many(Op::Seq, whole);
}

// An inlined rule stands for its body.
ExprId Linker::resolve(ExprId id) const {
  for (uint32_t unit = unit_of(id); unit != kNone && units_[unit].inlined; unit = unit_of(id)) id = units_[unit].expr;
  return id;
}

uint32_t Linker::unit_of(ExprId id) const {
  const ExprNode& node = ir_.nodes[id];
  if (node.op == Op::Ref || node.op == Op::Call) return node.begin;
  if (node.op == Op::Subgrammar) return static_cast<uint32_t>(ir_.rules.size()) + node.begin;
  return nodes_[id].unit;
}

// Writes an expression, children first, and returns its number. In a `regular` one, & and ~ and repetitions stay.
ExprId Linker::write(ExprId root, bool regular) {
  root = resolve(root);
  outlines_ = properties_[root].uses_parameter || properties_[root].uses_memory;
  open_.assign(1, {root, false});
  while (!open_.empty()) {
    const auto [id, operands_written] = open_.back();
    const uint32_t called = called_unit(id, regular);
    if (written(id).component == component_) {
      open_.pop_back();
      continue;
    }
    const ExprNode& node = ir_.nodes[id];
    if (!operands_written && called == kNone) {
      open_.back().second = true;
      const size_t before = open_.size();
      if (node.op == Op::Seq || node.op == Op::Alt || node.op == Op::And) {
        for (uint32_t c = node.begin; c < node.end; ++c) {
          if (!regular && node.op == Op::Seq && terminator(node, c) >= 0)
            ++c;  // a counter, and what is left of the literal
          else
            open_.emplace_back(resolve(ir_.children[c]), false);
        }
        std::reverse(open_.begin() + static_cast<std::ptrdiff_t>(before), open_.end());
      } else if (node.op == Op::Repeat || node.op == Op::Not || node.op == Op::Guard) {
        open_.emplace_back(resolve(node.begin), false);
      }
      if (open_.size() > before) continue;
    }
    open_.pop_back();
    const ExprId number = called != kNone ? write_call(called, node) : write_node(node, regular);
    written(id) = {component_, number};
  }
  return written(root).number;
}

// The unit that an expression calls where it stands, or kNone.
uint32_t Linker::called_unit(ExprId id, bool regular) {
  if (regular) return kNone;
  const uint32_t unit = unit_of(id);
  return unit == kNone && is_outlined(id) ? part(id, false) : unit;
}

// What is outlined here may stand elsewhere in the component as it is: the body of its own rule does.
Linker::Written& Linker::written(ExprId id) {
  return is_outlined(id) ? units_[part(id, false)].outlined_call : nodes_[id].written;
}

ExprId Linker::write_node(const ExprNode& node, bool regular) {
  const auto number = [&](ExprId id) { return written(resolve(id)).number; };
  const auto bytes = [&](const ExprNode& literal, uint32_t skipped) {
    return std::string_view(ir_.bytes).substr(literal.begin + skipped, literal.end - literal.begin - skipped);
  };
  switch (node.op) {
    case Op::Literal: return writer_.literal(bytes(node, 0));
    case Op::Set: return writer_.set(ir_.sets[node.begin]);
    case Op::Tokens: return writer_.tokens(ir_.token_sets[node.begin]);
    case Op::Substrings: return writer_.substrings(ir_.chunk_lists[node.begin]);
    case Op::Repeat: return writer_.repeat(number(node.begin), node.minimum, node.maximum);
    case Op::Not: return writer_.negation(number(node.begin));
    case Op::Guard: return writer_.guard(number(node.begin), ir_.conditions[node.end]);
    case Op::Seq:
    case Op::Alt:
    case Op::And:
      operands_.clear();
      for (uint32_t c = node.begin; c < node.end; ++c) {
        const int end = !regular && node.op == Op::Seq ? terminator(node, c) : -1;
        if (end < 0) {
          operands_.push_back(number(ir_.children[c]));
          continue;
        }
        const ExprId repetition = ir_.children[c];
        const ExprNode& literal = ir_.nodes[ir_.children[++c]];
        operands_.push_back(write_call(counter(repetition, end), ir_.nodes[repetition]));
        if (literal.end - literal.begin > 1) operands_.push_back(writer_.literal(bytes(literal, 1)));
      }
      return operands_.size() == 1 ? operands_[0] : writer_.many(node.op, operands_);
    default: return writer_.leaf(node.op);
  }
}

// A call of a unit on behalf of a node: a reference, or a repetition with the bounds to count.
ExprId Linker::write_call(uint32_t index, const ExprNode& node) {
  const Unit& unit = units_[index];
  int64_t minimum = 0, maximum = 0;
  if (unit.kind == Kind::Counter) {
    if (node.minimum >= Count::kUnlimited)
      throw LimitExceeded("repetition_bound",
                          "a repetition needs more than " + std::to_string(Count::kUnlimited) + " items");
    minimum = node.minimum;
    maximum = node.maximum < Count::kUnlimited ? node.maximum : kUnbounded;  // more can no output reach
  }
  const bool is_member = unit.place.component == component_ && unit.place.number < num_members_;
  const bool has_instances = is_member ? is_family_ : unit.group->family() != nullptr;
  if (!has_instances) return writer_.call(place(index, 0), minimum, maximum);
  const ValueFunction& value = passed_value(index, node);
  if (is_family_) return writer_.call(place(index, 0), value, minimum, maximum);
  return writer_.call(place(index, value_of(value, 0)), minimum, maximum);
}

// A rule's parts have its parameter.
const ValueFunction& Linker::passed_value(uint32_t unit, const ExprNode& node) const {
  static const ValueFunction zero{{ValueStep::Kind::Mask, 0, 0}}, same;
  if (unit >= num_named_) return same;
  return node.op == Op::Call ? ir_.values[node.end] : zero;
}

// The number of a member or callee, given to it when it is first called.
uint32_t Linker::place(uint32_t index, uint64_t parameter) {
  const auto next = num_members_ + static_cast<uint32_t>(callees_.size());
  if (parameter != 0) {
    const auto [it, fresh] = instance_places_.emplace(std::pair{index, parameter}, next);
    if (fresh) callees_.push_back({index, parameter});
    return it->second;
  }
  Written& known = units_[index].place;
  if (known.component != component_) {
    known = {component_, next};
    callees_.push_back({index, 0});
  }
  return known.number;
}

}  // namespace maskwright
