// How much one answer may take: a bound in steps, not seconds, so that the same request ends in the same way on every
// machine.
//
// Some grammars read the same bytes in very many ways at once, and some automata are exponentially large. What may take
// long says what it does by `spend`, and past the bound a LimitExceeded ends the answer: nothing was changed by then
// but what is known. A step is an item moved, a frame returned to, a state of an operand looked at: some 20 ns each.
//
// The outermost scope on a thread begins to count; outside of all, nothing is counted. What is only tried, as the
// answer can be found without it, gets a share of what is left. Tested by tests/contract/test_limits.py,
// tests/contract/test_hostile.py.
#pragma once

#include <cstddef>
#include <cstdint>

namespace maskwright {

class Work {
 public:
  class Scope {
   public:
    Scope() : is_outermost_(left_ == kUnlimited) {
      if (is_outermost_) left_ = kMost;
    }
    Scope(const Scope&) = delete;
    ~Scope() {
      if (is_outermost_) left_ = kUnlimited;
    }

   private:
    const bool is_outermost_;
  };

  // No more than so many steps from here to the end of the scope. What runs out of them may be asked again with more.
  class Share {
   public:
    explicit Share(size_t steps) : before_(left_), given_(steps < left_ ? steps : left_) { left_ = given_; }
    Share(const Share&) = delete;
    ~Share() { left_ = before_ == kUnlimited ? kUnlimited : before_ - (given_ - left_); }

   private:
    const size_t before_, given_;
  };

  // Tells whether what has run out of steps, from here on, is large itself. Where others left it few, it may be asked
  // again with more.
  class Measure {
   public:
    Measure() : before_(left_) {}
    bool is_large() const { return before_ != kUnlimited && before_ - left_ >= kMost / 2; }

   private:
    const size_t before_;
  };

  // Whether so many steps may still be taken; they then count as taken.
  static bool afford(size_t steps) {
    if (left_ == kUnlimited) return true;
    left_ -= steps < left_ ? steps : left_;
    return left_ > 0;
  }
  static void spend(size_t steps) {
    if (!afford(steps)) refuse();
  }
  [[noreturn]] static void refuse();

 private:
  static constexpr size_t kMost = 15'000'000;
  static constexpr size_t kUnlimited = SIZE_MAX;
  static constinit thread_local size_t left_;
};

}  // namespace maskwright
