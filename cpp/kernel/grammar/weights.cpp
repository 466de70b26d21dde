#include "grammar/weights.h"

#include <algorithm>

#include "grammar/ir.h"
#include "support/optimisations.h"

namespace maskwright {
namespace {

constexpr uint64_t kMaxUnrolledWeight = 16;   // copies of a bounded repetition; beyond that it counts
constexpr uint64_t kMaxUnrolledWideSets = 2;  // copies of a set of many characters: each is walked for by itself
constexpr int kWideSet = 26;
constexpr uint64_t kMaxOperandWeight = 100'000;  // of a product, with counted repetitions spelled out
constexpr uint64_t kWeightCap = uint64_t{1} << 40;

bool counts(const GrammarIr& ir, const ExprNode& node, const Weighed& item) {
  const int64_t copies = std::max(node.minimum, node.maximum);
  if (copies <= 1 || !optimisations.registers) return false;
  const ExprNode& repeated = ir.nodes[node.begin];
  if (repeated.op == Op::Set && ir.sets[repeated.begin].count() >= kWideSet)
    return copies > int64_t{kMaxUnrolledWideSets};
  return static_cast<uint64_t>(copies) > kMaxUnrolledWeight ||
         item.weight * static_cast<uint64_t>(copies) > kMaxUnrolledWeight;
}

}  // namespace

bool Weighed::is_operand() const {
  return form == Form::Plain && unrolled_weight <= kMaxOperandWeight;
}

void weigh(const GrammarIr& ir, std::vector<Weighed>& weighed) {
  weighed.reserve(ir.nodes.size());
  for (auto id = static_cast<ExprId>(weighed.size()); id < ir.nodes.size(); ++id) {
    const ExprNode& node = ir.nodes[id];
    Weighed out;
    const auto contains = [&](ExprId child) { out.form = std::max(out.form, weighed[child].form); };
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
      case Op::Seq:
      case Op::Alt:
        for (uint32_t c = node.begin; c < node.end; ++c) {
          const Weighed& child = weighed[ir.children[c]];
          out.weight += child.weight;
          out.unrolled_weight += child.unrolled_weight;
          out.loops = out.loops || child.loops;
          out.uses_parameter = out.uses_parameter || child.uses_parameter;
          out.uses_memory = out.uses_memory || child.uses_memory;
          out.longest = node.op == Op::Seq ? out.longest + child.longest : std::max(out.longest, child.longest);
          contains(ir.children[c]);
        }
        break;
      case Op::Repeat: {
        const Weighed& item = weighed[node.begin];
        out.loops = item.loops || node.maximum == kUnbounded;
        out.uses_parameter = item.uses_parameter;
        out.uses_memory = item.uses_memory;
        out.counting = !out.uses_memory && counts(ir, node, item);
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
        for (uint32_t c = node.begin; c < node.end; ++c) contains(ir.children[c]);
        break;
      case Op::Not:
        out.form = Form::Boolean;
        contains(node.begin);
        break;
      case Op::Capture:
      case Op::Span:
        out.loops = weighed[node.begin].loops;
        out.uses_parameter = weighed[node.begin].uses_parameter;
        out.uses_memory = weighed[node.begin].uses_memory;
        out.form = Form::Irregular;
        break;
      case Op::Scope:
        out.loops = weighed[node.begin].loops;
        out.uses_parameter = weighed[node.begin].uses_parameter;
        out.form = Form::Irregular;
        break;
      case Op::Remember:
      case Op::Recall:
        out.loops = true;  // as long as a text may be
        out.uses_memory = true;
        out.form = Form::Irregular;
        break;
      case Op::Guard:
        out.weight += weighed[node.begin].weight;
        out.loops = weighed[node.begin].loops;
        out.uses_memory = weighed[node.begin].uses_memory;
        out.uses_parameter = true;
        out.form = Form::Irregular;
        break;
      case Op::Call: out.uses_parameter = !is_constant(ir.values[node.end]); [[fallthrough]];
      case Op::Ref:
      case Op::Subgrammar:
      case Op::Tokens: out.form = Form::Irregular; break;
      default: break;
    }
    out.longest = std::min(out.longest, kCharacterBytes + 1);
    out.weight = std::min(out.weight, kWeightCap);
    out.unrolled_weight = std::min(out.unrolled_weight, kWeightCap);
    const bool composed = node.op == Op::Seq || node.op == Op::Alt || node.op == Op::Repeat;
    const bool is_large = out.loops || out.weight > kMaxInlinedWeight;
    const bool is_character = out.form == Form::Plain && out.longest <= kCharacterBytes;
    out.outlined = composed && is_large && !is_character && !out.uses_parameter && !out.uses_memory && !out.counting;
    weighed.push_back(out);
  }
}

}  // namespace maskwright
