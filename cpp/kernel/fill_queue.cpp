#include "fill_queue.h"

#include <string>

#include "errors.h"
#include "thread_pool.h"

namespace maskwright {
namespace {

bool is_restricted(const Matcher& matcher, uint32_t num_allowed) {
  return num_allowed < matcher.grammar().vocabulary().vocab_size();
}

}  // namespace

void FillQueue::clear() {
  items_.clear();
  restricts_ = false;
}

void FillQueue::add(Matcher& matcher, uint32_t* row, size_t sequence) {
  if (matcher.mask_is_known())
    restricts_ |= is_restricted(matcher, matcher.fill(row));
  else
    items_.push_back({&matcher, {}, false, row, sequence});
}

void FillQueue::add(Matcher& matcher, Matcher::Point point, uint32_t* row, size_t sequence) {
  if (matcher.mask_is_known(point))
    restricts_ |= is_restricted(matcher, matcher.fill(point, row));
  else
    items_.push_back({&matcher, point, true, row, sequence});
}

void FillQueue::fill(Item& item) noexcept {
  try {
    Matcher& matcher = *item.matcher;
    item.restricts =
        is_restricted(matcher, item.at_point ? matcher.fill(item.point, item.row) : matcher.fill(item.row));
  } catch (...) {
    item.error = std::current_exception();
  }
}

void FillQueue::run(unsigned max_threads) {
  ThreadPool::shared().run(items_.size(), max_threads, [this](size_t i) { fill(items_[i]); });
  for (const Item& item : items_) restricts_ |= item.restricts;
  for (const Item& item : items_) {
    if (!item.error) continue;
    try {
      std::rethrow_exception(item.error);
    } catch (const LimitExceeded& e) {
      throw LimitExceeded(e.limit, "sequence " + std::to_string(item.sequence) + ": " + e.what());
    }
  }
}

}  // namespace maskwright
