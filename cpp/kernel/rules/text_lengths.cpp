#include "rules/text_lengths.h"

#include <algorithm>
#include <unordered_set>

#include "support/work.h"

namespace maskwright {
namespace {

constexpr uint32_t kFarApart = 1000;  // bytes longer than the longest text known: no other one is looked for
constexpr uint32_t kBytesLookedAt = 300;
constexpr size_t kBytesAnEntry = 64;  // of a hash table

}  // namespace

uint32_t TextLengths::of_nth(DfaState& from, uint64_t n) {
  n = std::min(n, kManyTexts);  // as many as are counted
  const auto& found = at_least(from, n).found;
  const auto it = std::ranges::lower_bound(found, n, {}, &std::pair<uint64_t, uint32_t>::first);
  return it == found.end() ? kNever : it->second;
}

uint32_t TextLengths::of_nth_within(DfaState& from, uint64_t n, uint32_t bytes) {
  const Texts& texts = at_least(from, n, bytes);
  const bool is_longer = texts.number() < n && !texts.leading.empty();
  if (is_longer) return reads_plenty(from) ? bytes : kNever;
  const uint32_t length = of_nth(from, n);
  return length == kNever ? kNever : std::min(length, bytes);
}

uint32_t TextLengths::of_nth_at_most(DfaState& from, uint64_t n) {
  const uint32_t length = of_nth(from, n);
  const Texts& texts = texts_.find(&from)->second;
  return length == kNever && !texts.is_given_up && !texts.found.empty() ? texts.found.back().second : length;
}

uint64_t TextLengths::number(DfaState& from) {
  const Texts& texts = at_least(from, kManyTexts);
  return texts.is_given_up ? kManyTexts : texts.number() + (from.final ? 1 : 0);
}

const TextLengths::Texts& TextLengths::at_least(DfaState& from, uint64_t n, uint32_t within) {
  const auto [it, is_new] = texts_.try_emplace(&from);
  Texts& texts = it->second;
  if (is_new) texts.leading = {{&from, 1}};
  while (!texts.leading.empty() && !texts.is_given_up && texts.number() < n && texts.length < within) lengthen(texts);
  return texts;
}

void TextLengths::lengthen(Texts& texts) const {
  std::unordered_map<DfaState*, uint64_t> longer;
  uint64_t num_texts = 0;
  for (const auto& [state, number] : texts.leading)
    (state->live & bytes_).for_each([&, from = state, ways = number](uint8_t byte) {
      Work::spend(1);
      DfaState* target = from->rule->next(*from, byte);
      if (!target) return;
      uint64_t& there = longer[target];
      there = std::min(kManyTexts, there + ways);
      if (target->final) num_texts = std::min(kManyTexts, num_texts + ways);
    });
  texts.leading = std::move(longer);
  ++texts.length;
  if (num_texts > 0)
    texts.found.emplace_back(std::min(kManyTexts, texts.number() + num_texts), texts.length);
  else if (texts.length > kFarApart + (texts.found.empty() ? 0 : texts.found.back().second))
    texts.is_given_up = true;
}

// There are infinitely many if one is at least as long as there are states, as some state is met twice then.
bool TextLengths::are_many(DfaState& from) const {
  Texts texts;
  texts.leading = {{&from, 1}};
  std::unordered_set<DfaState*> seen{&from};
  while (!texts.leading.empty() && texts.length < kBytesLookedAt) {
    lengthen(texts);
    for (const auto& [state, number] : texts.leading) seen.insert(state);
    if (texts.number() == kManyTexts || (!texts.found.empty() && texts.found.back().second >= seen.size())) return true;
  }
  return false;
}

bool reads_plenty(DfaState& state) {
  const int8_t known = state.reads_plenty.load(std::memory_order_relaxed);
  if (known >= 0) return known != 0;
  const bool plenty = TextLengths(~ByteSet()).are_many(state);
  state.reads_plenty.store(plenty ? 1 : 0, std::memory_order_relaxed);
  return plenty;
}

size_t TextLengths::memory_bytes() const {
  size_t bytes = texts_.size() * kBytesAnEntry;
  for (const auto& [state, texts] : texts_)
    bytes += sizeof(texts) + texts.leading.size() * kBytesAnEntry + texts.found.capacity() * sizeof(texts.found[0]);
  return bytes;
}

}  // namespace maskwright
