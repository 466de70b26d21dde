#include "budget/token_reach.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "support/work.h"

namespace maskwright {
namespace {

constexpr size_t kStepsAnEvent = 10, kStepsAUse = 45, kStepsANeed = 3;  // measured: tables

}  // namespace

void TokenEnds::add(const TokenEnd& end) {
  const auto known = std::ranges::find(ends_, end.at, &TokenEnd::at);
  if (known == ends_.end())
    ends_.push_back(end);
  else
    known->tokens = std::min(known->tokens, end.tokens);
}

void TokenEnds::keep_within(int64_t most) {
  std::erase_if(ends_, [&](const TokenEnd& end) { return end.tokens > most; });
}

const uint32_t* TokenEnds::tokens_to(EntryId entry) const {
  const auto known = std::ranges::find(ends_, entry, &TokenEnd::at);
  return known == ends_.end() ? nullptr : &known->tokens;
}

const std::vector<TokenEnd>& TokenReach::ends(const Place& place, uint32_t most) {
  static const std::vector<TokenEnd> none;
  const EntryId entry = steps_.narrowed(place.entry, *place.state);
  if (entry == kNowhere) return none;
  Known& known = at({place.state, place.reg, entry, place.above});
  need(known, most);
  solve();
  known.solved = std::max(known.solved, most);
  return known.ends;
}

uint32_t TokenReach::at_least(const Place& place) {
  const auto it = known_.find(place);
  if (it == known_.end()) return first_end(place);
  const Known& known = *it->second;
  const auto end = std::ranges::find(known.ends, kBetweenTokens, &TokenEnd::at);
  return end != known.ends.end() ? end->tokens : std::max(known.first_end, known.solved + 1);
}

TokenReach::Known& TokenReach::at(const Place& place) {
  if (const auto it = known_.find(place); it != known_.end()) return *it->second;
  auto known = std::make_unique<Known>(place, first_end(place));
  return *(known_[place] = std::move(known));
}

// The tokens before which no way from the place ends.
uint32_t TokenReach::first_end(const Place& place) {
  uint32_t bytes = ByteDistances::kNever;
  at_least_.for_each_way_down(TextView(steps_.stacks()), {place.state, place.reg, place.above},
                              steps_.stacks().frames(place.above), 0,
                              [&](StackId, uint32_t distance) { bytes = std::min(bytes, distance); });
  const uint32_t tokens = bytes / longest_ + (bytes % longest_ > 0 ? 1 : 0);
  return place.entry == kBetweenTokens ? std::max(tokens, 1U) : tokens - std::min(tokens, 1U);
}

// The tokens of a place, entered so many later, that are of use to what stands below the stack: as long as no rule on
// the stack has run out of them.
std::optional<uint32_t> TokenReach::of_use(const Known& user, StackId stack, uint32_t tokens) const {
  int64_t most = user.most;
  if (const int64_t deadline = steps_.stacks().deadline(stack); deadline != kNoDeadline)
    most = std::min(most, user.begun() + deadline - 1);
  return most < tokens ? std::nullopt : std::optional(static_cast<uint32_t>(most - tokens));
}

// What the place uses is needed with it. The farthest first: so each is gone through once, however many ways lead
// there.
void TokenReach::need(Known& known, uint32_t most) {
  std::priority_queue<std::pair<uint32_t, Known*>> open;
  open.emplace(most, &known);
  while (!open.empty()) {
    const auto [tokens, at] = open.top();
    open.pop();
    unspent_ += kStepsANeed;
    if (at->is_needed && tokens <= at->most) continue;
    at->most = tokens;
    if (!std::exchange(at->is_needed, true)) post({at, kRootStack, kOpen}, at->first_end);
    for (const Later& later : std::exchange(at->later, {})) post(later.event, later.tokens);
    for (const User& use : at->uses)
      if (const auto most_there = of_use(*at, use.stack, use.tokens)) open.emplace(*most_there, use.known);
  }
}

void TokenReach::post(const Event& event, uint32_t tokens) {
  if (tokens > event.known->most) {
    event.known->later.push_back({event, tokens});
    return;
  }
  waiting_[tokens].push_back(event);
}

void TokenReach::solve() {
  while (!waiting_.empty()) {
    const auto nearest = waiting_.begin();
    const uint32_t tokens = nearest->first;
    if (nearest->second.empty()) {
      waiting_.erase(nearest);
      continue;
    }
    const Event event = nearest->second.back();
    nearest->second.pop_back();
    try {
      process(event, tokens);
    } catch (...) {  // what is not solved waits for the next question
      post(event, tokens);
      throw;
    }
  }
}

void TokenReach::process(const Event& event, uint32_t tokens) {
  Work::spend(kStepsAnEvent + std::exchange(unspent_, 0));
  if (event.at == kOpen)
    open(*event.known);
  else if (event.stack == kRootStack)
    conclude(*event.known, event.at, tokens);
  else
    end_on(*event.known, event.stack, event.at, tokens);
}

void TokenReach::open(Known& known) {
  const TokenSteps::Steps& steps = steps_.from(known.place);
  for (const EntryId entry : steps.ends) post({&known, kRootStack, entry}, known.begun());
  const StackStore& stacks = steps_.stacks();
  for (const auto& [item, bytes] : steps.landings)
    steps_.for_each_place(TextView(stacks), item, stacks.frames(item.stack),
                          [&](const Place& place, StackId stack) { use(known, place, stack, known.begun()); });
  for (const auto& [start, reg, stack] : steps.calls) {
    start->rule->link(*start);
    const EntryId entry = steps_.narrowed(known.place.entry, *start);
    if (entry == kNowhere) continue;
    if (start->rule->remembers())
      use(known, {start, reg, entry, stack}, kRootStack, 0);
    else
      use(known, {start, reg, entry}, stack, 0);
  }
}

// The ends of another place are those of what stands on the stack, so many tokens later.
void TokenReach::use(Known& user, const Place& place, StackId stack, uint32_t tokens) {
  Known& used = at(place);
  unspent_ += kStepsAUse;
  if (!uses_.insert({&user, stack, reinterpret_cast<uintptr_t>(&used)}).second) return;
  user.uses.push_back({&used, stack, tokens});
  used.users.push_back({&user, stack, tokens});
  if (const auto most = of_use(user, stack, tokens)) need(used, *most);
  for (const TokenEnd& end : used.ends) post({&user, stack, end.at}, tokens + end.tokens);
}

// What stood on a stack above the unknown one has ended: its callers go on. Rules begun within the first token have one
// token less.
void TokenReach::end_on(Known& known, StackId stack, EntryId entry, uint32_t tokens) {
  const StackStore& stacks = steps_.stacks();
  for (const Frame& frame : stacks.frames(stack))
    if (frame.target) frame.target->rule->link(*frame.target);
  if (ended_.contains({&known, stack, entry})) return;
  const int64_t deadline = stacks.mark(stack).deadline;
  if (deadline != kNoDeadline && tokens - known.begun() >= deadline) return;
  for (const Frame& frame : stacks.frames(stack)) {
    if (!frame.target) {
      post({&known, kRootStack, entry}, tokens);
      continue;
    }
    DfaState& target = *frame.target;
    const uint64_t reg = entering(target, frame.reg);
    if (may_end(target, reg)) post({&known, frame.parent, entry}, tokens);
    if (target.ends_only || !may_continue(target, reg)) continue;
    if (const EntryId narrowed = steps_.narrowed(entry, target); narrowed != kNowhere)
      use(known, {&target, reg, narrowed}, frame.parent, tokens);
  }
  ended_.insert({&known, stack, entry});
}

void TokenReach::conclude(Known& known, EntryId entry, uint32_t tokens) {
  unspent_ += known.users.size() + known.ends.size() / 8;
  const auto covers = [&](const TokenEnd& end) { return steps_.covers(end.at, entry); };
  if (std::ranges::any_of(known.ends, covers)) return;
  known.ends.push_back({entry, tokens});
  for (const User& user : known.users) post({user.known, user.stack, entry}, user.tokens + tokens);
}

size_t TokenReach::memory_bytes() const {
  constexpr size_t kAround = 256;  // a place's ends, who uses it, its entry in the table
  constexpr size_t kVisit = 64;
  return steps_.memory_bytes() + known_.size() * (sizeof(Known) + kAround) + (ended_.size() + uses_.size()) * kVisit;
}

}  // namespace maskwright
