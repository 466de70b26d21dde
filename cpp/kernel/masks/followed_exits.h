// What lies behind the exits of a state's mask: tokens that go on in the rule's caller.
//
// Mostly that depends on the caller alone, so all exits with the same next byte are followed together. Behind a text
// that is remembered it may depend on the text, and each exit is followed by itself. Behind an element of a list whose
// elements all differ that can mostly be avoided (distinct_mask.h).
//
// Example: inside a string of a list, `",` and `"]` are followed together; inside the name of a tag, `><` and `>a`
// apart. Tested by tests/exhaustive/test_remembered_text.py, test_distinct_texts.py.
#pragma once

#include <span>
#include <string_view>

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

// The bytes of a token up to a node, its own included.
inline std::string_view bytes_to(const Vocabulary& vocabulary, NodeId node) {
  const TokenId token = vocabulary.sorted_token(vocabulary.node(node).token_begin);
  return vocabulary.text(token).substr(0, vocabulary.depth(node));
}

inline std::string_view bytes_before(const Vocabulary& vocabulary, NodeId node) {
  std::string_view bytes = bytes_to(vocabulary, node);
  bytes.remove_suffix(1);
  return bytes;
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
