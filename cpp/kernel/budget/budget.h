// Rules that lie in at most so many tokens, kept within their budgets from the first token on: what a configuration
// allows so that each of them can still end in time.
//
// A rule lies in the tokens that have at least one byte in it. A marked stack node has the rule's deadline
// (stack_store.h), and a configuration has a clock: the tokens that may still come before a deadline of zero. So a
// token moves the clock and leaves the stacks as they are.
//
//     r[max_tokens=9] ::= "<" [a-z]* ">"    after the token `<a`: clock 8, the node of r with deadline 0
//
// Two questions, both about what follows a token:
//   may it end in time   If the bytes that the open rules need, each as a token, fit into what is left of their budgets
//                        (byte_distance.h), yes. Otherwise its ends in tokens decide (token_reach.h), followed from the
//                        item down its stack, those of each rule cut off at its deadline: exactly.
//   when is it near      From some clock on no token leads into danger, and the mask is that of the same configuration
//                        without deadlines. It is found once by a walk and kept. Farther away, what is known of the
//                        states is enough (farthest_landing.h), so that there a budget costs a comparison.
//
// A whole output may have its budget *by bounds*: then the first answer to the first question is the only one, and what
// needs more bytes than that is taken not to end in time. No search is made, whatever the grammar. The way behind the
// bound is always left, as its first token leads to where it is shorter; ways that are shorter still, by tokens across
// rules, are lost to the last tokens of an output: it does not count as complete where such a way alone has led to the
// end.
//
// Remembered text counts again where it is recalled. What is known of it is a literal there; of a text in progress, a
// search looks at every text that it may become, so where these are many (many_texts.h), outputs go by bounds. So do
// those with lists of distinct elements, whose bounds know the elements that a list has (new_elements.h), but only near
// the end (unknown_texts.h). Where values are compared whatever their spelling, bounds never know them, and the last
// tokens of such a value may be such that no bound suffices behind them (value_budgets.h).
//
// Budgets *by promises* know no more of a deferred subgrammar than in how many bytes it can end at most (deferred.h),
// so that 128 tools need not be compiled to see that 1,000 tokens are enough for any of them. They answer only what is
// far from the end, `far_clock` and `enough_tokens`; whoever is told that it is not asks the others, which need them
// all.
//
// Nothing here looks at how a configuration was reached. Thread-safe; the lock is taken near the end only, or when a
// configuration is new. Tested by tests/exhaustive/test_token_budgets.py,
// test_remembered_budgets.py, test_distinct_budgets.py.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "budget/byte_distance.h"
#include "budget/farthest_landing.h"
#include "budget/token_reach.h"
#include "budget/value_budgets.h"
#include "masks/masks.h"
#include "recognizer/recognizer.h"

namespace maskwright {

class TokenBudgets {
 public:
  static constexpr int64_t kNeverSafe = INT64_MAX;

  // `held_bytes`: where it says what it keeps. `by_promises`: as above.
  // `compares_values`: some list has values that are compared whatever their spelling.
  TokenBudgets(const Vocabulary& vocabulary, const StackStore& stacks, bool compares_values,
               std::atomic<size_t>& held_bytes, bool by_promises = false)
      : vocabulary_(vocabulary),
        stacks_(stacks),
        compares_values_(compares_values),
        held_bytes_(held_bytes),
        bytes_(vocabulary, ByteDistances::Bound::Enough, by_promises),
        at_least_(vocabulary, ByteDistances::Bound::AtLeast),
        reach_(vocabulary, bytes_, at_least_),
        landing_(vocabulary, bytes_),
        values_(vocabulary, bytes_) {}

  // Takes out the items from which some open rule cannot end in time.
  void keep_viable(std::vector<Item>& items, int64_t clock);
  // The least clock from which on every token that the items take leaves all open rules time enough. `doubts`: some of
  // what follows a token may not be there, as texts of lists are not known (unknown_texts.h).
  int64_t safe_clock(std::span<const Item> items, bool doubts);
  // The same or a greater one, mostly found without a walk (farthest_landing.h). Precondition: no text is remembered,
  // and no rule has a budget.
  int64_t far_clock(std::span<const Item> items);
  // What they allow at any clock. `complete`: the output may end before the token. `text`: of the values that the items
  // are in. Throws LimitExceeded where values are compared and no way to an end in time is found.
  std::unique_ptr<ConfigMask> mask(std::span<const Item> items, bool complete, int64_t clock, CellId text);
  // Whether a token of this text may come there, though bounds do not suffice behind it (value_budgets.h).
  bool is_sure(std::span<const Item> items, bool complete, int64_t clock, CellId text, std::string_view token);
  // The fewest tokens of a whole text from the item on, which stands on the root stack; kAnyTokens if there is none.
  uint32_t least_tokens(const Item& item);
  // A bound from below on the same, by what was found in searches so far.
  uint32_t at_least_tokens(const Item& item);
  // As many tokens as some such text takes: not the fewest, but what is asked first whenever there is a budget.
  uint32_t enough_tokens(const Item& item);
  // Whether some bound found so far rests on estimates (byte_distance.h).
  bool has_estimates() {
    const std::lock_guard guard(lock_);
    return bytes_.has_estimates();
  }

 private:
  class MaskSink;
  class SafetySink;
  // What stands on a stack may end after n bytes if this is at most the clock less n.
  static constexpr int64_t kFree = INT64_MIN / 2, kNever = INT64_MAX / 2;
  static int64_t sum(uint32_t bytes, int64_t tightness);
  int64_t tightness(const Recognizer& view, StackId stack);
  int64_t after_deadlines(std::span<const Item> items, int64_t needed) const;
  int64_t needed_clock(const Recognizer& view, const Item& item, int64_t clock, uint32_t more);
  uint32_t longest_of(CharClasses classes);
  bool has_enough(const Recognizer& view, const Item& item, int64_t clock, uint32_t more);
  bool is_viable(const Recognizer& view, const Item& item, int64_t clock);
  bool search(const Recognizer& view, const Item& item, int64_t clock);
  std::optional<bool> ends_within(const Recognizer& view, const Item& item, uint32_t tokens, int64_t clock);
  bool lands_in_time(const Place& place, uint32_t tokens, int64_t below, int64_t clock);
  TokenEnds after(const Place& place, const TokenEnds& before, uint32_t most);
  uint32_t most_on(const Recognizer& view, StackId stack, int64_t clock);
  int64_t deadline(const Recognizer& view, StackId stack);
  const std::optional<std::string>& sure_token(std::span<const Item> items, bool complete, int64_t clock, CellId text);
  template <class Sink>
  void walk(Recognizer& recognizer, Sink& sink);
  void account();

  const Vocabulary& vocabulary_;
  const StackStore& stacks_;
  const bool compares_values_;
  std::atomic<size_t>& held_bytes_;
  std::mutex lock_;
  ByteDistances bytes_, at_least_;
  TokenReach reach_;
  FarthestLanding landing_;
  ValueBudgets values_;
  // The last one asked for: that of a mask, as a rule, which is then accepted.
  struct SureToken {
    const Item* items = nullptr;
    int64_t clock = 0;
    CellId text = kNoCell;
    std::optional<std::string> token = {};
  } sure_;
  Recognizer recognizer_;
  bool by_bounds_ = false;  // for the items in question
  std::unordered_map<StackId, int64_t> tightness_;
  std::unordered_map<CharClasses, uint32_t> longest_of_;
  struct ItemAtClock {
    Item item;
    int64_t clock;
    bool operator==(const ItemAtClock&) const = default;
  };
  struct ItemAtClockHash {
    size_t operator()(const ItemAtClock& at) const {
      return mix(mix(mix(reinterpret_cast<uintptr_t>(at.item.state), at.item.reg), at.item.stack),
                 static_cast<uint64_t>(at.clock));
    }
  };
  std::unordered_map<ItemAtClock, bool, ItemAtClockHash> verdicts_;
};

}  // namespace maskwright
