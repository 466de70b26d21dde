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
    ExprId first = 0;
    while (first < ir_.nodes.size() && !changes(ir_.nodes[first])) ++first;
    if (first == ir_.nodes.size()) return;
    old_.swap(ir_.nodes);
    old_children_.swap(ir_.children);
    for (const ExprNode& node : old_) number_.push_back(changes(node) ? loop(node) : copy(node));
    for (ExprId& rule : ir_.rules) rule = number_[rule];
    ir_.known_rules = nullptr;  // expressions have other numbers there
  }

 private:
  const std::vector<ExprNode>& nodes() const { return old_.empty() ? ir_.nodes : old_; }
  std::span<const ExprId> alternatives(const ExprNode& loop) const {
    const std::vector<ExprId>& children = old_.empty() ? ir_.children : old_children_;
    const ExprNode& body = nodes()[loop.begin];
    if (body.op != Op::Alt) return {&loop.begin, 1};
    return std::span(children).subspan(body.begin, body.end - body.begin);
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
  bool changes(const ExprNode& node) {
    if (node.op != Op::Repeat || node.maximum != kUnbounded) return false;
    const auto [known, fresh] = changes_.try_emplace(node.begin);
    if (fresh) known->second = std::ranges::any_of(alternatives(node), [this](ExprId each) { return item(each); });
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
               node.op == Op::Multiple) {
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
    ir_.children.insert(ir_.children.end(), out.begin(), out.end());
    body.end = static_cast<uint32_t>(ir_.children.size());
    return add(body);
  }

  GrammarIr& ir_;
  std::vector<ExprNode> old_;
  std::vector<ExprId> old_children_;
  std::vector<ExprId> number_;                    // of each old node
  std::unordered_map<ExprId, bool> changes_;      // of what stands in a loop
  std::unordered_map<ExprId, ExprId> uncounted_;  // what stands there instead
};

}  // namespace

void uncount_loops(GrammarIr& ir) {
  LoopWriter(ir).run();
}

}  // namespace maskwright
