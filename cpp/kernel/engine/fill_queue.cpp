#include "engine/fill_queue.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "rules/instances/deferred.h"
#include "support/errors.h"
#include "support/thread_pool.h"

namespace maskwright {
namespace {

bool is_restricted(const Matcher& matcher, uint32_t num_allowed) {
  return num_allowed < matcher.grammar().vocabulary().vocab_size();
}

}  // namespace

void FillQueue::clear(Deadline deadline) {
  deadline_ = deadline;
  items_.clear();
  failed_.clear();
  restricts_ = false;
}

void FillQueue::add(Matcher& matcher, uint32_t* row, size_t sequence) {
  if (matcher.here_is_known())
    add(matcher, matcher.here(), row, sequence);
  else
    items_.push_back({&matcher, std::nullopt, row, sequence});
}

void FillQueue::add(Matcher& matcher, Matcher::Point point, uint32_t* row, size_t sequence) {
  if (matcher.mask_is_known(point))
    restricts_ |= is_restricted(matcher, matcher.fill(point, row));
  else
    items_.push_back({&matcher, point, row, sequence});
}

bool FillQueue::same_mask(const Item& a, const Item& b) {
  return a.point && b.point && a.matcher->engine() == b.matcher->engine() && a.point->config == b.point->config;
}

void FillQueue::fill(Item& item) const noexcept {
  try {
    if (is_past(deadline_)) throw OutOfTime();
    Matcher& matcher = *item.matcher;
    const Matcher::Point point = item.point ? *item.point : matcher.here();
    item.restricts = is_restricted(matcher, matcher.fill(point, item.row));
  } catch (GrammarNeeded& e) {
    item.needed = std::move(e.group);
  } catch (...) {
    item.error = std::current_exception();
  }
}

void FillQueue::fill_all(unsigned max_threads) {
  std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
    const auto key = [](const Item& item) {
      return std::tuple(item.matcher->engine(), item.point ? item.point->config : kNoConfig, item.sequence, item.row);
    };
    return key(a) < key(b);
  });
  leaders_.clear();
  for (size_t i = 0; i < items_.size(); ++i)
    if (i == 0 || !same_mask(items_[i - 1], items_[i])) leaders_.push_back(i);
  ThreadPool::shared().run(leaders_.size(), max_threads, [this](size_t k) { fill(items_[leaders_[k]]); });
  leaders_.push_back(items_.size());
  for (size_t k = 0; k + 1 < leaders_.size(); ++k) {
    const Item& leader = items_[leaders_[k]];
    for (size_t i = leaders_[k] + 1; i < leaders_[k + 1]; ++i) {
      items_[i].error = leader.error;
      items_[i].needed = leader.needed;
      if (!leader.error && !leader.needed) fill(items_[i]);
    }
  }
}

std::vector<std::shared_ptr<RuleGroup>> FillQueue::run(unsigned max_threads) {
  fill_all(max_threads);
  std::vector<std::shared_ptr<RuleGroup>> needed;
  for (Item& item : items_) {
    restricts_ |= item.restricts;
    if (item.needed && std::ranges::find(needed, item.needed) == needed.end()) needed.push_back(item.needed);
    if (item.error) failed_.push_back(std::move(item));
  }
  std::erase_if(items_, [](Item& item) { return std::exchange(item.needed, nullptr) == nullptr; });
  if (items_.empty()) throw_first_error();
  return needed;
}

void FillQueue::throw_first_error() {
  const auto first = std::ranges::min_element(failed_, {}, &Item::sequence);
  if (first == failed_.end()) return;
  const Item failed = std::move(*first);
  failed_.clear();
  try {
    std::rethrow_exception(failed.error);
  } catch (const LimitExceeded& e) {
    throw LimitExceeded(e.limit, "sequence " + std::to_string(failed.sequence) + ": " + e.what());
  }
}

}  // namespace maskwright
