// The exits of a state's mask, listed or in ranges (state_mask.h), by the byte that comes next.
#pragma once

#include <algorithm>
#include <vector>

#include "masks/collector.h"
#include "rules/state_mask.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

// Of the exits that a mask lists, but for those in some intervals.
template <class Enter, class Visit, class Leave>
void for_each_listed_exit(const StateMask& mask, const StateMask::Intervals& removed, const ByteSet& bytes,
                          Enter&& enter, Visit&& visit, Leave&& leave) {
  uint32_t begin = 0;
  for (const auto& [byte, end] : mask.exit_groups) {
    if (bytes.test(byte) && enter(byte)) {
      for (uint32_t i = begin; i < end; ++i)
        if (removed.empty() || !lies_in(removed, mask.exit_nodes[i])) visit(mask.exit_nodes[i]);
      leave();
    }
    begin = end;
  }
}

// Of those in ranges.
template <class Enter, class Visit, class Leave>
void for_each_exit_in_ranges(const Vocabulary& vocabulary, const StateMask& mask, const ByteSet& bytes, Enter&& enter,
                             Visit&& visit, Leave&& leave) {
  if (mask.exit_ranges.empty()) return;
  bytes.for_each([&](uint8_t byte) {
    if (!enter(byte)) return;
    const std::vector<NodeId>& nodes = vocabulary.nodes_with(byte);
    for (const auto& range : mask.exit_ranges) {
      if (is_continuation(byte) && !range.raw) continue;
      for (auto it = std::lower_bound(nodes.begin(), nodes.end(), range.begin); it != nodes.end() && *it < range.end;
           ++it) {
        const uint32_t before = vocabulary.num_chars(*it) - (is_continuation(byte) ? 0u : 1u);
        if (before >= range.min_chars && before <= range.max_chars) visit(*it);
      }
    }
    leave();
  });
}

// For each byte out of `bytes` that `enter` takes: the nodes with that byte before which the rule may end, and `leave`.
template <class Enter, class Visit, class Leave>
void for_each_exit(const Vocabulary& vocabulary, const StateMask& mask, const ByteSet& bytes, Enter&& enter,
                   Visit&& visit, Leave&& leave) {
  for_each_listed_exit(mask, {}, bytes, enter, visit, leave);
  for_each_exit_in_ranges(vocabulary, mask, bytes, enter, visit, leave);
  if (!mask.base) return;
  for_each_listed_exit(*mask.base, mask.removed_exits, bytes, enter, visit, leave);
  for_each_exit_in_ranges(vocabulary, *mask.base, bytes, enter, visit, leave);
}

}  // namespace maskwright
