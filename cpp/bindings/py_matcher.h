// A matcher as Python holds it, the grammar that tells its captures, and the guards around its use. Shared by the files
// that bind matchers.
#pragma once

#include <nanobind/stl/tuple.h>

#include <atomic>
#include <memory>
#include <tuple>
#include <vector>

#include "bindings.h"
#include "engine/capture_tracker.h"
#include "engine/matcher.h"

namespace maskwright {

struct PyMatcher {
  Matcher matcher;
  BitmaskReader bitmasks;
  std::unique_ptr<CaptureTracker> captures;  // once they are asked for
  std::atomic<bool> in_use{false};
};

// A grammar linked with its captures as rules.
struct CaptureProgram {
  std::shared_ptr<const Program> program;
};

// Holds a matcher, or a batch, for one call. A second one at the same time is refused rather than made to wait: it is a
// mistake of the caller's, and its answer would depend on who comes first.
class InUse {
 public:
  InUse(std::atomic<bool>& in_use, const char* what) : in_use_(in_use) {
    if (in_use_.exchange(true, std::memory_order_acquire))
      raise_error("MatcherError", std::string("the ") + what + " is in use by another thread",
                  "a matcher belongs to one thread at a time; fork() gives each thread its own");
  }
  explicit InUse(PyMatcher& self) : InUse(self.in_use, "matcher") {}
  ~InUse() { in_use_.store(false, std::memory_order_release); }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  std::atomic<bool>& in_use_;
};

// Goes back to the beginning. Precondition: the matcher is in use by the caller.
void reset_held(PyMatcher& self);

// Memory that a call needs and the next one of the thread uses again. A call within a call, which Python code may make
// while its arguments are read, gets its own.
template <class T>
class Borrowed {
 public:
  Borrowed() : held_(spare() ? std::move(spare()) : std::make_unique<T>()) {}
  ~Borrowed() { spare() = std::move(held_); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  T* operator->() { return held_.get(); }
  T& operator*() { return *held_; }

 private:
  static std::unique_ptr<T>& spare() {
    thread_local std::unique_ptr<T> spare;
    return spare;
  }
  std::unique_ptr<T> held_;
};

// Masks computed, configurations looked at, whether nothing is left, microseconds taken.
using PrecomputeReport = std::tuple<size_t, size_t, bool, double>;
// Does work of a Precomputation without the GIL, and makes a program's deferred subgrammars by turns, for at most so
// long. Ctrl-C ends it.
PrecomputeReport run_within(double budget_us, const Program& program, Precomputation ahead);

// Integers from a list or any iterable, an array or a CPU tensor of integers; an array of one integer is an integer.
// One too large for int64 comes out as the largest. Raises ArgumentError with the argument's name, or what the object
// raises.
void read_integers(const char* name, nb::handle object, std::vector<int64_t>& out);
// Ids that no vocabulary can have come out as -1.
TokenId as_token_id(int64_t number);
// The same as token ids.
void read_token_ids(const char* name, nb::handle object, std::vector<TokenId>& out);

}  // namespace maskwright
