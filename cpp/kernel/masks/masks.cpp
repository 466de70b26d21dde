#include "masks/masks.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <deque>

#include "masks/collector.h"
#include "masks/comparison.h"
#include "masks/counted_mask.h"
#include "masks/departures.h"
#include "masks/distinct_mask.h"
#include "masks/followed_exits.h"
#include "masks/trie_walk.h"
#include "support/optimisations.h"

namespace maskwright {
namespace {

const StateMask* known_mask(const Vocabulary& vocabulary, DfaState& state, uint64_t reg) {
  if (!state.rule->counts()) return state.mask.load(std::memory_order_acquire);
  const std::lock_guard guard(state.rule->group().lock());
  const auto it = state.rule->counted_masks.find({&state, canonical_register(vocabulary, state, reg)});
  return it == state.rule->counted_masks.end() ? nullptr : it->second;
}

const StateMask* publish(const Vocabulary& vocabulary, DfaState& state, uint64_t reg, std::unique_ptr<StateMask> mask) {
  RuleGroup& group = state.rule->group();
  const std::lock_guard guard(group.lock());
  if (!state.rule->counts()) {
    if (const StateMask* earlier = state.mask.load(std::memory_order_acquire)) return earlier;
    const StateMask* kept = group.keep(std::move(mask));
    state.mask.store(kept, std::memory_order_release);
    return kept;
  }
  const StateMask*& slot = state.rule->counted_masks[{&state, canonical_register(vocabulary, state, reg)}];
  if (!slot) slot = group.keep(std::move(mask));
  return slot;
}

// After a walk without bounds, ways from all states that a token leads to have been asked for, but for that of a loop.
void know_slack(DfaState& state) {
  if (!state.bounded) return;
  Lengths& lengths = *state.rule->lengths();
  lengths.way(state);
  state.know_slack(lengths.slack());
}

// The classes of the characters that leave a state as it is, if what leaves it is best sought by itself
// (departures.h): if they are many, and if it can end nowhere among them, which would make exits everywhere.
CharClasses wide_loop(DfaState& state, uint64_t reg) {
  if (!optimisations.subtree_skipping || !state.calls.empty() || may_end(state, reg)) return 0;
  if (state.counter_head && (state.rule->terminator() < 0 || reg != kUnboundedReg)) return 0;
  if (!may_loop(state.live)) return 0;
  const CharClasses classes = state.rule->loop_classes(state);
  if (!state.rule->counts() && run_from(state, true).classes != classes) return 0;  // a walk can take more whole
  return is_wide(classes) ? classes : 0;
}

// The recogniser stands in a state that loops.
void walk_departures(const Vocabulary& vocabulary, CharClasses classes, Recognizer& recognizer, ExitCollector& sink) {
  sink.allow_classes(classes);
  int entered = -1;  // the byte after which the recogniser stands, if it has accepted it
  bool accepted = false;
  for_each_departure(vocabulary, classes, recognizer.next_bytes(), [&](uint8_t byte, NodeId node) {
    if (byte != entered) {
      if (accepted) recognizer.pop();
      accepted = recognizer.push(byte);
      entered = byte;
    }
    if (accepted) walk(vocabulary, recognizer, node, sink);
  });
}

// How what a state calls is found out.
enum class Calls : uint8_t {
  ByMasks,   // of the callees' start states, which are known
  ByWalking  // calls are walked like everything else
};

// What comes of the state's own bytes; and, by walking, of those that its callees begin with.
void walk_own_bytes(const Vocabulary& vocabulary, DfaState& state, uint64_t reg, Calls calls, Recognizer& recognizer,
                    ExitCollector& sink) {
  const Item item{&state, reg, kRootStack};
  recognizer.reset(StackStore::root_only(), {&item, 1}, may_end(state, reg));
  if (const CharClasses classes = wide_loop(state, reg); classes != 0)
    return walk_departures(vocabulary, classes, recognizer, sink);
  if (state.calls.empty() || calls == Calls::ByWalking)
    return walk_below(vocabulary, recognizer, Vocabulary::kRoot, sink);
  state.live.for_each([&](uint8_t byte) {
    const NodeId child = vocabulary.root_child(byte);
    if (child == Vocabulary::kRoot || !recognizer.push_own(byte)) return;
    walk(vocabulary, recognizer, child, sink);
    recognizer.pop();
  });
}

// What comes of a call: what the callee's mask allows, and what follows where the callee ends within a token.
void take_call(const Vocabulary& vocabulary, DfaState& state, uint64_t reg, CallEdge& call, Recognizer& recognizer,
               ExitCollector& sink) {
  const StateMask* known = known_mask(vocabulary, *call.callee->start(), call.reg);
  assert(known);  // made before, for its rank is lower
  const StateMask& callee = *known;
  sink.allow_all(callee);
  const Frame after{state.rule->target(state, call), reg, kRootStack};
  if (call.callee->is_element())
    recognizer.reset_after_element(StackStore::root_only(), {&after, 1}, 0, {}, false);  // the first one
  else
    recognizer.reset_after_return(StackStore::root_only(), {&after, 1}, *call.callee);
  if (recognizer.complete()) sink.exit_all(callee);
  if (call.callee->remembers())
    follow_texts(vocabulary, callee, recognizer, StackStore::root_only(), {&after, 1}, *call.callee, 0, sink);
  else
    follow_exits(vocabulary, callee, recognizer, sink);
}

std::unique_ptr<StateMask> mask_of(ExitCollector& sink) {
  auto mask = std::make_unique<StateMask>();
  if (sink.is_listed() && sink.num_listed() <= kMaxSparse) {
    mask->sparse = sink.ids();
    mask->num_allowed = static_cast<uint32_t>(mask->sparse.size());
  } else {
    mask->dense = sink.bits();
    mask->num_allowed = count_bits(mask->dense);
  }
  sink.store_exits(*mask);
  return mask;
}

// A state's mask from what the state is, whatever masks similar states have.
std::unique_ptr<StateMask> walk_state_mask(const Vocabulary& vocabulary, DfaState& state, uint64_t reg, Calls calls) {
  thread_local Recognizer recognizer;
  ExitCollector sink(vocabulary);
  if (state.has_own_bytes || calls == Calls::ByWalking) walk_own_bytes(vocabulary, state, reg, calls, recognizer, sink);
  if (may_repeat(state, reg)) {
    if (calls == Calls::ByMasks)
      for (CallEdge& call : state.calls) take_call(vocabulary, state, reg, call, recognizer, sink);
    for (const TokenEdge& edge : state.token_edges)
      for (const TokenId token : state.rule->token_set(edge.argument).ids)
        if (static_cast<uint32_t>(token) < vocabulary.vocab_size()) sink.allow_token(token);
  }
  auto mask = mask_of(sink);
  if (reg == kUnboundedReg) know_slack(state);
  return mask;
}

// A similar state's mask, corrected; or nothing. It is walked for if need be: similarity goes in circles.
std::unique_ptr<StateMask> mask_by_similar_state(const Vocabulary& vocabulary, DfaState& state, uint64_t reg) {
  DfaState* similar = similar_state(state);
  if (!similar) return nullptr;
  const StateMask* known = known_mask(vocabulary, *similar, reg);
  const StateMask& base =
      known ? *known : *publish(vocabulary, *similar, reg, walk_state_mask(vocabulary, *similar, reg, Calls::ByMasks));
  auto mask = mask_by_comparison(vocabulary, state, *similar, base);
  if (mask) know_slack(state);
  return mask;
}

std::unique_ptr<StateMask> build_state_mask(const Vocabulary& vocabulary, DfaState& state, uint64_t full_reg,
                                            Calls calls) {
  const Rule& rule = *state.rule;
  const uint64_t reg = rule.counts() ? canonical_register(vocabulary, state, full_reg) : full_reg;
  if (!rule.counts() || reg == kUnboundedReg) {
    if (auto mask = mask_by_similar_state(vocabulary, state, reg)) return mask;
  } else if (rule.counts_characters()) {
    const StateMask& unbounded = state_mask(vocabulary, state, kUnboundedReg);
    if (auto mask = counted_mask(vocabulary, state, Count::of(reg), unbounded)) return mask;
  }
  return walk_state_mask(vocabulary, state, reg, calls);
}

bool is_decided_by_text(const Item& item) {
  const Rule& rule = *item.state->rule;
  return rule.is_scope() || rule.recalls();
}

// What state masks save.
void walk_from_config(const Vocabulary& vocabulary, Recognizer& recognizer, Collector& sink) {
  walk_below(vocabulary, recognizer, Vocabulary::kRoot, sink);
  const bool by_token = may_read_tokens(recognizer.items());
  for (TokenId token = 0; by_token && token < static_cast<TokenId>(vocabulary.vocab_size()); ++token)
    if (recognizer.push_token(token)) {
      recognizer.pop();
      sink.allow_token(token);
    }
}

}  // namespace

bool may_read_tokens(std::span<const Item> items) {
  return std::ranges::any_of(items, [](const Item& item) {
    item.state->rule->link(*item.state);
    return !item.state->token_edges.empty() ||
           std::ranges::any_of(item.state->calls, [](const CallEdge& call) { return call.callee->first_has_tokens(); });
  });
}

const StateMask& state_mask(const Vocabulary& vocabulary, DfaState& state, uint64_t reg) {
  if (state.bounded && reg != kUnboundedReg) state_mask(vocabulary, state, kUnboundedReg);  // makes registers canonical
  if (const StateMask* known = known_mask(vocabulary, state, reg)) return *known;
  // Start states that this mask rests on, callees of callees included; lower ranks first.
  std::vector<std::pair<DfaState*, uint64_t>> needed;
  const auto need_callees = [&](DfaState& caller) {
    caller.rule->link(caller);
    for (CallEdge& call : caller.calls) {
      assert(&caller != caller.rule->start() || call.callee->rank() < caller.rule->rank());
      const std::pair start{call.callee->start(), call.reg};
      if (!known_mask(vocabulary, *start.first, start.second) &&
          std::find(needed.begin(), needed.end(), start) == needed.end())
        needed.push_back(start);
    }
  };
  need_callees(state);
  const bool by_token = std::any_of(state.calls.begin(), state.calls.end(),
                                    [](const CallEdge& call) { return call.callee->first_has_tokens(); });
  const auto too_many = [&] { return needed.size() > kMaxCallees && !by_token; };
  for (size_t i = 0; i < needed.size() && !too_many(); ++i) need_callees(*needed[i].first);
  if (too_many()) return *publish(vocabulary, state, reg, build_state_mask(vocabulary, state, reg, Calls::ByWalking));
  std::stable_sort(needed.begin(), needed.end(),
                   [](const auto& a, const auto& b) { return a.first->rule->rank() < b.first->rule->rank(); });
  for (const auto& [start, start_reg] : needed) {
    if (start->bounded)
      state_mask(vocabulary, *start, start_reg);
    else
      publish(vocabulary, *start, start_reg, build_state_mask(vocabulary, *start, start_reg, Calls::ByMasks));
  }
  return *publish(vocabulary, state, reg, build_state_mask(vocabulary, state, reg, Calls::ByMasks));
}

// What the mask of an item's state allows, whatever the stack; `made` has what is made for that.
static void allow_text_of(const Vocabulary& vocabulary, const StackStore& store, const Item& item,
                          const StateMask& mask, std::deque<StateMask>& made, Collector& sink) {
  if (!Recognizer::avoids(item)) return sink.allow_all(mask);
  const auto find = [&](CellId id) -> const Cell& { return store.cells().cell(id); };
  const CellId avoided = Spelled::of(item.reg).avoided;
  std::vector<TokenId> tokens;
  const auto take = [&](NodeId node) {
    const Vocabulary::Node& at = vocabulary.node(node);
    for (uint32_t p = at.token_begin; p < at.token_end; ++p) tokens.push_back(vocabulary.sorted_token(p));
  };
  if (item.state->rule->is_of_kinds())
    follow_set_of_kinds(vocabulary, *item.state, avoided, find, take);
  else
    follow_set(
        vocabulary, avoided, find, [](NodeId, NodeId) { return true; },
        [&](NodeId node, CellId set) {
          if (set == kAllTexts) take(node);
        });
  sink.allow_all(made.emplace_back(without(mask, std::move(tokens))));
}

// What an item allows whose text matters: by masks of the rules that it calls, and by walks where they return.
static void allow_by_text(const Vocabulary& vocabulary, const StackStore& store, const Item& item,
                          Recognizer& recognizer, std::deque<StateMask>& made, Collector& sink) {
  DfaState& state = *item.state;
  state.rule->link(state);
  recognizer.reset(store, {&item, 1}, false);
  if (state.rule->is_list() && !recognizer.may_have_another(item)) return;
  if (!state.token_edges.empty()) return walk_from_config(vocabulary, recognizer, sink);
  const auto walk_by = [&](uint8_t byte, auto&& push) {
    const NodeId child = vocabulary.root_child(byte);
    if (child == Vocabulary::kRoot || !push()) return;
    walk(vocabulary, recognizer, child, sink);
    recognizer.pop();
  };
  if (state.has_own_bytes && !state.rule->recalls())
    state.live.for_each([&](uint8_t byte) { walk_by(byte, [&] { return recognizer.push_own(byte); }); });
  recognizer.recalled_bytes(item).for_each([&](uint8_t byte) { walk_by(byte, [&] { return recognizer.push(byte); }); });
  for (CallEdge& call : state.calls) {
    if (call.callee->recalls()) continue;
    const Frame after{state.rule->target(state, call), item.reg, item.stack};
    const StateMask& callee = state_mask(vocabulary, *call.callee->start(), call.reg);
    const uint64_t reg = call.callee->is_element() ? Spelled{Chosen::of(item.reg).set, kNoCell}.reg() : 0;
    allow_text_of(vocabulary, store, {call.callee->start(), reg, 0}, callee, made, sink);
    if (call.callee->remembers()) {
      follow_texts(vocabulary, callee, recognizer, store, {&after, 1}, *call.callee, reg, sink);
    } else {
      recognizer.reset_after_return(store, {&after, 1}, *call.callee);
      follow_exits(vocabulary, callee, recognizer, sink);
    }
  }
}

std::unique_ptr<ConfigMask> config_mask(const Vocabulary& vocabulary, const StackStore& store, DistinctMasks& distinct,
                                        std::span<const Item> items) {
  thread_local Recognizer recognizer;
  Collector sink(vocabulary);
  std::deque<StateMask> made;
  if (!optimisations.state_masks || (items.size() > kMaxItems && !may_read_tokens(items))) {
    recognizer.reset(store, items, false);
    walk_from_config(vocabulary, recognizer, sink);
    items = {};
  }
  for (const Item& item : items) {
    if (distinct.concerns(item) && distinct.allow(item, recognizer, made, sink)) continue;
    if (item.state->rule->multiples()) {  // the mask of its state would hold for one remainder alone
      recognizer.reset(store, {&item, 1}, false);
      walk_below(vocabulary, recognizer, Vocabulary::kRoot, sink);
      continue;
    }
    if (is_decided_by_text(item)) {
      allow_by_text(vocabulary, store, item, recognizer, made, sink);
      continue;
    }
    const bool remembers = item.state->rule->remembers();  // its mask holds for any text
    const StateMask& mask = state_mask(vocabulary, *item.state, remembers ? kNoCell : item.reg);
    allow_text_of(vocabulary, store, item, mask, made, sink);
    if (!mask.has_exits() || item.stack == kRootStack) continue;
    const auto frames = store.frames(item.stack);
    if (remembers) {
      follow_texts(vocabulary, mask, recognizer, store, frames, *item.state->rule, item.reg, sink);
    } else {
      recognizer.reset_after_return(store, frames, *item.state->rule);
      follow_exits(vocabulary, mask, recognizer, sink);
    }
  }
  return as_config_mask(sink);
}

std::unique_ptr<ConfigMask> as_config_mask(Collector& sink) {
  auto out = std::make_unique<ConfigMask>();
  if (sink.dense().size() > 1 || sink.num_listed() > kMaxSparse) {
    out->own_dense = sink.bits();
    out->num_allowed = count_bits(out->own_dense);
    return out;
  }
  out->sparse = sink.ids();
  out->num_allowed = static_cast<uint32_t>(out->sparse.size());
  if (!sink.dense().empty()) {
    const StateMask& mask = *sink.dense()[0];
    const std::vector<uint32_t>& bits = *mask.bits();
    out->shared_dense = bits.data();
    out->removed = mask.removed;
    out->num_allowed = (mask.base ? *mask.base : mask).num_allowed - static_cast<uint32_t>(mask.removed.size());
    for (const TokenId token : out->sparse)
      if (!has_bit(bits, token) || std::ranges::binary_search(mask.removed, token)) ++out->num_allowed;
  }
  return out;
}

bool ConfigMask::allows(TokenId token) const {
  if (std::ranges::find(sparse, token) != sparse.end()) return true;
  const uint32_t* words = dense();
  return words && (words[token / 32] >> (token % 32) & 1) && std::ranges::find(removed, token) == removed.end();
}

void ConfigMask::write(uint32_t* out, uint32_t num_words) const {
  if (const uint32_t* words = dense())
    std::memcpy(out, words, num_words * sizeof(uint32_t));
  else
    std::memset(out, 0, num_words * sizeof(uint32_t));
  for (const TokenId token : removed) out[token / 32] &= ~(uint32_t{1} << (token % 32));
  for (const TokenId token : sparse) out[token / 32] |= uint32_t{1} << (token % 32);
}

}  // namespace maskwright
