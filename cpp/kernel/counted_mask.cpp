#include "counted_mask.h"

#include <algorithm>

#include "collector.h"
#include "trie_walk.h"

namespace maskwright {
namespace {

// Collects where the mask differs from the unbounded one, cut to tokens of at most `limit` characters.
class CountedSink : public ExitCollector {
 public:
  CountedSink(const Vocabulary& vocabulary, Count count, uint32_t limit, int terminator)
      : ExitCollector(vocabulary), limit_(limit), terminator_(terminator) {
    if (count.needed > 0) closing_ = classes_of(static_cast<uint8_t>(terminator));
  }

  // Below such a node everything is as it is without bounds, and within the limit.
  bool skips(NodeId node, const Recognizer& recognizer) {
    if (vocabulary_.max_chars_below(node) > limit_) return false;
    if ((vocabulary_.classes_from(node) & closing_) && !has_enough(recognizer)) return false;
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

  const Intervals& skipped() const { return skipped_; }
  const std::vector<NodeId>& rejected() const { return rejected_; }

 private:
  static bool has_enough(const Recognizer& recognizer) {
    const Item* item = recognizer.sole_item();
    return item && Count::of(item->reg).needed == 0;
  }
  static CharClasses classes_of(uint8_t byte) {
    if (byte < 0x80) return CharClasses{1} << ascii_class(byte);
    return ~CharClasses{0} << kClassOther2;
  }

  const uint32_t limit_;
  const int terminator_;
  CharClasses closing_ = 0;
  Intervals skipped_;
  std::vector<NodeId> rejected_;
};

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
  if (!rule.counts_characters() || unbounded.dense.empty()) return nullptr;
  const Slack slack = state.slack();
  if (count.needed > 0 && (rule.terminator() < 0 || !slack.steady)) return nullptr;
  // An item that has begun before the token ends in it without a character of its own.
  const uint64_t kept = uint64_t{slack.items} + (state.counter_head ? 0 : 1);
  if (count.remaining < kept) return nullptr;
  const auto limit = static_cast<uint32_t>(
      count.remaining == Count::kUnlimited ? kManyChars : std::min<uint64_t>(count.remaining - kept, kManyChars));

  thread_local Recognizer recognizer;
  const Item item{&state, count.reg(), kRootStack};
  recognizer.reset(StackStore::root_only(), {&item, 1}, may_end(state, count.reg()));
  CountedSink sink(vocabulary, count, limit, rule.terminator());
  walk_below(vocabulary, recognizer, Vocabulary::kRoot, sink);

  auto mask = std::make_unique<StateMask>();
  mask->dense = unbounded.dense;
  vocabulary.keep_within(mask->dense, limit);
  for (const NodeId node : sink.rejected()) {
    const Vocabulary::Node& at = vocabulary.node(node);
    for (uint32_t p = at.token_begin; p < at.token_end; ++p) clear_bit(mask->dense, vocabulary.sorted_token(p));
  }
  sink.add_to(mask->dense);
  mask->num_allowed = count_bits(mask->dense);
  sink.exit_inside(unbounded, sink.skipped());
  sink.store_exits(*mask);
  return mask;
}

}  // namespace maskwright
