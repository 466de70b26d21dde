#include "masks/collector.h"

#include <algorithm>
#include <array>
#include <span>

namespace maskwright {
namespace {

ExitCollector::Intervals complement(const ExitCollector::Intervals& disjoint) {
  ExitCollector::Intervals out;
  NodeId position = 0;
  for (const auto& [begin, end] : disjoint) {
    if (position < begin) out.emplace_back(position, begin);
    position = end;
  }
  out.emplace_back(position, ~NodeId{0});
  return out;
}

auto first_ending_after(const StateMask::Intervals& disjoint, NodeId node) {
  return std::ranges::upper_bound(disjoint, node, {}, [](const auto& interval) { return interval.second; });
}

// Keeps of each token only the first occurrence.
void keep_first(std::vector<TokenId>& tokens, size_t num_words) {
  thread_local std::vector<uint32_t> seen_by_thread;  // all zero between calls
  if (seen_by_thread.size() < num_words) seen_by_thread.resize(num_words);
  uint32_t* const seen = seen_by_thread.data();
  std::erase_if(tokens, [&](TokenId token) {
    uint32_t& word = seen[static_cast<size_t>(token) / 32];
    const uint32_t bit = uint32_t{1} << (token % 32);
    if (word & bit) return true;
    word |= bit;
    return false;
  });
  for (const TokenId token : tokens) seen[static_cast<size_t>(token) / 32] = 0;
}

// Adds a mask's bits and takes out of what it adds the tokens that it removes.
void add_bits(std::vector<uint32_t>& out, const StateMask& mask) {
  std::vector<TokenId> not_to_add;
  for (const TokenId token : mask.removed)
    if (!has_bit(out, token)) not_to_add.push_back(token);
  const std::vector<uint32_t>& bits = *mask.bits();
  for (size_t w = 0; w < out.size(); ++w) out[w] |= bits[w];
  for (const TokenId token : not_to_add) clear_bit(out, token);
}

// Calls the functions with the nodes and the ranges that are a mask's exits.
template <class OnNode, class OnRange>
void for_each_exit(const StateMask& mask, OnNode&& on_node, OnRange&& on_range) {
  for (const NodeId node : mask.exit_nodes) on_node(node);
  for (const StateMask::ExitRange& range : mask.exit_ranges) on_range(range);
  if (!mask.base) return;
  for (const NodeId node : mask.base->exit_nodes)
    if (!lies_in(mask.removed_exits, node)) on_node(node);
  for (const StateMask::ExitRange& range : mask.base->exit_ranges) on_range(range);
}

}  // namespace

StateMask::Intervals merged(StateMask::Intervals intervals) {
  std::ranges::sort(intervals);
  StateMask::Intervals out;
  for (const auto& [begin, end] : intervals) {
    if (!out.empty() && begin <= out.back().second)
      out.back().second = std::max(out.back().second, end);
    else if (begin < end)
      out.emplace_back(begin, end);
  }
  return out;
}

bool lies_in(const StateMask::Intervals& disjoint, NodeId node) {
  const auto it = first_ending_after(disjoint, node);
  return it != disjoint.end() && it->first <= node;
}

// By plain arithmetic, which compilers turn into vector code; std::popcount is a call on the oldest x86-64.
uint32_t count_bits(const std::vector<uint32_t>& words) {
  uint32_t count = 0;
  for (uint32_t word : words) {
    word -= word >> 1 & 0x55555555;
    word = (word & 0x33333333) + (word >> 2 & 0x33333333);
    word = (word + (word >> 4)) & 0x0F0F0F0F;
    word += word >> 8;
    count += (word + (word >> 16)) & 0x3F;
  }
  return count;
}

size_t Collector::num_listed() const {
  size_t count = tokens_.size();
  for (const auto& [begin, end] : ranges_) count += end - begin;
  return count;
}

// Whether a token may have been reported twice. A single walk reports ascending ranges.
bool Collector::may_repeat() const {
  if (may_repeat_ || (!tokens_.empty() && !ranges_.empty())) return true;
  return !std::ranges::is_sorted(ranges_, {}, [](const auto& range) { return range.first; }) ||
         std::ranges::adjacent_find(ranges_, [](const auto& a, const auto& b) { return b.first < a.second; }) !=
             ranges_.end();
}

std::vector<TokenId> Collector::ids() {
  const bool repeats = may_repeat();
  std::vector<TokenId> out = std::move(tokens_);
  tokens_.clear();
  out.reserve(out.size() + num_listed());
  for (const auto& [begin, end] : ranges_)
    for (uint32_t p = begin; p < end; ++p) out.push_back(vocabulary_.sorted_token(p));
  ranges_.clear();
  if (repeats) keep_first(out, vocabulary_.num_words());
  return out;
}

void Collector::add_to(std::vector<uint32_t>& bits) const {
  for (const auto& [begin, end] : ranges_)
    for (uint32_t p = begin; p < end; ++p) set_bit(bits, vocabulary_.sorted_token(p));
  for (const TokenId token : tokens_) set_bit(bits, token);
}

std::vector<uint32_t> Collector::bits() {
  std::vector<uint32_t> out;
  if (is_listed() && 2 * num_listed() > vocabulary_.num_text_tokens()) {
    out = complement_of_gaps();
    for (const TokenId token : tokens_) set_bit(out, token);
    return out;
  }
  if (classes_ != 0)
    out = vocabulary_.tokens_of(classes_);
  else
    out.resize(vocabulary_.num_words());
  for (const StateMask* mask : dense_) add_bits(out, *mask);
  add_to(out);
  return out;
}

std::vector<uint32_t> Collector::complement_of_gaps() {
  std::vector<uint32_t> out = vocabulary_.text_tokens();
  std::sort(ranges_.begin(), ranges_.end());
  uint32_t position = 0;
  const auto clear_until = [&](uint32_t end) {
    for (; position < end; ++position) clear_bit(out, vocabulary_.sorted_token(position));
  };
  for (const auto& [begin, end] : ranges_) {
    clear_until(begin);
    position = std::max(position, end);
  }
  clear_until(vocabulary_.num_text_tokens());
  return out;
}

void ExitCollector::exit_all(const StateMask& mask) {
  for_each_exit(
      mask, [&](NodeId node) { nodes_.push_back(node); },
      [&](const StateMask::ExitRange& range) { exit_ranges_.push_back(range); });
}

void ExitCollector::exit_inside(const StateMask& mask, const Intervals& intervals) {
  const Intervals disjoint = merged(intervals);
  const auto on_node = [&](NodeId node) {
    if (lies_in(disjoint, node)) nodes_.push_back(node);
  };
  const auto on_range = [&](const StateMask::ExitRange& range) {
    for (auto it = first_ending_after(disjoint, range.begin); it != disjoint.end() && it->first < range.end; ++it) {
      StateMask::ExitRange part = range;
      part.begin = std::max(range.begin, it->first);
      part.end = std::min(range.end, it->second);
      exit_range(part);
    }
  };
  for_each_exit(mask, on_node, on_range);
}

void ExitCollector::exit_outside(const StateMask& mask, const Intervals& intervals) {
  exit_inside(mask, complement(merged(intervals)));
}

// Nodes come from a few walks, each of them ascending: dealt out by byte, most groups are sorted already.
void ExitCollector::store_exits(StateMask& mask) {
  mask.exit_ranges = std::move(exit_ranges_);
  if (nodes_.empty()) return;
  std::array<uint32_t, 257> begin{};
  for (const NodeId node : nodes_) ++begin[vocabulary_.byte(node) + 1];
  for (size_t byte = 0; byte < 256; ++byte) begin[byte + 1] += begin[byte];
  std::vector<NodeId>& sorted = mask.exit_nodes;
  sorted.resize(nodes_.size());
  for (std::array<uint32_t, 257> next = begin; const NodeId node : nodes_)
    sorted[next[vocabulary_.byte(node)]++] = node;
  uint32_t end = 0;
  for (size_t byte = 0; byte < 256; ++byte) {
    if (begin[byte] == begin[byte + 1]) continue;
    const std::span group(sorted.data() + begin[byte], begin[byte + 1] - begin[byte]);
    if (!std::ranges::is_sorted(group)) std::ranges::sort(group);
    const auto distinct = std::unique(group.begin(), group.end()) - group.begin();
    std::copy_n(group.begin(), distinct, sorted.begin() + end);
    end += static_cast<uint32_t>(distinct);
    mask.exit_groups.push_back({static_cast<uint8_t>(byte), end});
  }
  sorted.resize(end);
  nodes_.clear();
}

}  // namespace maskwright
