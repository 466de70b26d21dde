#include "rotation.h"

#include <new>

#if __has_include(<pthread.h>)
#include <pthread.h>
#endif

namespace maskwright {

Rotation& rotation() {
  static Rotation& only = []() -> Rotation& {
    auto& made = *new Rotation;  // never destroyed: threads may wait in it when the process ends
#if __has_include(<pthread.h>)
    pthread_atfork(nullptr, nullptr, [] { new (&rotation()) Rotation; });
#endif
    return made;
  }();
  return only;
}

Rotation::Thread& Rotation::self() {
  thread_local Thread thread;
  return thread;
}

bool Rotation::enter_at_once() {
  Thread& thread = self();
  const auto now = Clock::now();
  const std::lock_guard guard(lock_);
  if (!waiting_.empty() || !is_free(now)) return working_ == &thread;
  begin(&thread, now);
  return true;
}

bool Rotation::keep_place() {
  Thread& thread = self();
  const auto now = Clock::now();
  std::unique_lock guard(lock_);
  if (working_ == &thread) {
    heard_ = now;
    if (waiting_.empty() || now - since_ < kSlice) return false;
    pass_on(now);
  } else if (waiting_.empty() && is_free(now)) {
    begin(&thread, now);
    return false;
  }
  wait(guard, thread);
  return true;
}

void Rotation::leave() {
  const std::lock_guard guard(lock_);
  if (working_ != &self()) return;
  working_ = nullptr;
  if (!waiting_.empty()) pass_on(Clock::now());
}

void Rotation::begin(Thread* thread, Clock::time_point now) {
  working_ = thread;
  since_ = heard_ = now;
}

// Lets the first of those that wait begin.
void Rotation::pass_on(Clock::time_point now) {
  Thread* const next = waiting_.front();
  waiting_.pop_front();
  begin(next, now);
  next->may_begin = true;
  next->changed.notify_one();
  if (!waiting_.empty()) waiting_.front()->changed.notify_one();  // which is to watch from now on
}

void Rotation::wait(std::unique_lock<std::mutex>& guard, Thread& thread) {
  waiting_.push_back(&thread);
  thread.may_begin = false;
  while (!thread.may_begin) {
    const bool is_first = waiting_.front() == &thread;
    if (is_first && is_free(Clock::now())) {
      pass_on(Clock::now());
    } else if (is_first) {
      thread.changed.wait_for(guard, kLapse);
    } else {
      thread.changed.wait(guard);
    }
  }
}

}  // namespace maskwright
