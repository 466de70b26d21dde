#include "budget/budget.h"

#include <algorithm>
#include <map>

#include "masks/collector.h"
#include "masks/token_walk.h"
#include "masks/trie_walk.h"
#include "recognizer/named_tokens.h"
#include "support/errors.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr size_t kMaxVerdicts = 1 << 16;
constexpr size_t kBytesAnEntry = 64;            // of a hash table
constexpr uint32_t kFirstTry = 4;               // tokens within which an end is sought first
constexpr int64_t kFarAway = int64_t{1} << 40;  // as a clock: no deadline passes

}  // namespace

// Collects the tokens behind which some item may end in time.
class TokenBudgets::MaskSink {
 public:
  MaskSink(TokenBudgets& budgets, Recognizer& recognizer, int64_t clock)
      : budgets_(budgets), recognizer_(recognizer), clock_(clock), tokens_(budgets.vocabulary_) {}
  // Where nothing changes, neither does what can end in time. Of a loop that can go on, all tokens are allowed,
  // whatever else they lead to.
  CharClasses steady_classes() const {
    CharClasses out = maskwright::steady_classes(recognizer_);
    if (out != 0) return out;
    for (const Item& item : recognizer_.items()) {
      const CharClasses classes = automaton_loop_classes(item);
      if (std::popcount(classes) > std::popcount(out) && may_loop(item, classes)) out = classes;
    }
    return out;
  }
  void token(uint32_t begin, uint32_t end) {
    if (is_viable()) tokens_.allow(begin, end);
  }
  void steady(uint32_t begin, uint32_t end) { token(begin, end); }
  void exit(NodeId) {}
  void steady_exits(NodeId, bool) {}
  void named(const std::vector<TokenId>& group) {
    if (!is_viable()) return;
    for (const TokenId token : group) tokens_.allow_token(token);
  }
  // All tokens of this text.
  void allow(std::string_view text) {
    NodeId node = Vocabulary::kRoot;
    for (const char c : text) node = budgets_.vocabulary_.child(node, static_cast<uint8_t>(c));
    const Vocabulary::Node& at = budgets_.vocabulary_.node(node);
    tokens_.allow(at.token_begin, at.token_own_end);
  }
  std::unique_ptr<ConfigMask> mask() { return as_config_mask(tokens_); }

 private:
  // Wherever within the loop a token ends.
  bool may_loop(const Item& item, CharClasses classes) const {
    if (!item.state->rule->reads_text()) return budgets_.is_viable(recognizer_, item, clock_);
    return budgets_.has_enough(recognizer_, item, clock_, budgets_.longest_of(classes));
  }
  bool is_viable() const {
    return recognizer_.complete() || std::ranges::any_of(recognizer_.items(), [this](const Item& item) {
             return budgets_.is_viable(recognizer_, item, clock_);
           });
  }

  TokenBudgets& budgets_;
  Recognizer& recognizer_;
  int64_t clock_;  // behind a token
  Collector tokens_;
};

// Finds the greatest of the clocks that tokens need behind them.
class TokenBudgets::SafetySink {
 public:
  SafetySink(TokenBudgets& budgets, Recognizer& recognizer, int64_t clock, bool doubts)
      : budgets_(budgets), recognizer_(recognizer), clock_(clock), doubts_(doubts) {}
  CharClasses steady_classes() const {
    const Item* item = looping_item();
    return item ? automaton_loop_classes(*item) : 0;
  }
  void token(uint32_t, uint32_t) {
    if (recognizer_.complete() && !doubts_) return;
    int64_t needed = doubts_ ? kFree : kNever;
    for (const Item& item : recognizer_.items()) {
      const int64_t own = budgets_.needed_clock(recognizer_, item, clock_, 0);
      needed = doubts_ ? std::max(needed, own) : std::min(needed, own);
    }
    note(needed);
  }
  void steady(uint32_t, uint32_t) {
    const Item& item = *looping_item();
    const uint32_t more = item.state->rule->reads_text() ? budgets_.longest_of(automaton_loop_classes(item)) : 0;
    note(budgets_.needed_clock(recognizer_, item, clock_, more));
  }
  void exit(NodeId) {}
  void steady_exits(NodeId, bool) {}
  void named(const std::vector<TokenId>&) { token(0, 0); }
  void note(int64_t needed) { needed_ = std::max(needed_, needed); }
  int64_t needed() const { return needed_; }

 private:
  const Item* looping_item() const { return widest_loop(recognizer_.items(), automaton_loop_classes); }

  TokenBudgets& budgets_;
  Recognizer& recognizer_;
  int64_t clock_;  // before the token
  const bool doubts_;
  int64_t needed_ = kFree;
};

void TokenBudgets::keep_viable(std::vector<Item>& items, int64_t clock) {
  const std::lock_guard guard(lock_);
  by_bounds_ = !items.empty() && stacks_.by_bounds(items.front().stack);
  recognizer_.reset(stacks_, items, false);
  std::erase_if(items, [&](const Item& item) { return !is_viable(recognizer_, item, clock); });
  account();
}

int64_t TokenBudgets::safe_clock(std::span<const Item> items, bool doubts) {
  const std::lock_guard guard(lock_);
  by_bounds_ = !items.empty() && stacks_.by_bounds(items.front().stack);
  recognizer_.reset(stacks_, items, false, kFarAway);
  SafetySink sink(*this, recognizer_, kFarAway, doubts);
  walk(recognizer_, sink);
  account();
  return after_deadlines(items, sink.needed());
}

int64_t TokenBudgets::far_clock(std::span<const Item> items) {
  if (items.size() > kMaxItems) return kNeverSafe;
  const std::lock_guard guard(lock_);
  SafetySink sink(*this, recognizer_, kFarAway, false);
  for (const Item& item : items) {
    const uint32_t landing = landing_.of(*item.state, item.reg);
    if (landing == ByteDistances::kNever) return kNeverSafe;
    recognizer_.reset_after_return(stacks_, stacks_.frames(item.stack), *item.state->rule, kFarAway);
    sink.note(sum(landing, tightness(recognizer_, item.stack)));
    walk_tokens_behind(vocabulary_, state_mask(vocabulary_, *item.state, item.reg), recognizer_, sink);
  }
  account();
  return after_deadlines(items, sink.needed());
}

// The clock before a token, if so much is needed behind it.
int64_t TokenBudgets::after_deadlines(std::span<const Item> items, int64_t needed) const {
  if (needed >= kNever) return kNeverSafe;
  int64_t safe = needed + 1;
  for (const Item& item : items) {  // from where what has run out of tokens cannot be returned to within the token
    const int64_t earliest = stacks_.earliest_deadline(item.stack);
    if (earliest != kNoDeadline) safe = std::max(safe, 1 - earliest);
  }
  return safe;
}

std::unique_ptr<ConfigMask> TokenBudgets::mask(std::span<const Item> items, bool complete, int64_t clock, CellId text) {
  const std::lock_guard guard(lock_);
  by_bounds_ = !items.empty() && stacks_.by_bounds(items.front().stack);
  recognizer_.reset(stacks_, items, complete, clock, text);
  MaskSink sink(*this, recognizer_, clock - 1);
  walk(recognizer_, sink);
  if (compares_values_)
    if (const auto& sure = sure_token(items, complete, clock, text)) sink.allow(*sure);
  account();
  auto mask = sink.mask();
  if (compares_values_ && !complete && mask->num_allowed == 0)
    throw LimitExceeded("remembered_text_budget",
                        "no end of the output within max_tokens is found, as its list has the values that would fit: "
                        "allow more tokens, or leave out max_tokens");
  return mask;
}

bool TokenBudgets::is_sure(std::span<const Item> items, bool complete, int64_t clock, CellId text,
                           std::string_view token) {
  if (!compares_values_ || token.empty()) return false;
  const std::lock_guard guard(lock_);
  return sure_token(items, complete, clock, text) == token;
}

// The items of a configuration lie where no others do.
const std::optional<std::string>& TokenBudgets::sure_token(std::span<const Item> items, bool complete, int64_t clock,
                                                           CellId text) {
  if (sure_.items != items.data() || sure_.clock != clock || sure_.text != text) {
    recognizer_.reset(stacks_, items, complete, clock, text);
    sure_ = {items.data(), clock, text, values_.sure_token(recognizer_, clock)};
  }
  return sure_.token;
}

template <class Sink>
void TokenBudgets::walk(Recognizer& recognizer, Sink& sink) {
  walk_tokens(vocabulary_, recognizer, Vocabulary::kRoot, sink);
  for (const auto& group : named_tokens(recognizer.items()))
    if (recognizer.push_token(group[0])) {
      sink.named(group);
      recognizer.pop();
    }
}

void TokenBudgets::account() {
  const size_t small = tightness_.size() + verdicts_.size();
  const size_t bounds =
      bytes_.memory_bytes() + at_least_.memory_bytes() + landing_.memory_bytes() + values_.memory_bytes();
  held_bytes_.store(reach_.memory_bytes() + bounds + small * kBytesAnEntry, std::memory_order_relaxed);
}

int64_t TokenBudgets::sum(uint32_t bytes, int64_t tightness) {
  if (bytes == ByteDistances::kNever || tightness >= kNever) return kNever;
  return tightness <= kFree ? kFree : tightness + bytes;
}

// The clock at which what stands on the stack must end, if all that is open below is then to have as many tokens as it
// needs bytes; kFree where nothing presses, kNever where no clock is enough.
int64_t TokenBudgets::tightness(const Recognizer& view, StackId stack) {
  if (const auto it = tightness_.find(stack); it != tightness_.end()) return it->second;
  std::unordered_map<StackId, int64_t> scratch;
  const auto find = [&](StackId id) -> const int64_t* {
    const auto& known = id < kScratch ? tightness_ : scratch;
    const auto it = known.find(id);
    return it == known.end() ? nullptr : &it->second;
  };
  std::vector<StackId> open{stack};
  while (!open.empty()) {
    const StackId id = open.back();
    int64_t least = kNever;
    bool is_ready = true;
    for (const Frame& frame : view.frames(id)) {
      if (!frame.target) {
        least = kFree;
      } else if (const int64_t* below = find(frame.parent)) {
        least = std::min(least, sum(bytes_.after_return(TextView(view), frame), *below));
      } else {
        open.push_back(frame.parent);
        is_ready = false;
      }
    }
    if (!is_ready) continue;
    open.pop_back();
    const int64_t deadline = view.mark(id).deadline;
    if (deadline != kNoDeadline && least < kNever) least = std::max(least, -deadline);
    (id < kScratch ? tightness_ : scratch)[id] = least;
  }
  return *find(stack);
}

// The clock that an item behind a token needs, whatever it was before the token. Rules begun within the token, on
// scratch stacks, have what their budgets leave, at any clock. `more`: bytes by which a text in progress is longer.
int64_t TokenBudgets::needed_clock(const Recognizer& view, const Item& item, int64_t clock, uint32_t more) {
  if (compares_values_) return values_.needed(view, item);
  if (item.stack < kScratch && !item.state->rule->remembers())
    return sum(bytes_.to_end(TextView(view), *item.state, item.reg), tightness(view, item.stack));
  std::map<StackId, uint32_t, std::greater<>> open;
  const auto come_down = [&](StackId stack, uint32_t bytes) {
    const auto [it, fresh] = open.try_emplace(stack, bytes);
    if (!fresh) it->second = std::min(it->second, bytes);
  };
  const TextView texts(view);
  bytes_.for_each_way_down(texts, item, view.frames(item.stack), more, come_down);
  int64_t least = kNever;
  while (!open.empty()) {
    const auto [stack, bytes] = *open.begin();
    open.erase(open.begin());
    if (stack < kScratch) {
      least = std::min(least, sum(bytes, tightness(view, stack)));
      continue;
    }
    const int64_t deadline = view.mark(stack).deadline;
    if (deadline != kNoDeadline && bytes >= deadline + clock) continue;
    for (const Frame& frame : view.frames(stack)) {
      if (!frame.target) {
        least = std::min(least, sum(bytes, kFree));
        continue;
      }
      come_down(frame.parent, ByteDistances::sum(bytes, bytes_.after_return(texts, frame)));
    }
  }
  return least;
}

// The bytes of the longest token of these characters.
uint32_t TokenBudgets::longest_of(CharClasses classes) {
  const auto [it, fresh] = longest_of_.try_emplace(classes, 0);
  if (!fresh) return it->second;
  const std::vector<uint32_t> tokens = vocabulary_.tokens_of(classes);
  for (TokenId token = 0; static_cast<uint32_t>(token) < vocabulary_.vocab_size(); ++token)
    if (tokens[static_cast<size_t>(token) / 32] >> (token % 32) & 1)
      it->second = std::max(it->second, static_cast<uint32_t>(vocabulary_.text(token).size()));
  return it->second;
}

// Whether the bytes that are needed, each as a token, are few enough. `more`: as in needed_clock.
bool TokenBudgets::has_enough(const Recognizer& view, const Item& item, int64_t clock, uint32_t more) {
  if (compares_values_) return values_.needed(view, item) <= clock;
  bool enough = false;
  bytes_.for_each_way_down(TextView(view), item, view.frames(item.stack), more, [&](StackId stack, uint32_t bytes) {
    enough = enough || sum(bytes, tightness(view, stack)) <= clock;
  });
  return enough;
}

bool TokenBudgets::is_viable(const Recognizer& view, const Item& item, int64_t clock) {
  if (has_enough(view, item, clock, 0)) return true;
  if (by_bounds_) return false;
  const bool has_scratch_text =
      view.num_scratch_cells() > 0 && item.state->rule->memory().kind != MemoryRole::Kind::None;
  if (item.stack >= kScratch || has_scratch_text) return search(view, item, clock);
  const ItemAtClock at{item, clock};
  if (const auto it = verdicts_.find(at); it != verdicts_.end()) return it->second;
  const bool viable = search(view, item, clock);
  if (verdicts_.size() > kMaxVerdicts) verdicts_.clear();
  return verdicts_[at] = viable;
}

// Far away, more can be reached than near: so few tokens are tried first, then more.
bool TokenBudgets::search(const Recognizer& view, const Item& item, int64_t clock) {
  if (most_on(view, item.stack, clock) == 0) return false;
  bool lands = false;
  const auto land = [&](const Place& place, StackId stack) {
    lands = lands || lands_in_time(place, 1, tightness(view, stack), clock);
  };
  reach_.steps().for_each_place(TextView(view), item, view.frames(item.stack), land);
  if (lands) return true;
  for (int64_t tokens = kFirstTry;; tokens += tokens / 2) {
    const auto within = static_cast<uint32_t>(std::min<int64_t>(tokens, kAnyTokens));
    if (const auto found = ends_within(view, item, within, clock)) return *found;
  }
}

// Follows the ends of an item down its stack, those of each rule cut off at its deadline. Nothing if more tokens, which
// some rule around has, might do.
std::optional<bool> TokenBudgets::ends_within(const Recognizer& view, const Item& item, uint32_t tokens,
                                              int64_t clock) {
  bool is_cut = false;
  const auto most_within = [&](StackId stack) {
    const uint32_t most = most_on(view, stack, clock);
    is_cut = is_cut || tokens < most;
    return std::min(tokens, most);
  };
  std::map<StackId, TokenEnds, std::greater<>> open;  // parents have smaller ids than what stands on them
  const TextView texts(view);
  reach_.steps().for_each_place(texts, item, view.frames(item.stack), [&](const Place& place, StackId stack) {
    for (const TokenEnd& end : reach_.ends(place, most_within(stack))) open[stack].add(end);
  });
  while (!open.empty()) {
    Work::spend(1);
    const StackId stack = open.begin()->first;
    TokenEnds ends = std::move(open.begin()->second);
    open.erase(open.begin());
    const int64_t deadline = view.mark(stack).deadline;
    ends.keep_within(deadline == kNoDeadline ? tokens : std::min<int64_t>(tokens, clock + deadline));
    if (ends.empty()) continue;
    const uint32_t* between = ends.tokens_to(kBetweenTokens);
    for (const Frame& frame : view.frames(stack)) {
      if (!frame.target) {
        if (between) return true;
        continue;
      }
      DfaState& target = *frame.target;
      target.rule->link(target);
      const int64_t below = tightness(view, frame.parent);
      if (between && sum(ByteDistances::sum(bytes_.after_return(texts, frame), *between), below) <= clock) return true;
      const Place place = reach_.steps().returned_to(texts, frame, kBetweenTokens);
      const auto lands = [&](const TokenEnd& end) {
        const EntryId entry = reach_.steps().narrowed(end.at, target);
        return entry > kNowhere && lands_in_time({&target, place.reg, entry}, end.tokens, below, clock);
      };
      if (std::ranges::any_of(ends, lands)) return true;
      for (const TokenEnd& end : after(place, ends, most_within(frame.parent))) open[frame.parent].add(end);
    }
  }
  return is_cut ? std::nullopt : std::optional(false);
}

// What follows the ends in `before` at a place that a rule has returned to, up to so many tokens in all.
TokenEnds TokenBudgets::after(const Place& place, const TokenEnds& before, uint32_t most) {
  TokenEnds out;
  for (const TokenEnd& end : before) {
    if (end.tokens > most) continue;
    if (may_end(*place.state, place.reg)) out.add(end);
    if (place.state->ends_only || !may_continue(*place.state, place.reg)) continue;
    for (const TokenEnd& next : reach_.ends({place.state, place.reg, end.at}, most - end.tokens))
      out.add({next.at, end.tokens + next.tokens});
  }
  return out;
}

// Whether some token, the one that is read after so many in all, leads where bytes suffice.
bool TokenBudgets::lands_in_time(const Place& place, uint32_t tokens, int64_t below, int64_t clock) {
  return std::ranges::any_of(reach_.steps().from(place).landings, [&](const TokenSteps::Landing& landing) {
    return sum(ByteDistances::sum(landing.bytes, tokens), below) <= clock;
  });
}

// The tokens that may come while something stands on the stack.
uint32_t TokenBudgets::most_on(const Recognizer& view, StackId stack, int64_t clock) {
  const int64_t deadline = this->deadline(view, stack);
  if (deadline == kNoDeadline) return kAnyTokens;
  return static_cast<uint32_t>(std::clamp<int64_t>(clock + deadline, 0, kAnyTokens));
}

int64_t TokenBudgets::deadline(const Recognizer& view, StackId stack) {
  if (stack < kScratch) return stacks_.deadline(stack);
  std::map<StackId, int64_t, std::greater<>> open{{stack, kNoDeadline}};  // the time left above
  int64_t out = INT64_MIN;
  while (!open.empty()) {
    auto [id, time] = *open.begin();
    open.erase(open.begin());
    time = std::min(time, view.mark(id).deadline);
    if (id < kScratch) {
      out = std::max(out, std::min(time, stacks_.deadline(id)));
      continue;
    }
    for (const Frame& frame : view.frames(id)) {
      const auto [it, fresh] = open.try_emplace(frame.target ? frame.parent : kRootStack, time);
      if (!fresh) it->second = std::max(it->second, time);
    }
  }
  return out;
}

uint32_t TokenBudgets::enough_tokens(const Item& item) {
  const std::lock_guard guard(lock_);
  return bytes_.to_end(TextView(stacks_), *item.state, item.reg);
}

uint32_t TokenBudgets::at_least_tokens(const Item& item) {
  const std::lock_guard guard(lock_);
  return reach_.at_least({item.state, item.reg, kBetweenTokens});
}

uint32_t TokenBudgets::least_tokens(const Item& item) {
  const std::lock_guard guard(lock_);
  const uint32_t bytes = bytes_.to_end(TextView(stacks_), *item.state, item.reg);
  const uint64_t most = std::min(bytes, kAnyTokens);
  for (uint64_t tokens = kFirstTry;; tokens += tokens / 2) {
    const auto within = static_cast<uint32_t>(std::min(tokens, most));
    const auto& ends = reach_.ends({item.state, item.reg, kBetweenTokens}, within);
    const auto end = std::ranges::find(ends, kBetweenTokens, &TokenEnd::at);
    if (end != ends.end()) return end->tokens;
    if (tokens >= most) return kAnyTokens;
  }
}

}  // namespace maskwright
