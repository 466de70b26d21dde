// How far from the end of its rule one token may lead: a bound for all tokens that a state takes, whatever its callers.
//
//     inside a JSON string: 5 bytes, behind a token that ends with `\u`; behind most others, one
//
// So where a configuration has more tokens left than its stacks need and this, no token leads into danger, and no walk
// of the vocabulary is needed to see it. It is made like a state's mask (masks.h), from the same parts:
//   calls     what the callee's first state has, and what follows; what lies behind its exits is walked
//   loops     a token of the loop's characters leads back to the state; others are walked from where they leave it, and
//             so are the characters that some tokens end inside of
//   names     from a state that differs from another one in few tokens, only these are walked (comparison.h)
// and kept with the state, so that every grammar on the tokenizer finds it. Estimated and promised distances differ
// from engine to engine: what may rest on them is kept by the engine that has them.
//
// It is found for counting without bounds: a count takes readings away, so each of them may be the only one, and asks
// for the items that it still needs.
//
// Not known (kNever) where bytes are not all that counts: remembered text, numbers that are multiples, products that
// count. Cost: as a state's mask, once.
// Tested by tests/exhaustive/test_token_budgets.py, tests/contract/test_budgets.py.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "budget/byte_distance.h"
#include "recognizer/recognizer.h"
#include "rules/rule.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

class FarthestLanding {
 public:
  static constexpr uint32_t kNever = ByteDistances::kNever;
  FarthestLanding(const Vocabulary& vocabulary, ByteDistances& enough) : vocabulary_(vocabulary), bytes_(enough) {}

  // The most bytes to the end of the state's rule behind a token that it takes without returning. Behind one that ends
  // exactly where the rule may, there are none. Precondition: no rule that it leads to has a budget.
  uint32_t of(DfaState& state, uint64_t reg);
  size_t memory_bytes() const { return estimated_.size() * kBytesAnEntry; }

 private:
  class Sink;
  enum class Calls : uint8_t { ByStates, ByWalking };
  static constexpr size_t kBytesAnEntry = 64;  // of a hash table
  std::optional<uint32_t> known(const DfaState& state) const;
  void keep(DfaState& state, uint32_t bytes);
  void make_with_callees(DfaState& state);
  void make(DfaState& state, Calls calls);
  void walk_own_bytes(DfaState& state, Calls calls, Sink& sink);
  void walk_from_loop(CharClasses classes, Sink& sink);
  bool walk_differences(DfaState& state, DfaState& similar, Sink& sink);
  void follow_call(DfaState& state, CallEdge& call, Sink& sink);
  uint32_t bytes_down(const Item& item) const;

  const Vocabulary& vocabulary_;
  ByteDistances& bytes_;
  Recognizer recognizer_;
  std::unordered_map<const DfaState*, uint32_t> estimated_;
};

}  // namespace maskwright
