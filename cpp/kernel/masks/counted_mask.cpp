#include "masks/counted_mask.h"

#include <algorithm>

#include "masks/collector.h"
#include "masks/departures.h"
#include "masks/trie_walk.h"

namespace maskwright {
namespace {

// Collects where the mask differs from the unbounded one, cut to tokens of at most `limit` characters.
class CountedSink : public ExitCollector {
 public:
  CountedSink(const Vocabulary& vocabulary, Count count, uint32_t limit, int terminator)
      : ExitCollector(vocabulary), limit_(limit), terminator_(terminator) {
    if (count.needed > 0) closing_ = classes_of(static_cast<uint8_t>(terminator));
  }
  static constexpr bool kSeesRefused = true;

  // Whether everything at and below a node is as it is without bounds, and within the limit, if so many items are
  // needed before it.
  bool is_settled(NodeId node, uint32_t needed) const {
    const Vocabulary::Node& at = vocabulary_.node(node);
    return at.max_chars <= limit_ && (needed == 0 || (at.classes_from & closing_) == 0);
  }
  bool skips(NodeId node, const Recognizer& recognizer) {
    const Item* item = recognizer.sole_item();
    if (!is_settled(node, item ? Count::of(item->reg).needed : 1)) return false;
    const Vocabulary::Node& at = vocabulary_.node(node);
    if (at.num_children > 0) skipped_.emplace_back(at.first_child, at.below_end);
    return true;
  }
  // Of a range, what is within the limit is known already.
  void allow(uint32_t begin, uint32_t end) { allow_short(begin, end, kManyChars); }
  void allow_short(uint32_t begin, uint32_t end, uint32_t limit) {
    if (limit <= limit_) return;
    for (uint32_t p = begin; p < end; ++p)
      if (vocabulary_.token_chars(p) > limit_ && vocabulary_.token_chars(p) <= limit) Collector::allow(p, p + 1);
  }
  // All that the bounds refuse is too long or closes too early.
  void reject(NodeId node) {
    if (vocabulary_.byte(node) == terminator_) rejected_.push_back(node);
  }
  void allow_bits(std::vector<uint32_t> bits) { bits_ = std::move(bits); }
  // All at and below a node is found anew.
  void revisit(NodeId node) {
    const Vocabulary::Node& at = vocabulary_.node(node);
    if (at.num_children > 0) revisited_.emplace_back(at.first_child, at.below_end);
  }

  // Writes the mask. Where a subtree was not visited, its exits are those without bounds.
  std::unique_ptr<StateMask> mask(const StateMask& unbounded) {
    auto out = std::make_unique<StateMask>();
    Collector whole(vocabulary_);
    whole.allow_all(unbounded);
    out->dense = whole.bits();
    vocabulary_.keep_within(out->dense, limit_);
    for (const NodeId node : rejected_) {
      const Vocabulary::Node& at = vocabulary_.node(node);
      for (uint32_t p = at.token_begin; p < at.token_end; ++p) clear_bit(out->dense, vocabulary_.sorted_token(p));
    }
    for (size_t w = 0; w < bits_.size(); ++w) out->dense[w] |= bits_[w];
    add_to(out->dense);
    out->num_allowed = count_bits(out->dense);
    exit_outside(unbounded, revisited_);
    exit_inside(unbounded, skipped_);
    store_exits(*out);
    return out;
  }

 private:
  static CharClasses classes_of(uint8_t byte) {
    if (byte < 0x80) return CharClasses{1} << ascii_class(byte);
    return ~CharClasses{0} << kClassOther2;
  }

  const uint32_t limit_;
  const int terminator_;
  CharClasses closing_ = 0;
  std::vector<uint32_t> bits_;
  Intervals skipped_, revisited_;
  std::vector<NodeId> rejected_;
};

void walk_everything(const Vocabulary& vocabulary, const Item& item, Recognizer& recognizer, CountedSink& sink) {
  sink.revisit(Vocabulary::kRoot);
  recognizer.reset(StackStore::root_only(), {&item, 1}, may_end(*item.state, item.reg));
  walk_below(vocabulary, recognizer, Vocabulary::kRoot, sink);
}

// The same where the state loops on these classes: only what leaves the loop may differ. So many characters later the
// state is the same, and so many fewer may come.
void walk_departures(const Vocabulary& vocabulary, CharClasses classes, const Item& item, Recognizer& recognizer,
                     CountedSink& sink) {
  const Count count = Count::of(item.reg);
  if (item.state->bounded && count.remaining != Count::kUnlimited) {
    // The state itself may ask for less than the limit leaves.
    std::vector<uint32_t> bits = vocabulary.tokens_of(classes);
    vocabulary.keep_within(
        bits, item.state->rule->lengths()->spare(*item.state, count.remaining, vocabulary.max_token_length()));
    sink.allow_bits(std::move(bits));
  }
  const ByteSet bytes = item.state->live;
  for_each_departure(vocabulary, classes, bytes, [&](uint8_t byte, NodeId node) {
    const uint32_t chars = vocabulary.num_chars(node) - (is_continuation(byte) ? 0u : 1u);
    const uint32_t needed = count.needed > chars ? count.needed - chars : 0;
    if (sink.is_settled(node, needed)) return;
    sink.revisit(node);
    if (chars > count.remaining) return;  // the tokens here are longer than the limit
    const uint32_t remaining = count.remaining == Count::kUnlimited ? count.remaining : count.remaining - chars;
    const Item before{item.state, Count{needed, remaining}.reg(), kRootStack};
    recognizer.reset(StackStore::root_only(), {&before, 1}, false);
    if (may_complete(*item.state, before.reg) && recognizer.push(byte))
      walk(vocabulary, recognizer, node, sink);
    else
      sink.reject(node);
  });
}

// The classes of a loop that ends nowhere but at departures from it, each character being an item.
CharClasses counted_loop(DfaState& state) {
  if (!optimisations.subtree_skipping || !state.counter_head || state.rule->terminator() < 0) return 0;
  return may_loop(state.live) ? state.rule->loop_classes(state) : 0;
}

}  // namespace

uint64_t canonical_register(const Vocabulary& vocabulary, const DfaState& state, uint64_t reg) {
  const Count count = Count::of(reg);
  const Slack slack = state.slack();
  const uint64_t horizon = uint64_t{vocabulary.max_token_length()} + 1;
  const bool far = count.remaining >= horizon + slack.items;
  if (state.bounded && (!far || (count.needed > 0 && !slack.steady))) return reg;
  const auto needed = static_cast<uint32_t>(std::min<uint64_t>(count.needed, horizon));
  return Count{needed, far ? Count::kUnlimited : count.remaining}.reg();
}

std::unique_ptr<StateMask> counted_mask(const Vocabulary& vocabulary, DfaState& state, Count count,
                                        const StateMask& unbounded) {
  const Rule& rule = *state.rule;
  if (!rule.counts_characters() || !unbounded.bits()) return nullptr;
  const Slack slack = state.slack();
  if (count.needed > 0 && (rule.terminator() < 0 || !slack.steady)) return nullptr;
  // An item that has begun before the token ends in it without a character of its own.
  const uint64_t kept = uint64_t{slack.items} + (state.counter_head ? 0 : 1);
  if (count.remaining < kept) return nullptr;
  const auto limit = static_cast<uint32_t>(
      count.remaining == Count::kUnlimited ? kManyChars : std::min<uint64_t>(count.remaining - kept, kManyChars));

  thread_local Recognizer recognizer;
  const Item item{&state, count.reg(), kRootStack};
  CountedSink sink(vocabulary, count, limit, rule.terminator());
  if (const CharClasses classes = counted_loop(state); is_wide(classes))
    walk_departures(vocabulary, classes, item, recognizer, sink);
  else
    walk_everything(vocabulary, item, recognizer, sink);
  return sink.mask(unbounded);
}

}  // namespace maskwright
