#include "masks/comparison.h"

#include <algorithm>
#include <optional>

#include "masks/collector.h"
#include "masks/trie_walk.h"

namespace maskwright {
namespace {

constexpr int kManySimilar = 64;  // of the 95 printable ASCII characters
constexpr uint8_t kSamples[] = {'z', '0', ' ', 'A'};
constexpr size_t kMaxDifferences = kMaxSparse / 4;  // tokens that a mask with a base adds, and that it removes

// The state after a byte, the terminator of a counted product included.
DfaState* unbounded_next(DfaState& state, uint8_t byte) {
  Rule& rule = *state.rule;
  if (byte == rule.terminator()) return state.terminates ? rule.end() : rule.next(state, byte);
  DfaState* next = rule.next(state, byte);
  return next && may_complete(*next, kUnboundedReg) ? next : nullptr;
}

// Where `a` is `b` with complements that are still alive, all other bytes than theirs lead to the same states.
std::optional<ByteSet> bytes_that_part(const DfaState& a, const DfaState& b) {
  if (a.operands.empty() || a.bounded) return std::nullopt;
  return a.rule->complement_bytes(a, b);
}

class Comparison {
 public:
  Comparison(const Vocabulary& vocabulary, const StateMask& base)
      : vocabulary_(vocabulary), base_(base), sink_(vocabulary) {}

  // False if it was given up.
  bool run(DfaState& state, DfaState& similar) {
    num_visited_ += part_at(vocabulary_, Vocabulary::kRoot, state, similar, open_);
    while (!open_.empty() && num_visited_ < kMaxCompared) {
      const auto [node, a, b] = open_.back();
      open_.pop_back();
      compare(node, a, b);
    }
    return open_.empty();
  }

  std::unique_ptr<StateMask> mask() {
    auto out = std::make_unique<StateMask>();
    std::ranges::sort(removed_);
    removed_exits_ = merged(std::move(removed_exits_));
    if (can_be_based())
      write_differences(*out);
    else
      write_whole(*out);
    sink_.store_exits(*out);
    return out;
  }

 private:
  void compare(NodeId node, DfaState* a, DfaState* b) {
    const Vocabulary::Node& at = vocabulary_.node(node);
    if (!a || !b || !is_self_contained(*a) || !is_self_contained(*b)) {
      if (b) remove(at);
      if (a) walk_from(node, *a);
      return;
    }
    if (a->final) sink_.exit(node);  // the similar state need not list it, if it takes all that lies behind it whole
    if (b->final && !a->final) removed_exits_.emplace_back(at.first_child, at.first_child + at.num_children);
    num_visited_ += part_at(vocabulary_, node, *a, *b, open_);
  }
  void remove(const Vocabulary::Node& at) {
    for (uint32_t p = at.token_begin; p < at.token_end; ++p)
      if (const TokenId token = vocabulary_.sorted_token(p); is_in_base(token)) removed_.push_back(token);
    removed_exits_.emplace_back(at.first_child, at.below_end);
  }
  void walk_from(NodeId node, DfaState& state) {
    thread_local Recognizer recognizer;
    const Item item{&state, state.rule->counts() ? kUnboundedReg : 0, kRootStack};
    recognizer.reset(StackStore::root_only(), {&item, 1}, state.final);
    walk(vocabulary_, recognizer, node, sink_);
  }
  bool is_in_base(TokenId token) const {
    return has_bit(*base_.bits(), token) && !std::ranges::binary_search(base_.removed, token);
  }
  // A base has none itself, is not copied in parts, and much of it is left.
  bool can_be_based() const {
    return !base_.base && removed_.size() <= kMaxDifferences && sink_.num_listed() <= kMaxDifferences &&
           base_.num_allowed > kMaxSparse && (base_.exit_ranges.empty() || removed_exits_.empty());
  }
  void write_differences(StateMask& out) {
    out.base = &base_;
    out.sparse = sink_.ids();
    out.removed = std::move(removed_);
    out.num_allowed = base_.num_allowed + static_cast<uint32_t>(out.sparse.size() - out.removed.size());
    out.removed_exits = std::move(removed_exits_);
  }
  void write_whole(StateMask& out) {
    Collector base(vocabulary_);
    base.allow_all(base_);
    out.dense = base.bits();
    for (const TokenId token : removed_) clear_bit(out.dense, token);
    sink_.add_to(out.dense);
    out.num_allowed = count_bits(out.dense);
    sink_.exit_outside(base_, removed_exits_);
  }

  const Vocabulary& vocabulary_;
  const StateMask& base_;
  ExitCollector sink_;
  std::vector<Parting> open_;
  std::vector<TokenId> removed_;
  StateMask::Intervals removed_exits_;  // nodes that are no exits here
  size_t num_visited_ = 0;
};

// Of a product's state, the operand from which it parts only where complements go on; nullptr if there is none, if they
// go on nearly everywhere, or if it does not loop and so is little else's base.
DfaState* sole_operand(const DfaState& state) {
  for (DfaState* operand : state.operands) {
    const auto bytes = operand && is_self_contained(*operand) ? bytes_that_part(state, *operand) : std::nullopt;
    const auto loops_on = [&](uint8_t byte) { return operand->rule->next(*operand, byte) == operand; };
    if (bytes && (operand->live & ~*bytes).count() >= kManySimilar && std::ranges::any_of(kSamples, loops_on))
      return operand;
  }
  return nullptr;
}

}  // namespace

bool is_self_contained(const DfaState& state) {
  return state.calls.empty() && state.token_edges.empty() && (state.bounded || !state.rule->counts());
}

size_t part_at(const Vocabulary& vocabulary, NodeId node, DfaState& a, DfaState& b, std::vector<Parting>& out) {
  const auto compare_child = [&](NodeId child) {
    const uint8_t byte = vocabulary.byte(child);
    DfaState *x = unbounded_next(a, byte), *y = unbounded_next(b, byte);
    if (x != y) out.push_back({child, x, y});
  };
  if (const auto bytes = bytes_that_part(a, b)) {
    bytes->for_each([&](uint8_t byte) {
      if (const NodeId child = vocabulary.child(node, byte)) compare_child(child);
    });
    return static_cast<size_t>(bytes->count());
  }
  const Vocabulary::Node& at = vocabulary.node(node);
  for (uint32_t i = 0; i < at.num_children; ++i) compare_child(at.first_child + i);
  return at.num_children;
}

DfaState* similar_state(DfaState& state) {
  Rule& rule = *state.rule;
  if (!is_self_contained(state) || state.live.count() < kManySimilar) return nullptr;
  if (DfaState* operand = sole_operand(state)) return operand;
  for (const uint8_t sample : kSamples) {
    DfaState* candidate = rule.next(state, sample);
    if (!candidate || candidate == &state || !is_self_contained(*candidate)) continue;
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

std::unique_ptr<StateMask> mask_by_comparison(const Vocabulary& vocabulary, DfaState& state, DfaState& similar,
                                              const StateMask& base) {
  if (!base.bits()) return nullptr;
  Comparison comparison(vocabulary, base);
  return comparison.run(state, similar) ? comparison.mask() : nullptr;
}

}  // namespace maskwright
