// Drafted tokens of one sequence, a line or a tree of them, followed without moving the matcher.
//
// A tree is given as speculative decoders keep it: for each node its first child and its next sibling, or -1. Node 0 is
// where the matcher stands, and its token is not looked at; any other node is where its token leads from its parent:
//
//   nodes        0 ── 1 "a" ── 3 "b"        first_child   1  3 -1 -1
//                  └─ 2 "c"                 next_sibling -1  2 -1 -1
//
// A node lives if its token is allowed at its parent and the parent lives. Rows of the others are zero.
// A line of n tokens is the tree whose node i is the only child of node i - 1. Cost: a step per node, and a mask per
// node that lives. Tested by tests/contract/test_drafts.py.
#pragma once

#include <span>
#include <vector>

#include "engine/fill_queue.h"
#include "engine/matcher.h"

namespace maskwright {

class Draft {
 public:
  // Throws InvalidDraft if the arrays do not describe a tree: lengths that differ, indices that do not exist, a node
  // with two parents.
  void set_tree(std::span<const int64_t> first_child, std::span<const int64_t> next_sibling,
                std::span<const int64_t> tokens);
  void set_line(std::span<const TokenId> tokens);
  // Finds where the nodes lead. Throws OutOfTime past the deadline, if there is one. With `look_ups_only` it stops,
  // returning false, where something has to be computed; the next call goes on from there.
  bool follow(Matcher& matcher, bool look_ups_only, Deadline deadline = std::nullopt);
  // Fills row i, `words_per_row` words from the last, for every node i. Precondition: followed, to the end.
  void add_rows(Matcher& matcher, uint32_t* rows, size_t words_per_row, size_t sequence, FillQueue& queue) const;
  size_t num_nodes() const { return nodes_.size(); }
  size_t num_living() const { return num_living_; }
  // At the point of a node; nothing where it does not live.
  std::optional<double> temperature(const Matcher& matcher, size_t node) const {
    return nodes_[node].lives ? matcher.temperature(nodes_[node].point) : std::nullopt;
  }

 private:
  struct Node {
    TokenId token;
    uint32_t parent;
    bool lives;
    Matcher::Point point;
  };
  void start(size_t num_nodes);
  std::vector<Node> nodes_;
  std::vector<uint32_t> order_;  // of the nodes that hang on node 0, parents first
  size_t num_followed_ = 0;
  size_t num_living_ = 0;
};

}  // namespace maskwright
