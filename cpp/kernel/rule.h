// A rule's automaton as the matcher sees it: deterministic states, built one at a time as they are visited.
//
// A `DfaState` stands for a set of NFA states; in rules with & and ~, for a tuple of other rules' states (product.h)
// or, where these nest or count, for a term (derivative.h). It has byte transitions within the rule, and calls: "run
// `callee`, then go on at `target`". Empty strings are gone: no rule matches the empty string (callers have an empty
// move instead), and no chain of calls at one position returns to the same rule.
//
// Rules live in groups (the strongly connected components of the reference graph), groups are interned by structure and
// so shared by all grammars on one tokenizer, with their automata and masks.
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
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "byte_set.h"
#include "derivative.h"
#include "nfa.h"
#include "product.h"
#include "registers.h"
#include "state_mask.h"
#include "vocabulary.h"

namespace maskwright {

class Family;
class Rule;
class RuleGroup;
struct Instance;
class RuleStore;
struct DfaState;

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
  std::vector<uint32_t> key;        // the NFA states, sorted; or one term
  std::vector<DfaState*> operands;  // of a product
  // The bytes that may come next, calls included; a superset in rules with & and ~. It and the callees of `calls` are
  // there once the state is linked: until then, some callee is an instance that nobody has needed yet.
  ByteSet live;
  std::atomic<bool> linked{true};
  bool final = false;      // the rule may end here (counting rules: if the count allows)
  bool ends_only = false;  // final, and nothing else can happen
  bool counter_head = false;
  bool has_own_bytes = false;
  EdgeArray<CallEdge> calls;
  EdgeArray<TokenEdge> token_edges;
  // Transitions within the rule. A state with a single byte keeps it inline; others get a row by byte class when
  // needed.
  int16_t single_byte = -1;
  std::atomic<DfaState*> single_target{nullptr};
  std::atomic<std::atomic<DfaState*>*> row{nullptr};
  std::unique_ptr<std::atomic<DfaState*>[]> row_storage;
  std::atomic<CharClasses> loop_classes{kLoopUnknown};
  std::atomic<const StateMask*> mask{nullptr};

  static constexpr CharClasses kLoopUnknown = ~CharClasses{0};
};

// A rule and the register to start it with.
struct Callee {
  Rule* rule;  // nullptr: the instance's, once it is linked
  uint64_t reg;
  Instance* instance = nullptr;  // of a parametric rule
  uint32_t value = 0;            // in a template: what the call passes, by its index in the family
  bool operator==(const Callee&) const = default;
};

class Rule {
 public:
  Rule(RuleGroup& group, uint32_t index) : group_(group), index_(index) {}

  DfaState* start() {
    DfaState* s = start_.load(std::memory_order_acquire);
    return s ? s : build_start();
  }
  // The state after one byte without leaving the rule, or nullptr.
  DfaState* next(DfaState& state, uint8_t byte) {
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
    if (!state.linked.load(std::memory_order_acquire)) link_calls(state);
  }
  // The classes of characters on which the state returns to itself, whatever the character.
  CharClasses loop_classes(DfaState& state) {
    const CharClasses known = state.loop_classes.load(std::memory_order_relaxed);
    return known != DfaState::kLoopUnknown ? known : compute_loop_classes(state);
  }

  uint8_t class_of(uint8_t byte) const { return class_of_[byte]; }
  bool counts() const { return counts_; }
  int terminator() const { return terminator_; }  // -1: none
  DfaState* end() const { return end_; }          // the state after the terminator

  // Whether masks of its states depend on bytes alone: no calls, no token edges, no counts.
  bool is_plain() const { return callees_.empty() && token_sets_.empty() && !counts_; }
  bool captures() const { return capture_.has_value(); }
  const std::optional<std::string>& capture() const { return capture_; }  // the name of what it matches
  bool nullable() const { return nullable_; }      // matches the empty string, which the automaton leaves out
  bool productive() const { return productive_; }  // matches some other string
  const ByteSet& first() const { return first_; }
  bool first_has_tokens() const { return first_has_tokens_; }
  uint32_t rank() const { return rank_; }  // above the rank of every rule that it can call before its first byte
  const std::vector<TokenId>& token_set(uint32_t index) const { return token_sets_[index]; }
  RuleGroup& group() const { return group_; }
  // Of a family: it has instances and is never run itself. Its automaton has guards, and its callees are templates.
  bool is_template() const { return is_template_; }
  const Nfa& automaton() const { return nfa_; }
  const Callee& callee(uint32_t argument) const { return callees_[argument]; }
  uint32_t index() const { return index_; }  // in its group
  size_t memory_bytes() const;

 private:
  friend class Family;
  friend class GroupBuilder;
  friend class InstanceLinker;
  friend class RuleGroup;
  friend class WitnessSearch;
  static DfaState* unknown() { return reinterpret_cast<DfaState*>(1); }
  DfaState* build_start();
  DfaState* build_next(DfaState& state, uint8_t byte);
  DfaState* compute_next(DfaState& state, uint8_t byte);
  DfaState* build_target(DfaState& state, EdgeKind kind, uint32_t argument, std::atomic<DfaState*>& slot);
  DfaState* intern_nfa_states(std::vector<uint32_t>& states);
  DfaState* intern_term(TermId term);
  DfaState* state_of_term(TermId term);
  DfaState* state_of_tuple(ProductAutomaton::Tuple tuple);
  DfaState* add_tuple(ProductAutomaton::Tuple tuple);
  DfaState* add_state(std::vector<uint32_t> key);
  void describe(DfaState& state);
  void link_calls(DfaState& state);
  DfaState* find(const std::vector<uint32_t>& key, uint64_t hash);
  CharClasses compute_loop_classes(DfaState& state);
  bool loops_on(DfaState& state, uint8_t byte) { return byte != terminator_ && next(state, byte) == &state; }
  bool loops_on_characters(DfaState& state, int length);
  void build_classes();
  template <class Automaton>
  void use_classes(const Automaton& automaton);
  // Whether no string of the rule is a prefix of another, as far as a small exploration can tell.
  bool is_prefix_free();

  RuleGroup& group_;
  uint32_t index_;
  bool nullable_ = false, productive_ = false, first_has_tokens_ = false, counts_ = false;
  bool is_template_ = false;
  bool ends_at_head_ = false;  // a counting rule whose item is spelled out in its own automaton
  uint32_t rank_ = 0;
  std::optional<std::string> capture_;
  ByteSet first_;
  Nfa nfa_;
  std::unique_ptr<DerivativeAutomaton> derivatives_;
  std::unique_ptr<ProductAutomaton> product_;
  std::vector<ByteSet> sets_;
  std::vector<Callee> callees_;
  std::vector<std::vector<TokenId>> token_sets_;
  uint8_t class_of_[256] = {};
  uint32_t num_classes_ = 1;

  std::atomic<DfaState*> start_{nullptr};
  DfaState* head_ = nullptr;
  DfaState* end_ = nullptr;
  int terminator_ = -1;
  std::deque<DfaState> states_;
  std::unordered_multimap<uint64_t, DfaState*> interned_;
  std::map<ProductAutomaton::Tuple, DfaState*> tuples_;
  std::unordered_map<TermId, DfaState*> tails_;
  std::vector<DfaState*> singletons_;  // states of one NFA state, by that state
  std::vector<uint32_t> scratch_;
  std::vector<uint8_t> seen_;

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
};

// The rules of one strongly connected component, with everything built for them.
class RuleGroup {
 public:
  explicit RuleGroup(RuleStore& store);
  RuleGroup(const RuleGroup&) = delete;
  ~RuleGroup();
  uint64_t id() const { return id_; }
  Rule& rule(uint32_t index) { return *rules_[index]; }
  std::mutex& lock() { return lock_; }
  RuleStore& store() const { return store_; }
  // If the component has parametric rules: `rules_` are then templates, and rules are their instances.
  Family* family() const { return family_.get(); }
  size_t memory_bytes();
  // What is known of it without taking the lock: memory of masks, most of the whole.
  size_t approximate_bytes() const;
  // The state from which another rule's term goes on as an expression of its own, in a group that all grammars share.
  // The group's lock is held; the other group is kept alive by this one.
  DfaState* shared_tail(const DerivativeAutomaton& automaton, TermId term);
  // Takes ownership of a mask. The group's lock is held.
  const StateMask* keep(std::unique_ptr<const StateMask> mask);

 private:
  friend class Family;
  friend class GroupBuilder;
  const uint64_t id_;
  std::vector<std::unique_ptr<Rule>> rules_;
  std::vector<std::shared_ptr<RuleGroup>> callee_groups_;
  std::vector<std::unique_ptr<const StateMask>> masks_;
  std::unique_ptr<Family> family_;
  std::mutex lock_;
  RuleStore& store_;
  std::atomic<size_t> mask_bytes_{0};
};

// Whether the rule may end in the state.
inline bool may_end(const DfaState& state, uint64_t reg) {
  return state.counter_head && state.rule->terminator() < 0 ? Count::of(reg).needed == 0 : state.final;
}
// Whether a counting rule may still have an item. Others always go on.
inline bool may_repeat(const DfaState& state, uint64_t reg) {
  return !state.counter_head || Count::of(reg).remaining > 0;
}
inline bool may_terminate(const DfaState& state, uint64_t reg) {
  return state.counter_head && state.rule->terminator() >= 0 && Count::of(reg).needed == 0;
}
// False where nothing of the rule can follow.
inline bool may_continue(const DfaState& state, uint64_t reg) {
  return may_repeat(state, reg) || may_terminate(state, reg);
}
// The register on entering the state from inside its rule.
inline uint64_t entering(const DfaState& state, uint64_t reg) {
  return state.counter_head ? Count::of(reg).after_item().reg() : reg;
}

}  // namespace maskwright
