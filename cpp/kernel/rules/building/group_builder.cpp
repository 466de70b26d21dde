#include "rules/building/group_builder.h"

#include <algorithm>
#include <unordered_set>

#include "automata/literal_dfa.h"
#include "automata/registers.h"
#include "grammar/substring_automaton.h"
#include "rules/instances/family.h"

namespace maskwright {
namespace {

constexpr size_t kDfaThreshold = 4;  // alternatives that are literals; fewer stay separate branches
constexpr size_t kPrefixFreeStates = 1'000;

std::vector<Rule*> rules_of(const std::vector<LinkedRule>& callees) {
  std::vector<Rule*> out;
  out.reserve(callees.size());
  for (const auto& link : callees) out.push_back(link.rule);
  return out;
}

const ByteSet kContinuations = [] {
  ByteSet out;
  for (int b = 0x80; b < 0xC0; ++b) out.set(static_cast<uint8_t>(b));
  return out;
}();

Count bounds(const ExprNode& call) {
  return {static_cast<uint32_t>(call.minimum),
          call.maximum == kUnbounded ? Count::kUnlimited : static_cast<uint32_t>(call.maximum)};
}

// The register with which a call starts its rule.
uint64_t start_register(const Rule& callee, const ExprNode& call) {
  if (callee.sets_bounds()) return callee.start_register();
  return callee.counts() ? start_register(bounds(call), callee.nullable()) : 0;
}

// Whether no string of a plain rule is a prefix of another, as far as a small exploration can tell.
bool is_prefix_free(Rule& rule) {
  std::vector<DfaState*> reached{rule.start()};
  std::unordered_set<const DfaState*> seen{rule.start()};
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached.size() > kPrefixFreeStates || (reached[i]->final && !reached[i]->ends_only)) return false;
    reached[i]->live.for_each([&](uint8_t b) {
      DfaState* t = reached[i]->rule->next(*reached[i], b);
      if (t && seen.insert(t).second) reached.push_back(t);
    });
  }
  return true;
}

}  // namespace

std::shared_ptr<RuleGroup> GroupBuilder::make(RuleStore& store, std::string blueprint, std::vector<LinkedRule> callees,
                                              bool at_once) {
  auto group = std::make_shared<RuleGroup>(store, std::move(blueprint), std::move(callees));
  GroupBuilder builder(*group);
  const GroupFacts& facts = builder.facts_;
  if (facts.num_edges() > kMaxEdges) too_large();
  bool undecided = false;
  for (uint32_t i = 0; i < facts.rules().size(); ++i) {
    Rule& rule = group->add_rule(facts.rules()[i]);
    rule.capture_ = builder.blueprint_.units[i].capture;
    rule.span_ = builder.blueprint_.units[i].span;
    rule.memory_ = builder.blueprint_.units[i].memory;
    if (builder.blueprint_.units[i].kind == BlueprintUnit::Kind::Multiple)
      rule.memory_.kind = MemoryRole::Kind::Multiple;
    group->has_memory_ = group->has_memory_ || builder.blueprint_.units[i].memory.kind != MemoryRole::Kind::None;
    group->has_lists_ = group->has_lists_ || rule.is_list();
    group->has_values_ = group->has_values_ || rule.is_value() || rule.is_of_kinds();
    group->has_budgets_ = group->has_budgets_ || (rule.span_ && rule.span_->max_tokens > 0);
    group->has_temperatures_ = group->has_temperatures_ || (rule.span_ && rule.span_->temperature >= 0);
    undecided = undecided || facts.undecided(i);
  }
  group->leads_to_families_ = builder.blueprint_.is_parametric();
  for (const LinkedRule& link : group->callees_) {
    group->leads_to_families_ = group->leads_to_families_ || link.group->leads_to_families();
    group->has_memory_ = group->has_memory_ || link.group->has_memory();
    group->has_lists_ = group->has_lists_ || link.group->has_lists();
    group->has_values_ = group->has_values_ || link.group->has_values();
    group->has_budgets_ = group->has_budgets_ || link.group->has_budgets();
    group->has_temperatures_ = group->has_temperatures_ || link.group->has_temperatures();
  }
  if (builder.blueprint_.is_parametric())
    builder.keep_templates();
  else if (at_once || undecided || facts.left_recursive())
    builder.build();
  return group;
}

GroupBuilder::GroupBuilder(RuleGroup& group)
    : group_(group),
      callees_(rules_of(group.callees_)),
      blueprint_(Blueprint::read(group.blueprint_)),
      facts_(blueprint_, callees_) {}

void GroupBuilder::build() {
  draft_members();
  if (facts_.left_recursive()) collapse_unit_cycles();
  inline_members();
  for (Member& m : members_)
    if (m.kind == BlueprintUnit::Kind::Expression) split_start(m);
  if (facts_.left_recursive()) {
    remove_left_recursion();
    rank_members();
  }
  for (Member& m : members_) freeze(m);
  group_.is_built_ = true;
  for (uint32_t i = 0; i < members_.size(); ++i)
    if (facts_.undecided(i)) decide(*members_[i].rule);
}

// Members of a family stay drafts, to be made into rules for one parameter at a time.
void GroupBuilder::keep_templates() {
  group_.family_ = std::make_unique<Family>(group_);
  draft_members();
  for (uint32_t i = 0; i < members_.size(); ++i)
    group_.family_->add(std::move(members_[i]), blueprint_.units[i].parametric);
  group_.family_->finish();
  group_.is_built_ = true;
}

void GroupBuilder::draft_members() {
  for (uint32_t i = 0; i < blueprint_.units.size(); ++i) add_member(blueprint_.units[i].kind, group_.rule(i));
  for (uint32_t i = 0; i < members_.size(); ++i) {
    const ExprId root = blueprint_.units[i].root;
    switch (members_[i].kind) {
      case BlueprintUnit::Kind::Expression: draft_expression(members_[i], root); break;
      case BlueprintUnit::Kind::Counter: draft_counter(members_[i], blueprint_.ir.nodes[root]); break;
      case BlueprintUnit::Kind::Product: build_product(*members_[i].rule, blueprint_.ir.nodes[root]); break;
      case BlueprintUnit::Kind::Multiple: build_multiples(*members_[i].rule, blueprint_.ir.nodes[root]); break;
      case BlueprintUnit::Kind::Derivative:
        members_[i].rule->derivatives_ = std::make_unique<DerivativeAutomaton>(blueprint_.ir, root);
        break;
    }
  }
}

Rule& GroupBuilder::target(const ExprNode& call) {
  const size_t num_members = blueprint_.units.size();
  return call.begin < num_members ? group_.rule(call.begin) : *callees_[call.begin - num_members];
}

// A call of a template: what is asked for with which value, and the bounds to count within as they are written.
Callee GroupBuilder::template_call(const ExprNode& call) {
  Rule& callee = target(call);
  return {&callee, callee.counts() ? bounds(call).reg() : 0, nullptr,
          group_.family_->add_value(blueprint_.ir.values[call.end])};
}

// Live parts only, so that no state is a dead end.
void GroupBuilder::draft_expression(Member& member, ExprId root) {
  parts_.assign(1, {root, kStart, kFinal});
  while (!parts_.empty()) {
    if (member.draft.edges.size() + parts_.size() > kMaxEdges) too_large();
    const Part part = parts_.back();
    parts_.pop_back();
    if (facts_.live(part.expr)) draft_part(member, part);
  }
}

void GroupBuilder::draft_part(Member& member, const Part& part) {
  const GrammarIr& ir = blueprint_.ir;
  const auto [expr, from, to] = part;
  const ExprNode& node = ir.nodes[expr];
  NfaDraft& draft = member.draft;
  switch (node.op) {
    case Op::Empty: draft.add(from, EdgeKind::Epsilon, 0, to); break;
    case Op::Literal: draft_literal(draft, node, from, to); break;
    case Op::Set: draft.add(from, EdgeKind::Set, set_index(member, ir.sets[node.begin]), to); break;
    case Op::Tokens: draft.add(from, EdgeKind::Tokens, tokens_index(member, ir.token_sets[node.begin]), to); break;
    case Op::Substrings: draft_substrings(member, ir.chunk_lists[node.begin], from, to); break;
    case Op::Ref: draft_reference(member, node, from, to); break;
    case Op::Call: draft.add(from, EdgeKind::Call, callee_index(member, template_call(node)), to); break;
    case Op::Guard: {
      const uint32_t inside = draft.add_state();
      draft.add(from, EdgeKind::Guard, group_.family_->add_condition(ir.conditions[node.end]), inside);
      parts_.push_back({node.begin, inside, to});
      break;
    }
    case Op::Seq: draft_sequence(draft, node, from, to); break;
    case Op::Alt: draft_choice(member, node, from, to); break;
    case Op::Repeat: draft_repetition(draft, node, from, to); break;
    case Op::Never:
    case Op::And:
    case Op::Not:
    case Op::Capture:
    case Op::Subgrammar:
    case Op::Span:
    case Op::Scope:
    case Op::Value:
    case Op::Remember:
    case Op::Recall:
    case Op::Distinct:
    case Op::Multiple: break;  // not live; units of their own
  }
}

void GroupBuilder::draft_literal(NfaDraft& draft, const ExprNode& node, uint32_t from, uint32_t to) {
  for (uint32_t i = node.begin; i < node.end; ++i) {
    const uint32_t next = i + 1 == node.end ? to : draft.add_state();
    draft.add(from, EdgeKind::Byte, static_cast<uint8_t>(blueprint_.ir.bytes[i]), next);
    from = next;
  }
}

void GroupBuilder::draft_reference(Member& member, const ExprNode& node, uint32_t from, uint32_t to) {
  Rule& callee = target(node);
  if (is_productive(callee.facts(), node.minimum))
    member.draft.add(from, EdgeKind::Call, callee_index(member, {&callee, start_register(callee, node)}), to);
  if (is_nullable(callee.facts(), node.minimum)) member.draft.add(from, EdgeKind::Epsilon, 0, to);
}

void GroupBuilder::draft_sequence(NfaDraft& draft, const ExprNode& node, uint32_t from, uint32_t to) {
  for (uint32_t c = node.begin; c < node.end; ++c) {
    const uint32_t next = c + 1 == node.end ? to : draft.add_state();
    parts_.push_back({blueprint_.ir.children[c], from, next});
    from = next;
  }
}

void GroupBuilder::draft_choice(Member& member, const ExprNode& node, uint32_t from, uint32_t to) {
  const GrammarIr& ir = blueprint_.ir;
  std::vector<std::string_view> literals;
  for (uint32_t c = node.begin; c < node.end; ++c)
    if (const ExprNode& child = ir.nodes[ir.children[c]]; child.op == Op::Literal)
      literals.push_back(std::string_view(ir.bytes).substr(child.begin, child.end - child.begin));
  const bool as_dfa = literals.size() >= kDfaThreshold;
  for (uint32_t c = node.begin; c < node.end; ++c)
    if (!as_dfa || ir.nodes[ir.children[c]].op != Op::Literal) parts_.push_back({ir.children[c], from, to});
  if (as_dfa) draft_literals(member, std::move(literals), from, to);
}

void GroupBuilder::draft_repetition(NfaDraft& draft, const ExprNode& node, uint32_t from, uint32_t to) {
  for (int64_t i = 0; i < node.minimum; ++i) {
    const bool last = i + 1 == node.minimum && node.maximum == node.minimum;
    const uint32_t next = last ? to : draft.add_state();
    parts_.push_back({node.begin, from, next});
    from = next;
  }
  if (node.maximum == kUnbounded) {
    const uint32_t loop = draft.add_state();
    draft.add(from, EdgeKind::Epsilon, 0, loop);
    parts_.push_back({node.begin, loop, loop});
    draft.add(loop, EdgeKind::Epsilon, 0, to);
  } else if (node.maximum > node.minimum) {
    draft.add(from, EdgeKind::Epsilon, 0, to);
    for (int64_t i = node.minimum; i < node.maximum && facts_.live(node.begin); ++i) {
      const uint32_t next = i + 1 == node.maximum ? to : draft.add_state();
      parts_.push_back({node.begin, from, next});
      if (next != to) draft.add(next, EdgeKind::Epsilon, 0, to);
      from = next;
    }
  }
}

void GroupBuilder::draft_literals(Member& member, std::vector<std::string_view> literals, uint32_t from, uint32_t to) {
  NfaDraft& draft = member.draft;
  std::sort(literals.begin(), literals.end());
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  const LiteralDfa dfa(literals);
  const auto ends = [&](uint32_t s) { return dfa.edges(s).empty(); };
  std::vector<uint32_t> state_of(dfa.num_states());
  for (uint32_t s = 0; s < dfa.num_states(); ++s)
    state_of[s] = s == LiteralDfa::kRoot ? from : ends(s) ? to : draft.add_state();
  for (uint32_t s = 0; s < dfa.num_states(); ++s) {
    if (dfa.final(s) && !ends(s)) draft.add(state_of[s], EdgeKind::Epsilon, 0, to);
    for (const auto& [byte, target] : dfa.edges(s)) draft.add(state_of[s], EdgeKind::Byte, byte, state_of[target]);
  }
  if (draft.edges.size() > kMaxEdges) too_large();
}

void GroupBuilder::draft_substrings(Member& member, const ChunkList& chunks, uint32_t from, uint32_t to) {
  NfaDraft& draft = member.draft;
  const SubstringAutomaton automaton(chunks);
  std::vector<uint32_t> after_first_byte(automaton.num_states());  // of the chunk before the state
  std::vector<uint32_t> state_of(automaton.num_states(), from);
  for (uint32_t s = 1; s < automaton.num_states(); ++s) {
    const std::string_view bytes = automaton.bytes_before(s);
    uint32_t state = after_first_byte[s] = draft.add_state();
    for (const char byte : bytes.substr(1)) {
      const uint32_t next = draft.add_state();
      draft.add(state, EdgeKind::Byte, static_cast<uint8_t>(byte), next);
      state = next;
    }
    draft.add(state, EdgeKind::Epsilon, 0, to);
    state_of[s] = state;
  }
  for (const SubstringAutomaton::Edge& edge : automaton.edges())
    draft.add(state_of[edge.source], EdgeKind::Byte, static_cast<uint8_t>(automaton.bytes_before(edge.target)[0]),
              after_first_byte[edge.target]);
  if (draft.edges.size() > kMaxEdges) too_large();
}

// A counter either spells its item out, when the end of an item is unmistakable, or calls it.
void GroupBuilder::draft_counter(Member& member, const ExprNode& call) {
  if (call.op == Op::Call) {
    member.draft.add(kStart, EdgeKind::Call, callee_index(member, template_call(call)), kStart);
    return;
  }
  Rule& item = target(call);
  if (!item.productive()) return;  // what remains is the terminator, without any item
  if (&item.group() != &group_ && !item.nullable()) {
    item.start();
    if (item.is_plain() && is_prefix_free(item)) {
      GroupBuilder spelled(item.group());
      spelled.draft_expression(member, spelled.blueprint_.units[item.index()].root);
      split_start(member);
      member.rule->ends_at_head_ = true;
      member.rule->counts_characters_ = (member.rule->first() & kContinuations).empty();
      return;
    }
  }
  member.draft.add(kStart, EdgeKind::Call, callee_index(member, {&item, start_register(item, call)}), kStart);
}

void GroupBuilder::build_product(Rule& rule, const ExprNode& intersection) {
  std::vector<ProductAutomaton::Operand> operands;
  const Rule* counter = nullptr;
  uint64_t reg = 0;
  for (uint32_t c = intersection.begin; c < intersection.end; ++c) {
    const ExprNode& operand = blueprint_.ir.nodes[blueprint_.ir.children[c]];
    const bool negated = operand.op == Op::Not;
    const ExprNode& call = negated ? blueprint_.ir.nodes[operand.begin] : operand;
    Rule& called = target(call);
    if (called.productive()) called.start();  // builds it
    operands.push_back({&called, negated});
    if (!called.counts()) continue;
    counter = &called;
    reg = start_register(called, call);
  }
  rule.product_ = std::make_unique<ProductAutomaton>(std::move(operands), reg);
  if (!counter) return;
  rule.lengths_ = std::make_unique<Lengths>(rule.product_->class_bytes());
  rule.counts_characters_ = counter->counts_characters();
}

void GroupBuilder::build_multiples(Rule& rule, const ExprNode& multiple) {
  Rule& numbers = target(blueprint_.ir.nodes[multiple.begin]);
  if (numbers.productive()) numbers.start();  // builds it
  rule.multiples_ = std::make_unique<const Multiples>(numbers, static_cast<uint64_t>(multiple.minimum),
                                                      static_cast<uint32_t>(multiple.maximum));
  group_.account(rule.multiples_->memory_bytes());
}

// Asks the automaton what the facts left open.
void GroupBuilder::decide(Rule& rule) {
  const auto ask = [&](auto& automaton, bool nullable) {
    rule.facts_.nullable = nullable;
    if (rule.product_ && rule.product_->start().empty())  // an operand that is derived matches nothing
      rule.facts_.productive = false;
    else
      rule.facts_.productive = rule.lengths_ ? rule.lengths_->admits(*rule.start(), Count::of(rule.start_register()))
                                             : automaton.has_nonempty_string();
    rule.facts_.first = automaton.first(automaton.start());
    if (rule.terminator() >= 0) rule.facts_.first.set(static_cast<uint8_t>(rule.terminator()));
  };
  if (rule.multiples_)
    rule.facts_.productive = rule.multiples_->may_complete(Multiples::kStartNode, 0);
  else if (rule.product_)
    ask(*rule.product_, rule.product_->nullable());
  else
    ask(*rule.derivatives_, rule.derivatives_->nullable(rule.derivatives_->start()));
}

}  // namespace maskwright
