#include "masks.h"

#include <algorithm>
#include <cstring>

#include "trie_walk.h"

namespace maskwright {
namespace {

constexpr int kManySimilar = 64;         // of the 95 printable ASCII characters
constexpr size_t kMaxCompared = 20'000;  // children looked at before two states count as too different
constexpr size_t kMaxCallees = 24;       // rules that may begin at one place, beyond which one joint walk is cheaper
constexpr size_t kMaxSparse = 512;       // setting more single bits costs as much as copying a whole mask

void set_bit(uint32_t* words, TokenId token) {
  words[token / 32] |= uint32_t{1} << (token % 32);
}

// Collects allowed tokens as ranges of sorted positions, single tokens and other masks' bits.
class Collector {
 public:
  explicit Collector(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  // Starts from a superset of the mask, cut to tokens of at most `limit` characters: what `allow_short` would add with
  // that limit is in it, and what is rejected is taken out.
  void start_from(const std::vector<uint32_t>& bits, uint32_t limit) {
    start_bits_ = &bits;
    start_limit_ = limit;
  }

  void allow(uint32_t begin, uint32_t end) {
    if (begin == end) return;
    if (!ranges_.empty() && ranges_.back().second == begin)
      ranges_.back().second = end;
    else
      ranges_.emplace_back(begin, end);
  }
  void allow_short(uint32_t begin, uint32_t end, uint16_t limit) {
    if (start_bits_ && limit == start_limit_) return;
    for (uint32_t p = begin; p < end; ++p)
      if (vocabulary_.token_chars(p) <= limit) allow(p, p + 1);
  }
  void reject(uint32_t begin, uint32_t end) {
    if (start_bits_) rejected_.emplace_back(begin, end);
  }
  void allow_token(TokenId token) { tokens_.push_back(token); }
  void allow_all(const StateMask& mask) {
    if (!mask.dense.empty())
      dense_.push_back(&mask.dense);
    else
      tokens_.insert(tokens_.end(), mask.sparse.begin(), mask.sparse.end());
  }
  void exit(NodeId) {}
  void exit_range(const StateMask::ExitRange&) {}

  const std::vector<const std::vector<uint32_t>*>& dense() const { return dense_; }
  size_t num_in_ranges() const {
    size_t count = 0;
    for (const auto& [begin, end] : ranges_) count += end - begin;
    return count;
  }
  size_t num_single() const { return tokens_.size(); }
  bool started() const { return start_bits_ != nullptr; }

  // All but the dense masks, as sorted ids.
  std::vector<TokenId> ids() const {
    std::vector<TokenId> out(tokens_);
    out.reserve(out.size() + num_in_ranges());
    for (const auto& [begin, end] : ranges_)
      for (uint32_t p = begin; p < end; ++p) out.push_back(vocabulary_.sorted_token(p));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  // Everything, as bits.
  std::vector<uint32_t> bits() {
    std::vector<uint32_t> out;
    if (start_bits_) {
      out = *start_bits_;
      const std::vector<uint32_t>& within = *vocabulary_.tokens_within(start_limit_);
      for (size_t w = 0; w < out.size(); ++w) out[w] &= within[w];
      for (const auto& [begin, end] : rejected_) clear_bits(out, begin, end);
      for (const auto& [begin, end] : ranges_)
        for (uint32_t p = begin; p < end; ++p) set_bit(out.data(), vocabulary_.sorted_token(p));
    } else if (dense_.empty() && 2 * num_in_ranges() > vocabulary_.num_text_tokens()) {
      out = complement_of_gaps();
    } else {
      out.resize(vocabulary_.num_words());
      for (const auto& [begin, end] : ranges_)
        for (uint32_t p = begin; p < end; ++p) set_bit(out.data(), vocabulary_.sorted_token(p));
    }
    for (const auto* words : dense_)
      for (size_t w = 0; w < out.size(); ++w) out[w] |= (*words)[w];
    for (const TokenId token : tokens_) set_bit(out.data(), token);
    return out;
  }

 private:
  void clear_bits(std::vector<uint32_t>& bits, uint32_t begin, uint32_t end) const {
    for (uint32_t p = begin; p < end; ++p) {
      const TokenId token = vocabulary_.sorted_token(p);
      bits[token / 32] &= ~(uint32_t{1} << (token % 32));
    }
  }
  std::vector<uint32_t> complement_of_gaps() {
    std::vector<uint32_t> out = vocabulary_.text_tokens();
    std::sort(ranges_.begin(), ranges_.end());
    uint32_t position = 0;
    const auto clear_until = [&](uint32_t end) {
      clear_bits(out, position, std::max(position, end));
      position = std::max(position, end);
    };
    for (const auto& [begin, end] : ranges_) {
      clear_until(begin);
      position = std::max(position, end);
    }
    clear_until(vocabulary_.num_text_tokens());
    return out;
  }

  const Vocabulary& vocabulary_;
  const std::vector<uint32_t>* start_bits_ = nullptr;
  uint32_t start_limit_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> rejected_;
  std::vector<std::pair<uint32_t, uint32_t>> ranges_;
  std::vector<TokenId> tokens_;
  std::vector<const std::vector<uint32_t>*> dense_;
};

// A collector that also keeps where the rule may end: the nodes one byte further, by that byte.
class ExitCollector : public Collector {
 public:
  explicit ExitCollector(const Vocabulary& vocabulary) : Collector(vocabulary), vocabulary_(vocabulary) {}
  void exit(NodeId node) {
    const Vocabulary::Node& at = vocabulary_.node(node);
    for (uint32_t i = 0; i < at.num_children; ++i) exits_.push_back(at.first_child + i);
  }
  void exit_node(NodeId next) { exits_.push_back(next); }
  void exit_range(const StateMask::ExitRange& range) {
    if (!ranges_.empty() && ranges_.back().end == range.begin && ranges_.back().min_chars == range.min_chars &&
        ranges_.back().max_chars == range.max_chars && ranges_.back().raw == range.raw)
      ranges_.back().end = range.end;
    else
      ranges_.push_back(range);
  }
  void exit_all(const StateMask& mask) {
    exits_.insert(exits_.end(), mask.exit_nodes.begin(), mask.exit_nodes.end());
    ranges_.insert(ranges_.end(), mask.exit_ranges.begin(), mask.exit_ranges.end());
  }

  void store_exits(StateMask& mask) {
    std::sort(exits_.begin(), exits_.end(), [this](NodeId a, NodeId b) {
      const uint8_t x = vocabulary_.byte(a), y = vocabulary_.byte(b);
      return x != y ? x < y : a < b;
    });
    exits_.erase(std::unique(exits_.begin(), exits_.end()), exits_.end());
    for (uint32_t i = 0; i < exits_.size(); ++i) {
      const uint8_t byte = vocabulary_.byte(exits_[i]);
      if (mask.exit_groups.empty() || mask.exit_groups.back().byte != byte) mask.exit_groups.push_back({byte, i});
      mask.exit_groups.back().end = i + 1;
    }
    mask.exit_nodes = std::move(exits_);
    mask.exit_ranges = std::move(ranges_);
  }

 private:
  const Vocabulary& vocabulary_;
  std::vector<NodeId> exits_;
  std::vector<StateMask::ExitRange> ranges_;
};

const StackStore& root_only() {
  static const StackStore store;
  return store;
}

// Walks what lies behind a mask's exits. The recogniser stands where the caller goes on.
template <class Sink>
void follow_exits(const Vocabulary& vocabulary, const StateMask& mask, Recognizer& recognizer, Sink& sink) {
  if (!mask.has_exits() || recognizer.items().empty()) return;
  const ByteSet bytes = recognizer.next_bytes();
  uint32_t begin = 0;
  for (const auto& [byte, end] : mask.exit_groups) {
    if (bytes.test(byte) && recognizer.push(byte)) {
      for (uint32_t i = begin; i < end; ++i) walk(vocabulary, recognizer, mask.exit_nodes[i], sink);
      recognizer.pop();
    }
    begin = end;
  }
  if (mask.exit_ranges.empty()) return;
  bytes.for_each([&](uint8_t byte) {
    if (!recognizer.push(byte)) return;
    const std::vector<NodeId>& nodes = vocabulary.nodes_with(byte);
    for (const auto& range : mask.exit_ranges) {
      if (is_continuation(byte) && !range.raw) continue;
      for (auto it = std::lower_bound(nodes.begin(), nodes.end(), range.begin); it != nodes.end() && *it < range.end;
           ++it) {
        const uint32_t before = vocabulary.num_chars(*it) - (is_continuation(byte) ? 0u : 1u);
        if (before >= range.min_chars && before <= range.max_chars) walk(vocabulary, recognizer, *it, sink);
      }
    }
    recognizer.pop();
  });
}

// Counting states have one mask for each register that makes a difference within one token.
Rule::CountedKey counted_key(const Vocabulary& vocabulary, const DfaState& state, uint64_t reg) {
  const uint32_t horizon = vocabulary.max_token_length() + 1;
  const Count count = Count::of(reg);
  return {&state, Count{std::min(count.needed, horizon), std::min(count.remaining, horizon)}.reg()};
}

const StateMask* known_mask(const Vocabulary& vocabulary, DfaState& state, uint64_t reg) {
  if (!state.rule->counts()) return state.mask.load(std::memory_order_acquire);
  const std::lock_guard guard(state.rule->group().lock());
  const auto it = state.rule->counted_masks.find(counted_key(vocabulary, state, reg));
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
  const StateMask*& slot = state.rule->counted_masks[counted_key(vocabulary, state, reg)];
  if (!slot) slot = group.keep(std::move(mask));
  return slot;
}

// A state of the same plain rule, or of one it leads into, that nearly all characters lead to as they do from `state`:
// inside a string that must not spell one of a few names, the state of strings that no longer can. nullptr if there is
// none.
DfaState* similar_state(DfaState& state) {
  Rule& rule = *state.rule;
  if (!rule.is_plain() || state.live.count() < kManySimilar) return nullptr;
  for (const uint8_t sample : {'z', '0', ' ', 'A'}) {
    DfaState* candidate = rule.next(state, sample);
    if (!candidate || candidate == &state || !candidate->rule->is_plain()) continue;
    int same = 0;
    for (int b = 0x20; b < 0x7F; ++b) {
      const auto byte = static_cast<uint8_t>(b);
      DfaState* t = rule.next(state, byte);
      if (t && t == candidate->rule->next(*candidate, byte)) ++same;
    }
    if (same >= kManySimilar) return candidate;
  }
  return nullptr;
}

// Derives a state's mask from a similar state's: both are followed down the trie side by side, and only where they part
// is anything done.
class Comparison {
 public:
  Comparison(const Vocabulary& vocabulary, const StateMask& base) : vocabulary_(vocabulary), sink_(vocabulary) {
    bits_ = base.dense;
    base_ = &base;
  }

  // False if the states differ in too many places for this to pay.
  bool run(DfaState& state, DfaState& similar) {
    compare_children(Vocabulary::kRoot, state, similar);
    while (!open_.empty() && num_visited_ < kMaxCompared) {
      const auto [node, a, b] = open_.back();
      open_.pop_back();
      compare(node, a, b);
    }
    return open_.empty();
  }

  std::unique_ptr<StateMask> mask() {
    auto out = std::make_unique<StateMask>();
    for (const TokenId token : sink_.ids()) set_bit(bits_.data(), token);
    out->dense = std::move(bits_);
    for (const uint32_t word : out->dense) out->num_allowed += static_cast<uint32_t>(std::popcount(word));
    std::sort(removed_.begin(), removed_.end());
    for (const NodeId node : base_->exit_nodes) {
      auto after = std::upper_bound(removed_.begin(), removed_.end(), std::pair{node, ~NodeId{0}});
      const bool gone =
          std::any_of(removed_.begin(), after, [&](const auto& r) { return node >= r.first && node < r.second; });
      if (!gone) sink_.exit_node(node);
    }
    for (StateMask::ExitRange range : base_->exit_ranges) {
      for (const auto& [begin, end] : removed_) {
        if (end <= range.begin || begin >= range.end) continue;
        if (begin > range.begin) {
          StateMask::ExitRange before = range;
          before.end = begin;
          sink_.exit_range(before);
        }
        range.begin = std::min(end, range.end);
      }
      if (range.begin < range.end) sink_.exit_range(range);
    }
    sink_.store_exits(*out);
    return out;
  }

 private:
  struct Open {
    NodeId node;
    DfaState* a;
    DfaState* b;
  };
  void compare_children(NodeId node, DfaState& a, DfaState& b) {
    const Vocabulary::Node& at = vocabulary_.node(node);
    num_visited_ += at.num_children;
    for (uint32_t i = 0; i < at.num_children; ++i) {
      const NodeId child = at.first_child + i;
      const uint8_t byte = vocabulary_.byte(child);
      DfaState *x = a.rule->next(a, byte), *y = b.rule->next(b, byte);
      if (x != y) open_.push_back({child, x, y});
    }
  }
  void compare(NodeId node, DfaState* a, DfaState* b) {
    const Vocabulary::Node& at = vocabulary_.node(node);
    if (!a) {
      for (uint32_t p = at.token_begin; p < at.token_end; ++p) {
        const TokenId token = vocabulary_.sorted_token(p);
        bits_[token / 32] &= ~(uint32_t{1} << (token % 32));
      }
      removed_.emplace_back(at.first_child, at.below_end);
      return;
    }
    if (!b) {
      const Item item{a, 0, kRootStack};
      recognizer().reset(root_only(), {&item, 1}, a->final);
      walk(vocabulary_, recognizer(), node, sink_);
      return;
    }
    if (a->final && !b->final) sink_.exit(node);
    if (b->final && !a->final) removed_.emplace_back(at.first_child, at.first_child + at.num_children);
    compare_children(node, *a, *b);
  }
  static Recognizer& recognizer() {
    thread_local Recognizer recognizer;
    return recognizer;
  }

  const Vocabulary& vocabulary_;
  const StateMask* base_;
  std::vector<uint32_t> bits_;
  ExitCollector sink_;
  std::vector<Open> open_;
  std::vector<std::pair<NodeId, NodeId>> removed_;  // exit nodes that are none here
  size_t num_visited_ = 0;
};

// How a state's mask is found.
struct Method {
  bool from_callees;   // the callees' start states have their masks; otherwise calls are walked like everything else
  bool by_comparison;  // a similar state's mask may be taken over and corrected
};

std::unique_ptr<StateMask> build_state_mask(const Vocabulary& vocabulary, DfaState& state, uint64_t full_reg,
                                            Method method) {
  thread_local Recognizer recognizer;
  const uint64_t reg = state.rule->counts() ? counted_key(vocabulary, state, full_reg).reg : full_reg;
  Rule& rule = *state.rule;
  if (DfaState* similar = method.by_comparison ? similar_state(state) : nullptr) {
    // The similar state's mask is walked for if need be: similarity goes in circles.
    const StateMask* known = known_mask(vocabulary, *similar, 0);
    const StateMask& base =
        known ? *known : *publish(vocabulary, *similar, 0, build_state_mask(vocabulary, *similar, 0, {true, false}));
    Comparison comparison(vocabulary, base);
    if (!base.dense.empty() && comparison.run(state, *similar)) return comparison.mask();
  }
  ExitCollector sink(vocabulary);
  const Item item{&state, reg, kRootStack};
  // Where a count cuts a loop short, most tokens are those of the unlimited loop, up to a length.
  if (state.counter_head && state.calls.empty() && vocabulary.tokens_within(Count::of(reg).remaining)) {
    const StateMask& unlimited = state_mask(vocabulary, state, Count{0, Count::kUnlimited}.reg());
    if (!unlimited.dense.empty()) sink.start_from(unlimited.dense, Count::of(reg).remaining);
  }
  if (state.has_own_bytes || !method.from_callees) {
    recognizer.reset(root_only(), {&item, 1}, may_end(state, reg));
    if (state.calls.empty() || !method.from_callees) {
      walk_below(vocabulary, recognizer, Vocabulary::kRoot, sink);
    } else {
      state.live.for_each([&](uint8_t byte) {
        const NodeId child = vocabulary.root_child(byte);
        if (child == Vocabulary::kRoot || !recognizer.push_own(byte)) return;
        walk(vocabulary, recognizer, child, sink);
        recognizer.pop();
      });
    }
  }
  for (CallEdge& call : state.calls) {
    if (!may_repeat(state, reg) || !method.from_callees) break;
    const StateMask& callee = *known_mask(vocabulary, *call.callee->start(), call.reg);
    sink.allow_all(callee);
    const Frame after{rule.target(state, call), reg, kRootStack};
    recognizer.reset_after_return(root_only(), {&after, 1});
    if (recognizer.complete()) sink.exit_all(callee);
    follow_exits(vocabulary, callee, recognizer, sink);
  }
  if (may_repeat(state, reg))
    for (const TokenEdge& edge : state.token_edges)
      for (const TokenId token : rule.token_set(edge.argument))
        if (static_cast<uint32_t>(token) < vocabulary.vocab_size()) sink.allow_token(token);

  auto mask = std::make_unique<StateMask>();
  if (!sink.started() && sink.dense().empty() && sink.num_in_ranges() + sink.num_single() <= kMaxSparse) {
    mask->sparse = sink.ids();
    mask->num_allowed = static_cast<uint32_t>(mask->sparse.size());
  } else {
    mask->dense = sink.bits();
    for (const uint32_t word : mask->dense) mask->num_allowed += static_cast<uint32_t>(std::popcount(word));
  }
  sink.store_exits(*mask);
  return mask;
}

}  // namespace

const StateMask& state_mask(const Vocabulary& vocabulary, DfaState& state, uint64_t reg) {
  if (const StateMask* known = known_mask(vocabulary, state, reg)) return *known;
  // Start states that this mask rests on, callees of callees included; lower ranks first.
  std::vector<std::pair<DfaState*, uint64_t>> needed;
  const auto need_callees = [&](DfaState& caller) {
    caller.rule->link(caller);
    for (CallEdge& call : caller.calls) {
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
  if (too_many()) return *publish(vocabulary, state, reg, build_state_mask(vocabulary, state, reg, {false, true}));
  std::stable_sort(needed.begin(), needed.end(),
                   [](const auto& a, const auto& b) { return a.first->rule->rank() < b.first->rule->rank(); });
  for (const auto& [start, start_reg] : needed)
    publish(vocabulary, *start, start_reg, build_state_mask(vocabulary, *start, start_reg, {true, true}));
  return *publish(vocabulary, state, reg, build_state_mask(vocabulary, state, reg, {true, true}));
}

std::unique_ptr<ConfigMask> config_mask(const Vocabulary& vocabulary, const StackStore& store,
                                        std::span<const Item> items, std::span<const TokenId> extra) {
  thread_local Recognizer recognizer;
  Collector sink(vocabulary);
  for (const Item& item : items) {
    const StateMask& mask = state_mask(vocabulary, *item.state, item.reg);
    sink.allow_all(mask);
    if (!mask.has_exits() || item.stack == kRootStack) continue;
    recognizer.reset_after_return(store, store.frames(item.stack));
    follow_exits(vocabulary, mask, recognizer, sink);
  }
  for (const TokenId token : extra) sink.allow_token(token);

  auto out = std::make_unique<ConfigMask>();
  const bool many = sink.num_in_ranges() + sink.num_single() > kMaxSparse;
  if (sink.dense().size() > 1 || (many && !sink.dense().empty()) || many) {
    out->own_dense = sink.bits();
  } else {
    if (!sink.dense().empty()) out->shared_dense = sink.dense()[0]->data();
    out->sparse = sink.ids();
  }
  if (const uint32_t* words = out->dense()) {
    for (uint32_t w = 0; w < vocabulary.num_words(); ++w)
      out->num_allowed += static_cast<uint32_t>(std::popcount(words[w]));
    for (const TokenId t : out->sparse) out->num_allowed += (words[t / 32] >> (t % 32) & 1) ? 0 : 1;
  } else {
    out->num_allowed = static_cast<uint32_t>(out->sparse.size());
  }
  return out;
}

void ConfigMask::write(uint32_t* out, uint32_t num_words) const {
  if (const uint32_t* words = dense())
    std::memcpy(out, words, num_words * sizeof(uint32_t));
  else
    std::memset(out, 0, num_words * sizeof(uint32_t));
  for (const TokenId token : sparse) set_bit(out, token);
}

}  // namespace maskwright
