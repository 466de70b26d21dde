#include "budget/new_elements.h"

#include <algorithm>
#include <string>

#include "budget/byte_distance.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr size_t kBytesAnEntry = 64;  // of a hash table

}  // namespace

uint32_t NewElements::rest(const TextView& texts, DfaState& state, uint64_t reg) {
  const CellId avoided = Spelled::of(reg).avoided;
  if (is_sized(avoided)) return length_of_another(state, avoided);
  return is_trie(avoided) ? search(texts, state, avoided) : to_end_(state);
}

uint32_t NewElements::next(const TextView& texts, Rule& list, uint64_t reg) {
  Rule* element = list.element();
  if (!element) return kNever;
  DfaState& start = *element->start();
  CellId set = Chosen::of(reg).set;
  const auto is_grown = [&] { return is_trie(set) && texts.cell(set).kind == Cell::Kind::Grown; };
  while (is_grown() && texts.cell(set).size > 0) set = texts.cell(set).parent;  // by values
  if (is_sized(set)) return length_of_another(start, set);
  if (is_grown()) return shortest_but(texts, start, texts.cell(set).parent, texts.text(texts.cell(set).value));
  return shortest(texts, start, set);
}

uint32_t NewElements::next_of(Rule& list, uint32_t count) {
  Rule* element = list.element();
  return element ? lengths_.of_nth(*element->start(), uint64_t{count} + 1) : kNever;
}

// Where there is one, as is seen to in masks, but not where bytes are no tokens.
uint32_t NewElements::length_of_another(DfaState& state, CellId sized) {
  const uint64_t n = most_texts(sized) + 1;
  if (const uint32_t length = n > kMostElements ? any(state) : kNever; length != kNever) return length;
  return bytes_.count() == 256 ? lengths_.of_nth_at_most(state, n) : lengths_.of_nth(state, n);
}

uint32_t NewElements::shortest(const TextView& texts, DfaState& state, CellId avoided) {
  if (avoided == kAllTexts) return kNever;
  const auto find = [&](CellId id) -> const Cell& { return texts.cell(id); };
  if (state.final && !holds_end(avoided, find)) return 0;
  return is_trie(avoided) ? search(texts, state, avoided) : to_end_(state);
}

// The same without one more text.
uint32_t NewElements::shortest_but(const TextView& texts, DfaState& state, CellId avoided, std::string_view text) {
  const auto find = [&](CellId id) -> const Cell& { return texts.cell(id); };
  uint32_t least = kNever;
  DfaState* at = &state;
  for (uint32_t depth = 0; depth < least; ++depth) {
    Work::spend(1);
    const bool is_text = depth == text.size();
    if (!is_text && at->final && !holds_end(avoided, find)) return std::min(least, depth);
    for (const Step& step : steps(*at)) {
      if (ByteDistances::sum(depth, step.bytes) >= least) break;
      if (!is_text && step.byte == static_cast<uint8_t>(text[depth])) continue;
      const CellId there = below(avoided, step.byte, find);
      const uint32_t rest = there == kNoTexts ? step.bytes - 1 : shortest(texts, *step.target, there);
      least = std::min(least, ByteDistances::sum(depth + 1, rest));
    }
    if (is_text || !bytes_.test(static_cast<uint8_t>(text[depth]))) break;
    avoided = below(avoided, static_cast<uint8_t>(text[depth]), find);
    at = at->rule->next(*at, static_cast<uint8_t>(text[depth]));
  }
  return least;
}

uint32_t NewElements::search(const TextView& texts, DfaState& state, CellId avoided) {
  const AtState key{texts.store(), &state, avoided};
  const bool is_kept = avoided < kScratchCell;
  if (const auto it = is_kept ? known_.find(key) : known_.end(); it != known_.end()) return it->second;
  const auto find = [&](CellId id) -> const Cell& { return texts.cell(id); };
  struct At {
    DfaState* state;
    CellId avoided;
  };
  uint32_t least = kNever;
  std::vector<At> level{{&state, avoided}}, next;
  for (uint32_t depth = 0; !level.empty() && depth < least; ++depth) {
    next.clear();
    for (const At& at : level) {
      if (depth > 0 && at.state->final && !holds_end(at.avoided, find)) least = std::min(least, depth);
      for (const Step& step : steps(*at.state)) {
        if (ByteDistances::sum(depth, step.bytes) >= least) break;
        Work::spend(1);
        const CellId there = below(at.avoided, step.byte, find);
        if (there == kNoTexts)
          least = std::min(least, ByteDistances::sum(depth, step.bytes));
        else if (there != kAllTexts)
          next.push_back({step.target, there});
      }
    }
    std::swap(level, next);
  }
  if (is_kept) known_.emplace(key, least);
  return least;
}

const std::vector<NewElements::Step>& NewElements::steps(DfaState& state) {
  const auto [it, is_new] = steps_.try_emplace(&state);
  if (!is_new) return it->second;
  std::vector<Step> steps;
  (state.live & bytes_).for_each([&](uint8_t byte) {
    DfaState* target = state.rule->next(state, byte);
    if (!target) return;
    const uint32_t rest = target->final ? 0 : to_end_(*target);
    if (rest != kNever) steps.push_back({ByteDistances::sum(rest, 1), byte, target});
  });
  std::ranges::sort(steps, {}, &Step::bytes);
  return it->second = std::move(steps);
}

size_t NewElements::memory_bytes() const {
  size_t bytes = (known_.size() + steps_.size()) * kBytesAnEntry + lengths_.memory_bytes();
  for (const auto& [state, steps] : steps_) bytes += steps.capacity() * sizeof(Step);
  return bytes;
}

}  // namespace maskwright
