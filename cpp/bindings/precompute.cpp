// Precomputation in slices, between which Python's signals are looked at. Deferred subgrammars come first: each costs
// as much as some ten masks, and an output that comes to one would wait for it.
#include <algorithm>
#include <chrono>

#include "deferred.h"
#include "py_matcher.h"

namespace maskwright {

PrecomputeReport run_within(double budget_us, const Program& program, Precomputation ahead) {
  using Clock = std::chrono::steady_clock;
  using Microseconds = std::chrono::duration<double, std::micro>;
  constexpr Microseconds kSlice(20'000), kTurn(1'000);
  constexpr double kLongest = 3.6e9;  // an hour
  const auto begin = Clock::now();
  const Microseconds budget(std::clamp(budget_us, 0.0, kLongest));
  const auto is_over = [&](Clock::time_point turn_begin, Microseconds turn) {
    const auto now = Clock::now();
    return now - begin >= budget || now - turn_begin >= turn;
  };
  std::vector<RuleGroup*> missing = program.deferred();
  while (!(ahead.is_done() && missing.empty()) && Clock::now() - begin < budget) {
    const auto turn_begin = Clock::now();
    with_deferred([&] {
      const Unlocked unlocked;
      ahead.run([&] { return is_over(turn_begin, missing.empty() ? kSlice : kTurn); });
    });
    const auto supply_begin = Clock::now();
    while (!missing.empty() && !is_over(supply_begin, kTurn)) {
      supply(*missing.back());
      missing.pop_back();
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  const double elapsed_us = Microseconds(Clock::now() - begin).count();
  return {ahead.num_masks(), ahead.num_configs(), ahead.is_done() && missing.empty(), elapsed_us};
}

}  // namespace maskwright
