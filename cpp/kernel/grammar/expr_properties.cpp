#include "grammar/expr_properties.h"

#include <algorithm>

#include "grammar/ir.h"
#include "support/optimisations.h"

namespace maskwright {
namespace {

constexpr uint64_t kMaxUnrolledWeight = 16;   // copies of a bounded repetition; beyond that it counts
constexpr uint64_t kMaxUnrolledWideSets = 2;  // copies of a set of many characters: each is walked for by itself
constexpr int kWideSet = 26;
constexpr uint64_t kMaxUnrolledOperand = 100'000;  // with its counted repetitions spelled out
constexpr uint64_t kWeightCap = uint64_t{1} << 40;

using Known = std::vector<ExprProperties>;  // of the nodes before

bool counts(const GrammarIr& ir, const ExprNode& node, const ExprProperties& item) {
  const int64_t copies = std::max(node.minimum, node.maximum);
  if (copies <= 1 || !optimisations.registers) return false;
  const ExprNode& repeated = ir.nodes[node.begin];
  if (repeated.op == Op::Set && ir.sets[repeated.begin].count() >= kWideSet)
    return copies > int64_t{kMaxUnrolledWideSets};
  return static_cast<uint64_t>(copies) > kMaxUnrolledWeight ||
         item.weight * static_cast<uint64_t>(copies) > kMaxUnrolledWeight;
}

// What an expression needs for as long as something in it does.
void inherit_use(ExprProperties& out, const ExprProperties& operand) {
  out.loops = out.loops || operand.loops;
  out.uses_parameter = out.uses_parameter || operand.uses_parameter;
  out.uses_memory = out.uses_memory || operand.uses_memory;
}

Form widest_form(const GrammarIr& ir, const ExprNode& node, const Known& known) {
  Form out = Form::Plain;
  for (uint32_t c = node.begin; c < node.end; ++c) out = std::max(out, known[ir.children[c]].form);
  return out;
}

ExprProperties of_operands(const GrammarIr& ir, const ExprNode& node, const Known& known) {
  ExprProperties out;
  out.form = widest_form(ir, node, known);
  for (uint32_t c = node.begin; c < node.end; ++c) {
    const ExprProperties& operand = known[ir.children[c]];
    inherit_use(out, operand);
    out.weight += operand.weight;
    out.unrolled_weight += operand.unrolled_weight;
    out.longest = node.op == Op::Seq ? out.longest + operand.longest : std::max(out.longest, operand.longest);
  }
  return out;
}

ExprProperties of_repetition(const GrammarIr& ir, const ExprNode& node, const ExprProperties& item) {
  const bool is_unbounded = node.maximum == kUnbounded;
  ExprProperties out;
  inherit_use(out, item);
  out.form = item.form;
  out.loops = out.loops || is_unbounded;
  out.counting = !out.uses_memory && counts(ir, node, item);
  const uint64_t most = is_unbounded ? static_cast<uint64_t>(node.minimum) + 1
                                     : static_cast<uint64_t>(std::max<int64_t>(node.maximum, 1));
  const uint64_t copies = std::min(most, kWeightCap);
  if (!out.counting) out.weight = item.weight * copies;
  out.longest = copies > 1 || is_unbounded ? kCharacterBytes + 1 : item.longest;
  out.unrolled_weight = std::min(item.unrolled_weight, uint64_t{1} << 20) * copies;
  return out;
}

// Of what stands around one operand and is no part of a regular expression.
ExprProperties around(const ExprNode& node, const ExprProperties& operand) {
  ExprProperties out;
  inherit_use(out, operand);
  out.form = Form::Irregular;
  if (node.op == Op::Scope) out.uses_memory = false;  // it is remembered within
  if (node.op == Op::Guard) {
    out.weight += operand.weight;
    out.uses_parameter = true;
  }
  return out;
}

ExprProperties of_leaf(const GrammarIr& ir, const ExprNode& node) {
  ExprProperties out;
  switch (node.op) {
    case Op::Literal:
      out.weight = out.unrolled_weight = node.end - node.begin;
      out.longest = node.end - node.begin;
      break;
    case Op::Set: out.longest = 1; break;
    case Op::Substrings:
      out.weight = 2 * ir.chunk_lists[node.begin].bytes.size();
      out.form = Form::Irregular;
      break;
    case Op::Call: out.uses_parameter = !is_constant(ir.values[node.end]); [[fallthrough]];
    case Op::Ref:
    case Op::Subgrammar:
    case Op::Tokens: out.form = Form::Irregular; break;
    default: break;
  }
  return out;
}

ExprProperties of_node(const GrammarIr& ir, const ExprNode& node, const Known& known) {
  ExprProperties out;
  switch (node.op) {
    case Op::Seq:
    case Op::Alt: return of_operands(ir, node, known);
    case Op::Repeat: return of_repetition(ir, node, known[node.begin]);
    case Op::And: out.form = std::max(Form::Boolean, widest_form(ir, node, known)); return out;
    case Op::Not: out.form = std::max(Form::Boolean, known[node.begin].form); return out;
    case Op::Capture:
    case Op::Span:
    case Op::Scope:
    case Op::Guard: return around(node, known[node.begin]);
    case Op::Remember:
    case Op::Recall:
    case Op::Value:
      out.loops = true;  // as long as a text may be
      out.uses_memory = true;
      out.form = Form::Irregular;
      return out;
    case Op::Distinct:
    case Op::Multiple:
      out.loops = true;
      out.form = Form::Irregular;
      return out;
    default: return of_leaf(ir, node);
  }
}

bool is_outlined(const ExprNode& node, const ExprProperties& of) {
  const bool composed = node.op == Op::Seq || node.op == Op::Alt || node.op == Op::Repeat;
  const bool is_large = of.loops || of.weight > kMaxInlinedWeight;
  const bool is_character = of.form == Form::Plain && of.longest <= kCharacterBytes;
  return composed && is_large && !is_character && !of.uses_parameter && !of.uses_memory && !of.counting;
}

}  // namespace

bool ExprProperties::is_unrollable() const {
  return form == Form::Plain && unrolled_weight <= kMaxUnrolledOperand;
}

std::vector<ExprProperties> properties_of(const GrammarIr& ir) {
  std::vector<ExprProperties> properties;
  properties.reserve(ir.nodes.size());
  for (ExprId id = 0; id < ir.nodes.size(); ++id) {
    const ExprNode& node = ir.nodes[id];
    ExprProperties out = of_node(ir, node, properties);
    out.longest = std::min(out.longest, kCharacterBytes + 1);
    out.weight = std::min(out.weight, kWeightCap);
    out.unrolled_weight = std::min(out.unrolled_weight, kWeightCap);
    out.outlined = is_outlined(node, out);
    properties.push_back(out);
  }
  return properties;
}

}  // namespace maskwright
