// A rule's automaton as the matcher sees it: deterministic states, built one at a time as they are visited.
//
// A `DfaState` stands for a set of NFA states; in rules with & and ~, for a tuple of other rules' states (product.h)
// or, where these nest or count, for a term (derivative.h). It has byte transitions within the rule, and calls: "run
// `callee`, then go on at `target`". Empty strings are gone: no rule matches the empty string (callers have an empty
// move instead), and no chain of calls at one position returns to the same rule.
//
// Rules live in groups (the strongly connected components of the reference graph), groups are interned by structure and
// so shared by all grammars on one tokenizer, with their automata and masks. A group's automata are built when one of
// its rules is first started; what callers must know of a rule before that are its facts (facts.h).
//
// Counting: a rule that repeats an item keeps in the register how many items are still needed and how many may still
// come (registers.h). The caller gives the bounds, so that all repetitions of one item share one rule. The state `head`
// is where an item ends: entering it counts one down. A byte that follows the repetition in the grammar, the quote
// after a string's characters, belongs to the rule as its terminator: it then ends there and nowhere else.
//
// Threads: states are published by atomic pointers and never move; building one takes the group's lock.
// Source: Thompson 1968; lazily built DFAs as in RE2 (Cox 2010).
// Tested by tests/exhaustive.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "automata/covered_states.h"
#include "automata/derivative.h"
#include "automata/nfa.h"
#include "automata/registers.h"
#include "grammar/ir.h"
#include "rules/facts.h"
#include "rules/lengths.h"
#include "rules/multiples.h"
#include "rules/product.h"
#include "rules/runs.h"
#include "rules/state_mask.h"
#include "support/by_content.h"
#include "support/byte_set.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

class Family;
class Rule;
class RuleGroup;
class RuleStore;
struct DfaState;
struct StoreEntry;
struct Instance;

// An edge that is no byte. Targets are made when first followed, so that building one state never builds another.
struct CallEdge {
  Rule* callee = nullptr;
  uint64_t reg = 0;       // the callee's register at its start
  uint32_t argument = 0;  // the index in the rule's callees
  std::atomic<DfaState*> target{nullptr};
};

struct TokenEdge {
  uint32_t argument = 0;  // the index in the rule's token sets
  std::atomic<DfaState*> target{nullptr};
};

// The edges of one kind of a state, made once and then fixed in place. Most states have none.
template <class Edge>
class EdgeArray {
 public:
  void assign(uint32_t size) {
    edges_ = size ? std::make_unique<Edge[]>(size) : nullptr;
    size_ = size;
  }
  Edge* begin() const { return edges_.get(); }
  Edge* end() const { return edges_.get() + size_; }
  bool empty() const { return size_ == 0; }
  size_t memory_bytes() const { return size_ * sizeof(Edge); }

 private:
  std::unique_ptr<Edge[]> edges_;
  uint32_t size_ = 0;
};

struct DfaState {
  Rule* rule = nullptr;
  std::vector<uint32_t> key;        // the NFA states, sorted; or one term, or one node of multiples
  std::vector<DfaState*> operands;  // of a product
  // The bytes that may come next, calls included; a superset in rules with & and ~. It and the callees of `calls` are
  // there once the state is linked: until then, some callee is an instance that nobody has needed yet.
  ByteSet live;
  std::atomic<bool> linked{true};
  bool final = false;      // the rule may end here (counting rules: if the count allows)
  bool ends_only = false;  // final, and nothing else can happen
  bool counter_head = false;
  bool terminates = false;  // the rule's terminator may come, if the count allows
  bool bounded = false;     // of a counted product: its count may leave it no completion
  bool has_own_bytes = false;
  EdgeArray<CallEdge> calls;
  EdgeArray<TokenEdge> token_edges;
  // Transitions within the rule. A state with a single byte keeps it inline; others get a row by byte class when
  // needed.
  int16_t single_byte = -1;
  std::atomic<uint32_t> farthest_landing{kLandingUnknown};  // behind one token (budget/farthest_landing.h)
  std::atomic<DfaState*> single_target{nullptr};
  std::atomic<std::atomic<DfaState*>*> row{nullptr};
  std::unique_ptr<std::atomic<DfaState*>[]> row_storage;
  std::atomic<CharClasses> loop_classes{kLoopUnknown};
  std::atomic<int8_t> reads_plenty{-1};  // of texts (text_lengths.h); -1: not known
  KnownRun run;
  std::atomic<const StateMask*> mask{nullptr};
  KnownWay way;               // of a bounded state, to an end (lengths.h)
  uint32_t fewest_items = 0;  // that any way has; guarded by the lock of the rule's Lengths
  uint32_t last_search = 0;   // of Lengths, by number, in which the state was met; guarded likewise

  // What tokens must leave of the count (lengths.h). For a bounded state, known once its mask without bounds is.
  Slack slack() const {
    if (!bounded) return {};
    const uint64_t known = slack_word.load(std::memory_order_acquire);
    return {static_cast<uint32_t>(known), known >> 32 == 0};
  }
  void know_slack(Slack slack) {
    uint64_t unknown = kSlackUnknown;  // the first one counts: masks are kept by it
    slack_word.compare_exchange_strong(unknown, (uint64_t{!slack.steady} << 32) | slack.items);
  }

  std::atomic<uint64_t> slack_word{kSlackUnknown};  // items, not steady << 32

  static constexpr uint64_t kSlackUnknown = ~uint64_t{0};
  static constexpr CharClasses kLoopUnknown = ~CharClasses{0};
  static constexpr uint32_t kLandingUnknown = 0xFFFFFFFD;
};

// A rule and the register to start it with.
struct Callee {
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  Rule* rule;  // nullptr: the instance's, once it is linked
  uint64_t reg;
  Instance* instance = nullptr;  // of a template (family.h)
  uint32_t value = kNone;  // in a template, the rule being another: what the call passes, by its index in the family
  bool is_template() const { return value != kNone; }
  bool operator==(const Callee&) const = default;
};

class Rule {
 public:
  Rule(RuleGroup& group, uint32_t index, const RuleFacts& facts) : group_(group), index_(index), facts_(facts) {}

  DfaState* start() {
    DfaState* s = start_.load(std::memory_order_acquire);
    return s ? s : build_start();
  }
  // The state after one byte, or nullptr. A product goes on in an operand's state where that alone decides, which is
  // followed in its own rule: like all below, this takes states of the rule only.
  DfaState* next(DfaState& state, uint8_t byte) {
    assert(state.rule == this);
    if (state.single_byte >= 0) {
      if (state.single_byte != byte) return nullptr;
      DfaState* t = state.single_target.load(std::memory_order_acquire);
      return t ? t : build_next(state, byte);
    }
    if (!state.has_own_bytes) return nullptr;
    if (auto* row = state.row.load(std::memory_order_acquire)) {
      DfaState* t = row[class_of_[byte]].load(std::memory_order_acquire);
      if (t != unknown()) return t;
    }
    return build_next(state, byte);
  }
  // Where the rule goes on after a call, or after one of a set of tokens.
  DfaState* target(DfaState& state, CallEdge& call) {
    DfaState* t = call.target.load(std::memory_order_acquire);
    return t ? t : build_target(state, EdgeKind::Call, call.argument, call.target);
  }
  DfaState* target(DfaState& state, TokenEdge& edge) {
    DfaState* t = edge.target.load(std::memory_order_acquire);
    return t ? t : build_target(state, EdgeKind::Tokens, edge.argument, edge.target);
  }
  // Links what the state calls. To be called before `live` or a callee is read.
  void link(DfaState& state) {
    assert(state.rule == this);
    if (!state.linked.load(std::memory_order_acquire)) link_calls(state);
  }
  // The classes of characters on which the state returns to itself, whatever the character.
  CharClasses loop_classes(DfaState& state) {
    const CharClasses known = state.loop_classes.load(std::memory_order_relaxed);
    return known != DfaState::kLoopUnknown ? known : compute_loop_classes(state);
  }

  // How many bytes a plain rule needs at least from the state to an end; a derived one seems to need.
  uint32_t bytes_to_end(const DfaState& state);
  // How many bytes, calls and tokens that the grammar names. Precondition: the rule has an NFA.
  uint32_t steps_to_end(const DfaState& state);

  uint8_t class_of(uint8_t byte) const { return class_of_[byte]; }
  const RuleFacts& facts() const { return facts_; }
  const std::optional<std::string>& capture() const { return capture_; }  // the name of what it matches
  const std::optional<SpanRule>& span() const { return span_; }
  // Whether it stays a rule of its own, as something is said of what it matches.
  bool is_kept() const { return capture_ || span_ || is_scope() || is_value(); }
  const MemoryRole& memory() const { return memory_; }
  bool is_list() const { return memory_.kind == MemoryRole::Kind::Distinct; }
  bool is_scope() const { return memory_.kind == MemoryRole::Kind::Scope || is_list(); }
  bool is_element() const { return memory_.kind == MemoryRole::Kind::Element; }
  bool is_value() const { return memory_.kind == MemoryRole::Kind::Value; }
  // Of lists and elements: no set holds ALL then (recognizer/text_sets.h).
  bool is_of_kinds() const { return (is_list() || is_element()) && memory_.number == MemoryRole::kOfKinds; }
  bool remembers() const { return memory_.kind == MemoryRole::Kind::Remember || is_element(); }
  bool recalls() const { return memory_.kind == MemoryRole::Kind::Recall; }
  // Of a list of distinct elements: the rule of those that are compared by their texts, if there are such.
  Rule* element() const {
    const auto it = std::ranges::find_if(callees_, [](const Callee& callee) { return callee.rule->is_element(); });
    return it == callees_.end() ? nullptr : it->rule;
  }
  // Whether some are compared by their values; these never run out.
  bool has_values() const {
    return is_list() && (is_of_kinds() ||
                         std::ranges::any_of(callees_, [](const Callee& callee) { return callee.rule->is_value(); }));
  }
  // Whether a byte of it has to do with a text or a number besides its automaton.
  bool reads_text() const { return memory_.kind >= MemoryRole::Kind::Remember; }
  bool counts() const { return facts_.counts; }
  // Whether a counting rule reads its items itself instead of calling them.
  bool spells_item() const { return ends_at_head_; }
  // Whether it counts in its own automaton what begins with the beginning of a character, so that a text has at least
  // as many characters as items.
  bool counts_characters() const { return counts_characters_; }
  int terminator() const { return facts_.terminator; }  // -1: none
  DfaState* end() const { return end_; }                // the state after the terminator
  // Of a counting rule that has been started and is no product: the state where an item ends.
  DfaState* head() const { return head_; }
  // Of a product's state whose only operand that is no complement stands in `sole`: the bytes on which complements go
  // on. On all others it goes where `sole` goes. Nothing for other states.
  std::optional<ByteSet> complement_bytes(const DfaState& state, const DfaState& sole) const {
    return product_->complement_bytes(state.operands, sole);
  }
  // Whether it counts within bounds of its own; and the register with which every caller then starts it.
  bool sets_bounds() const { return facts_.sets_bounds; }
  uint64_t start_register() const { return product_ ? product_->start_register() : 0; }
  // How far the state of a product seems from an end.
  uint32_t guess(const DfaState& state) const { return product_->guess(state.operands); }
  // Whether its states are terms, which all stay, however they were met.
  bool is_derived() const { return derivatives_ != nullptr; }
  // Of numbers that are multiples; nullptr for all others.
  const Multiples* multiples() const { return multiples_.get(); }
  // Of a counted product; nullptr for all others.
  Lengths* lengths() const { return lengths_.get(); }

  // Whether masks of its states depend on bytes alone: no calls, no token edges, no counts, no remainders.
  bool is_plain() const { return callees_.empty() && token_sets_.empty() && !counts() && !multiples_; }
  // Whether its automaton is its own, made of nothing else: then bytes_to_end is exact.
  bool is_plain_nfa() const { return is_plain() && !derivatives_ && !product_; }
  // None where it has no NFA of its own.
  uint32_t num_nfa_states() const { return derivatives_ || product_ || nfa_.edges().empty() ? 0 : nfa_.num_states(); }
  bool nullable() const { return facts_.nullable; }      // matches the empty string, which the automaton leaves out
  bool productive() const { return facts_.productive; }  // matches some other string
  const ByteSet& first() const { return facts_.first; }
  bool first_has_tokens() const { return facts_.first_has_tokens; }
  uint32_t rank() const { return facts_.rank; }  // above the rank of every rule that it can call before its first byte
  const TokenSet& token_set(uint32_t index) const { return token_sets_[index]; }
  RuleGroup& group() const { return group_; }
  uint32_t index() const { return index_; }          // in its group
  uint64_t parameter() const { return parameter_; }  // of an instance (family.h)
  const std::vector<Callee>& callees() const { return callees_; }
  size_t memory_bytes() const;

 private:
  friend class GroupBuilder;
  friend class GroupDrafts;
  friend class InstanceLinker;
  friend class RuleGroup;
  static DfaState* unknown() { return reinterpret_cast<DfaState*>(1); }
  DfaState* build_start();
  DfaState* build_next(DfaState& state, uint8_t byte);
  DfaState* compute_next(DfaState& state, uint8_t byte);
  DfaState* build_target(DfaState& state, EdgeKind kind, uint32_t argument, std::atomic<DfaState*>& slot);
  DfaState* intern_nfa_states(std::vector<uint32_t>& states);
  DfaState* intern_term(TermId term);
  DfaState* state_of_term(TermId term);
  DfaState* state_of_node(uint32_t node);
  DfaState* state_of_key(std::vector<uint32_t> key);
  DfaState* state_of_tuple(const ProductAutomaton::Tuple& tuple);
  DfaState* add_tuple(ProductAutomaton::Tuple tuple);
  DfaState* add_state(std::vector<uint32_t> key);
  void describe(DfaState& state);
  void link_calls(DfaState& state);
  const std::vector<uint32_t>& build_distances();
  DfaState* find(const std::vector<uint32_t>& key, uint64_t hash);
  CharClasses compute_loop_classes(DfaState& state);
  bool loops_on(DfaState& state, uint8_t byte) { return byte != terminator() && next(state, byte) == &state; }
  bool loops_on_characters(DfaState& state, int length);
  bool loops_on_other_spaces(DfaState& state);
  void build_classes();
  void find_loops();
  template <class Automaton>
  void use_classes(const Automaton& automaton);

  RuleGroup& group_;
  uint32_t index_;
  uint64_t parameter_ = 0;
  RuleFacts facts_;
  MemoryRole memory_;
  std::optional<std::string> capture_;
  std::optional<SpanRule> span_;
  bool counts_characters_ = false;
  bool ends_at_head_ = false;  // a counting rule whose item is spelled out in its own automaton
  Nfa nfa_;
  std::unique_ptr<DerivativeAutomaton> derivatives_;
  std::unique_ptr<ProductAutomaton> product_;
  std::unique_ptr<Lengths> lengths_;
  std::unique_ptr<const Multiples> multiples_;
  std::vector<ByteSet> sets_;
  std::vector<Callee> callees_;
  std::vector<TokenSet> token_sets_;
  uint8_t class_of_[256] = {};
  uint32_t num_classes_ = 1;

  std::atomic<DfaState*> start_{nullptr};
  DfaState* head_ = nullptr;
  DfaState* end_ = nullptr;
  std::list<DfaState> states_;
  ByContent<DfaState*> interned_;
  std::unordered_map<TermId, DfaState*> tails_;
  bool may_cover_ = false;                  // some NFA states may make others needless
  std::unique_ptr<CoveredStates> covered_;  // once there were several
  std::vector<DfaState*> singletons_;       // states of one NFA state, by that state
  std::vector<uint32_t> scratch_;
  ProductAutomaton::Tuple tuple_;  // where a byte leads, until it is looked up
  std::vector<uint8_t> seen_;
  std::unique_ptr<const std::vector<uint32_t>> distance_storage_;
  std::atomic<const std::vector<uint32_t>*> distances_{nullptr};  // of NFA states to the end, once asked for

 public:
  // Masks of counting states, by state and by what the count still allows. Guarded by the group's lock.
  struct CountedKey {
    const DfaState* state;
    uint64_t reg;
    bool operator==(const CountedKey&) const = default;
  };
  struct CountedKeyHash {
    size_t operator()(const CountedKey& k) const { return mix(reinterpret_cast<uintptr_t>(k.state), k.reg); }
  };
  std::unordered_map<CountedKey, const StateMask*, CountedKeyHash> counted_masks;
  static constexpr uint32_t kStrideUnknown = 0xFFFFFFFF;
  std::atomic<uint32_t> stride{kStrideUnknown};  // of a counting rule (masks/strides.h)
};

// The rules of one strongly connected component, with everything built for them.
class RuleGroup : public std::enable_shared_from_this<RuleGroup> {
 public:
  RuleGroup(RuleStore& store, std::string blueprint, std::vector<LinkedRule> callees);
  RuleGroup(const RuleGroup&) = delete;
  ~RuleGroup();
  uint64_t id() const { return id_; }
  Rule& rule(uint32_t index) { return *rules_[index]; }
  uint32_t num_rules() const { return static_cast<uint32_t>(rules_.size()); }
  const std::string& blueprint() const { return blueprint_; }
  std::mutex& lock() { return lock_; }
  RuleStore& store() const { return store_; }
  // If the component has parametric rules: `rules_` are then templates, and what is run are their instances.
  Family* family() const { return family_.get(); }
  // Whether it, or a group that it leads to, has a family.
  bool leads_to_families() const { return leads_to_families_; }
  // Whether some rule in them lies in so many tokens at most; whether one has a temperature.
  bool has_budgets() const { return has_budgets_; }
  bool has_temperatures() const { return has_temperatures_; }
  // Whether text is remembered in them.
  bool has_memory() const { return has_memory_; }
  // Whether elements of a list are distinct in them.
  bool has_lists() const { return has_lists_; }
  // Whether values are.
  bool has_values() const { return has_values_; }
  // The rules of other groups that this one calls, in the order in which the blueprint numbers them.
  const std::vector<LinkedRule>& callees() const { return callees_; }
  // Of a deferred subgrammar (deferred.h): what it is known by, and its grammar, once supplied.
  std::optional<uint64_t> deferred_key() const { return deferred_key_; }
  const LinkedRule* content() const { return content_.load(std::memory_order_acquire); }
  bool is_missing() const { return deferred_key_ && !content(); }
  std::optional<uint32_t> promised_bytes() const { return promised_bytes_; }
  size_t memory_bytes();
  // What is known of it without taking the lock: its rules when it was made, and its masks, most of the whole.
  size_t approximate_bytes() const { return bytes_.load(std::memory_order_relaxed); }
  void account(size_t more_bytes);
  // The state from which another rule's term goes on as an expression of its own, in a group that all grammars share.
  // The group's lock is held; the other group is kept alive by this one.
  DfaState* shared_tail(const DerivativeAutomaton& automaton, TermId term);
  // Takes ownership of a mask. The group's lock is held.
  const StateMask* keep(std::unique_ptr<const StateMask> mask);

 private:
  friend class DeferredGroup;
  friend class GroupBuilder;
  friend class Rule;
  friend class RuleStore;
  Rule& add_rule(const RuleFacts& facts);

  const uint64_t id_;
  const std::string blueprint_;
  std::vector<LinkedRule> callees_;
  std::vector<std::shared_ptr<RuleGroup>> tails_;
  std::optional<uint64_t> deferred_key_;
  std::optional<uint32_t> promised_bytes_;
  LinkedRule content_storage_;
  std::atomic<const LinkedRule*> content_{nullptr};
  std::vector<std::unique_ptr<Rule>> rules_;
  std::unique_ptr<Family> family_;
  bool is_built_ = false;
  bool leads_to_families_ = false;
  bool has_budgets_ = false;
  bool has_temperatures_ = false;
  bool has_memory_ = false;
  bool has_lists_ = false;
  bool has_values_ = false;
  std::vector<std::unique_ptr<const StateMask>> masks_;
  std::mutex lock_;
  RuleStore& store_;
  StoreEntry* entry_ = nullptr;  // the store's, if it is there; guarded by the store's lock
  std::atomic<size_t> bytes_{0};
};

// Whether the rule may end in the state.
inline bool may_end(const DfaState& state, uint64_t reg) {
  if (state.counter_head && state.rule->terminator() < 0) return Count::of(reg).needed == 0;
  if (!state.final) return false;
  const Multiples* multiples = state.rule->multiples();
  return !multiples || multiples->ends(state.key[0], reg);
}
// Whether a counting rule may still have an item. Others always go on.
inline bool may_repeat(const DfaState& state, uint64_t reg) {
  return !state.counter_head || Count::of(reg).remaining > 0;
}
inline bool may_terminate(const DfaState& state, uint64_t reg) {
  return state.terminates && Count::of(reg).needed == 0;
}
// False where the count leaves the state no completion.
inline bool may_complete(DfaState& state, uint64_t reg) {
  return !state.bounded || state.rule->lengths()->admits(state, Count::of(reg));
}
// False where nothing of the rule can follow.
inline bool may_continue(const DfaState& state, uint64_t reg) {
  return may_repeat(state, reg) || may_terminate(state, reg);
}
// The register on entering the state from inside its rule.
inline uint64_t entering(const DfaState& state, uint64_t reg) {
  return state.counter_head ? Count::of(reg).after_item().reg() : reg;
}
// The register behind a byte that leads from one state to another, in a rule that reads no text; nothing where that
// leaves no completion.
inline std::optional<uint64_t> after_byte(const DfaState& state, DfaState& target, uint8_t byte, uint64_t reg) {
  if (const Multiples* multiples = state.rule->multiples()) {
    reg = multiples->after(state.key[0], byte, reg);
    return multiples->may_complete(target.key[0], reg) ? std::optional(reg) : std::nullopt;
  }
  reg = entering(target, reg);
  return may_complete(target, reg) ? std::optional(reg) : std::nullopt;
}

}  // namespace maskwright
