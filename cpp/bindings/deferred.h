// Supplies the grammars of deferred subgrammars (kernel/deferred.h), which Python makes: to work that stops for one and
// begins again, to queues of rows that do, and ahead of all work. With the GIL, and without any lock of the kernel's.
// Tested by tests/kernel/test_deferred.py.
#pragma once

#include <memory>
#include <utility>

#include "bindings.h"
#include "engine/fill_queue.h"
#include "rules/instances/deferred.h"

namespace maskwright {

// Makes the grammar of a deferred subgrammar, in Python, and supplies it, unless somebody did so before; of another
// group, all that it leads to.
void supply(RuleGroup& needed);

// Does some work, and again each time that it came to a deferred subgrammar, which is there by then.
template <class Work>
auto with_deferred(Work&& work) {
  while (true) {
    std::shared_ptr<RuleGroup> needed;
    try {
      return work();
    } catch (GrammarNeeded& e) {
      needed = std::move(e.group);
    }
    supply(*needed);
  }
}

// Runs a queue without the GIL, supplying what it needs. Throws what that throws; then the queue is empty.
void run_queue(FillQueue& queue, unsigned max_threads);

}  // namespace maskwright
