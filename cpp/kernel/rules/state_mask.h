// What one automaton state allows while the stack below it is unknown.
//
// `allowed` are the tokens that can be taken whole without returning from the rule, or that end exactly as it returns.
// `exits` are the trie nodes at which the rule may end in the middle of a token: how such a token goes on depends on
// the caller. They are grouped by the byte that would come next, so that a caller which expects `,` looks at no other.
//
// Example: inside a JSON string of Llama-3's vocabulary 123,180 tokens are allowed whole, and the exits hold `",` and
// the like.
//
// A mask may be written as its differences from another one, its base (comparison.h): the bits and the exits of "any
// name" serve the hundred states of "any name but these" as well.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "support/ids.h"

namespace maskwright {

struct StateMask {
  std::vector<uint32_t> dense;  // a whole bitmask, or empty
  std::vector<TokenId> sparse;  // without bits, the allowed tokens; with a base, those that it does not allow
  uint32_t num_allowed = 0;

  const StateMask* base = nullptr;  // dense, without a base of its own; more of its tokens are left than removed
  std::vector<TokenId> removed;     // of the base's tokens, sorted

  struct ExitGroup {
    uint8_t byte;
    uint32_t end;  // of its nodes in `exit_nodes`; they begin where the previous group's end
  };
  std::vector<ExitGroup> exit_groups;
  std::vector<NodeId> exit_nodes;  // trie nodes whose last byte is the group's byte, their parent being the exit

  // Where the state loops and the rule may end after any character, the exits are not listed: they are the parents of
  // all nodes in [begin, end) that begin a character (of all nodes, if `raw`) and have min_chars to max_chars before
  // them.
  struct ExitRange {
    NodeId begin, end;
    uint16_t min_chars, max_chars;
    bool raw;
    bool operator==(const ExitRange&) const = default;
  };
  std::vector<ExitRange> exit_ranges;

  // With a base, its exits are this mask's, too, but for the listed ones that lie in these intervals: sorted, disjoint.
  using Intervals = std::vector<std::pair<NodeId, NodeId>>;
  Intervals removed_exits;

  // Its bits or its base's: nullptr if there are none.
  const std::vector<uint32_t>* bits() const { return base ? &base->dense : dense.empty() ? nullptr : &dense; }
  bool has_exits() const { return !exit_groups.empty() || !exit_ranges.empty() || (base && base->has_exits()); }

  size_t memory_bytes() const {
    return sizeof(*this) + dense.capacity() * 4 + (sparse.capacity() + removed.capacity()) * sizeof(TokenId) +
           exit_groups.capacity() * sizeof(ExitGroup) + exit_nodes.capacity() * sizeof(NodeId) +
           exit_ranges.capacity() * sizeof(ExitRange) + removed_exits.capacity() * sizeof(removed_exits[0]);
  }
};

}  // namespace maskwright
