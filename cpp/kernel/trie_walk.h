// The hot loop: which tokens can follow, by walking the vocabulary trie with a recogniser.
//
// The recogniser stands at a node; each child whose byte it accepts is entered. A subtree that holds only characters on
// which the configuration loops is taken as one range of tokens without descending. docs/mask.md derives it step by step.
#pragma once

#include <vector>

#include "recognizer.h"
#include "vocabulary.h"

namespace maskwright {

inline constexpr uint32_t kManyChildren = 8;  // from here on, looking up the possible bytes first pays

// Reports every token at or below `node` that the recogniser can take whole to `sink.allow(begin, end)` (sorted positions),
// and every node at which the grammar may end to `sink.exit(node)`. Precondition: the recogniser has just accepted the byte of
// `node`. It is left as it was.
template <class Sink>
void walk(const Vocabulary& vocabulary, Recognizer& recognizer, NodeId node, Sink& sink) {
  struct Level {
    NodeId next, end;
    bool filtered;
    ByteSet bytes;
  };
  thread_local std::vector<Level> path;
  const size_t bottom = path.size();
  // Returns whether the node's children are to be visited.
  const auto arrive = [&](NodeId id) {
    const Vocabulary::Node& at = vocabulary.node(id);
    if (recognizer.complete()) sink.exit(id);
    if (at.num_children == 0) {
      sink.allow(at.token_begin, at.token_end);
      return false;
    }
    if (const CharClasses loops = recognizer.loop_classes(); loops && (vocabulary.char_classes(id) & ~loops) == 0) {
      sink.allow(at.token_begin, at.token_end);
      return false;
    }
    if (at.token_own_end > at.token_begin) sink.allow(at.token_begin, at.token_own_end);
    const bool filtered = at.num_children >= kManyChildren;
    path.push_back({at.first_child, at.first_child + at.num_children, filtered,
                    filtered ? recognizer.next_bytes() : ByteSet()});
    return true;
  };
  if (!arrive(node)) return;
  while (path.size() > bottom) {
    Level& level = path.back();
    if (level.next == level.end) {
      path.pop_back();
      if (path.size() > bottom) recognizer.pop();
      continue;
    }
    const NodeId child = level.next++;
    const uint8_t byte = vocabulary.byte(child);
    if (level.filtered && !level.bytes.test(byte)) continue;
    if (!recognizer.push(byte)) continue;
    if (!arrive(child)) recognizer.pop();
  }
}

}  // namespace maskwright
