#include "program.h"

#include <algorithm>
#include <deque>
#include <map>
#include <span>
#include <unordered_map>

#include "blueprint.h"
#include "components.h"
#include "errors.h"
#include "family.h"
#include "group_builder.h"
#include "optimisations.h"
#include "registers.h"

namespace maskwright {
namespace {

constexpr uint64_t kMaxUnrolledWeight = 16;   // copies of a bounded repetition; beyond that it counts
constexpr uint64_t kMaxUnrolledWideSets = 2;  // copies of a set of many characters: each is walked for by itself
constexpr int kWideSet = 26;
constexpr uint64_t kMaxInlinedWeight = 16;
constexpr uint32_t kCharacterBytes = 4;  // a rule for one character is inlined even if it is a large class, so that
constexpr uint64_t kMaxInlinedCharacterWeight = 4096;  // repetitions of it are loops of their own
constexpr uint64_t kMaxOperandWeight = 100'000;        // of a product, with counted repetitions spelled out
constexpr uint64_t kWeightCap = uint64_t{1} << 40;
constexpr uint32_t kNone = 0xFFFFFFFF;

using Kind = BlueprintUnit::Kind;

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
  Written place = {};          // as member or callee
  Written outlined_call = {};  // of a part of a parametric rule
  // Once its own component is done:
  bool inlined = false;
  Rule* rule = nullptr;
  std::shared_ptr<RuleGroup> group = nullptr;
};

// Collects the units of a grammar and links them, component by component.
class Linker {
 public:
  Linker(const GrammarIr& ir, RuleStore& store) : ir_(ir), store_(store), nodes_(ir.nodes.size()) {}
  Program link();

 private:
  enum class Form : uint8_t { Plain, Boolean, Irregular };  // neither; with & or ~; with references, guards or tokens
  // What is known of an expression.
  struct Node {
    uint64_t weight = 1;
    bool uses_parameter = false;   // it depends on the parameter of the rule that it is in
    bool outlined = false;         // in a parametric rule, it is a rule of its own that all parameters share
    bool loops = false;            // an unbounded repetition inside
    bool counting = false;         // a repetition that is counted instead of unrolled
    Form form = Form::Plain;       // of the expression and all in it
    uint32_t longest = 0;          // bytes of the longest string, up to one more than a character's; if plain
    uint64_t unrolled_weight = 1;  // with counted repetitions spelled out
    uint32_t unit = kNone;         // of a Ref, or of an And, Not, Repeat that became one
    uint32_t visit = 0;            // the walk that saw it last
    Written written;
  };
  void weigh();
  bool counts(const ExprNode& node) const;
  std::vector<uint32_t> callees(uint32_t unit);
  void visit_callees(ExprId root, std::vector<uint32_t>& out);
  uint32_t counter(ExprId repetition, int terminator);
  uint32_t part(ExprId expr, bool unrolled);
  int terminator(const ExprNode& sequence, uint32_t child) const;
  uint32_t boolean_unit(ExprId id);
  uint32_t capture_unit(const ExprNode& capture);
  uint32_t operand_unit(const Unit& product, ExprId operand);
  bool is_operand(ExprId expr) const;
  int64_t counted(ExprId operand) const;
  bool counts_exactly(ExprId operand);
  bool may_inline(const std::vector<uint32_t>& component);
  void intern(const std::vector<uint32_t>& component);
  void write_unit(uint32_t index);
  ExprId write(ExprId root, bool regular);
  uint32_t called_unit(ExprId id, bool regular);
  bool is_outlined(ExprId id) const { return outlines_ && nodes_[id].outlined; }
  Written& written(ExprId id);
  ExprId write_node(const ExprNode& node, bool regular);
  ExprId write_call(uint32_t unit, const ExprNode& node);
  const ValueFunction& passed_value(uint32_t unit, const ExprNode& node) const;
  uint32_t place(uint32_t unit, uint64_t parameter);
  bool is_parametric(uint32_t unit) const { return nodes_[units_[unit].expr].uses_parameter; }
  ExprId resolve(ExprId id) const;

  const GrammarIr& ir_;
  RuleStore& store_;
  std::vector<Node> nodes_;
  std::deque<Unit> units_;                           // the declared rules first, in order
  std::unordered_map<uint64_t, uint32_t> counters_;  // by item and terminator
  std::unordered_map<uint64_t, uint32_t> parts_;     // what counters and products call, by expression and unrolled
  uint32_t visit_ = 0;
  Program program_;

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

// The byte that a counted repetition at this place of a sequence takes over from the literal after it, or -1.
int Linker::terminator(const ExprNode& sequence, uint32_t child) const {
  if (!nodes_[ir_.children[child]].counting || child + 1 >= sequence.end) return -1;
  const ExprNode& next = ir_.nodes[ir_.children[child + 1]];
  return next.op == Op::Literal && next.end > next.begin ? static_cast<uint8_t>(ir_.bytes[next.begin]) : -1;
}

// The unit of a counted repetition. All repetitions of one item share it, whatever their bounds.
uint32_t Linker::counter(ExprId repetition, int terminator) {
  const ExprId item = ir_.nodes[repetition].begin;
  const uint64_t key = (uint64_t{item} << 16) | static_cast<uint64_t>(terminator + 1);
  const auto [it, fresh] = counters_.emplace(key, static_cast<uint32_t>(units_.size()));
  if (fresh) units_.push_back({.kind = Kind::Counter, .expr = item, .terminator = terminator});
  return it->second;
}

// The unit of an expression that a counter or a product calls.
uint32_t Linker::part(ExprId expr, bool unrolled) {
  const auto [it, fresh] =
      parts_.emplace((uint64_t{expr} << 1) | (unrolled ? 1 : 0), static_cast<uint32_t>(units_.size()));
  if (fresh) units_.push_back({.kind = Kind::Expression, .expr = expr, .unrolled = unrolled});
  return it->second;
}

// The unit of an & or ~. An intersection of plain expressions, complements of such and at most one counted repetition
// is a product of their automata; anything else is derived.
uint32_t Linker::boolean_unit(ExprId id) {
  if (nodes_[id].form == Form::Irregular)
    throw LimitExceeded("regular_operands",
                        "an operand of & or ~ refers to a rule, a parameter or a token; only regular ones can");
  const ExprNode& node = ir_.nodes[id];
  const auto operands = std::span(ir_.children).subspan(node.begin, node.op == Op::And ? node.end - node.begin : 0);
  const auto is_negated = [&](ExprId operand) { return ir_.nodes[operand].op == Op::Not; };
  Unit unit{.kind = Kind::Derivative, .expr = id};
  if (!std::ranges::all_of(operands, is_negated)) {
    const ExprId farthest = *std::ranges::max_element(operands, {}, [&](ExprId operand) { return counted(operand); });
    if (counted(farthest) > 0 && counts_exactly(farthest)) unit.counted = farthest;
    if (std::ranges::all_of(operands, [&](ExprId operand) {
          return operand == unit.counted || is_operand(is_negated(operand) ? ir_.nodes[operand].begin : operand);
        }))
      unit.kind = Kind::Product;
  }
  units_.push_back(std::move(unit));
  return static_cast<uint32_t>(units_.size() - 1);
}

uint32_t Linker::capture_unit(const ExprNode& capture) {
  units_.push_back({.kind = Kind::Expression, .expr = capture.begin, .capture = capture.end});
  return static_cast<uint32_t>(units_.size() - 1);
}

bool Linker::is_operand(ExprId expr) const {
  return nodes_[expr].form == Form::Plain && nodes_[expr].unrolled_weight <= kMaxOperandWeight;
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
  if (nodes_[item].form != Form::Plain || nodes_[item].unrolled_weight != nodes_[item].weight) return false;
  const uint32_t unit = counter(repetition, end);
  intern({part(item, false)});
  intern({unit});
  Rule& rule = *units_[unit].rule;
  if (!rule.productive() || rule.nullable()) return false;
  DfaState& start = *rule.start();
  return rule.spells_item() && !rule.next(start, static_cast<uint8_t>(end));
}

// The units that a unit calls. Nodes that become units of their own get one here.
std::vector<uint32_t> Linker::callees(uint32_t unit) {
  std::vector<uint32_t> out;
  const Unit at = units_[unit];
  if (at.rule || at.unrolled) return out;
  if (at.kind == Kind::Expression) {
    visit_callees(at.expr, out);
  } else if (at.kind == Kind::Counter) {
    out.push_back(part(at.expr, false));
  } else if (at.kind == Kind::Product) {
    const ExprNode& node = ir_.nodes[at.expr];
    for (uint32_t c = node.begin; c < node.end; ++c) out.push_back(operand_unit(at, ir_.children[c]));
  }
  return out;
}

uint32_t Linker::operand_unit(const Unit& product, ExprId operand) {
  const ExprNode& node = ir_.nodes[operand];
  if (operand == product.counted) return counter(ir_.children[node.begin], terminator(node, node.begin));
  return part(node.op == Op::Not ? node.begin : operand, true);
}

void Linker::visit_callees(ExprId root, std::vector<uint32_t>& out) {
  const bool outlines = nodes_[root].uses_parameter;
  ++visit_;
  std::vector<ExprId> open{root};
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    Node& known = nodes_[id];
    if (known.visit == visit_) continue;
    known.visit = visit_;
    const ExprNode& node = ir_.nodes[id];
    if (known.unit == kNone) {
      if (node.op == Op::And || node.op == Op::Not)
        known.unit = boolean_unit(id);
      else if (node.op == Op::Capture)
        known.unit = capture_unit(node);
      else if (known.counting)
        known.unit = counter(id, -1);
    }
    if (known.unit != kNone) {
      out.push_back(known.unit);
    } else if (outlines && known.outlined) {
      out.push_back(part(id, false));
    } else if (node.op == Op::Alt) {
      for (uint32_t c = node.end; c-- > node.begin;) open.push_back(ir_.children[c]);
    } else if (node.op == Op::Seq) {
      for (uint32_t c = node.begin; c < node.end; ++c) {
        const int end = terminator(node, c);
        if (end < 0)
          open.push_back(ir_.children[c]);
        else
          out.push_back(counter(ir_.children[c], end));
      }
    } else if (node.op == Op::Repeat || node.op == Op::Guard) {
      open.push_back(node.begin);
    }
  }
}

Program Linker::link() {
  weigh();
  for (const ExprId body : ir_.rules) units_.push_back({.kind = Kind::Expression, .expr = body});
  for (const auto& component : strong_components({ir_.root}, [this](uint32_t unit) { return callees(unit); })) {
    if (may_inline(component))
      units_[component[0]].inlined = true;
    else
      intern(component);
  }
  program_.root = units_[ir_.root].rule;
  if (program_.root->group().family()) program_.root = instantiate(*program_.root, 0);
  if (!program_.root->productive() && !program_.root->nullable())
    throw Unsatisfiable("no output at all satisfies this structure");
  return std::move(program_);
}

// One for single characters, or a small rule without loops, that calls no rule of its own component. Weighed by
// occurrences, as inlining copies it.
bool Linker::may_inline(const std::vector<uint32_t>& component) {
  const uint32_t index = component[0];
  if (!optimisations.inlining || component.size() > 1 || index == ir_.root || index >= ir_.rules.size()) return false;
  if (is_parametric(index)) return false;
  const Node& body = nodes_[units_[index].expr];
  if (body.form == Form::Plain && body.longest <= kCharacterBytes && body.weight <= kMaxInlinedCharacterWeight)
    return true;
  uint64_t weight = 0;
  std::vector<ExprId> open{units_[index].expr};
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    const Node& known = nodes_[id];
    if (known.loops || known.counting) return false;
    const ExprNode& node = ir_.nodes[id];
    if (known.unit != kNone) {
      if (known.unit == index) return false;
      if (units_[known.unit].inlined) open.push_back(units_[known.unit].expr);
    } else if (node.op == Op::Seq || node.op == Op::Alt) {
      if (node.end - node.begin > kMaxInlinedWeight) return false;
      open.insert(open.end(), ir_.children.begin() + node.begin, ir_.children.begin() + node.end);
    } else if (node.op == Op::Repeat) {
      open.insert(open.end(), static_cast<size_t>(node.maximum), node.begin);
    }
    weight += node.op == Op::Literal ? known.weight : 1;
    if (weight + open.size() > kMaxInlinedWeight) return false;
  }
  return true;
}

void Linker::intern(const std::vector<uint32_t>& component) {
  if (units_[component[0]].rule) return;
  ++component_;
  num_members_ = static_cast<uint32_t>(component.size());
  is_family_ = std::ranges::any_of(component, [this](uint32_t unit) { return is_parametric(unit); });
  callees_.clear();
  instance_places_.clear();
  writer_.clear();
  for (uint32_t i = 0; i < num_members_; ++i) units_[component[i]].place = {component_, i};
  for (const uint32_t member : component) write_unit(member);
  for (const Called& callee : callees_)
    writer_.callee(units_[callee.unit].group->id(), units_[callee.unit].rule->index(), callee.parameter);

  std::shared_ptr<RuleGroup> group = store_.find(writer_.text());
  if (!group) {
    std::vector<RuleGroup::CalleeLink> links;
    links.reserve(callees_.size());
    for (const auto& [unit, parameter] : callees_) {
      Rule& rule = *units_[unit].rule;
      const bool as_instance = rule.group().family() && !is_family_;
      links.push_back({units_[unit].group, as_instance ? instantiate(rule, parameter) : &rule});
    }
    group = store_.insert(GroupBuilder::make(store_, writer_.text(), std::move(links)));
  }
  for (uint32_t i = 0; i < num_members_; ++i) {
    units_[component[i]].rule = &group->rule(i);
    units_[component[i]].group = group;
  }
  if (group->family()) program_.families.push_back(group->family());
  program_.groups.push_back(std::move(group));
}

void Linker::write_unit(uint32_t index) {
  const Unit& unit = units_[index];
  ExprId root = 0;
  switch (unit.kind) {
    case Kind::Expression: root = write(unit.expr, unit.unrolled); break;
    case Kind::Derivative: root = write(unit.expr, true); break;
    case Kind::Counter: root = write_call(part(unit.expr, false), ir_.nodes[unit.expr]); break;
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
  writer_.unit({unit.kind, root, unit.terminator, is_parametric(index), std::move(capture)});
}

// An inlined rule stands for its body.
ExprId Linker::resolve(ExprId id) const {
  while (nodes_[id].unit != kNone && units_[nodes_[id].unit].inlined) id = units_[nodes_[id].unit].expr;
  return id;
}

// Writes an expression, children first, and returns its number. In a `regular` one, & and ~ and repetitions stay.
ExprId Linker::write(ExprId root, bool regular) {
  root = resolve(root);
  outlines_ = nodes_[root].uses_parameter;
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
  const Node& known = nodes_[id];
  return known.unit == kNone && is_outlined(id) ? part(id, false) : known.unit;
}

// What is outlined here may stand elsewhere in the component as it is: the body of its own rule does.
Written& Linker::written(ExprId id) {
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
  if (unit >= ir_.rules.size()) return same;
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
