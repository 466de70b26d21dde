// The vocabulary's tokens that a recogniser takes, with the configurations they lead to.
//
// As walk_below (trie_walk.h), but what a token leads to matters here, not only that it is allowed. So a subtree is
// passed over only where all its tokens lead back to where they began. Cost: one push for each node entered.
// Tested by tests/exhaustive/test_token_budgets.py.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "masks/exits.h"
#include "recognizer/recognizer.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

// The characters of which an item's own automaton returns to where it is, whatever else may come. With each of them, a
// text that is read gets longer. An element of a list that must not become some texts is never where it was.
inline CharClasses automaton_loop_classes(const Item& item) {
  const Rule& rule = *item.state->rule;
  const bool is_elsewhere = rule.is_element() && is_trie(Spelled::of(item.reg).avoided);
  return item.state->counter_head || is_elsewhere ? 0 : item.state->rule->loop_classes(*item.state);
}

// The same where nothing changes.
inline CharClasses loop_classes(const Item& item) {
  return item.state->rule->reads_text() ? 0 : automaton_loop_classes(item);
}

// The same where the loop only counts.
inline CharClasses counted_loop_classes(const Item& item) {
  return item.state->counter_head && !item.state->bounded ? item.state->rule->loop_classes(*item.state)
                                                          : loop_classes(item);
}

// The item that loops on most classes; nullptr if none loops.
template <class Classes>
const Item* widest_loop(std::span<const Item> items, Classes&& classes_of) {
  const Item* out = nullptr;
  CharClasses most = 0;
  for (const Item& item : items) {
    const CharClasses classes = classes_of(item);
    if (std::popcount(classes) <= std::popcount(most)) continue;
    most = classes;
    out = &item;
  }
  return out;
}

// The bytes with which characters of these classes begin.
inline ByteSet first_bytes(CharClasses classes) {
  ByteSet out;
  for (int b = 0; b < 256; ++b) {
    const auto byte = static_cast<uint8_t>(b);
    if (b < 0x80 ? (classes >> ascii_class(byte) & 1) != 0 : (classes & kBeyondAscii) != 0) out.set(byte);
  }
  return out;
}

// The characters that leave the configuration as it is: on all of them the same items return to themselves and the
// others go nowhere, and what may follow those that return is there already, the end of the grammar included. It is not
// where it was taken out, having too few tokens left (budget.h): behind the next byte, it is there again.
inline CharClasses steady_classes(Recognizer& recognizer) {
  constexpr size_t kFewItems = 4;
  if (const Item* item = recognizer.sole_item(); item && !recognizer.complete() && !may_end(*item->state, item->reg))
    return item->state->calls.empty() ? loop_classes(*item) : 0;
  const std::vector<Item> items(recognizer.items().begin(), recognizer.items().end());
  if (items.empty() || items.size() > kFewItems) return 0;
  CharClasses classes = 0;
  for (const Item& item : items) classes |= item.state->calls.empty() ? loop_classes(item) : 0;
  for (const Item& item : items) {
    if (classes == 0) return 0;
    const CharClasses own = item.state->calls.empty() ? loop_classes(item) : 0;
    item.state->rule->link(*item.state);
    if ((classes & own) != 0 || !(item.state->live & first_bytes(classes)).empty()) classes &= own;
  }
  // So one character shows where all of them lead.
  const ByteSet ascii = first_bytes(classes & ~kBeyondAscii);
  const bool complete = recognizer.complete();
  if (ascii.empty() || !recognizer.push(ascii.lowest())) return 0;
  const bool stays = recognizer.complete() == complete && std::ranges::is_permutation(recognizer.items(), items);
  recognizer.pop();
  return stays ? classes : 0;
}

// Reports to `sink`, the recogniser standing where it says:
//   token(begin, end)        behind the tokens at these sorted positions
//   steady(begin, end)       behind these tokens it would stand where it does now
//   steady_exits(node, raw)  behind all characters at and below a node, it would, too; behind all bytes, if `raw`
//   exit(node)               at a node below which there are tokens, the grammar may end
// `steady_classes` of the sink says which characters leave things as they are. Tokens that end inside such a character
// are walked one by one. Precondition: the recogniser stands at `node`. It is left as it was.
template <class Sink>
void walk_tokens(const Vocabulary& vocabulary, Recognizer& recognizer, NodeId node, Sink& sink) {
  struct Level {
    NodeId next, end;
    CharClasses steady;
  };
  std::vector<Level> path;
  const std::vector<uint32_t>& unfinished = vocabulary.unfinished();
  const auto open = [&](NodeId id) {
    const Vocabulary::Node& at = vocabulary.node(id);
    path.push_back({at.first_child, at.first_child + at.num_children, sink.steady_classes()});
  };
  const auto walk_one = [&](uint32_t position) {
    const size_t depth = vocabulary.depth(node) + path.size() - 1;
    const std::string_view rest = vocabulary.text(vocabulary.sorted_token(position)).substr(depth);
    size_t pushed = 0;
    while (pushed < rest.size() && recognizer.push(static_cast<uint8_t>(rest[pushed]))) ++pushed;
    if (pushed == rest.size()) sink.token(position, position + 1);
    recognizer.pop(pushed);
  };
  const auto take_steady = [&](NodeId child, CharClasses classes) {
    const Vocabulary::Node& at = vocabulary.node(child);
    uint32_t begin = at.token_begin;
    for (auto it = std::ranges::lower_bound(unfinished, begin); it != unfinished.end() && *it < at.token_end; ++it) {
      if (begin < *it) sink.steady(begin, *it);
      walk_one(*it);
      begin = *it + 1;
    }
    if (begin < at.token_end) sink.steady(begin, at.token_end);
    if (at.num_children > 0) sink.steady_exits(child, (classes >> kClassMalformed & 1) != 0);
  };
  open(node);
  while (true) {
    Level& level = path.back();
    if (level.next == level.end) {
      path.pop_back();
      if (path.empty()) return;
      recognizer.pop();
      continue;
    }
    const NodeId child = level.next++;
    const Vocabulary::Node& at = vocabulary.node(child);
    if (level.steady != 0 && (at.classes_from & ~level.steady) == 0) {
      take_steady(child, level.steady);
      continue;
    }
    if (!recognizer.push(vocabulary.byte(child))) continue;
    if (at.token_begin < at.token_own_end) sink.token(at.token_begin, at.token_own_end);
    if (at.num_children > 0 && recognizer.complete()) sink.exit(child);
    if (at.num_children > 0 && !recognizer.items().empty())
      open(child);
    else
      recognizer.pop();
  }
}

// The same for a node and what is below it. Precondition: the recogniser has just accepted the byte of `node`.
template <class Sink>
void walk_tokens_at(const Vocabulary& vocabulary, Recognizer& recognizer, NodeId node, Sink& sink) {
  const Vocabulary::Node& at = vocabulary.node(node);
  if (at.token_begin < at.token_own_end) sink.token(at.token_begin, at.token_own_end);
  if (at.num_children == 0) return;
  if (recognizer.complete()) sink.exit(node);
  if (!recognizer.items().empty()) walk_tokens(vocabulary, recognizer, node, sink);
}

// What lies behind a mask's exits. The recogniser stands where the caller goes on.
template <class Sink>
void walk_tokens_behind(const Vocabulary& vocabulary, const StateMask& mask, Recognizer& recognizer, Sink& sink) {
  if (!mask.has_exits() || recognizer.items().empty()) return;
  for_each_exit(
      vocabulary, mask, recognizer.next_bytes(), [&](uint8_t byte) { return recognizer.push(byte); },
      [&](NodeId node) { walk_tokens_at(vocabulary, recognizer, node, sink); }, [&] { recognizer.pop(); });
}

}  // namespace maskwright
