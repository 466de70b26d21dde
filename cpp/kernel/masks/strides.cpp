#include "masks/strides.h"

#include <algorithm>

#include "masks/departures.h"
#include "masks/token_walk.h"
#include "recognizer/recognizer.h"

namespace maskwright {
namespace {

class Sink {
 public:
  Sink(const Recognizer& recognizer, const DfaState* head, uint32_t needed)
      : recognizer_(recognizer), head_(head), needed_(needed) {}
  CharClasses steady_classes() const { return 0; }
  void token(uint32_t, uint32_t) {
    for (const Item& item : recognizer_.items())
      if (item.state == head_ && item.stack == kRootStack) note(before_ + needed_ - Count::of(item.reg).needed);
  }
  void steady(uint32_t, uint32_t) {}
  void exit(NodeId) {}
  void steady_exits(NodeId, bool) {}
  void begin_after(uint32_t items) { before_ = items; }  // that the recogniser has not seen
  void note(uint32_t items) { most_ = std::max(most_, items); }
  uint32_t most() const { return most_; }

 private:
  const Recognizer& recognizer_;
  const DfaState* const head_;
  const uint32_t needed_;
  uint32_t before_ = 0;
  uint32_t most_ = 0;
};

// Each character of the loop is an item. A token that ends inside one does not end with an item.
void walk_from_loop(const Vocabulary& vocabulary, CharClasses classes, Recognizer& recognizer, Sink& sink) {
  const std::vector<uint32_t> tokens = vocabulary.tokens_of(classes);
  for (uint32_t p = 0; p < vocabulary.node(Vocabulary::kRoot).token_end; ++p) {
    const auto token = static_cast<size_t>(vocabulary.sorted_token(p));
    if ((tokens[token / 32] >> (token % 32) & 1) != 0 && !std::ranges::binary_search(vocabulary.unfinished(), p))
      sink.note(vocabulary.token_chars(p));
  }
  for_each_departure(vocabulary, classes, recognizer.next_bytes(), [&](uint8_t byte, NodeId node) {
    if (!recognizer.push(byte)) return;
    sink.begin_after(vocabulary.num_chars(node) - (is_continuation(byte) ? 0 : 1));
    walk_tokens_at(vocabulary, recognizer, node, sink);
    recognizer.pop();
  });
}

}  // namespace

uint32_t stride_of(const Vocabulary& vocabulary, Rule& rule) {
  const uint32_t known = rule.stride.load(std::memory_order_relaxed);
  if (known != Rule::kStrideUnknown) return known;
  const uint32_t needed = vocabulary.max_token_length() + 1;
  const Item item{rule.head(), Count{needed, Count::kUnlimited}.reg(), kRootStack};
  Recognizer recognizer;
  recognizer.reset(StackStore::root_only(), {&item, 1}, false);
  Sink sink(recognizer, rule.head(), needed);
  const CharClasses classes = rule.head()->calls.empty() ? counted_loop_classes(item) : 0;
  if (is_wide(classes))
    walk_from_loop(vocabulary, classes, recognizer, sink);
  else
    walk_tokens(vocabulary, recognizer, Vocabulary::kRoot, sink);
  rule.stride.store(sink.most(), std::memory_order_relaxed);
  return sink.most();
}

}  // namespace maskwright
