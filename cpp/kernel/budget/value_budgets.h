// Budgets of outputs with values that must differ whatever their spelling: what an item needs, and a token that keeps
// what was promised where no bound can.
//
// Which values a list has is not looked at as long as there are bytes enough for a way on which every value in progress
// differs from any others: one through a place where it can grow (byte_distance.h). Near the end that is too much. Then
// it is a *sure token* that may come: the first one on a way that is tried, with all that the lists have, to where
// bounds suffice again, mostly behind the bracket that closes the value.
//
//     [{"a": 1}, {"a": 1    4 tokens left: `}` would repeat a value, `, "` and a name are too long; sure: `0`
//
// A way goes by tokens that come nearer to an end, always the first of them; if that leads to a value that a list has,
// then behind a word that is put in before, the shortest that helps. As only the configuration decides, a sure token
// leads to where there is another one, a token later. It exists where the value can grow: as long as bounds suffice,
// their way is left, and after that, more words are left than any list has values. Where no place is known to grow, as
// in trees of few symbols, that is not certain: one or two bytes are put in wherever that leads to another value, and a
// list may have all of those.
//
// Cost: a step for each frame that was not met before. A sure token: some hundred bytes, tried with their distances; of
// a tree, some thousands. Not thread-safe. Tested by tests/exhaustive/test_value_budgets.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "budget/byte_distance.h"
#include "recognizer/recognizer.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

class ValueBudgets {
 public:
  static constexpr int64_t kNever = INT64_MAX / 2;
  ValueBudgets(const Vocabulary& vocabulary, ByteDistances& bytes) : vocabulary_(vocabulary), bytes_(bytes) {}

  // The clock at which an output is complete in time from the item on, whatever its lists have; kNever if there is no
  // such way.
  int64_t needed(const Recognizer& view, const Item& item);
  // The text of a token after which an output is complete in time, where the recogniser stands; nothing if bounds
  // suffice behind some other one.
  std::optional<std::string> sure_token(Recognizer& recognizer, int64_t clock);
  size_t memory_bytes() const;

 private:
  // What stands below: a stack, whether a value returns to it, and whether the value around must still differ, unless
  // it is the first of its list.
  struct Below {
    StackId stack;
    bool after_value;
    bool differs;
    bool operator==(const Below&) const = default;
  };
  struct BelowHash {
    size_t operator()(const Below& at) const {
      return mix(at.stack, (at.after_value ? 2U : 0U) + (at.differs ? 1U : 0U));
    }
  };
  using Known = std::unordered_map<Below, int64_t, BelowHash>;
  int64_t below(const Recognizer& view, const Below& at);
  int64_t nearest(const Recognizer& view, const Item& item);
  template <class Distance>
  static int64_t least(const Recognizer& recognizer, Distance&& distance);
  int64_t needed(const Recognizer& recognizer);
  int64_t nearest(const Recognizer& recognizer);
  std::optional<std::string> first_of_way(Recognizer& recognizer, int64_t clock);
  std::optional<std::string> first_of_detour(Recognizer& recognizer, int64_t clock, int detours);
  std::optional<std::string> nearer_token(Recognizer& recognizer, int64_t distance);
  std::optional<std::string> nearer_token(Recognizer& recognizer, int64_t distance, int most_choices);
  std::optional<std::string> first_of_word(Recognizer& recognizer, size_t length, int64_t clock);

  const Vocabulary& vocabulary_;
  ByteDistances& bytes_;
  Known below_;  // of stacks in the store
};

}  // namespace maskwright
