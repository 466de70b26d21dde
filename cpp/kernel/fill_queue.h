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

#include <cstdint>
#include <exception>
#include <vector>

#include "matcher.h"

namespace maskwright {

class FillQueue {
 public:
  void clear();
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
  static void fill(Item& item) noexcept;
  void throw_first_error();
  void fill_all(unsigned max_threads);
  std::vector<Item> items_;
  std::vector<size_t> leaders_;  // the first item of each mask, and where the last one's end
  std::vector<Item> failed_;
  bool restricts_ = false;
};

}  // namespace maskwright
