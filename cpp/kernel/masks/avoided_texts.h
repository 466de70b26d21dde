// Where tokens would make an element of a list one of those before it.
//
// The set of what the element must not become (text_sets.h) is followed down the vocabulary's trie, so the cost is that
// of the nodes that both have. Most of these can be left out: as long as a string has no closing quote it can go on
// without end, so only nodes with a closing quote, and those on the way to one, need be looked at.
//
//     earlier elements "ab", "abc"; read so far: "a    the tokens `b"` and `bc"` are avoided; `bcd` is on no way to a
//     quote
//
// Tested by tests/exhaustive/test_distinct_texts.py.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "masks/collector.h"
#include "recognizer/text_sets.h"
#include "rules/state_mask.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

// Calls visit(node, set) for the nodes to which a set of texts leads, the root included: `set` is what lies below.
// Of what is below a node, only `enters(node, child)` is looked at.
template <class Find, class Enters, class Visit>
void follow_set(const Vocabulary& vocabulary, CellId avoided, Find&& cell, Enters&& enters, Visit&& visit) {
  std::vector<std::pair<NodeId, CellId>> open{{Vocabulary::kRoot, avoided}};
  while (!open.empty()) {
    const auto [node, set] = open.back();
    open.pop_back();
    visit(node, set);
    if (set == kAllTexts) continue;
    for (CellId branch = set; branch != kNoTexts; branch = cell(branch).parent) {
      if (cell(branch).size == 0) continue;
      const NodeId child = vocabulary.child(node, static_cast<uint8_t>(cell(branch).size - 1));
      if (child != 0 && enters(node, child)) open.emplace_back(child, cell(branch).value);
    }
  }
}

// Where no part of the set is ALL: calls used_up(node) for the topmost nodes at which all is in the set that an element
// can read from this state on.
template <class Find, class UsedUp>
void follow_set_of_kinds(const Vocabulary& vocabulary, DfaState& state, CellId avoided, Find&& cell, UsedUp&& used_up) {
  struct At {
    NodeId node;
    CellId set;
    DfaState* state;
  };
  std::vector<At> open{{Vocabulary::kRoot, avoided, &state}};
  while (!open.empty()) {
    const At at = open.back();
    open.pop_back();
    if (holds_rest(*at.state, at.set, cell)) {
      used_up(at.node);
      continue;
    }
    for (CellId branch = at.set; branch != kNoTexts; branch = cell(branch).parent) {
      if (cell(branch).size == 0 || cell(branch).size == kValuesKey) continue;
      const auto byte = static_cast<uint8_t>(cell(branch).size - 1);
      const NodeId child = vocabulary.child(at.node, byte);
      DfaState* next = child != Vocabulary::kRoot ? at.state->rule->next(*at.state, byte) : nullptr;
      if (next) open.push_back({child, cell(branch).value, next});
    }
  }
}

// A mask without some tokens. It holds as long as the one that it is made from.
StateMask without(const StateMask& mask, std::vector<TokenId> tokens);

// Whether infinitely many texts can be read from a state of an element's automaton, so that no set holds all of them.
// May be false even so.
bool reads_endlessly(DfaState& state);

// The nodes at which an element in some state may be one of those to avoid, and those on the way to them.
class ElementEndings {
 public:
  // `exits` are nodes behind ends of the element at which something may follow, ascending.
  ElementEndings(const Vocabulary& vocabulary, DfaState& state, const std::vector<NodeId>& exits);
  // Of the many bytes that elements begin with, few also begin a token that ends one.
  bool contains(const Vocabulary& vocabulary, NodeId parent, NodeId node) const {
    if (!is_limited_) return true;
    if (parent == Vocabulary::kRoot) return first_.test(vocabulary.byte(node));
    return std::ranges::binary_search(nodes_, node) || lies_in(below_, node);
  }
  size_t memory_bytes() const { return nodes_.capacity() * sizeof(NodeId) + below_.capacity() * sizeof(below_[0]); }

 private:
  bool find(const Vocabulary& vocabulary, DfaState& state, const std::vector<NodeId>& exits);
  bool is_limited_ = false;
  ByteSet first_;              // of the nodes below the root
  std::vector<NodeId> nodes_;  // ascending
  StateMask::Intervals below_;
};

}  // namespace maskwright
