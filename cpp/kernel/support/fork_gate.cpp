#include "support/fork_gate.h"

#include <condition_variable>
#include <mutex>
#include <new>

#if !defined(_WIN32) && __has_include(<pthread.h>)
#include <pthread.h>
#define MASKWRIGHT_FORKS
#endif

namespace maskwright {
namespace {

struct Gate {
  std::mutex lock;
  std::condition_variable changed;
  unsigned inside = 0;
  bool closed = false;
};

// Never destroyed: threads may be inside when the process ends.
Gate& gate() {
  static Gate& only = *new Gate;
  return only;
}

void close_gate() {
  std::unique_lock guard(gate().lock);
  gate().changed.wait(guard, [] { return !gate().closed; });  // another fork
  gate().closed = true;
  gate().changed.wait(guard, [] { return gate().inside == 0; });
}

void open_gate() {
  {
    const std::lock_guard guard(gate().lock);
    gate().closed = false;
  }
  gate().changed.notify_all();
}

// Only the forking thread lives on, and what it inherits of the others' waiting is void.
void renew_gate() {
  new (&gate()) Gate;
}

}  // namespace

void ForkGate::install() {
  gate();
#ifdef MASKWRIGHT_FORKS
  pthread_atfork(close_gate, open_gate, renew_gate);
#endif
}

ForkGate::ForkGate() {
  std::unique_lock guard(gate().lock);
  gate().changed.wait(guard, [] { return !gate().closed; });
  ++gate().inside;
}

ForkGate::~ForkGate() {
  bool last;
  {
    const std::lock_guard guard(gate().lock);
    last = --gate().inside == 0 && gate().closed;
  }
  if (last) gate().changed.notify_all();
}

}  // namespace maskwright
