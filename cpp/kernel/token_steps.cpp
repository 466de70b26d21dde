#include "token_steps.h"

#include <algorithm>
#include <map>
#include <set>

#include "collector.h"
#include "exits.h"
#include "named_tokens.h"
#include "token_walk.h"
#include "work.h"

namespace maskwright {
namespace {

uint64_t hash_exits(const StateMask& exits) {
  uint64_t h = exits.exit_ranges.size();
  for (const NodeId node : exits.exit_nodes) h = mix(h, node);
  for (const auto& range : exits.exit_ranges) h = mix(mix(h, range.begin), range.end);
  return h;
}

// The byte groups follow from the nodes.
bool same_exits(const StateMask& a, const StateMask& b) {
  return a.exit_nodes == b.exit_nodes && a.exit_ranges == b.exit_ranges;
}

}  // namespace

// Keeps what walks from a place report.
class TokenSteps::Sink {
 public:
  Sink(TokenSteps& owner, Steps& steps) : owner_(owner), steps_(steps), exits_(owner.vocabulary_) {}
  CharClasses steady_classes() const { return maskwright::steady_classes(owner_.recognizer_); }
  void token(uint32_t, uint32_t) { land(); }
  void steady(uint32_t, uint32_t) { land(); }
  void exit(NodeId node) { exits_.exit(node); }
  void steady_exits(NodeId node, bool raw) {
    if (!owner_.recognizer_.complete()) return;
    const Vocabulary::Node& at = owner_.vocabulary_.node(node);
    exits_.exit_range({at.first_child, at.below_end, 0, kManyChars, raw});
  }
  void land() {
    const Recognizer& recognizer = owner_.recognizer_;
    ends_behind_ = ends_behind_ || recognizer.complete();
    const auto items = recognizer.items();
    if (items.size() == 1 && last_ == items.front()) return;  // nearly all tokens of a loop
    items_.assign(items.begin(), items.end());
    import_stacks(recognizer, owner_.stacks_, items_);
    for (const Item& item : items_)
      if (seen_.insert(item).second) steps_.landings.push_back({item, 0});
    last_.reset();
    if (items.size() == 1 && items.front().stack < kScratch) last_ = items.front();
  }
  void finish() {
    StateMask exits;
    exits_.store_exits(exits);
    if (ends_behind_) steps_.ends.push_back(kBetweenTokens);
    if (exits.has_exits()) steps_.ends.push_back(owner_.intern(std::move(exits)));
  }

 private:
  TokenSteps& owner_;
  Steps& steps_;
  ExitCollector exits_;
  std::vector<Item> items_;
  std::set<Item> seen_;
  std::optional<Item> last_;  // that was alone, on a stack that is kept
  bool ends_behind_ = false;
};

const TokenSteps::Steps& TokenSteps::from(const Place& place) {
  std::unique_ptr<Steps>& known = steps_[place];
  if (known) return *known;
  Work::spend(1);
  auto steps = std::make_unique<Steps>();
  Sink sink(*this, *steps);
  walk(place, sink);
  sink.finish();
  for (Landing& landing : steps->landings) landing.bytes = bytes_down(landing.item);
  bytes_held_ += sizeof(Steps) + steps->landings.capacity() * sizeof(Landing) + steps->ends.capacity() * 4;
  known = std::move(steps);
  return *known;
}

void TokenSteps::walk(const Place& place, Sink& sink) {
  const Item item{place.state, place.reg, kRootStack};
  recognizer_.reset(stacks_, {&item, 1}, may_end(*place.state, place.reg));
  if (place.entry == kBetweenTokens) {
    walk_tokens(vocabulary_, recognizer_, Vocabulary::kRoot, 0, sink);
    for (const auto& group : named_tokens({&item, 1}))
      if (recognizer_.push_token(group[0])) {
        sink.land();
        recognizer_.pop();
      }
    return;
  }
  for_each_exit(
      vocabulary_, *entries_[place.entry], recognizer_.next_bytes(),
      [&](uint8_t byte) { return recognizer_.push(byte); },
      [&](NodeId node) {
        const Vocabulary::Node& at = vocabulary_.node(node);
        if (at.token_begin < at.token_own_end) sink.land();
        if (at.num_children == 0) return;
        if (recognizer_.complete()) sink.exit(node);
        if (!recognizer_.items().empty()) walk_tokens(vocabulary_, recognizer_, node, vocabulary_.depth(node), sink);
      },
      [&] { recognizer_.pop(); });
}

EntryId TokenSteps::intern(StateMask exits) {
  const uint64_t hash = hash_exits(exits);
  const auto [first, last] = interned_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (same_exits(*entries_[it->second], exits)) return it->second;
  bytes_held_ += exits.memory_bytes();
  entries_.push_back(std::make_unique<StateMask>(std::move(exits)));
  const auto id = static_cast<EntryId>(entries_.size() - 1);
  interned_.emplace(hash, id);
  return id;
}

// The bytes from an item down to the unknown stack, at most; none if a rule begun within the token needs more than it
// has left.
uint32_t TokenSteps::bytes_down(const Item& item) {
  std::map<StackId, uint32_t, std::greater<>> open{{item.stack, bytes_.to_end(*item.state, item.reg)}};
  while (open.begin()->first != kRootStack) {
    const auto [stack, bytes] = *open.begin();
    open.erase(open.begin());
    const int64_t deadline = stacks_.mark(stack).deadline;
    const bool in_time = deadline == kNoDeadline || bytes < deadline;
    for (const Frame& frame : stacks_.frames(stack)) {
      const uint32_t rest = frame.target ? bytes_.after_return(*frame.target, entering(*frame.target, frame.reg)) : 0;
      uint32_t& below = open[frame.parent];
      below = std::max(below, in_time ? ByteDistances::sum(bytes, rest) : ByteDistances::kNever);
    }
  }
  return open.begin()->second;
}

size_t TokenSteps::memory_bytes() const {
  return bytes_held_ + stacks_.memory_bytes();
}

}  // namespace maskwright
