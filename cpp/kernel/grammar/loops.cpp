#include "grammar/loops.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

namespace maskwright {
namespace {

class LoopWriter {
 public:
  explicit LoopWriter(GrammarIr& ir) : ir_(ir) {}

  void run() {
    if (!changes_any(ir_.nodes.num_shared())) return;  // what many grammars begin with is kept as it is (read_ir.cpp)
    std::swap(old_, ir_.nodes);
    std::swap(old_children_, ir_.children);
    for (ExprId id = 0; id < old_.size(); ++id) number_.push_back(changes(old_[id]) ? loop(old_[id]) : copy(old_[id]));
    for (ExprId& rule : ir_.rules) rule = number_[rule];
  }

  bool changes_any(size_t from) {
    for (size_t id = from; id < ir_.nodes.size(); ++id)
      if (changes(ir_.nodes[id])) return true;
    return false;
  }

 private:
  const Continued<ExprNode>& nodes() const { return old_.size() == 0 ? ir_.nodes : old_; }
  std::span<const ExprId> alternatives(const ExprNode& loop) const {
    const Continued<ExprId>& children = old_.size() == 0 ? ir_.children : old_children_;
    const ExprNode& body = nodes()[loop.begin];
    if (body.op != Op::Alt) return {&loop.begin, 1};
    return children.slice(body.begin, body.end);
  }
  static bool is_counted(const ExprNode& node) {
    return node.op == Op::Repeat && node.minimum == 1 && node.maximum != kUnbounded && node.maximum > 1;
  }
  // The item of what stands in a loop and need not be counted there, by its old number; otherwise nothing.
  const ExprNode* item(ExprId alternative) const {
    const ExprNode& node = nodes()[alternative];
    if (is_counted(node)) return &nodes()[node.begin];
    if (node.op != Op::Ref) return nullptr;
    const ExprNode& body = nodes()[ir_.rules[node.begin]];
    if (!is_counted(body)) return nullptr;
    const ExprNode& item = nodes()[body.begin];
    return item.op == Op::Set || item.op == Op::Literal || item.op == Op::Ref ? &item : nullptr;
  }
  // A rule that is not there yet may be.
  bool may_be_counted(ExprId alternative) const {
    const ExprNode& node = nodes()[alternative];
    return (node.op == Op::Ref && node.begin >= ir_.rules.size()) || item(alternative);
  }
  bool changes(const ExprNode& node) {
    if (node.op != Op::Repeat || node.maximum != kUnbounded) return false;
    const auto [known, fresh] = changes_.try_emplace(node.begin);
    if (fresh)
      known->second = std::ranges::any_of(alternatives(node), [this](ExprId each) { return may_be_counted(each); });
    return known->second;
  }

  ExprId add(const ExprNode& node) {
    ir_.nodes.push_back(node);
    return static_cast<ExprId>(ir_.nodes.size() - 1);
  }

  ExprId copy(ExprNode node) {
    if (node.op == Op::Seq || node.op == Op::Alt || node.op == Op::And || node.op == Op::Distinct) {
      const auto begin = static_cast<uint32_t>(ir_.children.size());
      for (uint32_t c = node.begin; c < node.end; ++c) ir_.children.push_back(number_[old_children_[c]]);
      node.begin = begin;
      node.end = static_cast<uint32_t>(ir_.children.size());
    } else if (node.op == Op::Repeat || node.op == Op::Not || node.op == Op::Guard || node.op == Op::Capture ||
               node.op == Op::Span || node.op == Op::Scope || node.op == Op::Remember || node.op == Op::Recall ||
               node.op == Op::Multiple || node.op == Op::Value) {
      node.begin = number_[node.begin];
    }
    return add(node);
  }

  ExprId loop(ExprNode node) {
    const auto [known, fresh] = uncounted_.try_emplace(node.begin);
    if (fresh) known->second = uncounted(node);
    node.begin = known->second;
    return add(node);
  }

  // What stands in a loop. The item of a rule is copied, as its own number may be greater; one that stands here has its
  // number already.
  ExprId uncounted(const ExprNode& loop) {
    std::vector<ExprId> out;
    ExprNode body{.op = Op::Alt};
    for (const ExprId alternative : alternatives(loop)) {
      const ExprNode* item = this->item(alternative);
      if (!item)
        out.push_back(number_[alternative]);
      else if (old_[alternative].op == Op::Repeat)
        out.push_back(number_[old_[alternative].begin]);
      else
        out.push_back(add(*item));
      body.depth = std::max(body.depth, ir_.nodes[out.back()].depth + 1);
    }
    if (out.size() == 1) return out[0];
    body.begin = static_cast<uint32_t>(ir_.children.size());
    ir_.children.append(out);
    body.end = static_cast<uint32_t>(ir_.children.size());
    return add(body);
  }

  GrammarIr& ir_;
  Continued<ExprNode> old_;
  Continued<ExprId> old_children_;
  std::vector<ExprId> number_;                    // of each old node
  std::unordered_map<ExprId, bool> changes_;      // of what stands in a loop
  std::unordered_map<ExprId, ExprId> uncounted_;  // what stands there instead
};

}  // namespace

bool has_counted_loops(GrammarIr beginning) {
  return LoopWriter(beginning).changes_any(0);
}

void uncount_loops(GrammarIr& ir) {
  LoopWriter(ir).run();
}

}  // namespace maskwright
