// Trie nodes that are alike: the same strings of bytes lead from them to tokens. What a recogniser reads behind one, it
// reads behind all.
//
// Of the nodes with a comma, `x",` and `y",` are leaves and alike, so that a string that may be left at each of a
// hundred such nodes is left at a handful.
//
// The trie's nodes from the leaves up, by hash: what makes the smallest automaton of a set of words. Only what is asked
// for is looked at, and nodes with much below them stand for themselves: they are few, and hardly ever alike.
// Cost: 0.1 us a node, once. Source: Revuz 1992. Tested by tests/exhaustive/test_token_budgets.py.
#pragma once

#include <unordered_map>

#include "support/by_content.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

class AlikeNodes {
 public:
  explicit AlikeNodes(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}
  // The one that stands for a node and all that are like it.
  NodeId standing_for(NodeId node);
  size_t num_known() const { return known_.size(); }

 private:
  NodeId classify(NodeId node);
  uint64_t hash(NodeId node) const;
  bool are_alike(NodeId a, NodeId b) const;
  bool is_token(NodeId node) const;

  const Vocabulary& vocabulary_;
  std::unordered_map<NodeId, NodeId> known_;
  ByContent<NodeId> standing_;
};

}  // namespace maskwright
