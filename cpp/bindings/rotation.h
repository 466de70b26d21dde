// Threads that compile work in rotation: of those that need the interpreter, one at a time has a go at it.
//
// All of them would take it from each other, every fifth of a millisecond, and a serving engine's loop, which wants it
// too, would wait for each in turn. So a thread that has compiled for kSlice makes way for the one that has waited
// longest, and meanwhile all others leave the interpreter alone.
//
//   if (!rotation().enter_at_once()) rotation().keep_place();   before the first work
//   rotation().keep_place();     every fifth of a millisecond; may wait for the others
//   rotation().leave();          before work that needs no interpreter, and after the last
//
// Nobody has to say that it is done: whoever was not heard of for kLapse is taken to be gone, or to wait for something
// itself, so that nothing can lie still. Waits without the GIL. After a fork the child has a new one.
// Tested by tests/support/test_interruption.py.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace maskwright {

class Rotation {
 public:
  // False if others are there. Waits for nothing.
  bool enter_at_once();
  // Returns whether it waited.
  bool keep_place();
  void leave();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kSlice{5}, kLapse{1};
  struct Thread {
    std::condition_variable changed;
    bool may_begin = false;
  };
  static Thread& self();
  bool is_free(Clock::time_point now) const { return !working_ || now - heard_ > kLapse; }
  void begin(Thread* thread, Clock::time_point now);
  void pass_on(Clock::time_point now);
  void wait(std::unique_lock<std::mutex>& guard, Thread& thread);

  std::mutex lock_;
  Thread* working_ = nullptr;  // compared only: the thread may be gone
  Clock::time_point since_, heard_;
  std::deque<Thread*> waiting_;
};

Rotation& rotation();

}  // namespace maskwright
