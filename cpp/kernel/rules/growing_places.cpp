#include "rules/growing_places.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "support/work.h"

namespace maskwright {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr size_t kManyStates = 256;   // in more, or beside calls, exponents are not looked for: there may be some
constexpr size_t kBytesAnEntry = 64;  // of a hash table

bool can_read(DfaState& state, char c) {
  return state.live.test(static_cast<uint8_t>(c)) && state.rule->next(state, static_cast<uint8_t>(c));
}

// In the digits of a number, not in a string.
bool begins_exponent(DfaState& state) {
  return (can_read(state, 'e') || can_read(state, 'E')) && can_read(state, '0') && !can_read(state, 'z');
}

uint32_t bytes_for_more(uint64_t choices) {
  uint32_t bytes = 1;
  for (uint64_t texts = choices; texts <= 2 * kMostElements; texts *= choices) ++bytes;
  return bytes;
}

}  // namespace

uint32_t GrowingPlaces::bytes_for_many(DfaState& state) {
  const auto [it, is_new] = known_.try_emplace(&state, kNever);
  return is_new ? it->second = count_bytes(state) : it->second;
}

uint32_t GrowingPlaces::count_bytes(DfaState& state) {
  Rule& rule = *state.rule;
  if ((rule.counts() && !state.counter_head) || rule.lengths() || rule.multiples()) return kNever;
  if (rule.reads_text() && !rule.is_value()) return kNever;
  const auto choices = [&](std::string_view characters) {
    return static_cast<uint64_t>(std::ranges::count_if(characters, [&](char c) {
      return bytes_.test(static_cast<uint8_t>(c)) && can_read(state, c) &&
             rule.next(state, static_cast<uint8_t>(c)) == &state;
    }));
  };
  Work::spend(kDigits.size() + kLetters.size());
  if (const uint64_t letters = choices(kLetters); letters > 1) return bytes_for_more(letters);
  const uint64_t digits = choices(kDigits);
  if (digits < 2) return kNever;
  const bool is_before_exponent = can_read(state, '.') || can_read(state, 'e') || can_read(state, 'E');
  return is_before_exponent || !reads_exponents(rule) ? bytes_for_more(digits) : kNever;
}

bool GrowingPlaces::reads_exponents(Rule& rule) {
  const auto [it, is_new] = reads_exponents_.try_emplace(&rule, true);
  if (!is_new || !rule.callees().empty()) return it->second;
  std::vector<DfaState*> states{rule.start()};
  std::unordered_set<DfaState*> met{rule.start()};
  for (size_t i = 0; i < states.size(); ++i) {
    DfaState& state = *states[i];
    if (states.size() > kManyStates || begins_exponent(state)) return true;
    state.live.for_each([&](uint8_t byte) {
      Work::spend(1);
      DfaState* target = rule.next(state, byte);
      if (target && met.insert(target).second) states.push_back(target);
    });
  }
  return it->second = false;
}

size_t GrowingPlaces::memory_bytes() const {
  return (known_.size() + reads_exponents_.size()) * kBytesAnEntry;
}

}  // namespace maskwright
