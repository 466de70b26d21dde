// Interned stacks: what a rule returns to.
//
// A stack node is an immutable set of frames, "go on in state `target` with register `reg` on stack `parent`". Nodes
// are identified by content, not by input position, so the stack inside the second element of an array is the one
// inside the first. Node 0 is the root: its single frame has no target and means that the grammar is done.
//
// Node ids below kScratch live in a StackStore and are shared; ids from kScratch on live in one Recognizer and are
// imported when the configuration that holds them is kept. Source: graph-structured stacks (Tomita 1987), predicted
// items sharing one node as in Earley (1970).
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "chunked_vector.h"
#include "ids.h"
#include "rule.h"

namespace maskwright {

struct Frame {
  DfaState* target = nullptr;  // nullptr: the end of the grammar
  uint64_t reg = 0;
  StackId parent = 0;
  bool operator==(const Frame&) const = default;
  auto operator<=>(const Frame&) const = default;
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
  // Returns the node with exactly these frames. Precondition: sorted, without duplicates, not empty.
  StackId intern(const std::vector<Frame>& frames) {
    uint64_t h = frames.size();
    for (const Frame& f : frames) h = mix(mix(mix(h, reinterpret_cast<uintptr_t>(f.target)), f.reg), f.parent);
    const auto [first, last] = interned_.equal_range(h);
    for (auto it = first; it != last; ++it)
      if (std::ranges::equal(this->frames(it->second), frames)) return it->second;
    const uint32_t id = nodes_.reserve_one();
    storage_.push_back(std::make_unique<Frame[]>(frames.size()));
    std::ranges::copy(frames, storage_.back().get());
    nodes_[id] = {storage_.back().get(), static_cast<uint32_t>(frames.size())};
    nodes_.publish();
    interned_.emplace(h, id);
    frame_bytes_ += frames.size() * sizeof(Frame) + 64;
    return id;
  }
  uint32_t size() const { return nodes_.size(); }
  size_t memory_bytes() const { return nodes_.memory_bytes() + frame_bytes_; }

 private:
  struct Node {
    const Frame* frames = nullptr;
    uint32_t size = 0;
  };
  ChunkedVector<Node> nodes_;
  std::vector<std::unique_ptr<Frame[]>> storage_;
  std::unordered_multimap<uint64_t, StackId> interned_;
  size_t frame_bytes_ = 0;
};

}  // namespace maskwright
