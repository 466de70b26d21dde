#include "automata/derivative.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "automata/byte_classes.h"
#include "support/best_first.h"
#include "support/errors.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr TermId kUnknown = 0xFFFFFFFF;
constexpr size_t kMaxTerms = 2'000'000;
constexpr size_t kMaxSearch = 200'000;
constexpr size_t kStepsOfDerivation = 5;
constexpr uint64_t kFarthest = 1'000'000;  // all beyond seem equally far
constexpr uint32_t kManyAlternatives = 3;
constexpr int kMostCompared = 32;  // alternatives with each other, and parts of two of them
constexpr int kMaxDepth = 1'000;   // some 300 bytes of stack each, and threads may have 512 KiB

[[noreturn]] void too_large() {
  throw LimitExceeded("regular_expression_work", "an intersection or complement of regular expressions grew too large");
}

}  // namespace

DerivativeAutomaton::DerivativeAutomaton(const GrammarIr& ir, ExprId root) {
  terms_.push_back({.op = Op::Never, .nullable = false, .boolean = false});
  terms_.push_back({.op = Op::Empty, .nullable = true, .boolean = false});
  terms_.push_back({.op = Op::Not, .nullable = true, .boolean = false, .a = kNever});
  life_ = {Life::Dead, Life::Live, Life::Live};
  nearest_ = {static_cast<uint32_t>(kFarthest), 0, 0};
  rows_.resize(3);
  start_ = convert(ir, root);
  build_classes();
}

// IR nodes are numbered children first, so one ascending pass over the reachable ones converts without recursion.
TermId DerivativeAutomaton::convert(const GrammarIr& ir, ExprId root) {
  if (ir.nodes[root].depth > static_cast<uint32_t>(kMaxDepth)) too_large();
  std::vector<ExprId> order{root};
  std::unordered_map<ExprId, TermId> done{{root, kUnknown}};
  for (size_t i = 0; i < order.size(); ++i) {
    const ExprNode& node = ir.nodes[order[i]];
    const auto visit = [&](ExprId child) {
      if (done.emplace(child, kUnknown).second) order.push_back(child);
    };
    if (node.op == Op::Seq || node.op == Op::Alt || node.op == Op::And)
      for (uint32_t c = node.begin; c < node.end; ++c) visit(ir.children[c]);
    else if (node.op == Op::Repeat || node.op == Op::Not)
      visit(node.begin);
  }
  std::sort(order.begin(), order.end());
  for (const ExprId id : order) {
    const ExprNode& node = ir.nodes[id];
    TermId term = kNever;
    switch (node.op) {
      case Op::Never: break;
      case Op::Empty: term = kEmpty; break;
      case Op::Literal: {
        const auto begin = static_cast<uint32_t>(bytes_.size());
        bytes_.append(ir.bytes, node.begin, node.end - node.begin);
        term = make_literal(begin, static_cast<uint32_t>(bytes_.size()));
        break;
      }
      case Op::Set: term = make_set(ir.sets[node.begin]); break;
      case Op::Seq:
        term = kEmpty;
        for (uint32_t c = node.end; c-- > node.begin;) term = make_seq(done[ir.children[c]], term);
        break;
      case Op::Alt:
      case Op::And: {
        std::vector<TermId> operands;
        for (uint32_t c = node.begin; c < node.end; ++c) operands.push_back(done[ir.children[c]]);
        term = make_many(node.op, operands);
        break;
      }
      case Op::Repeat: term = make_repeat(done[node.begin], node.minimum, node.maximum); break;
      case Op::Not: term = make_not(done[node.begin]); break;
      case Op::Ref:
      case Op::Tokens:
      case Op::Guard:
      case Op::Call:
      case Op::Capture:
      case Op::Subgrammar:
      case Op::Substrings:
      case Op::Span:
      case Op::Scope:
      case Op::Value:
      case Op::Remember:
      case Op::Recall:
      case Op::Distinct:
      case Op::Multiple: break;  // excluded by the precondition
    }
    done[id] = term;
  }
  return done[root];
}

// Bytes that no set and no literal tells apart fall into one class.
void DerivativeAutomaton::build_classes() {
  ByteSet literal;
  for (const char c : bytes_) literal.set(static_cast<uint8_t>(c));
  const uint32_t num = num_classes_ = split_into_classes(literal, sets_, class_of_);
  std::vector<int> sizes(num);
  for (int b = 255; b >= 0; --b) {
    class_byte_[class_of_[b]] = static_cast<uint8_t>(b);
    ++sizes[class_of_[b]];
  }
  by_size_.resize(num);
  for (uint32_t c = 0; c < num; ++c) by_size_[c] = c;
  std::stable_sort(by_size_.begin(), by_size_.end(), [&](uint32_t x, uint32_t y) { return sizes[x] > sizes[y]; });
}

TermId DerivativeAutomaton::intern(const Term& term) {
  uint64_t h = mix(static_cast<uint64_t>(term.op), static_cast<uint64_t>(term.minimum));
  h = mix(h, static_cast<uint64_t>(term.maximum));
  const bool many = term.op == Op::Alt || term.op == Op::And;
  if (many)
    for (uint32_t i = term.a; i < term.b; ++i) h = mix(h, operands_[i]);
  else
    h = mix(mix(h, term.a), term.b);
  const TermId known = interned_.find(h, [&](TermId id) {
    const Term& other = terms_[id];
    if (!many) return other == term;
    return other.op == term.op && other.b - other.a == term.b - term.a &&
           std::equal(operands_.begin() + term.a, operands_.begin() + term.b, operands_.begin() + other.a);
  });
  if (known != interned_.kNone) {
    if (many) operands_.resize(term.a);
    return known;
  }
  if (terms_.size() >= kMaxTerms) too_large();
  const auto id = static_cast<TermId>(terms_.size());
  terms_.push_back(term);
  life_.push_back(term.nullable || !term.boolean ? Life::Live : Life::Unknown);
  nearest_.push_back(guess(term));
  rows_.emplace_back();
  interned_.add(h, id);
  return id;
}

// What the operands need, each by itself.
uint32_t DerivativeAutomaton::guess(const Term& term) const {
  uint64_t out = 0;
  switch (term.op) {
    case Op::Set: out = 1; break;
    case Op::Literal: out = term.b - term.a; break;
    case Op::Seq: out = uint64_t{nearest_[term.a]} + nearest_[term.b]; break;
    case Op::Repeat: out = nearest_[term.a] * std::min(static_cast<uint64_t>(term.minimum), kFarthest); break;
    case Op::Not: out = terms_[term.a].nullable ? 1 : 0; break;
    case Op::Alt:
      out = kFarthest;
      for (uint32_t i = term.a; i < term.b; ++i) out = std::min<uint64_t>(out, nearest_[operands_[i]]);
      break;
    case Op::And:
      for (uint32_t i = term.a; i < term.b; ++i) out += nearest_[operands_[i]];
      break;
    default: break;
  }
  return static_cast<uint32_t>(std::min(out, kFarthest));
}

TermId DerivativeAutomaton::make_set(const ByteSet& set) {
  for (uint32_t i = 0; i < sets_.size(); ++i)
    if (sets_[i] == set) return intern({.op = Op::Set, .nullable = false, .boolean = false, .a = i});
  sets_.push_back(set);
  return intern({.op = Op::Set, .nullable = false, .boolean = false, .a = static_cast<uint32_t>(sets_.size() - 1)});
}

TermId DerivativeAutomaton::make_literal(uint32_t begin, uint32_t end) {
  if (begin == end) return kEmpty;
  return intern({.op = Op::Literal, .nullable = false, .boolean = false, .a = begin, .b = end});
}

TermId DerivativeAutomaton::make_seq(TermId head, TermId tail) {
  if (head == kNever || tail == kNever) return kNever;
  if (head == kEmpty) return tail;
  if (tail == kEmpty) return head;
  if (terms_[head].op == Op::Seq) {
    std::vector<TermId> parts;
    for (; terms_[head].op == Op::Seq; head = terms_[head].b) parts.push_back(terms_[head].a);
    tail = make_seq(head, tail);
    for (; !parts.empty(); parts.pop_back()) tail = make_seq(parts.back(), tail);
    return tail;
  }
  const Term &h = terms_[head], &t = terms_[tail];
  return intern({.op = Op::Seq,
                 .nullable = h.nullable && t.nullable,
                 .boolean = h.boolean || t.boolean,
                 .loops = h.loops || t.loops,
                 .a = head,
                 .b = tail});
}

TermId DerivativeAutomaton::make_repeat(TermId item, int64_t minimum, int64_t maximum) {
  if (maximum == 0 || item == kEmpty) return kEmpty;
  if (item == kNever) return minimum == 0 ? kEmpty : kNever;
  if (terms_[item].nullable) minimum = 0;
  if (minimum == 1 && maximum == 1) return item;
  const Term& t = terms_[item];
  if (minimum == 0 && maximum == kUnbounded) {
    if (item == kAll) return kAll;
    if (t.op == Op::Set && (~sets_[t.a]).empty()) return kAll;
  }
  return intern({.op = Op::Repeat,
                 .nullable = minimum == 0,
                 .boolean = t.boolean,
                 .loops = t.loops || maximum == kUnbounded,
                 .a = item,
                 .minimum = minimum,
                 .maximum = maximum});
}

TermId DerivativeAutomaton::make_not(TermId operand) {
  if (operand == kNever) return kAll;
  if (terms_[operand].op == Op::Not) return terms_[operand].a;
  return intern({.op = Op::Not, .nullable = !terms_[operand].nullable, .boolean = true, .a = operand});
}

// Whether every string of `b` is one of `a`, as far as their forms show it: those that count differ by what is left.
bool DerivativeAutomaton::contains(TermId a, TermId b, int& left) const {
  if (a == b || (b == kEmpty && terms_[a].nullable)) return true;
  const Term &x = terms_[a], &y = terms_[b];
  if (left-- <= 0) return false;
  if (x.op == Op::Repeat && y.op == Op::Repeat)
    return x.a == y.a && x.minimum <= y.minimum &&
           (x.maximum == kUnbounded || (y.maximum != kUnbounded && x.maximum >= y.maximum));
  if (x.op != Op::Seq) return false;
  if (y.op == Op::Seq && contains(x.a, y.a, left) && contains(x.b, y.b, left)) return true;
  return terms_[x.a].nullable && contains(x.b, b, left);
}

// Takes out alternatives that others contain, or each way to count the same bytes would be a state of its own.
void DerivativeAutomaton::drop_contained(std::vector<TermId>& alternatives) const {
  std::vector<TermId> counting;
  for (const TermId id : alternatives) {
    const Term& head = terms_[id].op == Op::Seq ? terms_[terms_[id].a] : terms_[id];
    if (head.op == Op::Repeat && head.maximum != kUnbounded) counting.push_back(id);
  }
  if (counting.size() < 2 || counting.size() > kMostCompared) return;
  std::erase_if(alternatives, [&](TermId id) {
    if (!std::binary_search(counting.begin(), counting.end(), id)) return false;
    const bool is_contained = std::ranges::any_of(counting, [&](TermId other) {
      int left = kMostCompared;
      return other != id && contains(other, id, left);
    });
    if (is_contained) std::erase(counting, id);
    return is_contained;
  });
}

TermId DerivativeAutomaton::make_many(Op op, const std::vector<TermId>& operands) {
  const TermId absorbing = op == Op::Alt ? kAll : kNever, neutral = op == Op::Alt ? kNever : kAll;
  std::vector<TermId> flat;
  ByteSet set;
  for (const TermId id : operands) {
    const Term& t = terms_[id];
    if (id == absorbing) return absorbing;
    if (t.op == op)
      flat.insert(flat.end(), operands_.begin() + t.a, operands_.begin() + t.b);
    else if (op == Op::Alt && t.op == Op::Set)
      set |= sets_[t.a];
    else if (id != neutral)
      flat.push_back(id);
  }
  if (!set.empty()) flat.push_back(make_set(set));
  std::sort(flat.begin(), flat.end());
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (op == Op::Alt) drop_contained(flat);
  if (flat.empty()) return neutral;
  if (flat.size() == 1) return flat[0];
  for (const TermId id : flat)  // x | ~x is everything, x & ~x nothing
    if (terms_[id].op == Op::Not && std::binary_search(flat.begin(), flat.end(), terms_[id].a)) return absorbing;
  bool nullable = op == Op::And, boolean = op == Op::And, loops = false;
  for (const TermId id : flat) {
    nullable = op == Op::Alt ? nullable || terms_[id].nullable : nullable && terms_[id].nullable;
    boolean = boolean || terms_[id].boolean;
    loops = loops || terms_[id].loops;
  }
  const auto begin = static_cast<uint32_t>(operands_.size());
  operands_.insert(operands_.end(), flat.begin(), flat.end());
  return intern({.op = op,
                 .nullable = nullable,
                 .boolean = boolean,
                 .loops = loops,
                 .a = begin,
                 .b = static_cast<uint32_t>(operands_.size())});
}

TermId DerivativeAutomaton::derive(TermId id, uint8_t byte, int depth) {
  if (depth > kMaxDepth || !Work::afford(kStepsOfDerivation)) too_large();
  const Term t = terms_[id];
  switch (t.op) {
    case Op::Set: return sets_[t.a].test(byte) ? kEmpty : kNever;
    case Op::Literal: return static_cast<uint8_t>(bytes_[t.a]) == byte ? make_literal(t.a + 1, t.b) : kNever;
    case Op::Seq: {
      const TermId head = make_seq(derive_part(t.a, byte, depth + 1), t.b);
      if (!terms_[t.a].nullable) return head;
      return make_many(Op::Alt, {head, derive(t.b, byte, depth + 1)});
    }
    case Op::Repeat: {
      const TermId rest =
          make_repeat(t.a, std::max<int64_t>(t.minimum - 1, 0), t.maximum == kUnbounded ? kUnbounded : t.maximum - 1);
      return make_seq(derive_part(t.a, byte, depth + 1), rest);
    }
    case Op::Not: return make_not(derive(t.a, byte, depth + 1));
    case Op::Alt:
    case Op::And: {
      std::vector<TermId> operands;
      operands.reserve(t.b - t.a);
      for (uint32_t i = t.a; i < t.b; ++i) operands.push_back(derive_part(operands_[i], byte, depth + 1));
      return make_many(t.op, operands);
    }
    default: return kNever;
  }
}

// Kinds of characters are alternatives that come in very many terms, so what follows in them is kept.
TermId DerivativeAutomaton::derive_part(TermId id, uint8_t byte, int depth) {
  const Term& t = terms_[id];
  return t.op == Op::Alt && t.b - t.a >= kManyAlternatives ? step(id, class_of_[byte], depth) : derive(id, byte, depth);
}

TermId DerivativeAutomaton::step(TermId term, uint32_t byte_class, int depth) {
  if (rows_[term].empty()) rows_[term].assign(num_classes_, kUnknown);
  if (const TermId known = rows_[term][byte_class]; known != kUnknown) return known;
  const TermId derived = derive(term, class_byte_[byte_class], depth);
  rows_[term][byte_class] = derived;
  return derived;
}

TermId DerivativeAutomaton::next(TermId term, uint8_t byte) {
  const TermId derived = step(term, class_of_[byte]);
  return is_live(derived) ? derived : kNever;
}

bool DerivativeAutomaton::is_live(TermId term) {
  if (life_[term] != Life::Unknown) return life_[term] == Life::Live;
  using Search = BestFirst<TermId, std::hash<TermId>>;
  Search search(term);
  const auto follow = [this](TermId from, uint32_t edge, TermId& to) {
    to = step(from, by_size_[edge]);
    return to != kNever;
  };
  const auto guess = [this](TermId reached) {
    if (life_[reached] != Life::Unknown) return life_[reached] == Life::Live ? Search::kEnd : Search::kNever;
    return std::max<uint32_t>(nearest_[reached], 1);
  };
  const auto outcome = search.run(num_classes_, kMaxSearch, 0, follow, guess);
  if (outcome == Search::Outcome::TooMuch) too_large();
  if (outcome == Search::Outcome::Ended)
    for (const TermId on_path : search.path()) life_[on_path] = Life::Live;
  else
    for (size_t v = 0; v < search.num_visits(); ++v) life_[search.node(v)] = Life::Dead;
  return outcome == Search::Outcome::Ended;
}

bool DerivativeAutomaton::has_nonempty_string() {
  return std::any_of(by_size_.begin(), by_size_.end(), [this](uint32_t c) { return is_live(step(start_, c)); });
}

ByteSet DerivativeAutomaton::first(TermId id) const {
  const Term& t = terms_[id];
  ByteSet out;
  switch (t.op) {
    case Op::Set: return sets_[t.a];
    case Op::Literal: out.set(static_cast<uint8_t>(bytes_[t.a])); return out;
    case Op::Seq:
      for (TermId rest = id;;) {
        const Term& s = terms_[rest];
        if (s.op != Op::Seq) {
          out |= first(rest);
          return out;
        }
        out |= first(s.a);
        if (!terms_[s.a].nullable) return out;
        rest = s.b;
      }
    case Op::Repeat: return first(t.a);
    case Op::Not: return ~out;
    case Op::Alt:
      for (uint32_t i = t.a; i < t.b; ++i) out |= first(operands_[i]);
      return out;
    case Op::And:
      out = ~out;
      for (uint32_t i = t.a; i < t.b; ++i) out = out & first(operands_[i]);
      return out;
    default: return out;
  }
}

std::string DerivativeAutomaton::serialise(TermId root) const {
  std::string out;
  const auto number = [&out](uint64_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
  std::unordered_map<TermId, uint32_t> seen;
  std::vector<TermId> open{root};
  while (!open.empty()) {
    const TermId id = open.back();
    open.pop_back();
    const auto [it, fresh] = seen.emplace(id, static_cast<uint32_t>(seen.size()));
    out.push_back(fresh ? 't' : 's');
    number(it->second);
    if (!fresh) continue;
    const Term& t = terms_[id];
    out.push_back(static_cast<char>(t.op));
    switch (t.op) {
      case Op::Literal:
        number(t.b - t.a);
        out.append(bytes_, t.a, t.b - t.a);
        break;
      case Op::Set:
        for (int w = 0; w < 4; ++w) number(sets_[t.a].word(w));
        break;
      case Op::Seq: open.insert(open.end(), {t.b, t.a}); break;
      case Op::Repeat:
        number(static_cast<uint64_t>(t.minimum));
        number(static_cast<uint64_t>(t.maximum));
        open.push_back(t.a);
        break;
      case Op::Not: open.push_back(t.a); break;
      case Op::Alt:
      case Op::And:
        number(t.b - t.a);
        // Operands are sorted by id, which differs between automata; what is the same may look different, never the
        // reverse.
        open.insert(open.end(), operands_.begin() + t.a, operands_.begin() + t.b);
        break;
      default: break;
    }
  }
  return out;
}

size_t DerivativeAutomaton::memory_bytes() const {
  size_t rows = 0;
  for (const auto& row : rows_) rows += sizeof(row) + row.capacity() * sizeof(TermId);
  return terms_.capacity() * sizeof(Term) + operands_.capacity() * sizeof(TermId) + sets_.capacity() * sizeof(ByteSet) +
         bytes_.capacity() + interned_.memory_bytes() + rows;
}

}  // namespace maskwright
