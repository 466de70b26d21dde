// What is known of an expression by itself: how large it is, and whether it is to be unrolled or counted.
#include <algorithm>

#include "linker.h"
#include "optimisations.h"

namespace maskwright {
namespace {

constexpr uint64_t kMaxUnrolledWeight = 16;   // copies of a bounded repetition; beyond that it counts
constexpr uint64_t kMaxUnrolledWideSets = 2;  // copies of a set of many characters: each is walked for by itself
constexpr int kWideSet = 26;
constexpr uint64_t kMaxOperandWeight = 100'000;  // of a product, with counted repetitions spelled out
constexpr uint64_t kWeightCap = uint64_t{1} << 40;

}  // namespace

// Nodes are numbered children first, so one ascending pass suffices.
void Linker::weigh() {
  for (ExprId id = 0; id < ir_.nodes.size(); ++id) {
    const ExprNode& node = ir_.nodes[id];
    Node& out = nodes_[id];
    const auto contains = [&](ExprId child) { out.form = std::max(out.form, nodes_[child].form); };
    switch (node.op) {
      case Op::Literal:
        out.weight = out.unrolled_weight = node.end - node.begin;
        out.longest = node.end - node.begin;
        break;
      case Op::Set: out.longest = 1; break;
      case Op::Seq:
      case Op::Alt:
        for (uint32_t c = node.begin; c < node.end; ++c) {
          const Node& child = nodes_[ir_.children[c]];
          out.weight += child.weight;
          out.unrolled_weight += child.unrolled_weight;
          out.loops = out.loops || child.loops;
          out.uses_parameter = out.uses_parameter || child.uses_parameter;
          out.longest = node.op == Op::Seq ? out.longest + child.longest : std::max(out.longest, child.longest);
          contains(ir_.children[c]);
        }
        break;
      case Op::Repeat: {
        const Node& item = nodes_[node.begin];
        out.loops = item.loops || node.maximum == kUnbounded;
        out.uses_parameter = item.uses_parameter;
        out.counting = counts(node);
        contains(node.begin);
        const uint64_t most = node.maximum == kUnbounded ? static_cast<uint64_t>(node.minimum) + 1
                                                         : static_cast<uint64_t>(std::max<int64_t>(node.maximum, 1));
        const uint64_t copies = std::min(most, kWeightCap);
        if (!out.counting) out.weight = item.weight * copies;
        out.longest = copies > 1 || node.maximum == kUnbounded ? kCharacterBytes + 1 : item.longest;
        out.unrolled_weight = std::min(item.unrolled_weight, uint64_t{1} << 20) * copies;
        break;
      }
      case Op::And:
        out.form = Form::Boolean;
        for (uint32_t c = node.begin; c < node.end; ++c) contains(ir_.children[c]);
        break;
      case Op::Not:
        out.form = Form::Boolean;
        contains(node.begin);
        break;
      case Op::Capture:
      case Op::Span:
        out.loops = nodes_[node.begin].loops;
        out.uses_parameter = nodes_[node.begin].uses_parameter;
        out.form = Form::Irregular;
        break;
      case Op::Guard:
        out.weight += nodes_[node.begin].weight;
        out.loops = nodes_[node.begin].loops;
        out.uses_parameter = true;
        out.form = Form::Irregular;
        break;
      case Op::Call: out.uses_parameter = !is_constant(ir_.values[node.end]); [[fallthrough]];
      case Op::Ref: out.unit = node.begin; [[fallthrough]];
      case Op::Tokens: out.form = Form::Irregular; break;
      case Op::Subgrammar:
        out.unit = static_cast<uint32_t>(ir_.rules.size()) + node.begin;
        out.form = Form::Irregular;
        break;
      default: break;
    }
    out.longest = std::min(out.longest, kCharacterBytes + 1);
    out.weight = std::min(out.weight, kWeightCap);
    out.unrolled_weight = std::min(out.unrolled_weight, kWeightCap);
    const bool composed = node.op == Op::Seq || node.op == Op::Alt || node.op == Op::Repeat;
    const bool is_large = out.loops || out.weight > kMaxInlinedWeight;
    const bool is_character = out.form == Form::Plain && out.longest <= kCharacterBytes;
    out.outlined = composed && is_large && !is_character && !out.uses_parameter && !out.counting;
  }
}

bool Linker::counts(const ExprNode& node) const {
  const int64_t copies = std::max(node.minimum, node.maximum);
  if (copies <= 1 || !optimisations.registers) return false;
  const ExprNode& item = ir_.nodes[node.begin];
  if (item.op == Op::Set && ir_.sets[item.begin].count() >= kWideSet) return copies > int64_t{kMaxUnrolledWideSets};
  return static_cast<uint64_t>(copies) > kMaxUnrolledWeight ||
         nodes_[node.begin].weight * static_cast<uint64_t>(copies) > kMaxUnrolledWeight;
}

bool Linker::is_operand(ExprId expr) const {
  return nodes_[expr].form == Form::Plain && nodes_[expr].unrolled_weight <= kMaxOperandWeight;
}

}  // namespace maskwright
