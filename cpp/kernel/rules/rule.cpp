#include "rules/rule.h"

#include <algorithm>
#include <bit>

#include "automata/byte_classes.h"
#include "rules/building/group_builder.h"
#include "rules/instances/deferred.h"
#include "rules/instances/family.h"
#include "rules/rule_store.h"
#include "support/errors.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr size_t kMaxStatesPerRule = 1'000'000;
constexpr size_t kMaxSharedTails = 8;
constexpr size_t kBytesAroundState = 64;  // of a state in the tables that find it

uint64_t hash_key(const std::vector<uint32_t>& key) {
  uint64_t h = key.size();
  for (const uint32_t k : key) h = mix(h, k);
  return h;
}

void build(RuleGroup& group) {
  if (group.deferred_key())
    DeferredGroup::build(group);
  else
    GroupBuilder(group).build();
}

}  // namespace

DfaState* Rule::build_start() {
  const std::lock_guard guard(group_.lock());
  if (DfaState* s = start_.load(std::memory_order_acquire)) return s;
  if (!group_.is_built_) build(group_);
  DfaState* s = nullptr;
  if (derivatives_) {
    // Marked apart from the same term reached later: the rule leaves out the empty string.
    s = add_state({derivatives_->start(), 1});
    s->final = false;
  } else if (multiples_) {
    s = state_of_node(Multiples::kStartNode);
  } else if (product_) {
    s = add_tuple(product_->start());  // not among the tuples: reached again, it may be final
    s->final = false;
    if (counts()) {
      end_ = add_state({});
      end_->final = end_->ends_only = true;
    }
  } else if (counts()) {
    // The head looks like the start, but there an item has ended; a terminator tells the two apart by itself.
    s = add_state({kStart});
    head_ = terminator() < 0 ? add_state({kStart}) : s;
    head_->counter_head = true;
    if (terminator() >= 0) {
      head_->terminates = true;
      head_->live.set(static_cast<uint8_t>(terminator()));
      head_->has_own_bytes = true;
      end_ = add_state({kFinal});
    }
  } else {
    std::vector<uint32_t> states{kStart};
    s = intern_nfa_states(states);
  }
  start_.store(s, std::memory_order_release);
  return s;
}

DfaState* Rule::build_next(DfaState& state, uint8_t byte) {
  const std::lock_guard guard(group_.lock());
  if (state.single_byte >= 0) {
    if (DfaState* t = state.single_target.load(std::memory_order_acquire)) return t;
    DfaState* t = compute_next(state, byte);
    state.single_target.store(t, std::memory_order_release);
    return t;
  }
  if (!state.row_storage) {
    state.row_storage = std::make_unique<std::atomic<DfaState*>[]>(num_classes_);
    group_.account(num_classes_ * sizeof(void*));
    for (uint32_t c = 0; c < num_classes_; ++c) state.row_storage[c].store(unknown(), std::memory_order_relaxed);
    state.row.store(state.row_storage.get(), std::memory_order_release);
  }
  auto& slot = state.row_storage[class_of_[byte]];
  DfaState* t = slot.load(std::memory_order_acquire);
  if (t == unknown()) {
    t = compute_next(state, byte);
    slot.store(t, std::memory_order_release);
  }
  return t;
}

DfaState* Rule::compute_next(DfaState& state, uint8_t byte) {
  if (derivatives_) {
    const TermId term = derivatives_->next(state.key[0], byte);
    return derivatives_->never(term) ? nullptr : intern_term(term);
  }
  if (multiples_) {
    const auto node = multiples_->next(state.key[0], byte);
    return node ? state_of_node(*node) : nullptr;
  }
  if (product_) {
    if (!product_->follow(state.operands, byte, tuple_)) return nullptr;
    if (DfaState* sole = product_->sole(tuple_)) return sole;
    // In a counted product, dead states are told by their distance (lengths.h).
    return counts() || product_->is_live(tuple_) ? state_of_tuple(tuple_) : nullptr;
  }
  scratch_.clear();
  for (const uint32_t s : state.key)
    for (auto e = nfa_.begin(s); e != nfa_.end(s); ++e)
      if ((e->kind == EdgeKind::Byte && e->argument == byte) ||
          (e->kind == EdgeKind::Set && sets_[e->argument].test(byte)))
        scratch_.push_back(e->target);
  return scratch_.empty() ? nullptr : intern_nfa_states(scratch_);
}

// Takes the NFA states reached and makes or finds the state that stands for them and all that empty moves add.
DfaState* Rule::intern_nfa_states(std::vector<uint32_t>& states) {
  std::sort(states.begin(), states.end());
  states.erase(std::unique(states.begin(), states.end()), states.end());
  nfa_.close(states, seen_);
  if (may_cover_ && states.size() > 1) {
    const size_t before = covered_ ? covered_->memory_bytes() : 0;
    if (!covered_) covered_ = std::make_unique<CoveredStates>(nfa_, sets_);
    covered_->leave_out(states, seen_);
    group_.account(covered_->memory_bytes() - before);
  }
  Work::spend(states.size() *
              std::max<size_t>(1, static_cast<size_t>(std::bit_width(states.size())) / 3));  // they are sorted
  if (ends_at_head_ && std::find(states.begin(), states.end(), kFinal) != states.end()) return head_;
  std::erase_if(states, [this](uint32_t s) {
    if (s == kFinal) return false;
    return std::all_of(nfa_.begin(s), nfa_.end(s), [](const NfaEdge& e) { return e.kind == EdgeKind::Epsilon; });
  });
  if (states.size() == 1) {
    if (singletons_.empty()) singletons_.resize(nfa_.num_states());
    DfaState*& known = singletons_[states[0]];
    return known ? known : known = add_state(states);
  }
  std::sort(states.begin(), states.end());
  const uint64_t hash = hash_key(states);
  if (DfaState* known = find(states, hash)) return known;
  DfaState* state = add_state(states);
  interned_.add(hash, state);
  return state;
}

// A term that is an ordinary looping expression is the same for many rules: they go on in one shared automaton.
DfaState* Rule::intern_term(TermId term) {
  // Shared automata keep their own terms, or groups would call each other in circles.
  const bool shares = !remembers() && !derivatives_->is_common_tail(derivatives_->start());
  if (!shares || !derivatives_->is_common_tail(term)) return state_of_term(term);
  if (const auto known = tails_.find(term); known != tails_.end()) return known->second;
  if (tails_.size() >= kMaxSharedTails) return state_of_term(term);  // each keeps a copy of the automaton
  return tails_[term] = group_.shared_tail(*derivatives_, term);
}

DfaState* Rule::state_of_term(TermId term) {
  return state_of_key({term});
}

DfaState* Rule::state_of_node(uint32_t node) {
  return state_of_key({node});
}

DfaState* Rule::state_of_key(std::vector<uint32_t> key) {
  const uint64_t hash = hash_key(key);
  if (DfaState* known = find(key, hash)) return known;
  DfaState* state = add_state(std::move(key));
  interned_.add(hash, state);
  return state;
}

DfaState* Rule::state_of_tuple(const ProductAutomaton::Tuple& tuple) {
  const uint64_t hash = ProductAutomaton::TupleHash()(tuple);
  if (DfaState* known = interned_.find(hash, [&](const DfaState* state) { return state->operands == tuple; }))
    return known;
  DfaState* state = add_tuple(tuple);
  interned_.add(hash, state);
  return state;
}

DfaState* Rule::add_tuple(ProductAutomaton::Tuple tuple) {
  DfaState* state = add_state({});
  state->operands = std::move(tuple);
  group_.account(state->operands.capacity() * sizeof(void*));
  state->final = product_->final(state->operands);
  state->counter_head = product_->at_head(state->operands);
  state->terminates = product_->terminates(state->operands);
  state->bounded = counts();
  state->live = product_->first(state->operands);
  state->has_own_bytes = !state->live.empty();
  state->ends_only = state->final && !state->has_own_bytes;
  return state;
}

DfaState* Rule::find(const std::vector<uint32_t>& key, uint64_t hash) {
  return interned_.find(hash, [&](const DfaState* state) { return state->key == key; });
}

DfaState* Rule::add_state(std::vector<uint32_t> key) {
  if (states_.size() >= kMaxStatesPerRule)
    throw LimitExceeded("automaton_states",
                        "a rule's automaton grew past " + std::to_string(kMaxStatesPerRule) + " states");
  DfaState& state = states_.emplace_back();
  state.rule = this;
  state.key = std::move(key);
  group_.account(sizeof(state) + state.key.capacity() * sizeof(uint32_t) + kBytesAroundState +
                 (derivatives_ ? num_classes_ * sizeof(TermId) : 0));
  describe(state);
  return &state;
}

void Rule::describe(DfaState& state) {
  if (product_) return;  // add_tuple does
  if (multiples_) {
    state.final = multiples_->may_end(state.key[0]);
    state.live = multiples_->live(state.key[0]);
    state.has_own_bytes = !state.live.empty();
    state.ends_only = state.final && !state.has_own_bytes;
    return;
  }
  if (derivatives_) {
    state.final = derivatives_->nullable(state.key[0]);
    state.live = derivatives_->first(state.key[0]);
    state.has_own_bytes = !state.live.empty();
    state.ends_only = state.final && !state.has_own_bytes;
    return;
  }
  int num_byte_edges = 0;
  std::vector<uint32_t> callees, token_sets;
  const auto add = [](std::vector<uint32_t>& known, uint32_t argument) {
    if (std::find(known.begin(), known.end(), argument) == known.end()) known.push_back(argument);
  };
  for (const uint32_t s : state.key) {
    if (s == kFinal) state.final = true;
    for (auto e = nfa_.begin(s); e != nfa_.end(s); ++e) switch (e->kind) {
        case EdgeKind::Byte:
          if (state.single_byte != static_cast<int16_t>(e->argument)) ++num_byte_edges;
          state.single_byte = static_cast<int16_t>(e->argument);
          state.live.set(static_cast<uint8_t>(e->argument));
          break;
        case EdgeKind::Set:
          num_byte_edges += 2;
          state.live |= sets_[e->argument];
          break;
        case EdgeKind::Call:
          add(callees, e->argument);
          if (const Rule* callee = callees_[e->argument].rule; callee && callee->recalls())
            break;  // the text says which byte
          else if (callee)
            state.live |= callee->first();
          else
            state.linked.store(false, std::memory_order_relaxed);
          break;
        case EdgeKind::Tokens: add(token_sets, e->argument); break;
        case EdgeKind::Epsilon:
        case EdgeKind::Guard: break;
      }
  }
  state.calls.assign(static_cast<uint32_t>(callees.size()));
  for (size_t i = 0; i < callees.size(); ++i) {
    state.calls.begin()[i].argument = callees[i];
    state.calls.begin()[i].callee = callees_[callees[i]].rule;
    state.calls.begin()[i].reg = callees_[callees[i]].reg;
  }
  state.token_edges.assign(static_cast<uint32_t>(token_sets.size()));
  for (size_t i = 0; i < token_sets.size(); ++i) state.token_edges.begin()[i].argument = token_sets[i];
  if (num_byte_edges != 1) state.single_byte = -1;
  state.has_own_bytes = num_byte_edges > 0;
  state.ends_only = state.final && !state.has_own_bytes && state.calls.empty() && state.token_edges.empty();
}

void Rule::link_calls(DfaState& state) {
  const std::lock_guard guard(group_.lock());
  if (state.linked.load(std::memory_order_relaxed)) return;
  for (CallEdge& call : state.calls) {
    if (call.callee) continue;
    call.callee = maskwright::link(*callees_[call.argument].instance);
    state.live |= call.callee->first();
  }
  state.linked.store(true, std::memory_order_release);
}

DfaState* Rule::build_target(DfaState& state, EdgeKind kind, uint32_t argument, std::atomic<DfaState*>& slot) {
  const std::lock_guard guard(group_.lock());
  if (DfaState* t = slot.load(std::memory_order_acquire)) return t;
  scratch_.clear();
  for (const uint32_t s : state.key)
    for (auto e = nfa_.begin(s); e != nfa_.end(s); ++e)
      if (e->kind == kind && e->argument == argument) scratch_.push_back(e->target);
  // A rule that counts items which it calls comes back to its head.
  DfaState* t = counts() ? head_ : intern_nfa_states(scratch_);
  slot.store(t, std::memory_order_release);
  return t;
}

uint32_t Rule::bytes_to_end(const DfaState& state) {
  if (derivatives_) return derivatives_->guess(state.key[0]);
  assert(is_plain_nfa());
  return steps_to_end(state);
}

uint32_t Rule::steps_to_end(const DfaState& state) {
  const auto* known = distances_.load(std::memory_order_acquire);
  const std::vector<uint32_t>& distances = known ? *known : build_distances();
  uint32_t nearest = Nfa::kNever;
  for (const uint32_t s : state.key) nearest = std::min(nearest, distances[s]);
  return nearest;
}

const std::vector<uint32_t>& Rule::build_distances() {
  const std::lock_guard guard(group_.lock());
  if (!distance_storage_) {
    distance_storage_ = std::make_unique<const std::vector<uint32_t>>(nfa_.distances_to_end());
    group_.account(distance_storage_->size() * sizeof(uint32_t));
    distances_.store(distance_storage_.get(), std::memory_order_release);
  }
  return *distance_storage_;
}

void Rule::build_classes() {
  ByteSet single;
  for (const NfaEdge& e : nfa_.edges())
    if (e.kind == EdgeKind::Byte) single.set(static_cast<uint8_t>(e.argument));
  num_classes_ = split_into_classes(single, sets_, class_of_);
}

// Only where strings are all that matters: no calls, no tokens, nothing counted.
void Rule::find_loops() {
  if (counts() || !callees_.empty() || !token_sets_.empty()) return;
  for (uint32_t s = 0; s < nfa_.num_states() && !may_cover_; ++s) may_cover_ = CoveredStates::loops(nfa_, sets_, s);
}

template <class Automaton>
void Rule::use_classes(const Automaton& automaton) {
  for (int b = 0; b < 256; ++b) class_of_[b] = static_cast<uint8_t>(automaton.class_of(static_cast<uint8_t>(b)));
  num_classes_ = automaton.num_classes();
}
template void Rule::use_classes(const DerivativeAutomaton&);
template void Rule::use_classes(const ProductAutomaton&);
template void Rule::use_classes(const Multiples&);

size_t Rule::memory_bytes() const {
  size_t bytes = sizeof(*this) + nfa_.memory_bytes() +
                 (distance_storage_ ? distance_storage_->size() * sizeof(uint32_t) : 0) +
                 (derivatives_ ? derivatives_->memory_bytes() : 0) + (multiples_ ? multiples_->memory_bytes() : 0) +
                 (product_ ? product_->memory_bytes() : 0) + (covered_ ? covered_->memory_bytes() : 0) +
                 singletons_.capacity() * sizeof(DfaState*) + interned_.memory_bytes();
  for (const DfaState& s : states_)
    bytes += sizeof(s) + s.key.capacity() * 4 + s.operands.capacity() * sizeof(void*) + s.calls.memory_bytes() +
             s.token_edges.memory_bytes() + (s.row_storage ? num_classes_ * sizeof(void*) : 0);
  return bytes;
}

}  // namespace maskwright
