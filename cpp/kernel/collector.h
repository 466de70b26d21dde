// What walks of the trie report to: allowed tokens as ranges of sorted positions, single tokens and other masks' bits;
// and, for a state's mask, the exits.
//
// Most walks allow a few ranges or nearly everything, so ranges are kept as such until the mask is written: as a list
// of ids, or as bits, where a mask of most tokens is written as the complement of what is missing.
// Tested by tests/exhaustive.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "recognizer.h"
#include "state_mask.h"
#include "vocabulary.h"

namespace maskwright {

inline constexpr size_t kMaxSparse = 512;  // setting more single bits costs as much as copying a whole mask

inline void set_bit(std::vector<uint32_t>& words, TokenId token) {
  words[static_cast<size_t>(token) / 32] |= uint32_t{1} << (token % 32);
}
inline void clear_bit(std::vector<uint32_t>& words, TokenId token) {
  words[static_cast<size_t>(token) / 32] &= ~(uint32_t{1} << (token % 32));
}
uint32_t count_bits(const std::vector<uint32_t>& words);

class Collector {
 public:
  explicit Collector(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  // What walk_below (trie_walk.h) reports.
  void allow(uint32_t begin, uint32_t end) {
    if (begin == end) return;
    if (!ranges_.empty() && ranges_.back().second == begin)
      ranges_.back().second = end;
    else
      ranges_.emplace_back(begin, end);
  }
  void allow_short(uint32_t begin, uint32_t end, uint32_t limit) {
    for (uint32_t p = begin; p < end; ++p)
      if (vocabulary_.token_chars(p) <= limit) allow(p, p + 1);
  }
  bool skips(NodeId, const Recognizer&) const { return false; }
  void reject(NodeId) {}
  void exit(NodeId) {}
  void exit_range(const StateMask::ExitRange&) {}

  void allow_token(TokenId token) { tokens_.push_back(token); }
  void allow_all(const StateMask& mask) {
    if (!mask.dense.empty())
      dense_.push_back(&mask);
    else
      tokens_.insert(tokens_.end(), mask.sparse.begin(), mask.sparse.end());
  }

  // The dense masks among those taken over.
  const std::vector<const StateMask*>& dense() const { return dense_; }
  // How many tokens there are besides those of dense masks; some may count twice.
  size_t num_listed() const;
  // All but the dense masks, each token once, in any order.
  std::vector<TokenId> ids() const;
  // Everything, as bits.
  std::vector<uint32_t> bits();
  // Adds all but the dense masks.
  void add_to(std::vector<uint32_t>& bits) const;

 protected:
  const Vocabulary& vocabulary_;

 private:
  std::vector<uint32_t> complement_of_gaps();

  std::vector<std::pair<uint32_t, uint32_t>> ranges_;
  std::vector<TokenId> tokens_;
  std::vector<const StateMask*> dense_;
};

// A collector that also keeps where the rule may end: the nodes one byte further, by that byte.
class ExitCollector : public Collector {
 public:
  using Collector::Collector;
  void exit(NodeId node) {
    const Vocabulary::Node& at = vocabulary_.node(node);
    for (uint32_t i = 0; i < at.num_children; ++i) nodes_.push_back(at.first_child + i);
  }
  void exit_range(const StateMask::ExitRange& range) {
    if (!exit_ranges_.empty() && exit_ranges_.back().end == range.begin &&
        exit_ranges_.back().min_chars == range.min_chars && exit_ranges_.back().max_chars == range.max_chars &&
        exit_ranges_.back().raw == range.raw)
      exit_ranges_.back().end = range.end;
    else
      exit_ranges_.push_back(range);
  }
  // Takes over the exits of another mask: all, or those with nodes in one of some intervals, or in none of them.
  using Intervals = std::vector<std::pair<NodeId, NodeId>>;  // sorted; one may lie within another
  void exit_all(const StateMask& mask);
  void exit_inside(const StateMask& mask, const Intervals& intervals);
  void exit_outside(const StateMask& mask, const Intervals& intervals);

  void store_exits(StateMask& mask);

 private:
  std::vector<NodeId> nodes_;
  std::vector<StateMask::ExitRange> exit_ranges_;
};

}  // namespace maskwright
