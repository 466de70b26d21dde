#include "program.h"

#include <algorithm>

#include "components.h"
#include "errors.h"
#include "family.h"
#include "group_builder.h"

namespace maskwright {
namespace {

constexpr uint64_t kMaxUnrolledWeight = 16;  // copies of a bounded repetition; beyond that it counts
constexpr uint64_t kMaxInlinedWeight = 16;
constexpr uint64_t kWeightCap = uint64_t{1} << 40;

// Collects the units of a grammar and links them, component by component.
class Linker {
 public:
  Linker(const GrammarIr& ir, RuleStore& store) : ir_(ir), store_(store), table_{ir, {}, {}, {}, {}, {}} {}
  Program link();

 private:
  void weigh();
  bool counts(const ExprNode& node) const;
  std::vector<uint32_t> callees(uint32_t unit);
  uint32_t item_unit(ExprId expr);
  void visit_callees(ExprId root, std::vector<uint32_t>& out);
  bool may_inline(const std::vector<uint32_t>& component);
  void intern(const std::vector<uint32_t>& component);
  std::string serialise(const std::vector<uint32_t>& component);
  std::shared_ptr<RuleGroup> build(const std::vector<uint32_t>& component);

  const GrammarIr& ir_;
  RuleStore& store_;
  UnitTable table_;
  std::vector<uint64_t> weights_;
  std::vector<bool> loops_;        // by node: an unbounded repetition inside
  std::vector<uint32_t> visited_;  // by node: the number of the visit that saw it
  uint32_t visit_ = 0;
  Program program_;
};

void append(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void append(std::string& out, const ValueFunction& value) {
  append(out, value.size());
  for (const ValueStep& step : value) {
    append(out, static_cast<uint64_t>(step.kind));
    append(out, step.a);
    append(out, step.b);
  }
}

void append(std::string& out, const Condition& condition) {
  append(out, condition.tests.size());
  append(out, condition.entry);
  for (const Condition::Test& test : condition.tests)
    for (const uint64_t field : {uint64_t{test.first}, uint64_t{test.last}, uint64_t{test.counts}, test.minimum,
                                 test.maximum, uint64_t{test.if_true}, uint64_t{test.if_false}})
      append(out, field);
}

// Nodes are numbered children first, so one ascending pass suffices.
void Linker::weigh() {
  weights_.resize(ir_.nodes.size());
  loops_.resize(ir_.nodes.size());
  table_.counting.resize(ir_.nodes.size());
  table_.uses_parameter.resize(ir_.nodes.size());
  table_.outlined.resize(ir_.nodes.size());
  for (ExprId id = 0; id < ir_.nodes.size(); ++id) {
    const ExprNode& node = ir_.nodes[id];
    uint64_t weight = 1;
    bool loops = false, uses = false;
    switch (node.op) {
      case Op::Literal: weight = node.end - node.begin; break;
      case Op::Seq:
      case Op::Alt:
        for (uint32_t c = node.begin; c < node.end; ++c) {
          weight += weights_[ir_.children[c]];
          loops = loops || loops_[ir_.children[c]];
          uses = uses || table_.uses_parameter[ir_.children[c]];
        }
        break;
      case Op::Repeat:
        loops = loops_[node.begin] || node.maximum == kUnbounded;
        uses = table_.uses_parameter[node.begin];
        table_.counting[id] = counts(node);
        if (!table_.counting[id])
          weight = weights_[node.begin] * static_cast<uint64_t>(std::max<int64_t>(
                                              node.maximum == kUnbounded ? node.minimum + 1 : node.maximum, 1));
        break;
      case Op::Guard:
        weight += weights_[node.begin];
        loops = loops_[node.begin];
        uses = true;
        break;
      case Op::Capture:
        loops = loops_[node.begin];
        uses = table_.uses_parameter[node.begin];
        break;
      case Op::Call: uses = !is_constant(ir_.values[node.end]); break;
      default: break;
    }
    weights_[id] = std::min(weight, kWeightCap);
    loops_[id] = loops;
    table_.uses_parameter[id] = uses;
    const bool composed = node.op == Op::Seq || node.op == Op::Alt || node.op == Op::Repeat;
    table_.outlined[id] = composed && !uses && !table_.counting[id] && (loops || weight > kMaxInlinedWeight);
  }
}

bool Linker::counts(const ExprNode& node) const {
  const int64_t copies = std::max(node.minimum, node.maximum);
  if (copies <= 1) return false;
  return static_cast<uint64_t>(copies) > kMaxUnrolledWeight ||
         weights_[node.begin] * static_cast<uint64_t>(copies) > kMaxUnrolledWeight;
}

// The units that a unit calls. Nodes that become units of their own get one here.
std::vector<uint32_t> Linker::callees(uint32_t unit) {
  std::vector<uint32_t> out;
  const Unit::Kind kind = table_.units[unit].kind;
  const ExprId expr = table_.units[unit].expr;
  if (kind == Unit::Kind::Counter) {
    std::vector<uint32_t> of_item;
    visit_callees(expr, of_item);
    if (!of_item.empty() || table_.uses_parameter[expr]) out.push_back(item_unit(expr));
  } else if (kind == Unit::Kind::Expression) {
    visit_callees(expr, out);
  }
  return out;
}

uint32_t Linker::item_unit(ExprId expr) {
  const auto [it, fresh] = table_.item_units.emplace(expr, static_cast<uint32_t>(table_.units.size()));
  if (fresh) table_.units.push_back({.kind = Unit::Kind::Expression, .expr = expr});
  return it->second;
}

void Linker::visit_callees(ExprId root, std::vector<uint32_t>& out) {
  const bool parametric = table_.uses_parameter[root];
  ++visit_;
  std::vector<ExprId> open{root};
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    if (visited_[id] == visit_) continue;
    visited_[id] = visit_;
    const ExprNode& node = ir_.nodes[id];
    uint32_t& of_node = table_.of_node[id];
    if (of_node == UnitTable::kNone) {
      if (node.op == Op::And || node.op == Op::Not) {
        of_node = static_cast<uint32_t>(table_.units.size());
        table_.units.push_back({.kind = Unit::Kind::Regular, .expr = id});
      } else if (node.op == Op::Capture) {
        of_node = static_cast<uint32_t>(table_.units.size());
        table_.units.push_back({.kind = Unit::Kind::Expression, .expr = node.begin, .capture = node.end});
      } else if (table_.counting[id]) {
        of_node = table_.counter(id, -1);
      }
    }
    if (of_node != UnitTable::kNone) {
      out.push_back(of_node);
    } else if (parametric && table_.outlined[id]) {
      out.push_back(item_unit(id));
    } else if (node.op == Op::Alt) {
      for (uint32_t c = node.end; c-- > node.begin;) open.push_back(ir_.children[c]);
    } else if (node.op == Op::Seq) {
      for (uint32_t c = node.begin; c < node.end; ++c) {
        const int terminator = table_.terminator(node, c);
        if (terminator < 0)
          open.push_back(ir_.children[c]);
        else
          out.push_back(table_.counter(ir_.children[c], terminator));
      }
    } else if (node.op == Op::Repeat || node.op == Op::Guard) {
      open.push_back(node.begin);
    }
  }
}

Program Linker::link() {
  weigh();
  visited_.assign(ir_.nodes.size(), 0);
  table_.of_node.assign(ir_.nodes.size(), UnitTable::kNone);
  for (const ExprId body : ir_.rules) table_.units.push_back({.kind = Unit::Kind::Expression, .expr = body});
  for (ExprId id = 0; id < ir_.nodes.size(); ++id)
    if (ir_.nodes[id].op == Op::Ref || ir_.nodes[id].op == Op::Call) table_.of_node[id] = ir_.nodes[id].begin;

  const auto components = strong_components({ir_.root}, [this](uint32_t unit) { return callees(unit); });
  for (const auto& component : components) {
    if (may_inline(component))
      table_.units[component[0]].inlined = true;
    else
      intern(component);
  }
  program_.root = table_.units[ir_.root].rule;
  if (program_.root->group().family()) program_.root = instantiate(*program_.root, 0);
  if (!program_.root->productive() && !program_.root->nullable())
    throw Unsatisfiable("no output at all satisfies this structure");
  return std::move(program_);
}

// A small rule without loops, that calls no rule of its own component. Weighed by occurrences, as inlining copies it.
bool Linker::may_inline(const std::vector<uint32_t>& component) {
  const uint32_t index = component[0];
  if (component.size() > 1 || index == ir_.root || index >= ir_.rules.size()) return false;
  if (table_.is_parametric(table_.units[index])) return false;
  uint64_t weight = 0;
  std::vector<ExprId> open{table_.units[index].expr};
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    if (loops_[id] || table_.counting[id]) return false;
    const ExprNode& node = ir_.nodes[id];
    if (const uint32_t callee = table_.of_node[id]; callee != UnitTable::kNone) {
      if (callee == index) return false;
      if (table_.units[callee].inlined) open.push_back(table_.units[callee].expr);
    } else if (node.op == Op::Seq || node.op == Op::Alt) {
      open.insert(open.end(), ir_.children.begin() + node.begin, ir_.children.begin() + node.end);
    } else if (node.op == Op::Repeat) {
      open.insert(open.end(), static_cast<size_t>(node.maximum), node.begin);
    }
    weight += node.op == Op::Literal ? weights_[id] : 1;
    if (weight + open.size() > kMaxInlinedWeight) return false;
  }
  return true;
}

void Linker::intern(const std::vector<uint32_t>& component) {
  const std::string key = serialise(component);
  std::shared_ptr<RuleGroup> group = store_.find(key);
  if (!group) group = store_.insert(key, build(component));
  for (size_t i = 0; i < component.size(); ++i) {
    table_.units[component[i]].rule = &group->rule(static_cast<uint32_t>(i));
    table_.units[component[i]].group = group;
  }
  if (group->family()) program_.families.push_back(group->family());
  program_.groups.push_back(std::move(group));
}

std::shared_ptr<RuleGroup> Linker::build(const std::vector<uint32_t>& component) {
  auto group = std::make_shared<RuleGroup>(store_);
  GroupBuilder(table_, component, *group).build([this](ExprId item) -> const Unit& {
    const auto [it, fresh] = table_.item_units.emplace(item, static_cast<uint32_t>(table_.units.size()));
    if (fresh) {
      table_.units.push_back({.kind = Unit::Kind::Expression, .expr = item});
      intern({it->second});
    }
    return table_.units[it->second];
  });
  return group;
}

// A component's structure in preorder: expressions met again by number, members by their index in the component, other
// rules by group and index. Equal strings mean equal automata.
std::string Linker::serialise(const std::vector<uint32_t>& component) {
  constexpr char kSeen = 0x40, kMember = 0x41, kOther = 0x42, kUnit = 0x43, kValue = 0x44, kCapture = 0x45;
  std::string out;
  std::unordered_map<ExprId, uint32_t> number;
  for (const uint32_t index : component) {
    const Unit& unit = table_.units[index];
    out.push_back(kUnit);
    out.push_back(static_cast<char>(unit.kind));
    append(out, static_cast<uint64_t>(unit.terminator + 1));
    if (unit.capture != UnitTable::kNone) {
      out.push_back(kCapture);
      append(out, ir_.names[unit.capture].size());
      out += ir_.names[unit.capture];
    }
    const bool inside_regular = unit.kind == Unit::Kind::Regular;
    std::vector<ExprId> open{unit.expr};
    number.clear();
    while (!open.empty()) {
      const ExprId id = open.back();
      open.pop_back();
      const ExprNode& node = ir_.nodes[id];
      // Counted repetitions are told by their item and bounds; what terminates them stands beside them.
      uint32_t callee = inside_regular || table_.counting[id] ? UnitTable::kNone : table_.of_node[id];
      if (table_.is_parametric(unit) && table_.outlined[id]) callee = table_.item_units.at(id);
      if (unit.kind == Unit::Kind::Counter && id == unit.expr)
        if (const auto it = table_.item_units.find(id); it != table_.item_units.end()) callee = it->second;
      if (callee != UnitTable::kNone) {
        const Unit& called = table_.units[callee];
        const auto member = std::find(component.begin(), component.end(), callee);
        if (called.inlined) {
          open.push_back(called.expr);
          continue;
        }
        if (member != component.end()) {
          out.push_back(kMember);
          append(out, static_cast<uint64_t>(member - component.begin()));
        } else {
          out.push_back(kOther);
          append(out, called.group->id());
          append(out, called.rule->index());
        }
        if (node.op == Op::Call) {
          out.push_back(kValue);
          append(out, ir_.values[node.end]);
        }
        continue;
      }
      const auto [it, fresh] = number.emplace(id, static_cast<uint32_t>(number.size()));
      if (!fresh) {
        out.push_back(kSeen);
        append(out, it->second);
        continue;
      }
      out.push_back(static_cast<char>(node.op));
      switch (node.op) {
        case Op::Literal:
          append(out, node.end - node.begin);
          out.append(ir_.bytes, node.begin, node.end - node.begin);
          break;
        case Op::Set:
          for (int w = 0; w < 4; ++w) append(out, ir_.sets[node.begin].word(w));
          break;
        case Op::Tokens:
          append(out, ir_.token_sets[node.begin].size());
          for (const TokenId t : ir_.token_sets[node.begin]) append(out, static_cast<uint64_t>(t));
          break;
        case Op::Seq:
        case Op::Alt:
        case Op::And:
          append(out, node.end - node.begin);
          for (uint32_t c = node.end; c-- > node.begin;) open.push_back(ir_.children[c]);
          break;
        case Op::Repeat:
          append(out, static_cast<uint64_t>(node.minimum));
          append(out, static_cast<uint64_t>(node.maximum + 1));
          open.push_back(node.begin);
          break;
        case Op::Not: open.push_back(node.begin); break;
        case Op::Guard:
          append(out, ir_.conditions[node.end]);
          open.push_back(node.begin);
          break;
        default: break;
      }
    }
  }
  return out;
}

}  // namespace

size_t Program::instance_bytes() const {
  size_t bytes = 0;
  for (const Family* family : families) bytes += family->instance_bytes();
  return bytes;
}

size_t Program::num_instances() const {
  size_t count = 0;
  for (const Family* family : families) count += family->num_linked();
  return count;
}

Program link(const GrammarIr& ir, RuleStore& store) {
  return Linker(ir, store).link();
}

}  // namespace maskwright
