// Precomputation in slices, between which Python's signals are looked at. Deferred subgrammars come first: each costs
// as much as some ten masks, and an output that comes to one would wait for it.
#include <algorithm>
#include <chrono>

#include "py_matcher.h"

namespace maskwright {

PrecomputeReport run_within(double budget_us, const Program& program, Precomputation ahead) {
  using Clock = std::chrono::steady_clock;
  using Microseconds = std::chrono::duration<double, std::micro>;
  constexpr Microseconds kSlice(20'000);
  constexpr double kLongest = 3.6e9;  // an hour
  const auto begin = Clock::now();
  const Microseconds budget(std::clamp(budget_us, 0.0, kLongest));
  for (RuleGroup* deferred : program.deferred()) {
    if (Clock::now() - begin >= budget) break;
    supply(*deferred);
  }
  while (!ahead.is_done() && Clock::now() - begin < budget) {
    const auto slice_end = Clock::now() + kSlice;
    with_deferred([&] {
      const Unlocked unlocked;
      ahead.run([&] {
        const auto now = Clock::now();
        return now - begin >= budget || now >= slice_end;
      });
    });
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  const double elapsed_us = Microseconds(Clock::now() - begin).count();
  return {ahead.num_masks(), ahead.num_configs(), ahead.is_done(), elapsed_us};
}

}  // namespace maskwright
