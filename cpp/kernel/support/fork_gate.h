// Makes fork wait for work in progress, so that a child never inherits a lock that nobody is left to open.
//
// Whatever may hold one of the kernel's locks while Python runs other threads passes the gate first. A fork closes it,
// waits until everybody is out, and opens it again in the parent and anew in the child.
// Tested by tests/contract/test_threads.py.
#pragma once

namespace maskwright {

class ForkGate {
 public:
  // To be called once, before any fork.
  static void install();
  ForkGate();
  ~ForkGate();
  ForkGate(const ForkGate&) = delete;
  ForkGate& operator=(const ForkGate&) = delete;
};

}  // namespace maskwright
