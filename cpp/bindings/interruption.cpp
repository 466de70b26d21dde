// The interpreter is handed over every fifth of a millisecond of work, rather than when another thread has asked for
// it in vain for 5 ms, which is what CPython does.
//
// Letting go of the GIL and taking it again is not enough: the thread that waits for it is woken, and finds it taken.
// So who lets go has to lie still for as long as waking takes, but only if somebody waits, which CPython does not tell.
// The time does: letting go takes 0.1 us, from cold caches up to 1, and where there is somebody to wake, a system call
// more, 6 us on a virtual machine.
// Tested by tests/support/test_interruption.py.
//
// Nor may the garbage collector come in between: a full collection holds everything up for tens of milliseconds, and
// what is made while a grammar is compiled would set off one after the other, though it is freed by its reference
// counts and in no cycle. So the collector is off while a thread that compiles holds the GIL, and on whenever others
// have it. A collection that is due comes when they, or that thread later, make the next object.
#include "interruption.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "bindings.h"
#include "rotation.h"

namespace maskwright {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kTurn{200};
constexpr std::chrono::milliseconds kPause{5};
constexpr std::chrono::microseconds kWaking{20};  // to which the system adds some 50
constexpr int kWakingShare = 10;                  // of the quickest letting go: what takes longer has woken somebody,
constexpr std::chrono::nanoseconds kLeastWaking{800};  // if it is more than cold caches make of it

thread_local Clock::time_point turn_end;

// What a thread that compiles has done to the collector. With the GIL.
struct Compiling {
  unsigned depth = 0;
  bool has_paused = false;
};
thread_local Compiling compiling;
unsigned num_paused = 0;  // threads: more than one where the interpreter itself handed the GIL over meanwhile

#ifdef Py_GIL_DISABLED
constexpr bool kHasGil = false;  // nobody waits for anybody
#else
constexpr bool kHasGil = true;
#endif

void pause_collector() {
  if (!kHasGil || compiling.depth == 0 || compiling.has_paused || !PyGC_Disable()) return;
  compiling.has_paused = true;
  ++num_paused;
}

void resume_collector() {
  if (!compiling.has_paused) return;
  compiling.has_paused = false;
  --num_paused;
  PyGC_Enable();
}

void begin_compiling() {
  if (kHasGil && compiling.depth == 0 && !rotation().enter_at_once()) {
    const Released released;
    rotation().keep_place();
  }
  ++compiling.depth;
  pause_collector();
}

void end_compiling() {
  if (--compiling.depth > 0) return;
  resume_collector();
  rotation().leave();
}

// In a child of fork, where no other thread is left to switch the collector on again.
void renew_in_child() {
  if (num_paused > (compiling.has_paused ? 1U : 0U)) PyGC_Enable();
  num_paused = compiling.has_paused ? 1 : 0;
}

// Whether letting go took so long that somebody was woken.
bool has_woken(Clock::duration taken) {
  static std::atomic<Clock::rep> quickest{Clock::duration::max().count()};
  Clock::rep known = quickest.load(std::memory_order_relaxed);
  while (taken.count() < known && !quickest.compare_exchange_weak(known, taken.count(), std::memory_order_relaxed)) {
  }
  return taken > kLeastWaking && taken > kWakingShare * Clock::duration(std::min(known, taken.count()));
}

void hand_over() {
  if (!kHasGil) return;
  const auto begin = Clock::now();
  const Released released;
  const bool woken = has_woken(Clock::now() - begin);
  // Only those that compile: a serving engine's thread that makes the grammar of a tool does not wait for them.
  const bool has_waited = compiling.depth > 0 && rotation().keep_place();
  if (!has_waited && woken) std::this_thread::sleep_for(kWaking);
}

}  // namespace

void before_release() {
  resume_collector();
}

void after_release() {
  pause_collector();
}

void interrupt_checkpoint() {
  const auto now = Clock::now();
  if (now < turn_end) return;
  if (compiling.depth == 0 && now - turn_end > kPause) {  // it has just begun
    turn_end = now + kTurn;
    return;
  }
  hand_over();
  turn_end = Clock::now() + kTurn;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void bind_turns(nb::module_& m) {
  m.def("interrupt_checkpoint", &interrupt_checkpoint,
        "Lets other threads have the interpreter, if this one had it for long, and handlers of signals, which may "
        "raise.");
  m.def("begin_compiling", &begin_compiling,
        "From now on to `end_compiling` the collector lets this thread alone while it has the interpreter.");
  m.def("end_compiling", &end_compiling);
  m.def("renew_compiling_in_child", &renew_in_child, "To be called in a child of fork.");
}

}  // namespace maskwright
