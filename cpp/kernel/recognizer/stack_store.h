// Interned stacks: what a rule returns to.
//
// A stack node is an immutable set of frames, "go on in state `target` with register `reg` on stack `parent`". Nodes
// are identified by content, not by input position, so the stack inside the second element of an array is the one
// inside the first. Node 0 is the root: its single frame has no target and means that the grammar is done.
//
// A node that a rule with a span is called on (rule.h) has a mark, the rule, and, where the rule lies in so many tokens
// at most, a deadline: it must have ended before that many tokens from the zero of the configuration's clock on, see
// budget.h. As long as an item stands on the node, or on others above it, it is within that span.
//
// Node ids below kScratch live in a StackStore and are shared; ids from kScratch on live in one Recognizer and are
// imported when the configuration that holds them is kept. Source: graph-structured stacks (Tomita 1987), predicted
// items sharing one node as in Earley (1970).
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "recognizer/remembered.h"
#include "rules/rule.h"
#include "support/by_content.h"
#include "support/chunked_vector.h"
#include "support/ids.h"
#include "support/kept_arrays.h"

namespace maskwright {

struct Frame {
  DfaState* target = nullptr;  // nullptr: the end of the grammar
  uint64_t reg = 0;
  StackId parent = 0;
  bool operator==(const Frame&) const = default;
  auto operator<=>(const Frame&) const = default;
};

inline constexpr int64_t kNoDeadline = INT64_MAX;

struct StackMark {
  const Rule* rule = nullptr;
  int64_t deadline = kNoDeadline;
  bool by_bounds = false;  // of a whole output: what fits into the deadline is decided by bounds (budget.h)
  bool operator==(const StackMark&) const = default;
  explicit operator bool() const { return rule || deadline != kNoDeadline; }
};

inline constexpr StackId kRootStack = 0;
inline constexpr StackId kScratch = 0x80000000;

// Readers need no lock for ids they have learnt from a published configuration; `intern` is called under the owner's
// lock.
class StackStore {
 public:
  StackStore() { intern({{nullptr, 0, 0}}); }
  // A store of the root alone, for walks with the stack unknown.
  static const StackStore& root_only() {
    static const StackStore& store = *new StackStore;  // threads may still read it when the process ends
    return store;
  }
  std::span<const Frame> frames(StackId id) const {
    const Node& node = nodes_[id];
    return {node.frames, node.size};
  }
  const StackMark& mark(StackId id) const { return nodes_[id].mark; }
  // By when all rules that the node stands in must have ended, on the way down that leaves the most time; kNoDeadline
  // if one leaves any.
  int64_t deadline(StackId id) const { return nodes_[id].deadline; }
  // The earliest of them, on any way down.
  int64_t earliest_deadline(StackId id) const { return nodes_[id].earliest; }
  bool by_bounds(StackId id) const { return nodes_[id].by_bounds; }
  // Whether what stands on the node is part of a value that must be distinct.
  bool in_value(StackId id) const { return nodes_[id].in_value; }
  bool is_in_value(const Frame& frame) const {
    return frame.target && (frame.target->rule->is_value() || in_value(frame.parent));
  }
  // Of the innermost rules that have one, the highest; negative if none has. Says nothing of marks without a rule.
  double temperature(StackId id) const { return nodes_[id].temperature; }
  // Returns the node with exactly these frames. Precondition: sorted, without duplicates, not empty.
  StackId intern(const std::vector<Frame>& frames, const StackMark& mark = {}) {
    uint64_t h = frames.size();
    if (mark) h = mix(mix(h, reinterpret_cast<uintptr_t>(mark.rule)), static_cast<uint64_t>(mark.deadline));
    if (mark.by_bounds) h = mix(h, 1);
    for (const Frame& f : frames) h = mix(mix(mix(h, reinterpret_cast<uintptr_t>(f.target)), f.reg), f.parent);
    const StackId known = interned_.find(
        h, [&](StackId id) { return nodes_[id].mark == mark && std::ranges::equal(this->frames(id), frames); });
    if (known != interned_.kNone) return known;
    const uint32_t id = nodes_.reserve_one();
    Node& node = nodes_[id];
    node = {storage_.keep(frames), static_cast<uint32_t>(frames.size()), mark, INT64_MIN};
    for (const Frame& f : frames) {
      node.in_value = node.in_value || is_in_value(f);
      if (f.target) node.earliest = std::min(node.earliest, nodes_[f.parent].earliest);
      node.deadline = std::max(node.deadline, f.target ? nodes_[f.parent].deadline : kNoDeadline);
      if (f.target) node.temperature = std::max(node.temperature, nodes_[f.parent].temperature);
    }
    node.by_bounds = mark.by_bounds || nodes_[frames.front().parent].by_bounds;  // all ways down lead to one output
    node.deadline = std::min(node.deadline, mark.deadline);
    node.earliest = std::min(node.earliest, mark.deadline);
    if (mark.rule && mark.rule->span()->temperature >= 0) node.temperature = mark.rule->span()->temperature;
    nodes_.publish();
    interned_.add(h, id);
    return id;
  }
  // The stack with all deadlines so much later, or without any. `moved` knows others that were asked for. The owner's
  // lock is held.
  StackId with_deadlines(StackId id, std::optional<int64_t> later, std::unordered_map<StackId, StackId>& moved) {
    return rebuilt(id, moved, [later](std::vector<Frame>&, StackMark& mark) {
      if (mark.deadline != kNoDeadline) mark.deadline = later ? mark.deadline + *later : kNoDeadline;
      if (!later) mark = {};
    });
  }
  // The stack whose nodes are all changed in the same way, from the root up. `moved` knows others that were asked for.
  // The owner's lock is held.
  template <class Change>
  StackId rebuilt(StackId id, std::unordered_map<StackId, StackId>& moved, Change&& change) {
    std::vector<StackId> open{id};
    moved.try_emplace(kRootStack, kRootStack);
    while (!open.empty()) {
      const StackId at = open.back();
      if (moved.contains(at)) {
        open.pop_back();
        continue;
      }
      bool is_ready = true;
      for (const Frame& frame : frames(at))
        if (!moved.contains(frame.parent)) {
          open.push_back(frame.parent);
          is_ready = false;
        }
      if (!is_ready) continue;
      open.pop_back();
      std::vector<Frame> frames(this->frames(at).begin(), this->frames(at).end());
      StackMark mark = this->mark(at);
      for (Frame& frame : frames) frame.parent = moved[frame.parent];
      change(frames, mark);
      std::sort(frames.begin(), frames.end());
      frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
      moved[at] = intern(frames, mark);
    }
    return moved[id];
  }
  // What the registers of frames and items refer to in rules that have to do with remembered text.
  CellStore& cells() { return cells_; }
  const CellStore& cells() const { return cells_; }
  uint32_t size() const { return nodes_.size(); }
  size_t memory_bytes() const {
    return nodes_.memory_bytes() + storage_.memory_bytes() + interned_.memory_bytes() + cells_.memory_bytes();
  }

 private:
  struct Node {
    const Frame* frames = nullptr;
    uint32_t size = 0;
    StackMark mark;
    int64_t deadline = kNoDeadline;
    int64_t earliest = kNoDeadline;
    double temperature = -1;
    bool by_bounds = false;
    bool in_value = false;
  };
  CellStore cells_;
  ChunkedVector<Node> nodes_;
  KeptArrays<Frame> storage_;
  ByContent<StackId> interned_;
};

}  // namespace maskwright
