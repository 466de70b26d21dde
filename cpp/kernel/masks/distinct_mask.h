// Masks in lists whose elements all differ (text_sets.h), shared by sets of earlier elements.
//
// The mask of an item in such a list depends on the set of earlier elements, which is a new one after each element. But
// the set decides on few tokens. So for each state and place in the list there is kept what is allowed as long as no
// text of the set is in the way:
//   - what the element's state allows, and behind each exit of the element what its list goes on with. A text is in the
//     way where a token would make the element that text, or end it as that text;
//   - in tokens that begin another element, what comes before the place where that may be one of the earlier ones, or
//     can become nothing else. Such a place is *undecided*. What lies behind it is kept as well, and holds if no text
//     of the set, nor the one just read, begins as the new element does; else it is walked with the set.
// If no text is in the way, one mask serves all sets; else what is affected is left out or walked.
//
//     ["ab", "a    kept: `b`, `c`, `b"`, `",`, `","`, ... of which `b"` and `b",` are in the way of this set
//
// It holds only if each list has elements left whatever the one in progress becomes; otherwise each exit is followed
// with the set (followed_exits.h). Cost: where nothing is in the way, a look at the nodes that the set and the endings
// of the element have in common (avoided_texts.h). Tested by tests/exhaustive/test_distinct_texts.py; measured by
// benchmarks/bench_unique.py.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "masks/avoided_texts.h"
#include "masks/collector.h"
#include "masks/masks.h"
#include "recognizer/recognizer.h"

namespace maskwright {

class DistinctMasks {
 public:
  DistinctMasks(const Vocabulary& vocabulary, const StackStore& store);
  ~DistinctMasks();
  // Whether an item is in a list of distinct elements, or in an element, and the list is one of texts alone.
  bool concerns(const Item& item) const;
  // Of such an item: the mask of a configuration of nothing else, if no text is in the way; else
  // nullptr. It stays.
  const ConfigMask* shared(const Item& item, Recognizer& recognizer);
  // Reports what it allows to `sink`; returns false, and reports nothing, if that has to be found with the set. `made`
  // keeps what the sink refers to.
  bool allow(const Item& item, Recognizer& recognizer, std::deque<StateMask>& made, Collector& sink);
  size_t memory_bytes() const { return bytes_.load(std::memory_order_relaxed); }

  using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;  // of sorted positions of tokens
  static constexpr NodeId kNoExit = 0;
  // What is allowed behind an exit of the element, or, with kNoExit, before the element.
  struct Behind {
    NodeId exit_node;
    Ranges ranges;
  };
  struct Undecided {
    NodeId exit_node, node;
    std::string begun;  // of the new element, `node` included; empty if more than that decides
    Ranges ranges;      // at and below `node`, if no text is in the way
  };

 private:
  struct Place;
  struct Kept;
  struct InTheWay;
  using Key = std::pair<DfaState*, std::vector<Frame>>;

  Place place_of(const Item& item) const;
  const Kept& kept(const Place& place, Recognizer& recognizer);
  void find(const Place& place, Recognizer& recognizer, Kept& out) const;
  void find_before_element(const Item& list, Recognizer& recognizer, Kept& out) const;
  void find_behind_element(const std::vector<Frame>& frames, Recognizer& recognizer, Kept& out) const;
  bool go_to(const Undecided& at, const Item& item, std::span<const Frame> frames, uint64_t element_register,
             bool checks, Recognizer& recognizer) const;
  bool has_elements_left(const Place& place, const Kept& kept, Recognizer& recognizer) const;
  InTheWay in_the_way(const Place& place, const Kept& kept) const;
  bool is_clear(const Undecided& at, const Place& place) const;
  void report(const Place& place, const Kept& kept, const InTheWay& found, Recognizer& recognizer,
              std::deque<StateMask>& made, Collector& sink) const;
  const Cell& cell(CellId id) const { return store_.cells().cell(id); }

  const Vocabulary& vocabulary_;
  const StackStore& store_;
  std::mutex lock_;
  std::map<Key, std::unique_ptr<const Kept>> kept_;
  std::atomic<size_t> bytes_{0};
};

}  // namespace maskwright
