// What Python's matchers hold, and the grammar that tells their captures.
#pragma once

#include <memory>

#include "../kernel/capture_tracker.h"
#include "bindings.h"

namespace maskwright {

struct PyMatcher {
  Matcher matcher;
  BitmaskReader bitmasks;
  std::unique_ptr<CaptureTracker> captures;  // once they are asked for
};

// A grammar linked with its captures as rules.
struct CaptureProgram {
  std::shared_ptr<const Program> program;
};

}  // namespace maskwright
