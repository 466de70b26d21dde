#include "budget/farthest_landing.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "masks/comparison.h"
#include "masks/departures.h"
#include "masks/masks.h"
#include "masks/token_walk.h"

namespace maskwright {
namespace {

// What tokens lead to from it counts by its bytes alone.
bool is_supported(const DfaState& state) {
  const Rule& rule = *state.rule;
  return rule.memory().kind == MemoryRole::Kind::None && !rule.multiples() && !state.bounded;
}

uint64_t unbounded_register(const DfaState& state) {
  return state.rule->counts() ? kUnboundedReg : 0;
}

}  // namespace

// Finds the greatest of the distances behind tokens, the recogniser's stacks being unknown below the root. `counts`:
// any of what follows a token may not be there, as the count may forbid it.
class FarthestLanding::Sink {
 public:
  Sink(FarthestLanding& owner, bool counts) : owner_(owner), recognizer_(owner.recognizer_), counts_(counts) {}
  CharClasses steady_classes() const {
    if (counts_ && !recognizer_.sole_item()) return 0;
    const Item* item = widest_loop(recognizer_.items(), counted_loop_classes);
    return item ? counted_loop_classes(*item) : 0;
  }
  void token(uint32_t, uint32_t) {
    if (recognizer_.complete() && !counts_) return;
    const Item* sole = recognizer_.sole_item();
    if (sole && last_ == *sole) return;  // nearly all tokens of a loop
    uint32_t needed = counts_ ? 0 : kNever;
    for (const Item& item : recognizer_.items()) {
      const uint32_t own = owner_.bytes_down(item);
      needed = counts_ ? std::max(needed, own) : std::min(needed, own);
    }
    note(needed);
    last_.reset();
    if (sole && sole->stack == kRootStack) last_ = *sole;
  }
  // Behind fewer items, more may seem to be needed, but not more than each of them by itself.
  void steady(uint32_t, uint32_t) {
    const Item& item = *widest_loop(recognizer_.items(), counted_loop_classes);
    note(ByteDistances::sum(owner_.bytes_down(item), owner_.bytes_.needed_items(*item.state, item.reg)));
  }
  void exit(NodeId) {}
  void steady_exits(NodeId, bool) {}
  void note(uint32_t bytes) { most_ = std::max(most_, bytes); }
  uint32_t most() const { return most_; }

 private:
  FarthestLanding& owner_;
  const Recognizer& recognizer_;
  const bool counts_;
  uint32_t most_ = 0;
  std::optional<Item> last_;
};

uint32_t FarthestLanding::of(DfaState& state, uint64_t reg) {
  if (!is_supported(state)) return kNever;
  if (!known(state)) make_with_callees(state);
  return ByteDistances::sum(*known(state), bytes_.needed_items(state, reg));
}

std::optional<uint32_t> FarthestLanding::known(const DfaState& state) const {
  const uint32_t shared = state.farthest_landing.load(std::memory_order_relaxed);
  if (shared != DfaState::kLandingUnknown) return shared;
  const auto it = estimated_.find(&state);
  return it == estimated_.end() ? std::nullopt : std::optional(it->second);
}

void FarthestLanding::keep(DfaState& state, uint32_t bytes) {
  if (bytes_.is_passing())
    estimated_[&state] = bytes;
  else
    state.farthest_landing.store(bytes, std::memory_order_relaxed);
}

// As state_mask finds what a mask rests on.
void FarthestLanding::make_with_callees(DfaState& state) {
  std::vector<DfaState*> needed;  // start states, callees of callees included
  bool by_token = false;
  const auto need_callees = [&](DfaState& caller) {
    caller.rule->link(caller);
    for (const CallEdge& call : caller.calls) {
      DfaState* start = call.callee->start();
      by_token = by_token || (&caller == &state && call.callee->first_has_tokens());
      if (is_supported(*start) && !known(*start) && std::ranges::find(needed, start) == needed.end())
        needed.push_back(start);
    }
  };
  need_callees(state);
  const auto too_many = [&] { return needed.size() > kMaxCallees && !by_token; };
  for (size_t i = 0; i < needed.size() && !too_many(); ++i) need_callees(*needed[i]);
  if (too_many()) return make(state, Calls::ByWalking);
  std::stable_sort(needed.begin(), needed.end(),
                   [](const DfaState* one, const DfaState* other) { return one->rule->rank() < other->rule->rank(); });
  for (DfaState* start : needed) make(*start, Calls::ByStates);
  make(state, Calls::ByStates);
}

void FarthestLanding::make(DfaState& state, Calls calls) {
  Sink sink(*this, state.rule->counts());
  DfaState* similar = similar_state(state);
  if (similar && is_supported(*similar)) {
    if (!known(*similar)) {
      Sink other(*this, similar->rule->counts());
      walk_own_bytes(*similar, Calls::ByStates, other);
      keep(*similar, other.most());
    }
    sink.note(*known(*similar));
    if (walk_differences(state, *similar, sink)) return keep(state, sink.most());
  }
  walk_own_bytes(state, calls, sink);
  if (calls == Calls::ByStates)
    for (CallEdge& call : state.calls) follow_call(state, call, sink);
  for (TokenEdge& edge : state.token_edges) {
    const Frame after{state.rule->target(state, edge), unbounded_register(state), kRootStack};
    sink.note(bytes_.after_return(TextView(recognizer_), after));
  }
  keep(state, sink.most());
}

void FarthestLanding::walk_own_bytes(DfaState& state, Calls calls, Sink& sink) {
  const Item item{&state, unbounded_register(state), kRootStack};
  recognizer_.reset(StackStore::root_only(), {&item, 1}, may_end(state, item.reg));
  if (calls == Calls::ByWalking) return walk_tokens(vocabulary_, recognizer_, Vocabulary::kRoot, sink);
  const CharClasses classes = state.calls.empty() ? counted_loop_classes(item) : 0;
  if (is_wide(classes)) return walk_from_loop(classes, sink);
  state.live.for_each([&](uint8_t byte) {
    const NodeId node = vocabulary_.root_child(byte);
    if (node == Vocabulary::kRoot || !recognizer_.push_own(byte)) return;
    walk_tokens_at(vocabulary_, recognizer_, node, sink);
    recognizer_.pop();
  });
}

// The recogniser stands in the loop.
void FarthestLanding::walk_from_loop(CharClasses classes, Sink& sink) {
  sink.steady(0, 0);
  for_each_departure(vocabulary_, classes, recognizer_.next_bytes(), [&](uint8_t byte, NodeId node) {
    if (!recognizer_.push(byte)) return;
    walk_tokens_at(vocabulary_, recognizer_, node, sink);
    recognizer_.pop();
  });
  std::set<std::string_view> begun;  // characters, with which tokens end
  for (const uint32_t position : vocabulary_.unfinished()) {
    const std::string_view text = vocabulary_.text(vocabulary_.sorted_token(position));
    size_t size = 1;
    while (size < text.size() && is_continuation(static_cast<uint8_t>(text[text.size() - size]))) ++size;
    begun.insert(text.substr(text.size() - size));
  }
  for (const std::string_view bytes : begun) {
    size_t pushed = 0;
    while (pushed < bytes.size() && recognizer_.push(static_cast<uint8_t>(bytes[pushed]))) ++pushed;
    if (pushed == bytes.size()) sink.token(0, 0);
    recognizer_.pop(pushed);
  }
}

// False if they part in too many places.
bool FarthestLanding::walk_differences(DfaState& state, DfaState& similar, Sink& sink) {
  std::vector<Parting> open;
  size_t num_seen = part_at(vocabulary_, Vocabulary::kRoot, state, similar, open);
  while (!open.empty() && num_seen < kMaxCompared) {
    const Parting at = open.back();
    open.pop_back();
    if (!at.a) continue;
    const Item item{at.a, 0, kRootStack};
    recognizer_.reset(StackStore::root_only(), {&item, 1}, at.a->final);
    if (!at.b || !is_self_contained(*at.a) || !is_self_contained(*at.b)) {
      walk_tokens_at(vocabulary_, recognizer_, at.node, sink);
      continue;
    }
    const Vocabulary::Node& node = vocabulary_.node(at.node);
    if (node.token_begin < node.token_own_end) sink.token(node.token_begin, node.token_own_end);
    num_seen += part_at(vocabulary_, at.node, *at.a, *at.b, open);
  }
  return open.empty();
}

void FarthestLanding::follow_call(DfaState& state, CallEdge& call, Sink& sink) {
  const Frame after{state.rule->target(state, call), unbounded_register(state), kRootStack};
  recognizer_.reset_after_return(StackStore::root_only(), {&after, 1}, *call.callee);
  DfaState& start = *call.callee->start();
  sink.note(ByteDistances::sum(of(start, call.reg), bytes_.after_return(TextView(recognizer_), after)));
  if (sink.most() == kNever) return;
  walk_tokens_behind(vocabulary_, state_mask(vocabulary_, start, call.reg), recognizer_, sink);
}

// From an item behind a token to the unknown stack.
uint32_t FarthestLanding::bytes_down(const Item& item) const {
  const TextView texts(recognizer_);
  const uint32_t bytes = bytes_.to_end(texts, *item.state, item.reg);
  if (item.stack == kRootStack) return bytes;
  std::map<StackId, uint32_t, std::greater<>> open{{item.stack, bytes}};  // parents have smaller ids
  while (open.begin()->first != kRootStack) {
    const auto [stack, distance] = *open.begin();
    open.erase(open.begin());
    for (const Frame& frame : recognizer_.frames(stack)) {
      const uint32_t rest = frame.target ? bytes_.after_return(texts, frame) : 0;
      const auto [it, fresh] = open.try_emplace(frame.target ? frame.parent : kRootStack, kNever);
      it->second = std::min(it->second, ByteDistances::sum(distance, rest));
    }
  }
  return open.begin()->second;
}

}  // namespace maskwright
