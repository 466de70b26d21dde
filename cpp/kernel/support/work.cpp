#include "support/work.h"

#include <string>

#include "support/errors.h"

namespace maskwright {

constinit thread_local size_t Work::left_ = Work::kUnlimited;

void Work::refuse() {
  throw LimitExceeded("work", "the grammar is too ambiguous or too large: one answer takes more than " +
                                  std::to_string(kMost / 1'000'000) + " million steps");
}

}  // namespace maskwright
