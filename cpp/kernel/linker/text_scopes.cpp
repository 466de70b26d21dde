#include "linker/text_scopes.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "support/byte_set.h"
#include "support/errors.h"

namespace maskwright {
namespace {

// What an expression has to do with the texts of the scope that it is in.
struct Texts {
  ByteSet needed;        // the numbers that it recalls without remembering them itself
  uint32_t highest = 0;  // number that it remembers
  bool has_values = false;
};

class ScopeCheck {
 public:
  ScopeCheck(const GrammarIr& ir, const std::vector<ExprProperties>& properties) : ir_(ir), properties_(properties) {}

  // Operands first. Expressions that use no text of the scope need no look.
  Texts texts_of(ExprId root) {
    std::vector<std::pair<ExprId, bool>> open{{root, false}};
    while (!open.empty()) {
      auto& [id, operands_known] = open.back();
      const ExprId at = id;
      if (!properties_[at].uses_memory || known_.contains(at)) {
        open.pop_back();
      } else if (operands_known) {
        open.pop_back();
        known_.emplace(at, made_of_operands(ir_.nodes[at]));
      } else {
        operands_known = true;
        for_each_operand(ir_.nodes[at], [&](ExprId operand) { open.emplace_back(operand, false); });
      }
    }
    return texts(root);
  }

  static void refuse_any(const Texts& texts, uint32_t up_to) {
    texts.needed.for_each([&](uint8_t number) {
      if (number <= up_to)
        throw MalformedGrammar("text " + std::to_string(number) + " is recalled where it is not remembered");
    });
  }

 private:
  template <class Visit>
  void for_each_operand(const ExprNode& node, Visit&& visit) const {
    if (node.op == Op::Seq || node.op == Op::Alt)
      for (const ExprId operand : ir_.children.slice(node.begin, node.end)) visit(operand);
    else if (node.op != Op::Recall && node.op != Op::Remember && node.op != Op::Value)
      visit(node.begin);
  }

  Texts texts(ExprId id) const {
    const auto it = known_.find(id);
    return it == known_.end() ? Texts() : it->second;
  }

  Texts made_of_operands(const ExprNode& node) const {
    Texts out;
    if (node.op == Op::Recall) {
      out.needed.set(static_cast<uint8_t>(node.end));
    } else if (node.op == Op::Remember) {
      out.highest = node.end;
    } else if (node.op == Op::Value) {
      out.has_values = true;
    } else if (node.op == Op::Seq) {
      for (uint32_t c = node.end; c-- > node.begin;) add_before(out, ir_.children[c]);
    } else {
      for_each_operand(node, [&](ExprId operand) {
        const Texts more = texts(operand);
        out.needed |= more.needed;
        out.highest = std::max(out.highest, more.highest);
        out.has_values |= more.has_values;
      });
      if (node.op == Op::Repeat && node.maximum != 1) refuse_any(out, out.highest);
    }
    return out;
  }

  // What is remembered within an operand holds within it.
  void add_before(Texts& rest, ExprId operand) const {
    const Texts more = texts(operand);
    if (ir_.nodes[operand].op == Op::Remember) rest.needed.clear(static_cast<uint8_t>(more.highest));
    refuse_any(rest, more.highest);
    rest.needed |= more.needed;
    rest.highest = std::max(rest.highest, more.highest);
    rest.has_values |= more.has_values;
  }

  const GrammarIr& ir_;
  const std::vector<ExprProperties>& properties_;
  std::unordered_map<ExprId, Texts> known_;
};

}  // namespace

bool check_text_scope(const GrammarIr& ir, const std::vector<ExprProperties>& properties, ExprId body) {
  const Texts texts = ScopeCheck(ir, properties).texts_of(body);
  ScopeCheck::refuse_any(texts, kMaxTextNumber);
  if (texts.has_values && texts.highest > 0)
    throw MalformedGrammar("a scope has both values to compare and a text to recall");
  return texts.has_values;
}

}  // namespace maskwright
