// The hot loop: which tokens can follow, by walking the vocabulary trie with a recogniser.
//
// The recogniser stands at a node; each child whose byte it accepts is entered. Where the configuration loops (inside a
// string, say), a child below which there are only characters that keep it there is taken as one range of tokens,
// without a step of the recogniser. docs/mask.md derives it step by step.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "recognizer/recognizer.h"
#include "support/compiler_hints.h"
#include "support/optimisations.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

inline constexpr uint32_t kManyChildren = 8;   // from here on, looking up the possible bytes first pays
inline constexpr uint32_t kManyTokens = 8192;  // to walk through which takes longer than to seek a run
inline constexpr int kPickedShare = 4;  // with so many times fewer possible bytes than children, those are sought

// A configuration that characters of certain classes leave as it is, but for counting; or leave in the same rule, at
// least.
struct Loop {
  CharClasses classes = 0;      // 0: it does not loop
  bool ends = false;            // the rule may end in it, from `first_end` characters on
  uint32_t first_end = 0;       // these counted from the trie's root
  uint32_t limit = kManyChars;  // characters that may come at all
  uint32_t known = kManyChars;  // characters of which it is known that they may come, if they may
};

// Whether a state with these bytes may loop on some class of the commonest characters: digits, letters or the space.
// Asking the automaton itself makes states.
inline bool may_loop(const ByteSet& live) {
  constexpr uint64_t kSpace = uint64_t{1} << ' ', kDigits = uint64_t{0x3FF} << '0', kUpper = 0x7E,
                     kLower = kUpper << 32;
  const uint64_t low = live.word(0), high = live.word(1);
  return (low & kSpace) != 0 || (low & kDigits) == kDigits || (high & kUpper) == kUpper || (high & kLower) == kLower;
}

// Below it there are so many tokens that a run is worth seeking.
inline bool is_large(const Vocabulary& vocabulary, NodeId at) {
  const Vocabulary::Node& below = vocabulary.node(at);
  return below.token_end - below.token_begin >= kManyTokens;
}

// Where several items are open, one that loops suffices: what the others do with the same characters adds nothing.
inline Loop find_uncounted_loop(const Vocabulary& vocabulary, const Recognizer& recognizer, NodeId at) {
  const bool seeks = is_large(vocabulary, at);
  Run longest;
  for (const Item& item : recognizer.items()) {
    DfaState& state = *item.state;
    if (state.counter_head || !may_loop(state.live) || Recognizer::avoids(item)) continue;
    const Run run = state.rule->counts() ? Run{state.rule->loop_classes(state)} : run_from(state, seeks);
    if (std::popcount(run.classes) > std::popcount(longest.classes)) longest = run;
  }
  Loop loop{.classes = longest.classes};
  if (longest.chars != kManyChars) loop.known = vocabulary.num_chars(at) + longest.chars;
  return loop;
}

// The run between the items of a counted product, if it is of more characters than its loop; a longer token is walked.
inline std::optional<Loop> find_counted_run(const Vocabulary& vocabulary, DfaState& state, Count count, NodeId at) {
  if (!state.bounded || !may_loop(state.live)) return std::nullopt;
  const Run run = run_from(state, is_large(vocabulary, at));
  if (count.needed > 0 && !run.steady) return std::nullopt;
  const CharClasses own = state.rule->loop_classes(state);
  if ((own & ~run.classes) != 0 || own == run.classes) return std::nullopt;
  uint32_t chars = run.chars;
  if (count.remaining != Count::kUnlimited)
    chars = std::min(chars, count.remaining > run.items ? count.remaining - run.items : 0);
  return Loop{.classes = run.classes, .known = std::min<uint32_t>(vocabulary.num_chars(at) + chars, kManyChars)};
}

inline Loop find_loop(const Vocabulary& vocabulary, const Recognizer& recognizer, NodeId at) {
  if (!optimisations.subtree_skipping) return {};
  const Item* item = recognizer.sole_item();
  if (!item || !item->state->counter_head) return find_uncounted_loop(vocabulary, recognizer, at);
  DfaState& state = *item->state;
  const Count count = Count::of(item->reg);
  if (const auto run = find_counted_run(vocabulary, state, count, at)) return *run;
  Loop loop;
  loop.classes = state.rule->loop_classes(state);
  if (loop.classes == 0) return loop;
  loop.first_end = vocabulary.num_chars(at);
  const uint64_t first_end = uint64_t{loop.first_end} + count.needed;
  const bool open_ended = state.rule->terminator() < 0;
  // Deep inside, the end of the count would add the caller's items, and the configuration change.
  if (open_ended && count.needed > 0 && item->stack != kRootStack && first_end <= vocabulary.max_chars_below(at))
    return {};
  loop.ends = open_ended && (item->stack == kRootStack || recognizer.complete());
  loop.first_end = static_cast<uint32_t>(std::min<uint64_t>(first_end, kManyChars));
  if (count.remaining != Count::kUnlimited) {
    const uint32_t spare = state.bounded
                               ? state.rule->lengths()->spare(state, count.remaining, vocabulary.max_token_length())
                               : count.remaining;
    loop.limit = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{vocabulary.num_chars(at)} + spare, kManyChars));
  }
  return loop;
}

// Takes all tokens at or below a child of the place where the loop was found. Its characters are all the loop's.
// Where all tokens are taken whole, it does not matter where the rule could have ended within them.
template <class Sink>
void take_looping(const Vocabulary& vocabulary, const Loop& loop, NodeId child, Sink& sink) {
  const Vocabulary::Node& at = vocabulary.node(child);
  const uint32_t longest = vocabulary.max_chars_below(child);
  if (longest <= loop.limit) {
    sink.allow(at.token_begin, at.token_end);
    return;
  }
  sink.allow_short(at.token_begin, at.token_end, loop.limit);
  if (loop.ends && at.num_children > 0 && loop.first_end <= longest)
    sink.exit_range({at.first_child, at.below_end, static_cast<uint16_t>(loop.first_end),
                     static_cast<uint16_t>(loop.limit), (loop.classes >> kClassMalformed & 1) != 0});
}

// Where a walk stands: at a node, with some of its children still to be looked at.
struct WalkLevel {
  NodeId next, end;  // its children; or, if `picked`, the node itself and nothing
  bool filtered;     // only children with these bytes can be entered
  bool picked;       // children are found by these bytes, which are taken out one by one
  ByteSet bytes;
  Loop loop;
};

// Not inlined, or the loop below would look it up at every use.
MASKWRIGHT_NOINLINE inline std::vector<WalkLevel>& path_of_thread() {
  thread_local std::vector<WalkLevel> path;
  return path;
}

// What is below a node, the recogniser standing there. With `sees_refused`, every child is looked at.
inline WalkLevel open_level(const Vocabulary& vocabulary, Recognizer& recognizer, NodeId node, bool sees_refused) {
  const Vocabulary::Node& at = vocabulary.node(node);
  const uint32_t size = at.num_children;
  const bool filtered = size >= kManyChildren;
  const ByteSet bytes = filtered ? recognizer.next_bytes() : ByteSet();
  const Loop loop = find_loop(vocabulary, recognizer, node);
  if (filtered && !sees_refused && static_cast<uint32_t>(bytes.count() * kPickedShare) <= size)
    return {node, node, true, true, bytes, loop};
  return {at.first_child, at.first_child + size, filtered, false, bytes, loop};
}

// The next child to look at, or 0.
inline NodeId next_child(const Vocabulary& vocabulary, WalkLevel& level) {
  if (!level.picked) return level.next == level.end ? 0 : level.next++;
  while (!level.bytes.empty()) {
    const uint8_t byte = level.bytes.lowest();
    level.bytes.clear(byte);
    if (const NodeId child = vocabulary.child(level.next, byte)) return child;
  }
  return 0;
}

// Reports what it finds below a node to `sink`:
//   allow(begin, end)                  tokens at these sorted positions can be taken whole
//   allow_short(begin, end, limit)     those of them that begin at most `limit` characters
//   reject(node)                       none of the tokens at and below the node; said only to a sink that kSeesRefused
//   exit(node)                         the grammar may end after the bytes up to this node
//   exit_range(range)                  it may end at many nodes (state_mask.h)
// A sink that knows beforehand what is at and below a node, the recogniser standing before it, says so by `skips`.
// Precondition: the recogniser stands at `node`. It is left as it was.
template <class Sink>
void walk_below(const Vocabulary& vocabulary, Recognizer& recognizer, NodeId node, Sink& sink) {
  std::vector<WalkLevel>& path = path_of_thread();
  const size_t bottom = path.size();
  const struct Restore {  // also where the recogniser throws
    std::vector<WalkLevel>& path;
    size_t bottom;
    ~Restore() { path.erase(path.begin() + static_cast<std::ptrdiff_t>(bottom), path.end()); }
  } restore{path, bottom};
  const auto open = [&](NodeId id) { path.push_back(open_level(vocabulary, recognizer, id, Sink::kSeesRefused)); };
  open(node);
  while (true) {
    WalkLevel& level = path.back();
    const NodeId child = next_child(vocabulary, level);
    if (child == 0) {
      path.pop_back();
      if (path.size() == bottom) return;
      recognizer.pop();
      continue;
    }
    if (sink.skips(child, recognizer)) continue;
    const uint8_t byte = vocabulary.byte(child);
    if (level.filtered && !level.picked && !level.bytes.test(byte)) {
      if constexpr (Sink::kSeesRefused) sink.reject(child);
      continue;
    }
    const Vocabulary::Node& at = vocabulary.node(child);
    prefetch(&at);  // it comes while the recogniser moves
    if (level.loop.classes != 0 && (at.classes_from & ~level.loop.classes) == 0 && at.max_chars <= level.loop.known) {
      take_looping(vocabulary, level.loop, child, sink);
      continue;
    }
    if (!recognizer.push(byte)) {
      if constexpr (Sink::kSeesRefused) sink.reject(child);
      continue;
    }
    sink.allow(at.token_begin, at.token_own_end);
    if (at.num_children > 0 && recognizer.complete()) sink.exit(child);
    if (at.num_children > 0 && !recognizer.items().empty())
      open(child);
    else
      recognizer.pop();
  }
}

// The same for a node and what is below it. Precondition: the recogniser has just accepted the byte of `node`.
template <class Sink>
void walk(const Vocabulary& vocabulary, Recognizer& recognizer, NodeId node, Sink& sink) {
  const Vocabulary::Node& at = vocabulary.node(node);
  sink.allow(at.token_begin, at.token_own_end);
  if (at.num_children == 0) return;
  if (recognizer.complete()) sink.exit(node);
  if (!recognizer.items().empty()) walk_below(vocabulary, recognizer, node, sink);
}

}  // namespace maskwright
