#include "rules/facts.h"

#include <algorithm>

#include "rules/rule.h"
#include "support/components.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr uint32_t kMaxDecidedDepth = 500;  // deeper ones may be too deep for derivatives, and that shall show at once

// Of their automaton, an empty move to the end from each state among them.
uint64_t most_edges(const ChunkList& chunks) {
  return 5 * chunks.size() + 2 * chunks.bytes.size();
}

// Whether a rule that calls nothing matches so many strings, counted by their lengths.
bool matches_as_many(Rule& rule, uint64_t wanted) {
  uint64_t found = 0;
  std::unordered_map<DfaState*, uint64_t> ways{{rule.start(), 1}};  // to states, by strings of one length
  while (!ways.empty() && found < wanted) {
    std::unordered_map<DfaState*, uint64_t> longer;
    for (const auto& [state, count] : ways) {
      Work::spend(1);
      state->live.for_each([&, state = state, count = count](uint8_t byte) {
        DfaState* next = rule.next(*state, byte);
        if (!next) return;
        uint64_t& sum = longer[next];
        sum = std::min(sum + count, wanted);
      });
    }
    for (const auto& [state, count] : longer)
      if (state->final) found = std::min(found + count, wanted);
    ways = std::move(longer);
  }
  return found >= wanted;
}

bool is_call(const ExprNode& node) {
  return node.op == Op::Ref || node.op == Op::Call;
}

}  // namespace

bool is_nullable(const RuleFacts& rule, int64_t minimum) {
  if (!rule.counts || rule.sets_bounds) return rule.nullable;
  return rule.terminator < 0 && (rule.nullable || minimum == 0);
}

// A terminator can come without any item.
bool is_productive(const RuleFacts& rule, int64_t minimum) {
  if (rule.sets_bounds) return rule.productive;
  return rule.productive || (rule.terminator >= 0 && (rule.nullable || minimum == 0));
}

void follow_call(const RuleFacts& callee, RuleFacts& caller) {
  caller.first |= callee.first;
  caller.first_has_tokens = caller.first_has_tokens || callee.first_has_tokens;
  caller.rank = std::max(caller.rank, callee.rank + 1);
}

GroupFacts::GroupFacts(const Blueprint& blueprint, std::span<Rule* const> callees)
    : blueprint_(blueprint), callees_(callees), rules_(blueprint.units.size()), undecided_(blueprint.units.size()) {
  for (size_t u = 0; u < rules_.size(); ++u) {
    rules_[u].counts = blueprint.units[u].kind == BlueprintUnit::Kind::Counter;
    rules_[u].terminator = blueprint.units[u].terminator;
  }
  measure_nodes();
  if (calls_members_) find_dependents();
  solve_nullable();
  solve_live();
  solve_productive();
  solve_infinite();
  visited_.resize(blueprint.ir.nodes.size());
  describe_first();
  for (uint32_t u = 0; u < rules_.size(); ++u)
    if (blueprint.units[u].kind == BlueprintUnit::Kind::Multiple)
      describe_multiples(u);
    else if (blueprint.units[u].kind >= BlueprintUnit::Kind::Product)
      describe_boolean(u);
    else if (blueprint.units[u].memory.minimum > 1)
      describe_list(u);
}

const RuleFacts& GroupFacts::callee(const ExprNode& node) const {
  return callees_[node.begin - blueprint_.units.size()]->facts();
}

void GroupFacts::measure_nodes() {
  constexpr uint64_t kMost = uint64_t{1} << 40, kMostCopies = uint64_t{1} << 23;
  const GrammarIr& ir = blueprint_.ir;
  std::vector<uint64_t> edges(ir.nodes.size(), 1);
  facts_.resize(ir.nodes.size());
  for (ExprId id = 0; id < ir.nodes.size(); ++id) {
    const ExprNode& node = ir.nodes[id];
    if (node.op == Op::Literal) edges[id] = node.end - node.begin;
    if (node.op == Op::Substrings) edges[id] = most_edges(ir.chunk_lists[node.begin]);
    if (node.op == Op::Seq || node.op == Op::Alt)
      for (uint32_t c = node.begin; c < node.end; ++c) edges[id] += edges[ir.children[c]];
    if (node.op == Op::Repeat)
      edges[id] = 2 + edges[node.begin] *
                          std::min(kMostCopies, std::max(static_cast<uint64_t>(node.minimum) + 1,
                                                         static_cast<uint64_t>(std::max<int64_t>(node.maximum, 0))));
    edges[id] = std::min(edges[id], kMost);
    if (node.op == Op::Guard) edges[id] += edges[node.begin];
    has_calls_ = has_calls_ || is_call(node);
    calls_members_ = calls_members_ || (is_call(node) && is_member(node));
    if (node.op == Op::And || node.op == Op::Not)
      facts_[id] = kBoolean;
    else if (node.op == Op::Seq || node.op == Op::Alt)
      for (uint32_t c = node.begin; c < node.end; ++c) facts_[id] |= facts_[ir.children[c]];
    else if (node.op == Op::Repeat)
      facts_[id] = facts_[node.begin];
  }
  for (const BlueprintUnit& unit : blueprint_.units)
    if (unit.kind == BlueprintUnit::Kind::Expression) num_edges_ += edges[unit.root];
}

// By node, the nodes that its truth may make true: its parents, and the calls of the unit whose root it is.
void GroupFacts::find_dependents() {
  const GrammarIr& ir = blueprint_.ir;
  const auto for_each = [&](auto&& add) {
    for (ExprId id = 0; id < ir.nodes.size(); ++id) {
      const ExprNode& node = ir.nodes[id];
      if (node.op == Op::Seq || node.op == Op::Alt)
        for (uint32_t c = node.begin; c < node.end; ++c) add(ir.children[c], id);
      else if (node.op == Op::Repeat || node.op == Op::Guard)
        add(node.begin, id);
      else if (is_call(node) && is_member(node))
        add(blueprint_.units[node.begin].root, id);
    }
  };
  dependents_begin_.assign(ir.nodes.size() + 2, 0);
  for_each([&](ExprId from, ExprId) { ++dependents_begin_[from + 2]; });
  for (size_t i = 2; i < dependents_begin_.size(); ++i) dependents_begin_[i] += dependents_begin_[i - 1];
  dependents_.resize(dependents_begin_.back());
  for_each([&](ExprId from, ExprId to) { dependents_[dependents_begin_[from + 1]++] = to; });
}

// The nodes that follow from those which miss nothing. `missing(id, node)` is how many of the nodes it depends on must
// be true first.
template <class Missing>
void GroupFacts::solve(Fact fact, Missing&& missing) {
  const auto& nodes = blueprint_.ir.nodes;
  if (!calls_members_) {  // nodes are numbered children first
    for (ExprId id = 0; id < nodes.size(); ++id) {
      const uint32_t needed = missing(id, nodes[id]);
      if (needed == 0 || (needed != kNever && num_true_operands(nodes[id], fact) >= needed)) facts_[id] |= fact;
    }
    return;
  }
  std::vector<uint32_t> still_missing(nodes.size());
  std::vector<ExprId> open;
  for (ExprId id = 0; id < nodes.size(); ++id) {
    still_missing[id] = missing(id, nodes[id]);
    if (still_missing[id] == 0) open.push_back(id);
  }
  for (const ExprId id : open) facts_[id] |= fact;
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    for (uint32_t d = dependents_begin_[id]; d < dependents_begin_[id + 1]; ++d) {
      const ExprId dependent = dependents_[d];
      if (is(fact, dependent) || still_missing[dependent] == kNever || --still_missing[dependent] > 0) continue;
      facts_[dependent] |= fact;
      open.push_back(dependent);
    }
  }
}

uint32_t GroupFacts::num_true_operands(const ExprNode& node, Fact fact) const {
  if (node.op == Op::Repeat || node.op == Op::Guard) return is(fact, node.begin);
  if (node.op != Op::Seq && node.op != Op::Alt) return 0;
  uint32_t count = 0;
  for (uint32_t c = node.begin; c < node.end; ++c) count += is(fact, blueprint_.ir.children[c]);
  return count;
}

void GroupFacts::solve_nullable() {
  solve(kNullable, [&](ExprId, const ExprNode& node) -> uint32_t {
    switch (node.op) {
      case Op::Empty: return 0;
      case Op::Seq: return node.end - node.begin;
      case Op::Alt:
      case Op::Guard: return 1;
      case Op::Repeat: return node.minimum == 0 ? 0 : 1;
      case Op::Ref:
      case Op::Call:
        if (!is_member(node)) return known(is_nullable(callee(node), node.minimum));
        if (!rules_[node.begin].counts) return 1;
        return rules_[node.begin].terminator >= 0 ? kNever : node.minimum == 0 ? 0 : 1;
      default: return kNever;
    }
  });
  for (size_t u = 0; u < rules_.size(); ++u) rules_[u].nullable = is(kNullable, blueprint_.units[u].root);
}

// How many of its own facts a call, or what has no operands, waits for to match some string that is not empty.
uint32_t GroupFacts::missing_to_consume(const ExprNode& node) const {
  switch (node.op) {
    case Op::Ref:
    case Op::Call: {
      if (!is_member(node)) return known(is_productive(callee(node), node.minimum));
      const RuleFacts& rule = rules_[node.begin];  // a terminator can come as soon as no item is needed
      return rule.counts && rule.terminator >= 0 && (rule.nullable || node.minimum == 0) ? 0 : 1;
    }
    case Op::Literal:
    case Op::Set:
    case Op::Substrings: return 0;
    case Op::Tokens: return known(!blueprint_.ir.token_sets[node.begin].ids.empty());
    default: return kNever;
  }
}

void GroupFacts::solve_live() {
  solve(kLive, [&](ExprId id, const ExprNode& node) -> uint32_t {
    if (is(kNullable, id)) return 0;
    switch (node.op) {
      case Op::Seq: return node.end - node.begin;
      case Op::Alt:
      case Op::Guard:
      case Op::Repeat: return 1;
      default: return missing_to_consume(node);
    }
  });
}

void GroupFacts::solve_productive() {
  solve(kProductive, [&](ExprId id, const ExprNode& node) -> uint32_t {
    switch (node.op) {
      case Op::Seq:
      case Op::Alt:
      case Op::Guard:
      case Op::Repeat: return if_any(live(id));
      default: return missing_to_consume(node);
    }
  });
  for (size_t u = 0; u < rules_.size(); ++u) rules_[u].productive = is(kProductive, blueprint_.units[u].root);
}

void GroupFacts::solve_infinite() {
  solve(kInfinite, [&](ExprId id, const ExprNode& node) -> uint32_t {
    switch (node.op) {
      case Op::Repeat: return node.maximum == kUnbounded && is(kProductive, node.begin) ? 0 : if_any(live(id));
      case Op::Seq:
      case Op::Alt: return if_any(live(id));
      case Op::Ref: return known(!is_member(node) && callee(node).infinite);
      default: return kNever;
    }
  });
  for (size_t u = 0; u < rules_.size(); ++u) {
    const BlueprintUnit& unit = blueprint_.units[u];
    if (unit.kind != BlueprintUnit::Kind::Expression) continue;
    rules_[u].infinite = is(kInfinite, unit.root);
    rules_[u].finite = !has_calls_ && !rules_[u].infinite;
  }
}

// A list of distinct elements matches something if there are so many that it may end. It is alone in its component,
// unless it is one of values, which never run out.
void GroupFacts::describe_list(uint32_t unit) {
  if (blueprint_.units[unit].memory.number == MemoryRole::kOfKinds) return;
  const auto is_element = [](const Rule* callee) { return callee->is_element(); };
  const auto it = std::ranges::find_if(callees_, is_element);
  if (it == callees_.end()) return;
  if (std::ranges::any_of(callees_, [](const Rule* callee) { return callee->is_value() && callee->productive(); }))
    return;
  Rule& element = **it;
  if (element.productive() && !matches_as_many(element, blueprint_.units[unit].memory.minimum))
    rules_[unit].productive = false;
}

// Zero, which the empty text stands for, is a multiple. Whether there are others is left open.
void GroupFacts::describe_multiples(uint32_t unit) {
  const RuleFacts& numbers = callee(blueprint_.ir.nodes[blueprint_.ir.nodes[blueprint_.units[unit].root].begin]);
  rules_[unit].nullable = numbers.nullable;
  rules_[unit].productive = numbers.productive;
  rules_[unit].first = numbers.first;
  undecided_[unit] = numbers.productive;
}

// An & or ~ whose operands have no further ones inside. It certainly matches something if it takes finitely many
// strings out of an infinite language, as declared names out of all names. One that counts is never decided here.
void GroupFacts::describe_boolean(uint32_t index) {
  const GrammarIr& ir = blueprint_.ir;
  const ExprId root_id = blueprint_.units[index].root;
  const ExprNode& root = ir.nodes[root_id];
  std::vector<ExprId> operands{root_id};
  if (root.op == Op::And) {
    const auto children = ir.children.slice(root.begin, root.end);
    operands.assign(children.begin(), children.end());
  }
  RuleFacts& rule = rules_[index];
  rule.nullable = true;
  rule.first = ~ByteSet();
  bool decided = root.depth <= kMaxDecidedDepth, dead = false, negatives_finite = true, positives_infinite = true;
  size_t num_positive = 0;
  for (ExprId operand : operands) {
    const bool negated = ir.nodes[operand].op == Op::Not;
    if (negated) operand = ir.nodes[operand].begin;
    const ExprNode& node = ir.nodes[operand];
    decided = decided && !is(kBoolean, operand);
    rule.nullable = rule.nullable && is(kNullable, operand) != negated;
    if (node.op == Op::Ref && callee(node).counts) {
      decided = false;
      rule.counts = rule.sets_bounds = true;
      rule.terminator = callee(node).terminator;
    }
    if (negated) {
      negatives_finite = negatives_finite && (node.op == Op::Ref ? callee(node).finite : !is(kInfinite, operand));
      continue;
    }
    ++num_positive;
    dead = dead || !live(operand);
    positives_infinite = positives_infinite && is(kInfinite, operand);
    RuleFacts of_operand;
    std::vector<uint32_t> members_called;  // none: what is derived or a product calls no member
    add_first(operand, of_operand, members_called);
    rule.first = rule.first & of_operand.first;
  }
  rule.productive = !dead && negatives_finite && positives_infinite && num_positive <= 1;
  undecided_[index] = !decided || !(dead || rule.productive);
}

void GroupFacts::describe_first() {
  std::vector<uint32_t> members(rules_.size()), calls;
  std::vector<size_t> calls_begin;  // of a member's calls of others before its first byte
  for (uint32_t u = 0; u < rules_.size(); ++u) {
    members[u] = u;
    calls_begin.push_back(calls.size());
    if (blueprint_.units[u].kind >= BlueprintUnit::Kind::Product) continue;
    add_first(blueprint_.units[u].root, rules_[u], calls);
    if (rules_[u].terminator >= 0) rules_[u].first.set(static_cast<uint8_t>(rules_[u].terminator));
  }
  if (calls.empty()) return;
  calls_begin.push_back(calls.size());
  const auto left_calls = [&](uint32_t u) {
    return std::span(calls).subspan(calls_begin[u], calls_begin[u + 1] - calls_begin[u]);
  };
  const auto add_left_calls = [&](uint32_t u, std::vector<uint32_t>& out) {
    out.insert(out.end(), left_calls(u).begin(), left_calls(u).end());
  };
  for (const auto& cycle : strong_components(members, add_left_calls)) {
    RuleFacts joint;
    for (const uint32_t u : cycle) {
      left_recursive_ =
          left_recursive_ || cycle.size() > 1 || std::ranges::find(left_calls(u), u) != left_calls(u).end();
      for (const uint32_t callee : left_calls(u)) follow_call(rules_[callee], joint);
      joint.rank = std::max(joint.rank, rules_[u].rank);
      joint.first |= rules_[u].first;
      joint.first_has_tokens = joint.first_has_tokens || rules_[u].first_has_tokens;
    }
    for (const uint32_t u : cycle) {
      rules_[u].rank = joint.rank;
      rules_[u].first = joint.first;
      rules_[u].first_has_tokens = joint.first_has_tokens;
    }
  }
}

void GroupFacts::add_first(ExprId root, RuleFacts& out, std::vector<uint32_t>& members_called) {
  const GrammarIr& ir = blueprint_.ir;
  open_.assign(1, root);
  ++walk_;
  while (!open_.empty()) {
    const ExprId id = open_.back();
    open_.pop_back();
    if (!is(kProductive, id) || visited_[id] == walk_) continue;
    visited_[id] = walk_;
    const ExprNode& node = ir.nodes[id];
    switch (node.op) {
      case Op::Literal: out.first.set(static_cast<uint8_t>(ir.bytes[node.begin])); break;
      case Op::Set: out.first |= ir.sets[node.begin]; break;
      case Op::Substrings: {
        const ChunkList& chunks = ir.chunk_lists[node.begin];
        for (size_t i = 0; i < chunks.size(); ++i) out.first.set(static_cast<uint8_t>(chunks[i][0]));
        break;
      }
      case Op::Tokens: out.first_has_tokens = true; break;
      case Op::Alt:
        for (const ExprId operand : ir.children.slice(node.begin, node.end)) open_.push_back(operand);
        break;
      case Op::Repeat:
      case Op::Guard: open_.push_back(node.begin); break;
      case Op::Seq:
        for (uint32_t c = node.begin; c < node.end; ++c) {
          open_.push_back(ir.children[c]);
          if (!is(kNullable, ir.children[c])) break;
        }
        break;
      case Op::Ref:
      case Op::Call:
        if (is_member(node))
          members_called.push_back(node.begin);
        else
          follow_call(callee(node), out);
        break;
      default: break;
    }
  }
}

}  // namespace maskwright
