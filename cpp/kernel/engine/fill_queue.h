// Rows of a bitmask to be filled: what is known is written at once, the rest is left for the threads.
//
//   FillQueue queue;
//   for (...) queue.add(matcher, row);
//   while (!queue.empty()) queue.run(max_threads);   // a caller from Python lets go of the GIL before
//
// Copying a known mask takes half a microsecond, less than handing it to another thread. Computing one takes
// microseconds to milliseconds; rows that need the same one wait for one thread to compute it. Warm, nothing is
// allocated. Tested by tests/contract/test_batch.py.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "engine/matcher.h"

namespace maskwright {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

inline bool is_past(const Deadline& deadline) {
  return deadline && std::chrono::steady_clock::now() >= *deadline;
}

class FillQueue {
 public:
  // Masks that are not begun by the deadline, if there is one, are an OutOfTime.
  void clear(Deadline deadline = std::nullopt);
  // The mask of where the matcher stands. `sequence` names it in errors.
  void add(Matcher& matcher, uint32_t* row, size_t sequence);
  // The mask of one of its points, which must stay valid until the queue has run.
  void add(Matcher& matcher, Matcher::Point point, uint32_t* row, size_t sequence);
  bool empty() const { return items_.empty(); }
  // Fills what is left, and returns the deferred subgrammars without which some rows stay left: to be supplied, and run
  // again. An error concerns one row only: it is thrown when all others are filled, the first one alone.
  std::vector<std::shared_ptr<RuleGroup>> run(unsigned max_threads);
  // Whether a row that was filled forbids any token.
  bool restricts() const { return restricts_; }

 private:
  struct Item {
    Matcher* matcher;
    std::optional<Matcher::Point> point;  // none: the matcher has to move to another engine first
    uint32_t* row;
    size_t sequence;
    bool restricts = false;
    std::shared_ptr<RuleGroup> needed = nullptr;
    std::exception_ptr error = nullptr;
  };
  static bool same_mask(const Item& a, const Item& b);
  void fill(Item& item) const noexcept;
  void throw_first_error();
  void fill_all(unsigned max_threads);
  std::vector<Item> items_;
  std::vector<size_t> leaders_;  // the first item of each mask, and where the last one's end
  std::vector<Item> failed_;
  bool restricts_ = false;
  Deadline deadline_;
};

}  // namespace maskwright
