// The way to an end in a graph that is made as it is looked at: what seems nearest to an end goes on first.
//
// A node goes on only until one of its edges has led to a node that seems nearer; its other edges wait. Where the guess
// is good, a way of n nodes costs a few edges a node instead of whole rows of new nodes, and where there is no end,
// every edge is followed once, as by any search. The way found need not be a shortest one.
//
// Source: greedy best-first search (Pearl 1984), nodes expanded in part (Yoshizumi, Miura and Ishida 2000).
// Tested by tests/exhaustive/test_counted_products.py, tests/exhaustive/test_small_grammars.py.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "support/work.h"

namespace maskwright {

template <class Node, class Hash>
class BestFirst {
 public:
  enum class Outcome { Ended, Exhausted, TooMuch };
  // What a guess says of an end, and of a node that is known to lead to none. All others seem some steps away.
  static constexpr uint32_t kEnd = 0, kNever = 0xFFFFFFFF;

  explicit BestFirst(const Node& start) : slots_(64, kEmpty) {
    add(start, 0);
    open_.push({kNever, 0});
  }

  // Searches until an end is met, or nothing is left, or more than `most` nodes are; may be called again to go on.
  //   follow(node, edge, next)  sets where an edge leads; false if nowhere
  //   guess(node)               how far it seems from an end; asked once a node
  // Each edge counts as `steps` of work.
  template <class Follow, class Guess>
  Outcome run(uint32_t num_edges, size_t most, size_t steps, Follow&& follow, Guess&& guess) {
    Node next{};
    while (!open_.empty()) {
      if (visits_.size() > most) return Outcome::TooMuch;
      const auto [distance, index] = open_.top();
      open_.pop();
      for (uint32_t edge = visits_[index].next_edge; edge < num_edges; ++edge) {
        if (!Work::afford(steps)) {
          visits_[index].next_edge = edge;
          open_.push({distance, index});  // it has not been followed: nothing may seem exhausted later
          return Outcome::TooMuch;
        }
        if (!follow(visits_[index].node, edge, next) || !add(next, index)) continue;
        const auto added = static_cast<uint32_t>(visits_.size() - 1);
        const uint32_t away = guess(visits_[added].node);
        if (away == kNever) continue;
        if (away != kEnd) open_.push({away, added});
        if (away >= distance) continue;
        visits_[index].next_edge = edge + 1;
        open_.push({distance, index});
        if (away == kEnd) return Outcome::Ended;
        break;
      }
    }
    return Outcome::Exhausted;
  }

  // All nodes met, the start first.
  size_t num_visits() const { return visits_.size(); }
  const Node& node(size_t visit) const { return visits_[visit].node; }
  // After `Ended`: the nodes from the start to the end.
  std::vector<Node> path() const {
    std::vector<Node> out;
    for (size_t v = visits_.size() - 1; v != 0; v = visits_[v].predecessor) out.push_back(visits_[v].node);
    out.push_back(visits_[0].node);
    std::ranges::reverse(out);
    return out;
  }

 private:
  static constexpr uint32_t kEmpty = 0xFFFFFFFF;
  struct Visit {
    Node node;
    uint32_t predecessor, next_edge;
    uint64_t hash;
  };
  using Waiting = std::pair<uint32_t, uint32_t>;  // how far it seems; its visit

  // False if the node has been met before.
  bool add(const Node& node, uint32_t predecessor) {
    const uint64_t hash = hash_(node);
    size_t slot = hash & (slots_.size() - 1);
    for (; slots_[slot] != kEmpty; slot = (slot + 1) & (slots_.size() - 1)) {
      const Visit& other = visits_[slots_[slot]];
      if (other.hash == hash && other.node == node) return false;
    }
    slots_[slot] = static_cast<uint32_t>(visits_.size());
    visits_.push_back({node, predecessor, 0, hash});
    if (2 * visits_.size() > slots_.size()) grow();
    return true;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), kEmpty);
    for (uint32_t v = 0; v < visits_.size(); ++v) {
      size_t slot = visits_[v].hash & (slots_.size() - 1);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = v;
    }
  }

  Hash hash_;
  std::vector<Visit> visits_;
  std::vector<uint32_t> slots_;  // visits by the hash of their node: a table with open addressing
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> open_;
};

}  // namespace maskwright
