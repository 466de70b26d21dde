// What lies behind the exits of a state's mask: tokens that go on in the rule's caller.
//
// Mostly that depends on the caller alone, so all exits with the same next byte are followed together. Behind a text
// that is remembered it may depend on the text, and each exit is followed by itself. Behind an element of a list whose
// elements all differ (text_sets.h) it is the same again up to where the next element begins, if the list has elements
// left whatever this one becomes; only tokens in which another element begins are looked at one by one.
//
// Example: inside a string of a list of strings, `",` and `"]` are followed together, `","a` by itself.
// Tested by tests/exhaustive/test_remembered_text.py, test_distinct_texts.py.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "masks/exits.h"
#include "masks/trie_walk.h"

namespace maskwright {

// Walks what lies behind a mask's exits. The recogniser stands where the caller goes on.
template <class Sink>
void follow_exits(const Vocabulary& vocabulary, const StateMask& mask, Recognizer& recognizer, Sink& sink) {
  if (!mask.has_exits() || recognizer.items().empty()) return;
  for_each_exit(
      vocabulary, mask, recognizer.next_bytes(), [&](uint8_t byte) { return recognizer.push(byte); },
      [&](NodeId node) { walk(vocabulary, recognizer, node, sink); }, [&] { recognizer.pop(); });
}

// The bytes of a token up to the place before a node.
inline std::string_view bytes_before(const Vocabulary& vocabulary, NodeId node) {
  const TokenId token = vocabulary.sorted_token(vocabulary.node(node).token_begin);
  return vocabulary.text(token).substr(0, vocabulary.depth(node) - 1);
}

// Whether an element of a list would begin by the byte of a node.
inline bool begins_element(const Vocabulary& vocabulary, NodeId node, const Recognizer& recognizer) {
  const uint8_t byte = vocabulary.byte(node);
  return std::ranges::any_of(recognizer.items(), [byte](const Item& item) {
    return item.state->rule->is_list() && std::ranges::any_of(item.state->calls, [byte](const CallEdge& call) {
             return call.callee->is_element() && call.callee->first().test(byte);
           });
  });
}

// Whether an element may begin where another one has just ended.
inline bool may_begin_element(const Recognizer& recognizer) {
  return std::ranges::any_of(recognizer.items(), [](const Item& item) {
    return std::ranges::any_of(item.state->calls, [](const CallEdge& call) { return call.callee->is_element(); });
  });
}

// Hands on what a walk reports, up to where the next element of a list begins: that depends on the one before.
template <class Sink>
class UpToNextElement {
 public:
  UpToNextElement(const Vocabulary& vocabulary, Sink& sink) : vocabulary_(vocabulary), sink_(sink) {}
  static constexpr bool kSeesRefused = false;
  void allow(uint32_t begin, uint32_t end) { sink_.allow(begin, end); }
  void allow_short(uint32_t begin, uint32_t end, uint32_t limit) { sink_.allow_short(begin, end, limit); }
  void exit(NodeId node) { sink_.exit(node); }
  void exit_range(const StateMask::ExitRange& range) { sink_.exit_range(range); }
  bool skips(NodeId child, const Recognizer& recognizer) {
    if (!begins_element(vocabulary_, child, recognizer)) return false;
    beginnings.emplace_back(exit_node, child);
    return true;
  }

  NodeId exit_node = 0;  // behind which is walked
  std::vector<std::pair<NodeId, NodeId>> beginnings;

 private:
  const Vocabulary& vocabulary_;
  Sink& sink_;
};

// The bytes of a token up to a node, from behind another one on.
inline std::string_view bytes_between(const Vocabulary& vocabulary, NodeId before, NodeId node) {
  return bytes_before(vocabulary, node).substr(vocabulary.depth(before));
}

// Of the exits of an element's mask: what follows is the same behind all of them, up to where the next element begins,
// if each list has elements left whatever this one becomes. The recogniser stands behind some element.
template <class Sink>
void follow_elements(const Vocabulary& vocabulary, const StateMask& mask, Recognizer& recognizer,
                     const StackStore& store, std::span<const Frame> frames, uint64_t reg, Sink& sink) {
  UpToNextElement<Sink> shared(vocabulary, sink);
  const auto find = [&](CellId id) -> const Cell& { return store.cells().cell(id); };
  const auto repeats = [&](NodeId exit_node) {
    CellId avoided = Spelled::of(reg).avoided;
    if (avoided == kNoTexts) return false;
    for (const char c : bytes_before(vocabulary, exit_node)) avoided = below(avoided, static_cast<uint8_t>(c), find);
    return holds_end(avoided, find);
  };
  for_each_exit(
      vocabulary, mask, recognizer.next_bytes(), [&](uint8_t byte) { return recognizer.push(byte); },
      [&](NodeId node) {
        if (repeats(node)) return;
        shared.exit_node = node;
        walk(vocabulary, recognizer, node, shared);
      },
      [&] { recognizer.pop(); });
  for (const auto& [exit_node, beginning] : shared.beginnings) {
    recognizer.reset_after_element(store, frames, reg, bytes_before(vocabulary, exit_node), true);
    bool alive = recognizer.push(vocabulary.byte(exit_node));
    for (const char c : bytes_between(vocabulary, exit_node, beginning))
      alive = alive && recognizer.push(static_cast<uint8_t>(c));
    if (alive && recognizer.push(vocabulary.byte(beginning))) walk(vocabulary, recognizer, beginning, sink);
  }
}

// As follow_exits, where the mask is of a rule whose text is remembered, with a register. What follows may depend on
// all of it, so each exit is followed for itself.
template <class Sink>
void follow_texts(const Vocabulary& vocabulary, const StateMask& mask, Recognizer& recognizer, const StackStore& store,
                  std::span<const Frame> frames, const Rule& rule, uint64_t reg, Sink& sink) {
  if (!mask.has_exits()) return;
  const auto go_on = [&](std::string_view more, bool checks) {
    if (rule.is_element())
      recognizer.reset_after_element(store, frames, reg, more, checks);
    else
      recognizer.reset_after_text(store, frames, rule.memory().number, static_cast<CellId>(reg), more);
  };
  go_on({}, false);  // with some other text
  if (recognizer.items().empty()) return;
  if (rule.is_element() && recognizer.stay_open(frames, reg) && !may_begin_element(recognizer))
    return follow_elements(vocabulary, mask, recognizer, store, frames, reg, sink);
  ByteSet bytes = recognizer.next_bytes();
  for (const Item& item : recognizer.items())
    for (const CallEdge& call : item.state->calls)
      if (call.callee->recalls()) bytes = ~ByteSet();  // each text begins with a byte of its own
  for_each_exit(
      vocabulary, mask, bytes, [](uint8_t) { return true; },
      [&](NodeId node) {
        go_on(bytes_before(vocabulary, node), true);
        if (recognizer.push(vocabulary.byte(node))) walk(vocabulary, recognizer, node, sink);
      },
      [] {});
}

}  // namespace maskwright
