#include "token_reach.h"

#include <algorithm>

#include "errors.h"
#include "named_tokens.h"
#include "token_walk.h"
#include "work.h"

namespace maskwright {

bool TokenProfile::add_edge(uint32_t tokens) {
  if (edge_ && *edge_ <= tokens) return false;
  edge_ = tokens;
  return true;
}

bool TokenProfile::add_exits(const StateMask* exits, uint32_t tokens) {
  const auto [it, fresh] = exits_.try_emplace(exits, tokens);
  if (fresh) return true;
  if (it->second <= tokens) return false;
  it->second = tokens;
  return true;
}

bool TokenProfile::add(const TokenProfile& other, uint32_t tokens, uint32_t most) {
  bool changed = false;
  const auto fits = [&](uint32_t count) { return uint64_t{count} + tokens <= most; };
  if (other.edge_ && fits(*other.edge_)) changed = add_edge(*other.edge_ + tokens);
  for (const auto& [exits, count] : other.exits_)
    if (fits(count)) changed = add_exits(exits, count + tokens) || changed;
  return changed;
}

void TokenProfile::keep_within(int64_t most) {
  if (edge_ && *edge_ > most) edge_.reset();
  std::erase_if(exits_, [&](const auto& entry) { return entry.second > most; });
}

// Keeps what a walk from a place reports.
class TokenReach::StepsSink {
 public:
  StepsSink(TokenReach& reach, Steps& steps) : reach_(reach), steps_(steps), exits_(reach.vocabulary_) {}
  CharClasses steady_classes() const { return maskwright::steady_classes(reach_.recognizer_); }
  void token(uint32_t, uint32_t) { land(); }
  void steady(uint32_t, uint32_t) { land(); }
  void exit(NodeId node) { exits_.exit(node); }
  void steady_exits(NodeId node, bool raw) {
    if (!reach_.recognizer_.complete()) return;
    const Vocabulary::Node& at = reach_.vocabulary_.node(node);
    exits_.exit_range({at.first_child, at.below_end, 0, kManyChars, raw});
  }
  void land() {
    const Recognizer& recognizer = reach_.recognizer_;
    steps_.ends_at_edge = steps_.ends_at_edge || recognizer.complete();
    items_.assign(recognizer.items().begin(), recognizer.items().end());
    import_stacks(recognizer, reach_.stacks_, items_);
    for (const Item& item : items_)
      if (seen_.insert(item).second) steps_.landings.push_back({item, 0});
  }
  void finish() { exits_.store_exits(steps_.exits); }

 private:
  TokenReach& reach_;
  Steps& steps_;
  ExitCollector exits_;
  std::vector<Item> items_;
  std::set<Item> seen_;
};

const TokenReach::Steps& TokenReach::steps(const Place& place) {
  std::unique_ptr<Steps>& known = steps_[place];
  if (known) return *known;
  Work::spend(1);
  auto steps = std::make_unique<Steps>();
  const Item item{place.state, place.reg, kRootStack};
  recognizer_.reset(stacks_, {&item, 1}, may_end(*place.state, place.reg));
  StepsSink sink(*this, *steps);
  if (place.node == Vocabulary::kRoot) {
    walk_tokens(vocabulary_, recognizer_, Vocabulary::kRoot, 0, sink);
    for (const auto& group : named_tokens({&item, 1}))
      if (recognizer_.push_token(group[0])) {
        sink.land();
        recognizer_.pop();
      }
  } else if (recognizer_.push(vocabulary_.byte(place.node))) {
    const Vocabulary::Node& at = vocabulary_.node(place.node);
    if (at.token_begin < at.token_own_end) sink.land();
    if (at.num_children > 0) {
      if (recognizer_.complete()) sink.exit(place.node);
      if (!recognizer_.items().empty())
        walk_tokens(vocabulary_, recognizer_, place.node, vocabulary_.depth(place.node), sink);
    }
  }
  sink.finish();
  for (Landing& landing : steps->landings) landing.bytes = bytes_down(stacks_, landing.item);
  steps_bytes_ += sizeof(Steps) + steps->landings.capacity() * sizeof(Landing) + steps->exits.memory_bytes();
  known = std::move(steps);
  return *known;
}

size_t TokenReach::memory_bytes() const {
  constexpr size_t kAround = 256;  // a place that is known: its profile, its users, its entry in the table
  return steps_bytes_ + known_.size() * (sizeof(Known) + kAround) + stacks_.memory_bytes();
}

const TokenProfile& TokenReach::profile(const Place& place, uint32_t most) {
  Known& known = ask(place, most);
  solve();
  return known.profile;
}

TokenProfile TokenReach::after(DfaState& target, uint64_t reg, const TokenProfile& before, uint32_t most) {
  while (true) {
    TokenProfile out = follow(target, reg, before, most);
    if (waiting_.empty()) return out;
    solve();
  }
}

TokenReach::Known& TokenReach::ask(const Place& place, uint32_t most) {
  std::unique_ptr<Known>& known = known_[place];
  if (!known) known = std::make_unique<Known>(place);
  if (evaluated_) known->users.insert(evaluated_);
  if (!known->most || most > *known->most) {
    known->most = most;
    wake(*known);
  }
  return *known;
}

void TokenReach::wake(Known& known) {
  if (known.waits) return;
  known.waits = true;
  waiting_.push_back(&known);
}

void TokenReach::solve() {
  while (!waiting_.empty()) {
    Known& next = *waiting_.front();
    waiting_.pop_front();
    next.waits = false;
    evaluated_ = &next;
    try {
      evaluate(next);
    } catch (...) {  // what is not solved waits for the next question
      evaluated_ = nullptr;
      wake(next);
      throw;
    }
  }
  evaluated_ = nullptr;
}

void TokenReach::evaluate(Known& known) {
  const Place place = known.place;
  const uint32_t most = *known.most, begun = place.node == Vocabulary::kRoot ? 1 : 0;
  if (most < begun) return;
  const Steps& steps = this->steps(place);
  TokenProfile found;
  if (steps.ends_at_edge) found.add_edge(begun);
  if (steps.exits.has_exits() && begun <= most) found.add_exits(&steps.exits, begun);
  for (const Landing& landing : steps.landings) found.add(come_down(landing, most - begun), begun, most);
  if (!known.profile.add(found, 0, most)) return;
  for (Known* user : known.users) wake(*user);
}

// From behind a token down to the unknown stack. Rules begun within the token have one token less.
TokenProfile TokenReach::come_down(const Landing& landing, uint32_t most) {
  const Item& item = landing.item;
  if (most == 0) return {};
  std::map<StackId, TokenProfile, std::greater<>> open;  // parents have smaller ids than what stands on them
  open[item.stack] = ask({item.state, item.reg, Vocabulary::kRoot}, most).profile;
  while (open.begin()->first != kRootStack) {
    Work::spend(1);
    const auto [stack, profile] = *open.begin();
    open.erase(open.begin());
    TokenProfile kept = profile;
    if (const int64_t deadline = stacks_.mark(stack).deadline; deadline != kNoDeadline) kept.keep_within(deadline - 1);
    for (const Frame& frame : stacks_.frames(stack))
      if (frame.target)
        open[frame.parent].add(follow(*frame.target, entering(*frame.target, frame.reg), kept, most), 0, most);
      else
        open[kRootStack].add(kept, 0, most);
  }
  return open.begin()->second;
}

TokenProfile TokenReach::follow(DfaState& target, uint64_t reg, const TokenProfile& before, uint32_t most) {
  TokenProfile out;
  if (before.empty()) return out;
  if (may_end(target, reg)) out.add(before, 0, most);
  if (target.ends_only || !may_continue(target, reg)) return out;
  if (before.edge() && *before.edge() < most)
    out.add(ask({&target, reg, Vocabulary::kRoot}, most - *before.edge()).profile, *before.edge(), most);
  target.rule->link(target);
  before.for_each_node(vocabulary_, target.live, [&](NodeId node, uint32_t tokens) {
    if (tokens <= most) out.add(ask({&target, reg, node}, most - tokens).profile, tokens, most);
  });
  return out;
}

// The bytes from an item down to the unknown stack, at most; none if a rule begun within the token needs more than it
// has left.
uint32_t TokenReach::bytes_down(const StackStore& stacks, const Item& item) {
  std::map<StackId, uint32_t, std::greater<>> open{{item.stack, bytes_.to_end(*item.state, item.reg)}};
  while (open.begin()->first != kRootStack) {
    const auto [stack, bytes] = *open.begin();
    open.erase(open.begin());
    const int64_t deadline = stacks.mark(stack).deadline;
    const bool in_time = deadline == kNoDeadline || bytes < deadline;
    for (const Frame& frame : stacks.frames(stack)) {
      const uint32_t rest = frame.target ? bytes_.after_return(*frame.target, entering(*frame.target, frame.reg)) : 0;
      uint32_t& below = open[frame.parent];
      below = std::max(below, in_time ? ByteDistances::sum(bytes, rest) : ByteDistances::kNever);
    }
  }
  return open.begin()->second;
}

}  // namespace maskwright
