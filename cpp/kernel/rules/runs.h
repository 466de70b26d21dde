// Which characters keep a rule going, wherever within it they lead: over them, subtrees of the vocabulary are taken
// whole.
//
// A loop is the simplest case. Inside a JSON string in which a word is sought, letters lead from state to state,
// forwards and back, but all of them may come in any order; and in a host name's label some sixty may come, each to a
// state of its own. So the states that a state reaches by ever more kinds of characters are looked at, layer by layer,
// until they are all known, or until some character may not come that could before: a run is good for at most so many
// characters.
//
// What holds of a state holds of those that it reaches, less the characters on the way: they share the result.
//
// In a counted product whose items are characters, each character of ASCII is an item. There, a run also knows how many
// items the states on it may still need: where no more are left, it is no run. Where more have to come, it is one if
// the ways of all its states are steady.
//
// Cost: some microseconds, 0.3 ms at most, once for many states. Tested by tests/exhaustive,
// tests/kernel/test_large_vocabulary.py, tests/kernel/test_runs.py.
#pragma once

#include <atomic>
#include <optional>

#include "vocabulary/vocabulary.h"

namespace maskwright {

struct DfaState;

// Every string of at most `chars` characters, all of these classes, is a beginning of what the rule matches.
struct Run {
  CharClasses classes = 0;
  uint32_t chars = kManyChars;
  uint32_t items = 0;   // in a counted product: with as many left behind it, all of its states have a completion
  bool steady = false;  // and with any greater number still needed (lengths.h)
};

// Written once, by whoever comes first; read without a lock.
class KnownRun {
 public:
  std::optional<Run> get() const {
    return stage_.load(std::memory_order_acquire) == Stage::Known ? std::optional(run_) : std::nullopt;
  }
  void set(const Run& run) {
    Stage expected = Stage::Unknown;
    if (!stage_.compare_exchange_strong(expected, Stage::BeingWritten, std::memory_order_relaxed)) return;
    run_ = run;
    stage_.store(Stage::Known, std::memory_order_release);
  }

 private:
  enum class Stage : uint8_t { Unknown, BeingWritten, Known };
  Run run_;
  std::atomic<Stage> stage_{Stage::Unknown};
};

// The run from a state of a rule that does not count, or from between the items of a counted product: that of its loop,
// or a longer one, if it is known or to be sought.
Run run_from(DfaState& state, bool seeks);

}  // namespace maskwright
