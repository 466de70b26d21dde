#include "masks/masks.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <deque>
#include <iterator>

#include "masks/collector.h"
#include "masks/comparison.h"
#include "masks/counted_mask.h"
#include "masks/departures.h"
#include "masks/exits.h"
#include "masks/trie_walk.h"
#include "support/optimisations.h"

namespace maskwright {
namespace {

constexpr size_t kMaxCallees = 24;  // rules that may begin at one place, beyond which one joint walk is cheaper
constexpr size_t kMaxItems = 16;  // of a configuration: their returns share what they do, which only a joint walk sees

// Walks what lies behind a mask's exits. The recogniser stands where the caller goes on.
template <class Sink>
void follow_exits(const Vocabulary& vocabulary, const StateMask& mask, Recognizer& recognizer, Sink& sink) {
  if (!mask.has_exits() || recognizer.items().empty()) return;
  for_each_exit(
      vocabulary, mask, recognizer.next_bytes(), [&](uint8_t byte) { return recognizer.push(byte); },
      [&](NodeId node) { walk(vocabulary, recognizer, node, sink); }, [&] { recognizer.pop(); });
}

// The bytes of a token up to the place before a node.
std::string_view bytes_before(const Vocabulary& vocabulary, NodeId node) {
  const TokenId token = vocabulary.sorted_token(vocabulary.node(node).token_begin);
  return vocabulary.text(token).substr(0, vocabulary.depth(node) - 1);
}

// Whether an element of a list would begin by the byte of a node.
bool begins_element(const Vocabulary& vocabulary, NodeId node, const Recognizer& recognizer) {
  const uint8_t byte = vocabulary.byte(node);
  return std::ranges::any_of(recognizer.items(), [byte](const Item& item) {
    return item.state->rule->is_list() && std::ranges::any_of(item.state->calls, [byte](const CallEdge& call) {
             return call.callee->is_element() && call.callee->first().test(byte);
           });
  });
}

// Whether an element may begin where another one has just ended.
bool may_begin_element(const Recognizer& recognizer) {
  return std::ranges::any_of(recognizer.items(), [](const Item& item) {
    return std::ranges::any_of(item.state->calls, [](const CallEdge& call) { return call.callee->is_element(); });
  });
}

// Hands on what a walk reports, up to where the next element of a list begins: that depends on the one before.
template <class Sink>
class UpToNextElement {
 public:
  UpToNextElement(const Vocabulary& vocabulary, Sink& sink) : vocabulary_(vocabulary), sink_(sink) {}
  static constexpr bool kSeesRefused = false;
  void allow(uint32_t begin, uint32_t end) { sink_.allow(begin, end); }
  void allow_short(uint32_t begin, uint32_t end, uint32_t limit) { sink_.allow_short(begin, end, limit); }
  void exit(NodeId node) { sink_.exit(node); }
  void exit_range(const StateMask::ExitRange& range) { sink_.exit_range(range); }
  bool skips(NodeId child, const Recognizer& recognizer) {
    if (!begins_element(vocabulary_, child, recognizer)) return false;
    beginnings.emplace_back(exit_node, child);
    return true;
  }

  NodeId exit_node = 0;  // behind which is walked
  std::vector<std::pair<NodeId, NodeId>> beginnings;

 private:
  const Vocabulary& vocabulary_;
  Sink& sink_;
};

// The bytes of a token up to a node, from behind another one on.
std::string_view bytes_between(const Vocabulary& vocabulary, NodeId before, NodeId node) {
  return bytes_before(vocabulary, node).substr(vocabulary.depth(before));
}

// Of the exits of an element's mask: what follows is the same behind all of them, up to where the next element begins,
// if each list has elements left whatever this one becomes. The recogniser stands behind some element.
template <class Sink>
void follow_elements(const Vocabulary& vocabulary, const StateMask& mask, Recognizer& recognizer,
                     const StackStore& store, std::span<const Frame> frames, uint64_t reg, Sink& sink) {
  UpToNextElement<Sink> shared(vocabulary, sink);
  const auto find = [&](CellId id) -> const Cell& { return store.cells().cell(id); };
  const auto repeats = [&](NodeId exit_node) {
    CellId avoided = Spelled::of(reg).avoided;
    if (avoided == kNoTexts) return false;
    for (const char c : bytes_before(vocabulary, exit_node)) avoided = below(avoided, static_cast<uint8_t>(c), find);
    return holds_end(avoided, find);
  };
  for_each_exit(
      vocabulary, mask, recognizer.next_bytes(), [&](uint8_t byte) { return recognizer.push(byte); },
      [&](NodeId node) {
        if (repeats(node)) return;
        shared.exit_node = node;
        walk(vocabulary, recognizer, node, shared);
      },
      [&] { recognizer.pop(); });
  for (const auto& [exit_node, beginning] : shared.beginnings) {
    recognizer.reset_after_element(store, frames, reg, bytes_before(vocabulary, exit_node), true);
    bool alive = recognizer.push(vocabulary.byte(exit_node));
    for (const char c : bytes_between(vocabulary, exit_node, beginning))
      alive = alive && recognizer.push(static_cast<uint8_t>(c));
    if (alive && recognizer.push(vocabulary.byte(beginning))) walk(vocabulary, recognizer, beginning, sink);
  }
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
  if (rule.is_element() && recognizer.stay_open(frames, reg) && !may_begin_element(recognizer))
    return follow_elements(vocabulary, mask, recognizer, store, frames, reg, sink);
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
    recognizer.reset_after_return(StackStore::root_only(), {&after, 1});
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

bool may_read_tokens(std::span<const Item> items) {
  return std::ranges::any_of(items, [](const Item& item) {
    item.state->rule->link(*item.state);
    return !item.state->token_edges.empty() ||
           std::ranges::any_of(item.state->calls, [](const CallEdge& call) { return call.callee->first_has_tokens(); });
  });
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

// A mask without what an element may not become. It holds as long as the mask and this object.
class DistinctMask {
 public:
  DistinctMask(const Vocabulary& vocabulary, const StateMask& mask, const StackStore& store, DfaState& state,
               CellId avoided)
      : vocabulary_(vocabulary), store_(store) {
    find_avoided(state, avoided);
    std::sort(tokens_.begin(), tokens_.end());
    const auto is_avoided = [this](TokenId token) { return std::ranges::binary_search(tokens_, token); };
    std::ranges::remove_copy_if(mask.sparse, std::back_inserter(mask_.sparse), is_avoided);
    if (!mask.bits()) return;
    mask_.base = mask.base ? mask.base : &mask;
    std::ranges::copy_if(tokens_, std::back_inserter(mask_.removed),
                         [&](TokenId token) { return has_bit(*mask.bits(), token); });
    mask_.removed.insert(mask_.removed.end(), mask.removed.begin(), mask.removed.end());
    std::sort(mask_.removed.begin(), mask_.removed.end());
    mask_.removed.erase(std::unique(mask_.removed.begin(), mask_.removed.end()), mask_.removed.end());
  }
  const StateMask& mask() const { return mask_; }

 private:
  // The tokens by which an element that is in some state would become one of those to avoid, or could become no other.
  void find_avoided(DfaState& start, CellId avoided) {
    struct Place {
      NodeId node;
      DfaState* state;
      CellId avoided;
    };
    const auto cell = [this](CellId id) -> const Cell& { return store_.cells().cell(id); };
    std::vector<Place> open{{Vocabulary::kRoot, &start, avoided}};
    while (!open.empty()) {
      const Place at = open.back();
      open.pop_back();
      for (CellId set = at.avoided; set != kNoTexts; set = cell(set).parent) {
        if (cell(set).size == 0) continue;
        const auto byte = static_cast<uint8_t>(cell(set).size - 1);
        const NodeId child = vocabulary_.child(at.node, byte);
        if (child == 0) continue;
        const Vocabulary::Node& below = vocabulary_.node(child);
        if (cell(set).value != kAllTexts)
          open.push_back({child, at.state->rule->next(*at.state, byte), cell(set).value});
        else
          for (uint32_t p = below.token_begin; p < below.token_end; ++p) tokens_.push_back(vocabulary_.sorted_token(p));
      }
    }
  }

  const Vocabulary& vocabulary_;
  const StackStore& store_;
  std::vector<TokenId> tokens_;
  StateMask mask_;
};

// What the mask of an item's state allows, whatever the stack; `distinct` has what is made for that.
static void allow_text_of(const Vocabulary& vocabulary, const StackStore& store, const Item& item,
                          const StateMask& mask, std::deque<DistinctMask>& distinct, Collector& sink) {
  sink.allow_all(Recognizer::avoids(item)
                     ? distinct.emplace_back(vocabulary, mask, store, *item.state, Spelled::of(item.reg).avoided).mask()
                     : mask);
}

// What an item allows whose text matters: by masks of the rules that it calls, and by walks where they return.
static void allow_by_text(const Vocabulary& vocabulary, const StackStore& store, const Item& item,
                          Recognizer& recognizer, std::deque<DistinctMask>& distinct, Collector& sink) {
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
    allow_text_of(vocabulary, store, {call.callee->start(), reg, 0}, callee, distinct, sink);
    if (call.callee->remembers()) {
      follow_texts(vocabulary, callee, recognizer, store, {&after, 1}, *call.callee, reg, sink);
    } else {
      recognizer.reset_after_return(store, {&after, 1});
      follow_exits(vocabulary, callee, recognizer, sink);
    }
  }
}

std::unique_ptr<ConfigMask> config_mask(const Vocabulary& vocabulary, const StackStore& store,
                                        std::span<const Item> items, std::span<const TokenId> extra) {
  thread_local Recognizer recognizer;
  Collector sink(vocabulary);
  std::deque<DistinctMask> distinct;
  if (!optimisations.state_masks || (items.size() > kMaxItems && !may_read_tokens(items))) {
    recognizer.reset(store, items, false);
    walk_from_config(vocabulary, recognizer, sink);
    items = {};
  }
  for (const Item& item : items) {
    if (is_decided_by_text(item)) {
      allow_by_text(vocabulary, store, item, recognizer, distinct, sink);
      continue;
    }
    const bool remembers = item.state->rule->remembers();  // its mask holds for any text
    const StateMask& mask = state_mask(vocabulary, *item.state, remembers ? kNoCell : item.reg);
    allow_text_of(vocabulary, store, item, mask, distinct, sink);
    if (!mask.has_exits() || item.stack == kRootStack) continue;
    const auto frames = store.frames(item.stack);
    if (remembers) {
      follow_texts(vocabulary, mask, recognizer, store, frames, *item.state->rule, item.reg, sink);
    } else {
      recognizer.reset_after_return(store, frames);
      follow_exits(vocabulary, mask, recognizer, sink);
    }
  }
  for (const TokenId token : extra) sink.allow_token(token);
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
