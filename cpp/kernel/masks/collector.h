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

#include "recognizer/recognizer.h"
#include "rules/state_mask.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

inline constexpr size_t kMaxSparse = 512;  // setting more single bits costs as much as copying a whole mask

inline void set_bit(std::vector<uint32_t>& words, TokenId token) {
  words[static_cast<size_t>(token) / 32] |= uint32_t{1} << (token % 32);
}
inline void clear_bit(std::vector<uint32_t>& words, TokenId token) {
  words[static_cast<size_t>(token) / 32] &= ~(uint32_t{1} << (token % 32));
}
inline bool has_bit(const std::vector<uint32_t>& words, TokenId token) {
  return (words[static_cast<size_t>(token) / 32] >> (token % 32) & 1) != 0;
}
uint32_t count_bits(const std::vector<uint32_t>& words);
// Intervals sorted and made disjoint.
StateMask::Intervals merged(StateMask::Intervals intervals);
bool lies_in(const StateMask::Intervals& disjoint, NodeId node);

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
  static constexpr bool kSeesRefused = false;
  void exit(NodeId) {}
  void exit_range(const StateMask::ExitRange&) {}

  void allow_token(TokenId token) {
    may_repeat_ = may_repeat_ || !tokens_.empty();
    tokens_.push_back(token);
  }
  // All tokens with characters of these classes only.
  void allow_classes(CharClasses classes) { classes_ |= classes; }
  void allow_all(const StateMask& mask) {
    if (mask.bits()) dense_.push_back(&mask);
    may_repeat_ = may_repeat_ || !tokens_.empty();
    tokens_.insert(tokens_.end(), mask.sparse.begin(), mask.sparse.end());
  }

  // The masks with bits among those taken over.
  const std::vector<const StateMask*>& dense() const { return dense_; }
  // Whether neither they nor classes are among what was reported.
  bool is_listed() const { return dense_.empty() && classes_ == 0; }
  // How many tokens there are besides those; some may count twice.
  size_t num_listed() const;
  // Takes out the tokens listed, each once, in any order.
  std::vector<TokenId> ids();
  // Everything, as bits.
  std::vector<uint32_t> bits();
  // Adds the tokens listed.
  void add_to(std::vector<uint32_t>& bits) const;

 protected:
  const Vocabulary& vocabulary_;

 private:
  std::vector<uint32_t> complement_of_gaps();
  bool may_repeat() const;

  std::vector<std::pair<uint32_t, uint32_t>> ranges_;
  std::vector<TokenId> tokens_;
  std::vector<const StateMask*> dense_;
  CharClasses classes_ = 0;
  bool may_repeat_ = false;  // single tokens come from several places
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
  using Intervals = StateMask::Intervals;  // here in any order, and one may lie within another
  void exit_all(const StateMask& mask);
  void exit_inside(const StateMask& mask, const Intervals& intervals);
  void exit_outside(const StateMask& mask, const Intervals& intervals);

  void store_exits(StateMask& mask);

 private:
  std::vector<NodeId> nodes_;
  std::vector<StateMask::ExitRange> exit_ranges_;
};

}  // namespace maskwright
