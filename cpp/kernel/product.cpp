#include "product.h"

#include <algorithm>
#include <array>

#include "errors.h"
#include "rule.h"
#include "work.h"

namespace maskwright {
namespace {

constexpr size_t kMaxSearch = 200'000;

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

ProductAutomaton::Tuple ProductAutomaton::next(const Tuple& tuple, uint8_t byte) const {
  Tuple out(tuple.size());
  for (size_t i = 0; i < tuple.size(); ++i) {
    out[i] = tuple[i] ? tuple[i]->rule->next(*tuple[i], byte) : nullptr;
    if (!out[i] && !operands_[i].negated) return {};
  }
  return out;
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

bool ProductAutomaton::is_live(const Tuple& tuple) {
  if (tuple.empty()) return false;
  // No rule's automaton has dead ends.
  const auto obviously = [this](const Tuple& t) { return sole(t) || final(t) || terminates(t); };
  if (obviously(tuple)) return true;
  if (const auto it = life_.find(tuple); it != life_.end()) return it->second;
  if (too_large_.contains(tuple)) refuse();
  std::vector<std::pair<Tuple, size_t>> reached{{tuple, 0}};  // with the index of the predecessor
  std::unordered_map<Tuple, char, TupleHash> seen{{tuple, 0}};
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached.size() > kMaxSearch || !Work::afford(tuple.size() * by_size_.size())) {
      too_large_.insert(tuple);  // or every mask would search again
      refuse();
    }
    for (const uint8_t byte : by_size_) {
      Tuple after = next(reached[i].first, byte);
      if (after.empty()) continue;
      const auto known = life_.find(after);
      if (obviously(after) || (known != life_.end() && known->second)) {
        for (size_t p = i;; p = reached[p].second) {
          life_[reached[p].first] = true;
          if (p == 0) return true;
        }
      }
      if (known == life_.end() && seen.emplace(after, 0).second) reached.emplace_back(std::move(after), i);
    }
  }
  for (const auto& [dead, predecessor] : reached) life_[dead] = false;
  return false;
}

bool ProductAutomaton::has_nonempty_string() {
  const Tuple begin = start();
  return !begin.empty() && std::ranges::any_of(by_size_, [&](uint8_t byte) { return is_live(next(begin, byte)); });
}

}  // namespace maskwright
