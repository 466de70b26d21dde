#include "rules/product.h"

#include <algorithm>
#include <array>

#include "rules/rule.h"
#include "rules/rule_store.h"
#include "support/errors.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr size_t kMaxSearch = 200'000;
constexpr size_t kEasySearch = 64;        // after which it may be worth looking at the operands two by two
constexpr size_t kPairSearch = 5'000;     // for the product of two of them
constexpr size_t kStatePairSearch = 256;  // the same from a state on, of which there may be many

[[noreturn]] void refuse() {
  throw LimitExceeded("regular_expression_work", "an intersection of regular expressions grew too large");
}

}  // namespace

ProductAutomaton::ProductAutomaton(std::vector<Operand> operands, uint64_t reg)
    : operands_(std::move(operands)), reg_(reg) {
  for (size_t i = 0; i < operands_.size(); ++i)
    if (operands_[i].rule->counts()) {
      counter_ = operands_[i].rule;
      counter_index_ = i;
    }
  // Operand by operand, each class is split by that operand's classes.
  std::vector<std::array<int16_t, 256>> split;  // the class for a class so far and one of the operand's
  int num_classes = 1;
  for (const Operand& operand : operands_) {
    split.resize(static_cast<size_t>(num_classes));
    for (auto& row : split) row.fill(-1);
    num_classes = 0;
    for (int b = 0; b < 256; ++b) {
      int16_t& slot = split[class_of_[b]][operand.rule->class_of(static_cast<uint8_t>(b))];
      if (slot < 0) slot = static_cast<int16_t>(num_classes++);
      class_of_[b] = static_cast<uint8_t>(slot);
    }
  }
  std::vector<std::pair<int, uint8_t>> sizes(static_cast<size_t>(num_classes));
  for (int b = 255; b >= 0; --b) {
    auto& [size, byte] = sizes[class_of_[b]];
    --size;
    byte = static_cast<uint8_t>(b);
  }
  std::stable_sort(sizes.begin(), sizes.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  for (const auto& [size, byte] : sizes) by_size_.push_back(byte);
}

ProductAutomaton::Tuple ProductAutomaton::start() const {
  Tuple out;
  for (const Operand& operand : operands_) {
    DfaState* state = operand.rule->productive() ? operand.rule->start() : nullptr;
    if (!state && !operand.negated) return {};
    out.push_back(state);
  }
  return out;
}

bool ProductAutomaton::follow(const Tuple& tuple, uint8_t byte, Tuple& out) const {
  for (size_t i = 0; i < tuple.size(); ++i)  // most bytes end here, inside a character
    if (!operands_[i].negated && !tuple[i]->live.test(byte)) return false;
  out.resize(tuple.size());
  for (size_t i = 0; i < tuple.size(); ++i) {
    out[i] = tuple[i] ? tuple[i]->rule->next(*tuple[i], byte) : nullptr;
    if (operands_[i].negated ? out[i] && takes_everything(*out[i]) : !out[i]) return false;
  }
  return true;
}

// Whether a state takes whatever bytes follow, as one does of what a lookahead excludes, once that has come
// (src/maskwright/frontends/regex/plain.py).
bool ProductAutomaton::takes_everything(DfaState& state) const {
  if (!state.final || !(~state.live).empty()) return false;
  return std::ranges::all_of(by_size_, [&](uint8_t byte) { return state.rule->next(state, byte) == &state; });
}

bool ProductAutomaton::final(const Tuple& tuple) const {
  for (size_t i = 0; i < tuple.size(); ++i)
    if ((tuple[i] && tuple[i]->final) == operands_[i].negated) return false;
  return true;
}

bool ProductAutomaton::at_head(const Tuple& tuple) const {
  return counter_ && tuple[counter_index_]->counter_head;
}

bool ProductAutomaton::terminates(const Tuple& tuple) const {
  if (!at_head(tuple)) return false;
  const auto byte = static_cast<uint8_t>(counter_->terminator());
  for (size_t i = 0; i < tuple.size(); ++i) {
    if (i == counter_index_) continue;
    const DfaState* after = tuple[i] ? tuple[i]->rule->next(*tuple[i], byte) : nullptr;
    if ((after && after->final) == operands_[i].negated) return false;
  }
  return true;
}

bool ProductAutomaton::nullable() const {
  return std::ranges::all_of(operands_, [](const Operand& o) { return o.rule->nullable() != o.negated; });
}

ByteSet ProductAutomaton::first(const Tuple& tuple) const {
  ByteSet out = ~ByteSet();
  if (tuple.empty()) return ByteSet();
  for (size_t i = 0; i < tuple.size(); ++i)
    if (!operands_[i].negated) out = out & tuple[i]->live;
  return out;
}

std::optional<ByteSet> ProductAutomaton::complement_bytes(const Tuple& tuple, const DfaState& sole) const {
  ByteSet out;
  for (size_t i = 0; i < tuple.size(); ++i) {
    if (!operands_[i].negated && tuple[i] != &sole) return std::nullopt;
    if (operands_[i].negated && tuple[i]) out |= tuple[i]->live;
  }
  return out;
}

DfaState* ProductAutomaton::sole(const Tuple& tuple) const {
  DfaState* only = nullptr;
  for (size_t i = 0; i < tuple.size(); ++i) {
    if (!tuple[i]) continue;
    if (operands_[i].negated || only) return nullptr;
    only = tuple[i];
  }
  return only;
}

uint32_t ProductAutomaton::guess(const Tuple& tuple) const {
  const uint32_t at_end = counter_ ? 1 : 0;  // before its terminator, a counted product is one byte from the end
  uint32_t total = 1;
  for (size_t i = 0; i < tuple.size(); ++i) {
    if (!tuple[i] || (counter_ && i == counter_index_)) continue;
    const uint32_t bytes = tuple[i]->rule->bytes_to_end(*tuple[i]);
    total += operands_[i].negated ? (bytes == at_end ? 1 : 0) : bytes;
  }
  return total;
}

// No rule's automaton has dead ends, so a single one that is left leads to an end.
ProductAutomaton::Search::Outcome ProductAutomaton::run(Search& search, size_t most) const {
  return search.run(
      num_classes(), most, operands_.size(),
      [this](const Tuple& tuple, uint32_t edge, Tuple& out) { return follow(tuple, by_size_[edge], out); },
      [this](const Tuple& tuple) {
        const auto known = life_.find(tuple);
        if (known != life_.end() && !known->second) return Search::kNever;
        return known != life_.end() || is_end(tuple) ? Search::kEnd : guess(tuple);
      });
}

// Keeps what a search has found, and returns whether it came to an end.
bool ProductAutomaton::conclude(const Search& search, Search::Outcome outcome, const Work::Measure& work) {
  if (outcome == Search::Outcome::TooMuch) {
    if (search.num_visits() > kMaxSearch || work.is_large())
      too_large_.insert(search.node(0));  // or every mask would search again
    refuse();
  }
  if (outcome == Search::Outcome::Exhausted) {
    for (size_t v = 0; v < search.num_visits(); ++v) life_[search.node(v)] = false;
    return false;
  }
  for (Tuple& tuple : search.path()) life_[std::move(tuple)] = true;
  return true;
}

bool ProductAutomaton::is_live(const Tuple& tuple) {
  if (tuple.empty()) return false;
  if (is_end(tuple)) return true;
  if (const auto it = life_.find(tuple); it != life_.end()) return it->second;
  if (too_large_.contains(tuple)) refuse();
  const Work::Measure work;
  Search search(tuple);
  Search::Outcome outcome = run(search, kEasySearch);
  if (outcome == Search::Outcome::TooMuch) {
    if (operands_.size() > 2 && has_disjoint_states(tuple)) return life_[tuple] = false;
    outcome = run(search, kMaxSearch);
  }
  return conclude(search, outcome, work);
}

// Whether two of the states have no string in common: where one of two words that exclude each other has come, say.
bool ProductAutomaton::has_disjoint_states(const Tuple& tuple) {
  for (size_t i = 0; i < tuple.size(); ++i)
    for (size_t j = i + 1; j < tuple.size(); ++j) {
      if (!tuple[i] || !tuple[j] || (operands_[i].negated && operands_[j].negated)) continue;
      if (operands_[i].rule == counter_ || operands_[j].rule == counter_) continue;
      const auto [known, fresh] = disjoint_states_.try_emplace({tuple[i], tuple[j]}, false);
      if (fresh) {
        const ProductAutomaton product({operands_[i], operands_[j]});
        Search search({tuple[i], tuple[j]});
        const Tuple begin{tuple[i], tuple[j]};
        known->second = !product.is_end(begin) && product.run(search, kStatePairSearch) == Search::Outcome::Exhausted;
        if (!Work::afford(0)) {  // it was not searched to the end
          disjoint_states_.erase(known);
          refuse();
        }
      }
      if (known->second) return true;
    }
  return false;
}

bool ProductAutomaton::has_nonempty_string() {
  const Tuple begin = start();
  if (begin.empty()) return false;
  const Work::Measure work;
  Search search(begin);
  Search::Outcome outcome = run(search, kEasySearch);
  if (outcome == Search::Outcome::TooMuch) {
    if (operands_.size() > 2 && has_disjoint_operands()) return false;
    outcome = run(search, kMaxSearch);
  }
  return conclude(search, outcome, work);
}

bool ProductAutomaton::has_disjoint_operands() const {
  for (size_t i = 0; i < operands_.size(); ++i)
    for (size_t j = i + 1; j < operands_.size(); ++j)
      if (!(operands_[i].negated && operands_[j].negated) && operands_[i].rule != counter_ &&
          operands_[j].rule != counter_ && are_disjoint(operands_[i], operands_[j]))
        return true;
  return false;
}

// Whether a small search shows that two operands have no string in common but perhaps the empty one.
bool ProductAutomaton::are_disjoint(const Operand& a, const Operand& b) {
  const auto number = [](const Operand& operand) { return 2 * uint64_t{operand.rule->index()} + operand.negated; };
  const RuleStore::OperandPair pair{a.rule->group().id(), number(a), b.rule->group().id(), number(b)};
  RuleStore& store = a.rule->group().store();
  if (const auto known = store.are_disjoint(pair)) return *known;
  const ProductAutomaton product({a, b});
  const Tuple begin = product.start();
  bool disjoint = begin.empty();
  if (!disjoint) {
    Search search(begin);
    disjoint = product.run(search, kPairSearch) == Search::Outcome::Exhausted;
  }
  if (!Work::afford(0)) refuse();  // it was not searched to the end
  store.know_disjoint(pair, disjoint);
  return disjoint;
}

}  // namespace maskwright
