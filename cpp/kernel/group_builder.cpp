#include "group_builder.h"

#include <algorithm>
#include <unordered_set>

#include "components.h"
#include "errors.h"
#include "literal_dfa.h"
#include "registers.h"

namespace maskwright {
namespace {

constexpr size_t kMaxEdges = 5'000'000;
constexpr uint64_t kMaxUnrolledCalls = 10'000;
constexpr size_t kDfaThreshold = 4;  // alternatives that are literals; fewer stay separate branches
constexpr size_t kPrefixFreeStates = 1'000;

[[noreturn]] void too_large() {
  throw LimitExceeded("grammar_size", "the grammar's automata grew past " + std::to_string(kMaxEdges) + " edges");
}

std::vector<Rule*> rules_of(const std::vector<RuleGroup::CalleeLink>& callees) {
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

// The register with which a call starts its rule. An item that can be empty makes up any missing count.
uint64_t start_register(const Rule& callee, const ExprNode& call) {
  if (callee.sets_bounds()) return callee.start_register();
  if (!callee.counts()) return 0;
  return Count{callee.nullable() ? 0 : static_cast<uint32_t>(call.minimum),
               call.maximum == kUnbounded ? Count::kUnlimited : static_cast<uint32_t>(call.maximum)}
      .reg();
}

// Whether no string of a plain rule is a prefix of another, as far as a small exploration can tell.
bool is_prefix_free(Rule& rule) {
  std::vector<DfaState*> reached{rule.start()};
  std::unordered_set<const DfaState*> seen{rule.start()};
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached.size() > kPrefixFreeStates || (reached[i]->final && !reached[i]->ends_only)) return false;
    reached[i]->live.for_each([&](uint8_t b) {
      DfaState* t = rule.next(*reached[i], b);
      if (t && seen.insert(t).second) reached.push_back(t);
    });
  }
  return true;
}

}  // namespace

std::shared_ptr<RuleGroup> GroupBuilder::make(RuleStore& store, std::string blueprint,
                                              std::vector<RuleGroup::CalleeLink> callees) {
  auto group = std::make_shared<RuleGroup>(store, std::move(blueprint), std::move(callees));
  GroupBuilder builder(*group);
  const GroupFacts& facts = builder.facts_;
  if (facts.num_edges() > kMaxEdges) too_large();
  bool undecided = false;
  for (uint32_t i = 0; i < facts.rules().size(); ++i) {
    group->rules_.emplace_back(*group, i, facts.rules()[i]);
    undecided = undecided || facts.undecided(i);
  }
  group->account(facts.rules().size() * sizeof(Rule));
  if (undecided || facts.left_recursive()) builder.build();
  return group;
}

GroupBuilder::GroupBuilder(RuleGroup& group)
    : group_(group),
      callees_(rules_of(group.callees_)),
      blueprint_(Blueprint::read(group.blueprint_)),
      facts_(blueprint_, callees_) {}

void GroupBuilder::build() {
  members_.resize(blueprint_.units.size());
  for (uint32_t i = 0; i < members_.size(); ++i) {
    members_[i].kind = blueprint_.units[i].kind;
    members_[i].rule = &group_.rules_[i];
    member_of_[members_[i].rule] = i;
  }
  for (uint32_t i = 0; i < members_.size(); ++i) {
    const ExprId root = blueprint_.units[i].root;
    switch (members_[i].kind) {
      case BlueprintUnit::Kind::Expression: draft_expression(members_[i], root); break;
      case BlueprintUnit::Kind::Counter: draft_counter(members_[i], blueprint_.ir.nodes[root]); break;
      case BlueprintUnit::Kind::Product: build_product(*members_[i].rule, blueprint_.ir.nodes[root]); break;
      case BlueprintUnit::Kind::Derivative:
        members_[i].rule->derivatives_ = std::make_unique<DerivativeAutomaton>(blueprint_.ir, root);
        break;
    }
  }
  inline_members();
  for (Member& m : members_)
    if (m.kind == BlueprintUnit::Kind::Expression) split_start(m);
  if (facts_.left_recursive()) remove_left_recursion();
  for (Member& m : members_) freeze(m);
  group_.is_built_ = true;
  for (uint32_t i = 0; i < members_.size(); ++i)
    if (facts_.undecided(i)) decide(*members_[i].rule);
}

uint32_t GroupBuilder::callee_index(Member& member, Callee callee) {
  const auto [it, fresh] = member.callee_index.emplace(mix(reinterpret_cast<uintptr_t>(callee.rule), callee.reg),
                                                       static_cast<uint32_t>(member.callees.size()));
  if (!fresh && member.callees[it->second] == callee) return it->second;
  member.callees.push_back(callee);
  return static_cast<uint32_t>(member.callees.size() - 1);
}

uint32_t GroupBuilder::tokens_index(Member& member, const std::vector<TokenId>& tokens) {
  auto& known = member.token_sets;
  const auto index = static_cast<uint32_t>(std::find(known.begin(), known.end(), tokens) - known.begin());
  if (index == known.size()) known.push_back(tokens);
  return index;
}

uint32_t GroupBuilder::set_index(Member& member, const ByteSet& set) {
  uint64_t hash = 0;
  for (int w = 0; w < 4; ++w) hash = mix(hash, set.word(w));
  const auto [it, fresh] = member.set_index.emplace(hash, static_cast<uint32_t>(member.sets.size()));
  if (!fresh && member.sets[it->second] == set) return it->second;
  member.sets.push_back(set);
  return static_cast<uint32_t>(member.sets.size() - 1);
}

// Indices of sets, tokens and callees mean their owner's tables; an edge that moves to another member needs its own.
uint32_t GroupBuilder::moved_argument(const Member& from, Member& to, const NfaEdge& edge) {
  if (from.rule == to.rule) return edge.argument;
  switch (edge.kind) {
    case EdgeKind::Call: return callee_index(to, from.callees[edge.argument]);
    case EdgeKind::Set: return set_index(to, from.sets[edge.argument]);
    case EdgeKind::Tokens: return tokens_index(to, from.token_sets[edge.argument]);
    default: return edge.argument;
  }
}

Rule& GroupBuilder::target(const ExprNode& call) {
  const size_t num_members = blueprint_.units.size();
  return call.begin < num_members ? group_.rules_[call.begin] : *callees_[call.begin - num_members];
}

// Live parts only, so that no state is a dead end.
void GroupBuilder::draft_expression(Member& member, ExprId root) {
  struct Task {
    ExprId expr;
    uint32_t from, to;
  };
  const GrammarIr& ir = blueprint_.ir;
  NfaDraft& draft = member.draft;
  std::vector<Task> tasks{{root, kStart, kFinal}};
  while (!tasks.empty()) {
    if (draft.edges.size() + tasks.size() > kMaxEdges) too_large();
    const auto [expr, from, to] = tasks.back();
    tasks.pop_back();
    if (!facts_.live(expr)) continue;
    const ExprNode& node = ir.nodes[expr];
    switch (node.op) {
      case Op::Empty: draft.add(from, EdgeKind::Epsilon, 0, to); break;
      case Op::Literal: {
        uint32_t state = from;
        for (uint32_t i = node.begin; i < node.end; ++i) {
          const uint32_t next = i + 1 == node.end ? to : draft.add_state();
          draft.add(state, EdgeKind::Byte, static_cast<uint8_t>(ir.bytes[i]), next);
          state = next;
        }
        break;
      }
      case Op::Set: draft.add(from, EdgeKind::Set, set_index(member, ir.sets[node.begin]), to); break;
      case Op::Tokens: draft.add(from, EdgeKind::Tokens, tokens_index(member, ir.token_sets[node.begin]), to); break;
      case Op::Ref: {
        Rule& callee = target(node);
        if (is_productive(callee.facts(), node.minimum))
          draft.add(from, EdgeKind::Call, callee_index(member, {&callee, start_register(callee, node)}), to);
        if (is_nullable(callee.facts(), node.minimum)) draft.add(from, EdgeKind::Epsilon, 0, to);
        break;
      }
      case Op::Seq: {
        uint32_t state = from;
        for (uint32_t c = node.begin; c < node.end; ++c) {
          const uint32_t next = c + 1 == node.end ? to : draft.add_state();
          tasks.push_back({ir.children[c], state, next});
          state = next;
        }
        break;
      }
      case Op::Alt: {
        std::vector<std::string_view> literals;
        for (uint32_t c = node.begin; c < node.end; ++c)
          if (const ExprNode& child = ir.nodes[ir.children[c]]; child.op == Op::Literal)
            literals.push_back(std::string_view(ir.bytes).substr(child.begin, child.end - child.begin));
        const bool as_dfa = literals.size() >= kDfaThreshold;
        for (uint32_t c = node.begin; c < node.end; ++c)
          if (!as_dfa || ir.nodes[ir.children[c]].op != Op::Literal) tasks.push_back({ir.children[c], from, to});
        if (as_dfa) draft_literals(member, std::move(literals), from, to);
        break;
      }
      case Op::Repeat: {
        uint32_t state = from;
        for (int64_t i = 0; i < node.minimum; ++i) {
          const bool last = i + 1 == node.minimum && node.maximum == node.minimum;
          const uint32_t next = last ? to : draft.add_state();
          tasks.push_back({node.begin, state, next});
          state = next;
        }
        if (node.maximum == kUnbounded) {
          const uint32_t loop = draft.add_state();
          draft.add(state, EdgeKind::Epsilon, 0, loop);
          tasks.push_back({node.begin, loop, loop});
          draft.add(loop, EdgeKind::Epsilon, 0, to);
        } else if (node.maximum > node.minimum) {
          draft.add(state, EdgeKind::Epsilon, 0, to);
          for (int64_t i = node.minimum; i < node.maximum && facts_.live(node.begin); ++i) {
            const uint32_t next = i + 1 == node.maximum ? to : draft.add_state();
            tasks.push_back({node.begin, state, next});
            if (next != to) draft.add(next, EdgeKind::Epsilon, 0, to);
            state = next;
          }
        }
        break;
      }
      case Op::Never:
      case Op::And:
      case Op::Not: break;  // not live; units of their own
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

// A counter either spells its item out, when the end of an item is unmistakable, or calls it.
void GroupBuilder::draft_counter(Member& member, const ExprNode& call) {
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

// Asks the automaton what the facts left open.
void GroupBuilder::decide(Rule& rule) {
  const auto ask = [&](auto& automaton, bool nullable) {
    rule.facts_.nullable = nullable;
    rule.facts_.productive = rule.lengths_ ? rule.lengths_->admits(*rule.start(), Count::of(rule.start_register()))
                                           : automaton.has_nonempty_string();
    rule.facts_.first = automaton.first(automaton.start());
    if (rule.terminator() >= 0) rule.facts_.first.set(static_cast<uint8_t>(rule.terminator()));
  };
  if (rule.product_)
    ask(*rule.product_, rule.product_->nullable());
  else
    ask(*rule.derivatives_, rule.derivatives_->nullable(rule.derivatives_->start()));
}

// Replaces the member's calls of a counter by chains of calls of the item. An item that begins with its own counter
// cannot be counted in a register: its copies would belong to different instances.
void GroupBuilder::unroll_calls(Member& member, const Member& counter) {
  const Callee item = counter.callees[0];
  const int terminator = counter.rule->terminator();
  std::vector<NfaDraft::Edge> edges;
  std::swap(edges, member.draft.edges);
  for (const auto& [source, edge] : edges) {
    if (edge.kind != EdgeKind::Call || member.callees[edge.argument].rule != counter.rule) {
      member.draft.edges.push_back({source, edge});
      continue;
    }
    const Count count = Count::of(member.callees[edge.argument].reg);
    const uint64_t minimum = std::max<uint32_t>(count.needed, 1);
    const bool bounded = count.remaining != Count::kUnlimited;
    const uint64_t copies = bounded ? count.remaining : minimum;
    if (copies > kMaxUnrolledCalls)
      throw LimitExceeded("left_recursive_repetition", "a repetition counted up to " + std::to_string(copies) +
                                                           " begins, before any byte, with the rule that contains it");
    const uint32_t argument = callee_index(member, item);
    const auto may_end = [&](uint32_t state) {
      if (terminator < 0)
        member.draft.add(state, EdgeKind::Epsilon, 0, edge.target);
      else
        member.draft.add(state, EdgeKind::Byte, static_cast<uint32_t>(terminator), edge.target);
    };
    if (member.draft.edges.size() + 2 * copies > kMaxEdges) too_large();
    uint32_t state = source;
    if (count.needed == 0 && terminator >= 0) may_end(state);
    for (uint64_t i = 1; i <= copies; ++i) {
      const uint32_t next = member.draft.add_state();
      member.draft.add(state, EdgeKind::Call, argument, next);
      if (i >= minimum) may_end(next);
      state = next;
    }
    if (!bounded) member.draft.add(state, EdgeKind::Call, argument, state);
  }
}

void GroupBuilder::split_start(Member& member) {
  NfaDraft& draft = member.draft;
  const bool is_split = std::none_of(draft.edges.begin(), draft.edges.end(), [](const NfaDraft::Edge& e) {
    return e.edge.target == kStart || (e.source == kStart && e.edge.kind == EdgeKind::Epsilon);
  });
  if (is_split) return;
  const uint32_t old_start = draft.add_state();
  for (auto& [source, edge] : draft.edges) {
    if (source == kStart) source = old_start;
    if (edge.target == kStart) edge.target = old_start;
  }
  const Nfa nfa(draft);
  std::vector<uint8_t> seen(draft.num_states);
  std::vector<uint32_t> reached{old_start};
  nfa.close(reached, seen);
  for (const uint32_t s : reached)
    for (auto e = nfa.begin(s); e != nfa.end(s); ++e)
      if (e->kind != EdgeKind::Epsilon) draft.add(kStart, e->kind, e->argument, e->target);
  if (draft.edges.size() > kMaxEdges) too_large();
}

std::vector<uint32_t> GroupBuilder::left_callees(const Member& member) const {
  std::vector<uint32_t> out;
  for (const auto& [source, edge] : member.draft.edges)
    if (source == kStart && edge.kind == EdgeKind::Call)
      if (const auto it = member_of_.find(member.callees[edge.argument].rule); it != member_of_.end())
        out.push_back(static_cast<uint32_t>(it->second));
  return out;
}

// The components of the left-call graph, callees first.
std::vector<std::vector<uint32_t>> GroupBuilder::left_call_components() const {
  std::vector<uint32_t> all(members_.size());
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return strong_components(all, [this](uint32_t i) { return left_callees(members_[i]); });
}

void GroupBuilder::remove_left_recursion() {
  const auto is_cycle = [this](const std::vector<uint32_t>& component) {
    const auto callees = left_callees(members_[component[0]]);
    return component.size() > 1 || std::find(callees.begin(), callees.end(), component[0]) != callees.end();
  };
  for (const auto& cycle : left_call_components())
    for (const uint32_t i : cycle)
      if (is_cycle(cycle) && members_[i].rule->counts())
        for (Member& m : members_)
          if (m.kind == BlueprintUnit::Kind::Expression) unroll_calls(m, members_[i]);
  for (const auto& cycle : left_call_components()) {
    if (!is_cycle(cycle)) continue;
    std::vector<Member> before;
    for (const uint32_t i : cycle) before.push_back(members_[i]);
    for (const uint32_t i : cycle) merge_left_corner(cycle, before, i);
  }
}

void GroupBuilder::merge_left_corner(const std::vector<uint32_t>& cycle, const std::vector<Member>& before,
                                     uint32_t target) {
  Member& out = members_[target];
  out.draft = NfaDraft();
  std::vector<uint32_t> offset(cycle.size());
  for (size_t k = 0; k < cycle.size(); ++k) {
    offset[k] = out.draft.num_states;
    out.draft.num_states += before[k].draft.num_states;
  }
  std::unordered_map<const Rule*, size_t> positions;
  for (size_t k = 0; k < cycle.size(); ++k) positions[before[k].rule] = k;
  const auto position = [&](const Rule* rule) {
    const auto it = positions.find(rule);
    return it == positions.end() ? cycle.size() : it->second;
  };
  for (size_t k = 0; k < cycle.size(); ++k) {
    for (const auto& [source, edge] : before[k].draft.edges) {
      const Callee callee = edge.kind == EdgeKind::Call ? before[k].callees[edge.argument] : Callee{nullptr, 0};
      const uint32_t to = offset[k] + edge.target;
      if (source == kStart && callee.rule && position(callee.rule) < cycle.size()) {
        // Whoever has just finished as `callee` may be the beginning of this member.
        out.draft.add(offset[position(callee.rule)] + kFinal, EdgeKind::Epsilon, 0, to);
        continue;
      }
      const uint32_t argument = moved_argument(before[k], out, edge);
      out.draft.add(source == kStart ? kStart : offset[k] + source, edge.kind, argument, to);
    }
    if (before[k].rule == out.rule) out.draft.add(offset[k] + kFinal, EdgeKind::Epsilon, 0, kFinal);
  }
  num_merged_edges_ += out.draft.edges.size();
  if (num_merged_edges_ > kMaxEdges) too_large();
  out.draft.trim();
  loop_self_calls(out);
}

void GroupBuilder::freeze(Member& member) {
  Rule& rule = *member.rule;
  if (rule.derivatives_) return rule.use_classes(*rule.derivatives_);
  if (rule.product_) return rule.use_classes(*rule.product_);
  const auto is_call = [](const NfaDraft::Edge& e) { return e.edge.kind == EdgeKind::Call; };
  if (std::any_of(member.draft.edges.begin(), member.draft.edges.end(), is_call))
    rule.callees_ = std::move(member.callees);
  rule.sets_ = std::move(member.sets);
  rule.token_sets_ = std::move(member.token_sets);
  rule.nfa_ = Nfa(member.draft);
  rule.seen_.assign(rule.nfa_.num_states(), 0);
  group_.account(rule.nfa_.memory_bytes() + rule.seen_.size() + rule.sets_.size() * sizeof(ByteSet) +
                 rule.callees_.size() * sizeof(Callee));
  rule.build_classes();
}

}  // namespace maskwright
