#include "group_builder.h"

#include <algorithm>

#include "components.h"
#include "errors.h"
#include "family.h"

namespace maskwright {
namespace {

constexpr size_t kMaxEdges = 5'000'000;
const ValueFunction kSameParameter;
constexpr uint64_t kMaxUnrolledCalls = 10'000;
constexpr size_t kTrieThreshold = 4;  // alternatives that are literals; fewer stay separate branches

[[noreturn]] void too_large() {
  throw LimitExceeded("grammar_size", "the grammar's automata grew past " + std::to_string(kMaxEdges) + " edges");
}

UnitTable& no_units() {
  static const GrammarIr empty;
  static UnitTable table{empty, {}, {}, {}, {}, {}};
  return table;
}

}  // namespace

bool is_nullable(const Callee& callee) {
  if (!callee.rule->counts()) return callee.rule->nullable();
  return callee.rule->terminator() < 0 && (callee.rule->nullable() || Count::of(callee.reg).needed == 0);
}

bool is_productive(const Callee& callee) {
  return callee.rule->productive() || (callee.rule->terminator() >= 0 && Count::of(callee.reg).needed == 0);
}

uint32_t UnitTable::counter(ExprId repetition, int terminator) {
  const ExprId item = ir.nodes[repetition].begin;
  const uint64_t key = (uint64_t{item} << 16) | static_cast<uint64_t>(terminator + 1);
  const auto [it, fresh] = counters.emplace(key, static_cast<uint32_t>(units.size()));
  if (fresh) units.push_back({.kind = Unit::Kind::Counter, .expr = item, .terminator = terminator});
  return it->second;
}

bool UnitTable::is_plain(ExprId root) const {
  std::vector<ExprId> open{root};
  std::unordered_map<ExprId, char> seen;
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    if (!seen.emplace(id, 0).second) continue;
    const ExprNode& node = ir.nodes[id];
    if (node.op >= Op::Ref || counting[id]) return false;
    if (node.op == Op::Seq || node.op == Op::Alt)
      open.insert(open.end(), ir.children.begin() + node.begin, ir.children.begin() + node.end);
    else if (node.op == Op::Repeat)
      open.push_back(node.begin);
  }
  return true;
}

int UnitTable::terminator(const ExprNode& sequence, uint32_t child) const {
  if (child + 1 >= sequence.end || !counting[ir.children[child]]) return -1;
  const ExprNode& next = ir.nodes[ir.children[child + 1]];
  return next.op == Op::Literal ? static_cast<uint8_t>(ir.bytes[next.begin]) : -1;
}

uint64_t UnitTable::start_register(ExprId id) const {
  const ExprNode& node = ir.nodes[id];
  if (node.op != Op::Repeat) return 0;
  if (node.minimum >= Count::kUnlimited)
    throw LimitExceeded("repetition_bound",
                        "a repetition needs more than " + std::to_string(Count::kUnlimited) + " items");
  // A maximum that no output can reach is no maximum.
  const bool bounded = node.maximum != kUnbounded && node.maximum < Count::kUnlimited;
  return Count{static_cast<uint32_t>(node.minimum), bounded ? static_cast<uint32_t>(node.maximum) : Count::kUnlimited}
      .reg();
}

GroupBuilder::GroupBuilder(UnitTable& table, const std::vector<uint32_t>& members, RuleGroup& group)
    : table_(table), group_(group) {
  members_.resize(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    group.rules_.push_back(std::make_unique<Rule>(group, static_cast<uint32_t>(i)));
    Unit& unit = table.units[members[i]];
    members_[i].unit = &unit;
    members_[i].rule = unit.rule = group.rules_.back().get();
    if (unit.capture != UnitTable::kNone) unit.rule->capture_ = table.ir.names[unit.capture];
    member_of_[members_[i].rule] = i;
    if (table.is_parametric(*members_[i].unit) && !group.family_) group.family_ = std::make_unique<Family>(group);
  }
}

GroupBuilder::GroupBuilder(RuleGroup& group) : table_(no_units()), group_(group) {}

void GroupBuilder::build(const std::function<const Unit&(ExprId)>& intern_item) {
  for (Member& m : members_) {
    switch (m.unit->kind) {
      case Unit::Kind::Expression: draft_expression(m, m.unit->expr); break;
      case Unit::Kind::Counter: draft_counter(m, intern_item); break;
      case Unit::Kind::Regular: draft_regular(m, intern_item); break;
    }
  }
  if (group_.family_) return keep_templates();
  find_nullable();
  find_productive();
  remove_dead_calls();
  for (Member& m : members_) {
    if (m.unit->kind != Unit::Kind::Expression) continue;
    loop_self_tail_calls(m);
    split_start(m);
  }
  remove_left_recursion();
  rank_and_first();
  for (Member& m : members_) freeze(m);
}

uint32_t GroupBuilder::callee_index(Member& member, Callee callee) {
  auto& callees = member.rule->callees_;
  const uint64_t key = mix(mix(reinterpret_cast<uintptr_t>(callee.rule), callee.reg), callee.value);
  const auto [it, fresh] = member.callee_index.emplace(key, static_cast<uint32_t>(callees.size()));
  if (!fresh && callees[it->second] == callee) return it->second;
  callees.push_back(callee);
  return static_cast<uint32_t>(callees.size() - 1);
}

// The index of a callee among the member's; its group is kept alive if it is another.
uint32_t GroupBuilder::call(Member& member, const Unit& callee, uint64_t reg, const ValueFunction& value) {
  if (&callee.rule->group() != &group_) keep_alive(callee.group);
  if (!callee.rule->group().family_) return callee_index(member, {callee.rule, reg});
  if (group_.family_) return callee_index(member, {callee.rule, reg, nullptr, group_.family_->add_value(value)});
  return callee_index(member, {instantiate(*callee.rule, value_of(value, 0)), reg});
}

// What a node passes on. Parts of a rule's body that became rules of their own have its parameter.
const ValueFunction& GroupBuilder::passed_value(ExprId node) const {
  static const ValueFunction zero{{ValueStep::Kind::Mask, 0, 0}};
  const ExprNode& at = table_.ir.nodes[node];
  if (at.op == Op::Ref) return zero;
  return at.op == Op::Call ? table_.ir.values[at.end] : kSameParameter;
}

// Members of a family stay drafts, to be made into rules for one parameter at a time.
void GroupBuilder::keep_templates() {
  for (Member& m : members_) m.rule->is_template_ = true;
  for (Member& m : members_) {
    if (m.unit->kind == Unit::Kind::Expression) m.draft.trim();
    group_.family_->add(*m.rule, m.unit->kind, m.unit->terminator, table_.is_parametric(*m.unit), m.draft);
  }
  group_.family_->finish();
}

void GroupBuilder::keep_alive(const std::shared_ptr<RuleGroup>& callee) {
  auto& kept = group_.callee_groups_;
  if (std::find(kept.begin(), kept.end(), callee) == kept.end()) kept.push_back(callee);
}

void GroupBuilder::draft_expression(Member& member, ExprId root) {
  struct Task {
    ExprId expr;
    uint32_t from, to;
  };
  const GrammarIr& ir = table_.ir;
  NfaDraft& draft = member.draft;
  const bool parametric = table_.is_parametric(*member.unit);
  std::unordered_map<uint32_t, uint32_t> set_index;
  std::vector<Task> tasks{{root, kStart, kFinal}};
  while (!tasks.empty()) {
    if (draft.edges.size() + tasks.size() > kMaxEdges) too_large();
    const auto [expr, from, to] = tasks.back();
    tasks.pop_back();
    const ExprNode& node = ir.nodes[expr];
    const uint32_t index = parametric && table_.outlined[expr] ? table_.item_units.at(expr) : table_.of_node[expr];
    if (index != UnitTable::kNone) {
      const Unit& unit = table_.units[index];
      if (unit.inlined)
        tasks.push_back({unit.expr, from, to});
      else
        draft.add(from, EdgeKind::Call, call(member, unit, table_.start_register(expr), passed_value(expr)), to);
      continue;
    }
    switch (node.op) {
      case Op::Empty: draft.add(from, EdgeKind::Epsilon, 0, to); break;
      case Op::Never: member.dirty = true; break;
      case Op::Literal: draft_bytes(member, node.begin, node.end, from, to); break;
      case Op::Set: {
        const auto [it, fresh] = set_index.emplace(node.begin, static_cast<uint32_t>(member.rule->sets_.size()));
        if (fresh) member.rule->sets_.push_back(ir.sets[node.begin]);
        draft.add(from, EdgeKind::Set, it->second, to);
        break;
      }
      case Op::Tokens:
        if (ir.token_sets[node.begin].empty()) {
          member.dirty = true;
          break;
        }
        draft.add(from, EdgeKind::Tokens, static_cast<uint32_t>(member.rule->token_sets_.size()), to);
        member.rule->token_sets_.push_back(ir.token_sets[node.begin]);
        break;
      case Op::Seq: {
        uint32_t state = from;
        for (uint32_t c = node.begin; c < node.end; ++c) {
          const int terminator = table_.terminator(node, c);
          if (terminator < 0) {
            const uint32_t next = c + 1 == node.end ? to : draft.add_state();
            tasks.push_back({ir.children[c], state, next});
            state = next;
            continue;
          }
          const ExprId repetition = ir.children[c];
          const ExprNode& literal = ir.nodes[ir.children[++c]];
          const Unit& unit = table_.units[table_.counter(repetition, terminator)];
          const uint32_t end = c + 1 == node.end ? to : draft.add_state();
          uint32_t next = literal.end - literal.begin == 1 ? end : draft.add_state();
          draft.add(state, EdgeKind::Call, call(member, unit, table_.start_register(repetition), kSameParameter), next);
          draft_bytes(member, literal.begin + 1, literal.end, next, end);
          state = end;
        }
        break;
      }
      case Op::Alt: {
        std::vector<std::string_view> literals;
        for (uint32_t c = node.begin; c < node.end; ++c)
          if (const ExprNode& child = ir.nodes[ir.children[c]]; child.op == Op::Literal)
            literals.push_back(std::string_view(ir.bytes).substr(child.begin, child.end - child.begin));
        const bool as_trie = literals.size() >= kTrieThreshold;
        for (uint32_t c = node.begin; c < node.end; ++c)
          if (!as_trie || ir.nodes[ir.children[c]].op != Op::Literal) tasks.push_back({ir.children[c], from, to});
        if (as_trie) draft_literals(member, std::move(literals), from, to);
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
          for (int64_t i = node.minimum; i < node.maximum; ++i) {
            const uint32_t next = i + 1 == node.maximum ? to : draft.add_state();
            tasks.push_back({node.begin, state, next});
            if (next != to) draft.add(next, EdgeKind::Epsilon, 0, to);
            state = next;
          }
        }
        break;
      }
      case Op::Guard: {
        const uint32_t inside = draft.add_state();
        draft.add(from, EdgeKind::Guard, group_.family_->add_condition(ir.conditions[node.end]), inside);
        tasks.push_back({node.begin, inside, to});
        break;
      }
      case Op::Ref:
      case Op::Call:
      case Op::And:
      case Op::Not:
      case Op::Capture: break;  // references, handled above
    }
  }
}

// A chain of bytes of the IR's pool. Nothing if there are none.
void GroupBuilder::draft_bytes(Member& member, uint32_t begin, uint32_t end, uint32_t from, uint32_t to) {
  for (uint32_t i = begin; i < end; ++i) {
    const uint32_t next = i + 1 == end ? to : member.draft.add_state();
    member.draft.add(from, EdgeKind::Byte, static_cast<uint8_t>(table_.ir.bytes[i]), next);
    from = next;
  }
}

void GroupBuilder::draft_literals(Member& member, std::vector<std::string_view> literals, uint32_t from, uint32_t to) {
  NfaDraft& draft = member.draft;
  std::sort(literals.begin(), literals.end());
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  std::vector<uint32_t> path{from};  // the states along the previous literal
  for (size_t i = 0; i < literals.size(); ++i) {
    const std::string_view text = literals[i];
    size_t shared = 0;
    if (i > 0)
      while (shared < literals[i - 1].size() && shared < text.size() && literals[i - 1][shared] == text[shared])
        ++shared;
    path.resize(shared + 1);
    const bool is_prefix = i + 1 < literals.size() && literals[i + 1].starts_with(text);
    for (size_t k = shared; k < text.size(); ++k) {
      const uint32_t next = k + 1 == text.size() && !is_prefix ? to : draft.add_state();
      draft.add(path.back(), EdgeKind::Byte, static_cast<uint8_t>(text[k]), next);
      path.push_back(next);
    }
    if (is_prefix) draft.add(path.back(), EdgeKind::Epsilon, 0, to);
    if (draft.edges.size() > kMaxEdges) too_large();
  }
}

// An intersection of plain expressions and complements of such is a product of their automata; anything else is
// derived.
void GroupBuilder::draft_regular(Member& member, const std::function<const Unit&(ExprId)>& intern_item) {
  const GrammarIr& ir = table_.ir;
  const ExprNode& node = ir.nodes[member.unit->expr];
  std::vector<std::pair<ExprId, bool>> operands;
  bool plain = node.op == Op::And, positive = false;
  for (uint32_t c = node.begin; plain && c < node.end; ++c) {
    const ExprId child = ir.children[c];
    const bool negated = ir.nodes[child].op == Op::Not;
    operands.emplace_back(negated ? ir.nodes[child].begin : child, negated);
    positive = positive || !negated;
    plain = table_.is_plain(operands.back().first);
  }
  if (!plain || !positive) {
    member.rule->derivatives_ = std::make_unique<DerivativeAutomaton>(ir, member.unit->expr);
    return;
  }
  std::vector<ProductAutomaton::Operand> rules;
  for (const auto& [expr, negated] : operands) {
    const Unit& unit = intern_item(expr);
    keep_alive(unit.group);
    rules.push_back({unit.rule, negated});
  }
  member.rule->product_ = std::make_unique<ProductAutomaton>(std::move(rules));
}

// A counter either spells its item out, when the end of an item is unmistakable, or calls it.
void GroupBuilder::draft_counter(Member& member, const std::function<const Unit&(ExprId)>& intern_item) {
  Rule& rule = *member.rule;
  const ExprId expr = member.unit->expr;
  rule.counts_ = true;
  if (group_.family_) return draft_counted_call(member, intern_item);
  draft_expression(member, expr);
  const bool regular = rule.callees_.empty() && rule.token_sets_.empty();
  if (regular && !member.dirty && !expression_is_nullable(member)) {
    split_start(member);
    freeze(member);
    if (rule.is_prefix_free()) {
      rule.ends_at_head_ = true;
      rule.terminator_ = member.unit->terminator;
      return;
    }
  }
  member.draft = NfaDraft();
  member.callee_index.clear();
  member.dirty = false;
  rule.callees_.clear();
  rule.token_sets_.clear();
  rule.sets_.clear();
  draft_counted_call(member, intern_item);
}

void GroupBuilder::draft_counted_call(Member& member, const std::function<const Unit&(ExprId)>& intern_item) {
  const ExprId expr = member.unit->expr;
  const auto it = table_.item_units.find(expr);
  const Unit& item = it != table_.item_units.end() ? table_.units[it->second] : intern_item(expr);
  member.draft.add(kStart, EdgeKind::Call, call(member, item, table_.start_register(expr), kSameParameter), kStart);
  member.rule->terminator_ = member.unit->terminator;
}

// Replaces the member's calls of a counter by chains of calls of the item. An item that begins with its own counter
// cannot be counted in a register: its copies would belong to different instances.
void GroupBuilder::unroll_calls(Member& member, const Rule* counter) {
  const Callee item = counter->callees_[0];
  std::vector<NfaDraft::Edge> edges;
  std::swap(edges, member.draft.edges);
  for (const auto& [source, edge] : edges) {
    if (edge.kind != EdgeKind::Call || member.rule->callees_[edge.argument].rule != counter) {
      member.draft.edges.push_back({source, edge});
      continue;
    }
    const Count count = Count::of(member.rule->callees_[edge.argument].reg);
    const uint64_t minimum = std::max<uint32_t>(count.needed, 1);
    const bool bounded = count.remaining != Count::kUnlimited;
    const uint64_t copies = bounded ? count.remaining : minimum;
    if (copies > kMaxUnrolledCalls)
      throw LimitExceeded("left_recursive_repetition", "a repetition counted up to " + std::to_string(copies) +
                                                           " begins, before any byte, with the rule that contains it");
    const uint32_t argument = callee_index(member, item);
    const auto may_end = [&](uint32_t state) {
      if (counter->terminator_ < 0)
        member.draft.add(state, EdgeKind::Epsilon, 0, edge.target);
      else
        member.draft.add(state, EdgeKind::Byte, static_cast<uint32_t>(counter->terminator_), edge.target);
    };
    if (member.draft.edges.size() + 2 * copies > kMaxEdges) too_large();
    uint32_t state = source;
    if (count.needed == 0 && counter->terminator_ >= 0) may_end(state);
    for (uint64_t i = 1; i <= copies; ++i) {
      const uint32_t next = member.draft.add_state();
      member.draft.add(state, EdgeKind::Call, argument, next);
      if (i >= minimum) may_end(next);
      state = next;
    }
    if (!bounded) member.draft.add(state, EdgeKind::Call, argument, state);
  }
}

bool GroupBuilder::expression_is_nullable(const Member& member) const {
  NfaDraft silent;
  silent.num_states = member.draft.num_states;
  bool starts = false;
  for (const auto& [source, edge] : member.draft.edges) {
    const bool passes = edge.kind == EdgeKind::Epsilon ||
                        (edge.kind == EdgeKind::Call && is_nullable(member.rule->callees_[edge.argument]));
    if (!passes) continue;
    silent.add(source, EdgeKind::Epsilon, 0, edge.target);
    starts = starts || source == kStart;
  }
  if (!starts) return false;
  std::vector<uint8_t> seen(silent.num_states);
  std::vector<uint32_t> reached{kStart};
  Nfa(silent).close(reached, seen);
  return std::find(reached.begin(), reached.end(), kFinal) != reached.end();
}

void GroupBuilder::find_nullable() {
  for (bool changed = true; changed;) {
    changed = false;
    for (Member& m : members_) {
      if (m.rule->nullable_) continue;
      if (m.unit->kind == Unit::Kind::Regular)
        m.rule->nullable_ = m.rule->product_ ? m.rule->product_->nullable()
                                             : m.rule->derivatives_->nullable(m.rule->derivatives_->start());
      else if (m.unit->kind == Unit::Kind::Counter)
        m.rule->nullable_ = !m.rule->ends_at_head_ && is_nullable(m.rule->callees_[0]);  // for any count
      else
        m.rule->nullable_ = expression_is_nullable(m);
      changed = changed || (m.rule->nullable_ && members_.size() > 1);
    }
  }
  for (Member& m : members_) {
    for (Callee& callee : m.rule->callees_)  // an item that can be empty makes up any missing count
      if (callee.rule->counts_ && callee.rule->nullable_) callee.reg = Count{0, Count::of(callee.reg).remaining}.reg();
    if (m.unit->kind == Unit::Kind::Counter) continue;
    const size_t num_edges = m.draft.edges.size();
    for (size_t i = 0; i < num_edges; ++i) {
      const auto [source, edge] = m.draft.edges[i];
      if (edge.kind == EdgeKind::Call && is_nullable(m.rule->callees_[edge.argument]))
        m.draft.add(source, EdgeKind::Epsilon, 0, edge.target);
    }
  }
}

// Whether some path from start to end consumes something, going through productive callees only.
bool GroupBuilder::has_nonempty_string(const Member& member) const {
  // States twice: before and after the first consumption.
  const uint32_t n = member.draft.num_states;
  NfaDraft doubled;
  doubled.num_states = 2 * n;
  for (const auto& [source, edge] : member.draft.edges) {
    if (edge.kind == EdgeKind::Epsilon) {
      doubled.add(source, EdgeKind::Epsilon, 0, edge.target);
      doubled.add(source + n, EdgeKind::Epsilon, 0, edge.target + n);
    } else if (edge.consumes() || is_productive(member.rule->callees_[edge.argument])) {
      doubled.add(source, EdgeKind::Epsilon, 0, edge.target + n);
      doubled.add(source + n, EdgeKind::Epsilon, 0, edge.target + n);
    }
  }
  std::vector<uint8_t> seen(doubled.num_states);
  std::vector<uint32_t> reached{kStart};
  Nfa(doubled).close(reached, seen);
  return std::find(reached.begin(), reached.end(), kFinal + n) != reached.end();
}

void GroupBuilder::find_productive() {
  for (bool changed = true; changed;) {
    changed = false;
    for (Member& m : members_) {
      Rule& rule = *m.rule;
      if (rule.productive_) continue;
      if (m.unit->kind == Unit::Kind::Regular) {
        rule.productive_ =
            rule.product_ ? rule.product_->has_nonempty_string() : rule.derivatives_->has_nonempty_string();
      } else if (m.unit->kind == Unit::Kind::Counter) {
        rule.productive_ = rule.ends_at_head_ || is_productive(rule.callees_[0]);
      } else {
        rule.productive_ = has_nonempty_string(m);
      }
      changed = changed || (rule.productive_ && members_.size() > 1);
    }
  }
}

void GroupBuilder::remove_dead_calls() {
  for (Member& m : members_) {
    if (m.unit->kind == Unit::Kind::Regular) continue;
    const size_t removed = std::erase_if(m.draft.edges, [&](const NfaDraft::Edge& e) {
      return e.edge.kind == EdgeKind::Call && !is_productive(m.rule->callees_[e.edge.argument]);
    });
    if (m.unit->kind == Unit::Kind::Expression && (removed > 0 || m.dirty)) m.draft.trim();
  }
}

// A rule that ends by calling itself ends wherever its copy ends, so the copy may as well be the rule itself.
void GroupBuilder::loop_self_tail_calls(Member& member) {
  for (auto& [source, edge] : member.draft.edges)
    if (edge.kind == EdgeKind::Call && edge.target == kFinal &&
        member.rule->callees_[edge.argument].rule == member.rule)
      edge = {EdgeKind::Epsilon, 0, kStart};
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
      if (const auto it = member_of_.find(member.rule->callees_[edge.argument].rule); it != member_of_.end())
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
      if (is_cycle(cycle) && members_[i].rule->counts_)
        for (Member& m : members_)
          if (m.unit->kind == Unit::Kind::Expression) unroll_calls(m, members_[i].rule);
  for (const auto& cycle : left_call_components()) {
    if (!is_cycle(cycle)) continue;
    for (const uint32_t i : cycle)
      if (members_[i].rule->captures())
        throw LimitExceeded("left_recursive_capture",
                            "what \"" + *members_[i].rule->capture() + "\" captures begins with itself");
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
    // Indices of sets and tokens mean their owner's tables; a copy in another rule needs its own.
    Rule& from = *before[k].rule;
    std::unordered_map<uint32_t, uint32_t> set_of, tokens_of;
    const auto moved = [&](auto& known, auto& table, const auto& value, uint32_t index) {
      if (&from == out.rule) return index;
      const auto [it, fresh] = known.emplace(index, static_cast<uint32_t>(table.size()));
      if (fresh) table.push_back(value);
      return it->second;
    };
    for (const auto& [source, edge] : before[k].draft.edges) {
      const Callee callee = edge.kind == EdgeKind::Call ? before[k].rule->callees_[edge.argument] : Callee{nullptr, 0};
      const uint32_t to = offset[k] + edge.target;
      if (source == kStart && callee.rule && position(callee.rule) < cycle.size()) {
        // Whoever has just finished as `callee` may be the beginning of this member.
        out.draft.add(offset[position(callee.rule)] + kFinal, EdgeKind::Epsilon, 0, to);
        continue;
      }
      uint32_t argument = edge.argument;
      if (edge.kind == EdgeKind::Call)
        argument = callee_index(out, callee);
      else if (edge.kind == EdgeKind::Set)
        argument = moved(set_of, out.rule->sets_, from.sets_[argument], argument);
      else if (edge.kind == EdgeKind::Tokens)
        argument = moved(tokens_of, out.rule->token_sets_, from.token_sets_[argument], argument);
      out.draft.add(source == kStart ? kStart : offset[k] + source, edge.kind, argument, to);
    }
    if (before[k].rule == out.rule) out.draft.add(offset[k] + kFinal, EdgeKind::Epsilon, 0, kFinal);
  }
  num_merged_edges_ += out.draft.edges.size();
  if (num_merged_edges_ > kMaxEdges) too_large();
  out.draft.trim();
}

void GroupBuilder::rank_and_first() {
  for (const auto& component : left_call_components()) {
    Member& m = members_[component[0]];
    Rule& rule = *m.rule;
    if (rule.derivatives_) rule.first_ = rule.derivatives_->first(rule.derivatives_->start());
    if (rule.product_) rule.first_ = rule.product_->first(rule.product_->start());
    for (const auto& [source, edge] : m.draft.edges) {
      if (source != kStart) continue;
      if (edge.kind == EdgeKind::Byte)
        rule.first_.set(static_cast<uint8_t>(edge.argument));
      else if (edge.kind == EdgeKind::Set)
        rule.first_ |= rule.sets_[edge.argument];
      else if (edge.kind == EdgeKind::Tokens)
        rule.first_has_tokens_ = true;
      else if (edge.kind == EdgeKind::Call) {
        const Rule& callee = *rule.callees_[edge.argument].rule;
        rule.first_ |= callee.first_;
        rule.first_has_tokens_ = rule.first_has_tokens_ || callee.first_has_tokens_;
        rule.rank_ = std::max(rule.rank_, callee.rank_ + 1);
      }
    }
    if (rule.terminator_ >= 0) rule.first_.set(static_cast<uint8_t>(rule.terminator_));
  }
}

void GroupBuilder::freeze(Member& member) {
  Rule& rule = *member.rule;
  if (rule.derivatives_) return rule.use_classes(*rule.derivatives_);
  if (rule.product_) return rule.use_classes(*rule.product_);
  rule.nfa_ = Nfa(member.draft);
  rule.seen_.assign(rule.nfa_.num_states(), 0);
  rule.build_classes();
}

}  // namespace maskwright
