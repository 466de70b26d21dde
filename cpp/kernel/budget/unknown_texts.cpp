#include "budget/unknown_texts.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "rules/growing_places.h"
#include "support/work.h"

namespace maskwright {

void UnknownTexts::count(std::span<const Item> items) {
  std::vector<StackId> open;
  for (const Item& item : items) {
    if (item.state->rule->is_list()) count_set(*item.state->rule, Chosen::of(item.reg).set);
    open.push_back(item.stack);
  }
  std::unordered_set<StackId> seen(open.begin(), open.end());
  while (!open.empty()) {
    const StackId at = open.back();
    open.pop_back();
    if (moved_.contains(at)) continue;
    for (const Frame& frame : store_.frames(at)) {
      if (frame.target && frame.target->rule->is_list()) count_set(*frame.target->rule, Chosen::of(frame.reg).set);
      if (seen.insert(frame.parent).second) open.push_back(frame.parent);
    }
  }
}

void UnknownTexts::count_set(Rule& list, CellId set) {
  if (is_trie(set) && !list.has_values()) count_part(*list.element()->start(), set);
}

void UnknownTexts::count_part(DfaState& state, CellId set) {
  struct At {
    DfaState* state;
    CellId set;
  };
  std::vector<At> open{{&state, set}};
  while (!open.empty()) {
    const At at = open.back();
    if (numbers_.contains({at.state, at.set})) {
      open.pop_back();
      continue;
    }
    uint64_t number = 0;
    const size_t num_open = open.size();
    for (CellId branch = at.set; branch != kNoTexts; branch = store_.cells().cell(branch).parent) {
      Work::spend(1);
      const Cell& cell = store_.cells().cell(branch);
      DfaState* below = cell.size == 0 ? nullptr : at.state->rule->next(*at.state, static_cast<uint8_t>(cell.size - 1));
      if (!below)
        ++number;
      else if (cell.value == kAllTexts)
        number += lengths_.number(*below);
      else if (const auto it = numbers_.find({below, cell.value}); it != numbers_.end())
        number += it->second;
      else
        open.push_back({below, cell.value});
    }
    if (open.size() > num_open) continue;
    numbers_[{at.state, at.set}] = std::min(number, TextLengths::kManyTexts);
    open.pop_back();
  }
}

uint64_t UnknownTexts::sized(const DfaState& state, uint64_t reg) const {
  if (state.rule->is_value()) return kUnknownBegin;
  if (!state.rule->is_list()) return reg;
  const auto [count, set] = Chosen::of(reg);
  if (state.rule->has_values()) return Chosen{count, unknown_texts(kMostElements)}.reg();
  if (set == kAllTexts) return reg;
  const uint64_t number = set == kNoTexts ? 0 : numbers_.find({state.rule->element()->start(), set})->second;
  return Chosen{count, unknown_texts(number + longest_)}.reg();
}

Item UnknownTexts::without_texts(const Item& item, StackStore& store) {
  const auto change = [this](std::vector<Frame>& frames, StackMark&) {
    for (Frame& frame : frames)
      if (frame.target) frame.reg = sized(*frame.target, frame.reg);
  };
  const StackId stack = store.rebuilt(item.stack, moved_, change);
  if (!item.state->rule->is_element()) return {item.state, sized(*item.state, item.reg), stack};
  CellId avoided = Spelled::of(item.reg).avoided;
  if (avoided != kNoTexts)
    for (const Frame& list : store.frames(stack))
      if (list.target) avoided = std::max(is_trie(avoided) ? kUnknownTexts : avoided, Chosen::of(list.reg).set);
  return {item.state, Spelled{avoided, kNoCell}.reg(), stack};
}

size_t UnknownTexts::memory_bytes() const {
  constexpr size_t kAnEntry = 64;  // of a hash table
  return lengths_.memory_bytes() + (numbers_.size() + moved_.size()) * kAnEntry;
}

}  // namespace maskwright
