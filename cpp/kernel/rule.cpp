#include "rule.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "byte_classes.h"
#include "errors.h"
#include "family.h"
#include "group_builder.h"
#include "rule_store.h"
#include "work.h"

namespace maskwright {
namespace {

constexpr size_t kMaxStatesPerRule = 1'000'000;
constexpr size_t kMaxSharedTails = 8;
constexpr size_t kBytesAroundState = 64;  // of a state in the tables that find it

// Whether white space beyond ASCII may follow the leading bits of a character that still needs some bytes.
bool begins_other_space(uint32_t bits, int needed) {
  const uint32_t begin = bits << (6 * needed), end = begin + (1u << (6 * needed));
  for (const uint32_t c : {0x85u, 0xA0u, 0x1680u, 0x2000u, 0x2028u, 0x205Fu, 0x3000u, 0xFEFFu})
    if (c >= begin && c < end) return true;
  return false;
}

// White space and line ends beyond ASCII, all of them.
constexpr uint32_t kLastOtherSpace = 0xFEFF;
constexpr size_t kNumOtherSpaces = [] {
  size_t count = 0;
  for (uint32_t c = 0x80; c <= kLastOtherSpace; ++c) count += is_other_space(c) ? 1 : 0;
  return count;
}();
constexpr auto kOtherSpaces = [] {
  std::array<uint32_t, kNumOtherSpaces> out{};
  for (uint32_t c = 0x80, i = 0; c <= kLastOtherSpace; ++c)
    if (is_other_space(c)) out[i++] = c;
  return out;
}();

uint64_t hash_key(const std::vector<uint32_t>& key) {
  uint64_t h = key.size();
  for (const uint32_t k : key) h = mix(h, k);
  return h;
}

}  // namespace

DfaState* Rule::build_start() {
  const std::lock_guard guard(group_.lock());
  if (DfaState* s = start_.load(std::memory_order_acquire)) return s;
  if (!group_.is_built_) GroupBuilder(group_).build();
  DfaState* s = nullptr;
  if (derivatives_) {
    // Marked apart from the same term reached later: the rule leaves out the empty string.
    s = add_state({derivatives_->start(), 1});
    s->final = false;
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
  if (product_) {
    ProductAutomaton::Tuple tuple = product_->next(state.operands, byte);
    if (tuple.empty()) return nullptr;
    if (DfaState* sole = product_->sole(tuple)) return sole;
    // In a counted product, dead states are told by their distance (lengths.h).
    return counts() || product_->is_live(tuple) ? state_of_tuple(std::move(tuple)) : nullptr;
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
  Work::spend(states.size());
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
  interned_.emplace(hash, state);
  return state;
}

// A term that is an ordinary looping expression is the same for many rules: they go on in one shared automaton.
DfaState* Rule::intern_term(TermId term) {
  // Shared automata keep their own terms, or groups would call each other in circles.
  const bool shares = !derivatives_->is_common_tail(derivatives_->start());
  if (!shares || !derivatives_->is_common_tail(term)) return state_of_term(term);
  if (const auto known = tails_.find(term); known != tails_.end()) return known->second;
  if (tails_.size() >= kMaxSharedTails) return state_of_term(term);  // each keeps a copy of the automaton
  return tails_[term] = group_.shared_tail(*derivatives_, term);
}

DfaState* Rule::state_of_term(TermId term) {
  const std::vector<uint32_t> key{term};
  const uint64_t hash = hash_key(key);
  if (DfaState* known = find(key, hash)) return known;
  DfaState* state = add_state(key);
  interned_.emplace(hash, state);
  return state;
}

DfaState* Rule::state_of_tuple(ProductAutomaton::Tuple tuple) {
  if (const auto it = tuples_.find(tuple); it != tuples_.end()) return it->second;
  DfaState* state = add_tuple(tuple);
  tuples_.emplace(std::move(tuple), state);
  return state;
}

DfaState* Rule::add_tuple(ProductAutomaton::Tuple tuple) {
  DfaState* state = add_state({});
  state->operands = std::move(tuple);
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
  const auto [first, last] = interned_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (it->second->key == key) return it->second;
  return nullptr;
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
          if (const Rule* callee = callees_[e->argument].rule)
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

void Rule::build_classes() {
  ByteSet single;
  for (const NfaEdge& e : nfa_.edges())
    if (e.kind == EdgeKind::Byte) single.set(static_cast<uint8_t>(e.argument));
  num_classes_ = split_into_classes(single, sets_, class_of_);
}

CharClasses Rule::compute_loop_classes(DfaState& state) {
  CharClasses out = 0;
  if ((loops_on(state, 'e') || loops_on(state, '0') || loops_on(state, ' ') || loops_on(state, 'A'))) {
    CharClasses broken = 0;
    for (int b = 0; b < 128; ++b) {
      const CharClasses bit = CharClasses{1} << ascii_class(static_cast<uint8_t>(b));
      (loops_on(state, static_cast<uint8_t>(b)) ? out : broken) |= bit;
    }
    out &= ~broken;
    if (loops_on_characters(state, 2)) out |= CharClasses{1} << kClassOther2;
    if (loops_on_characters(state, 3)) out |= CharClasses{1} << kClassOther3;
    if (loops_on_characters(state, 4)) out |= CharClasses{1} << kClassOther4;
    if (loops_on_other_spaces(state)) out |= CharClasses{1} << kClassOtherSpace;
    bool raw = !counts();  // raw bytes would be counted, not characters
    for (int b = 128; b < 256 && raw; ++b) raw = loops_on(state, static_cast<uint8_t>(b));
    if (raw) out |= CharClasses{1} << kClassMalformed;
  }
  state.loop_classes.store(out, std::memory_order_relaxed);
  return out;
}

// Whether every well-formed character of this encoded length (Unicode 15, table 3-7), other white space apart, leads
// from the state back to it. Where items are counted, none may end inside the character: it would count apart.
bool Rule::loops_on_characters(DfaState& state, int length) {
  if (terminator() >= 0x80) return false;
  const int first = length == 2 ? 0xC2 : length == 3 ? 0xE0 : 0xF0;
  const int last = length == 2 ? 0xDF : length == 3 ? 0xEF : 0xF4;
  std::vector<std::pair<DfaState*, int>> checked;  // a state inside a character, and how many bytes it still needs
  const auto continues = [&](auto&& self, DfaState* inside, int needed, int low, int high, uint32_t bits) -> bool {
    // Where no white space can come, a state inside a character is checked once for all characters that lead to it.
    const bool plain = low == 0x80 && high == 0xBF && !begins_other_space(bits, needed);
    if (plain && std::find(checked.begin(), checked.end(), std::pair{inside, needed}) != checked.end()) return true;
    for (int b = low; b <= high; ++b) {
      const uint32_t read = bits << 6 | (static_cast<uint32_t>(b) & 0x3F);
      if (needed == 1 && is_other_space(read)) continue;
      DfaState* t = inside->rule->next(*inside, static_cast<uint8_t>(b));  // products go on in operands
      if (!t || (needed > 1 && (t == &state || t->counter_head))) return false;
      if (needed == 1 ? t != &state : !self(self, t, needed - 1, 0x80, 0xBF, read)) return false;
    }
    if (plain) checked.emplace_back(inside, needed);
    return true;
  };
  for (int lead = first; lead <= last; ++lead) {
    DfaState* inside = next(state, static_cast<uint8_t>(lead));
    if (!inside || (counts() && (inside == &state || inside->counter_head))) return false;
    const int low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const int high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (!continues(continues, inside, length - 1, low, high, static_cast<uint32_t>(lead) & (0xFFu >> (length + 1))))
      return false;
  }
  return true;
}

bool Rule::loops_on_other_spaces(DfaState& state) {
  if (terminator() >= 0x80) return false;
  for (const uint32_t c : kOtherSpaces) {
    const bool two = c < 0x800;
    DfaState* t = next(state, static_cast<uint8_t>(two ? 0xC0 | c >> 6 : 0xE0 | c >> 12));
    if (t && !two && t != &state && !t->counter_head)
      t = t->rule->next(*t, static_cast<uint8_t>(0x80 | (c >> 6 & 0x3F)));
    if (!t || t == &state || t->counter_head || t->rule->next(*t, static_cast<uint8_t>(0x80 | (c & 0x3F))) != &state)
      return false;
  }
  return true;
}

template <class Automaton>
void Rule::use_classes(const Automaton& automaton) {
  for (int b = 0; b < 256; ++b) class_of_[b] = static_cast<uint8_t>(automaton.class_of(static_cast<uint8_t>(b)));
  num_classes_ = automaton.num_classes();
}
template void Rule::use_classes(const DerivativeAutomaton&);
template void Rule::use_classes(const ProductAutomaton&);

size_t Rule::memory_bytes() const {
  size_t bytes = sizeof(*this) + nfa_.memory_bytes() + (derivatives_ ? derivatives_->memory_bytes() : 0) +
                 (product_ ? product_->memory_bytes() + tuples_.size() * 64 : 0) +
                 singletons_.capacity() * sizeof(DfaState*) + interned_.size() * 48;
  for (const DfaState& s : states_)
    bytes += sizeof(s) + s.key.capacity() * 4 + s.operands.capacity() * sizeof(void*) + s.calls.memory_bytes() +
             s.token_edges.memory_bytes() + (s.row_storage ? num_classes_ * sizeof(void*) : 0);
  return bytes;
}

size_t RuleGroup::memory_bytes() {
  const std::lock_guard guard(lock_);
  size_t bytes = sizeof(*this);
  for (const Rule& rule : rules_) bytes += rule.memory_bytes();
  for (const auto& mask : masks_) bytes += mask->memory_bytes();
  if (family_) bytes += family_->memory_bytes();
  return bytes;
}

RuleGroup::RuleGroup(RuleStore& store, std::string blueprint, std::vector<CalleeLink> callees)
    : id_(store.next_id()), blueprint_(std::move(blueprint)), callees_(std::move(callees)), store_(store) {
  account(sizeof(*this) + blueprint_.capacity() + callees_.capacity() * sizeof(CalleeLink));
}

void RuleGroup::account(size_t more_bytes) {
  bytes_.fetch_add(more_bytes, std::memory_order_relaxed);
  store_.account(more_bytes);
}

// A long chain of groups is let go link by link: the groups called wait until the one that let go of them is gone.
RuleGroup::~RuleGroup() {
  store_.forget(*this);
  thread_local std::vector<std::shared_ptr<RuleGroup>> waiting;
  thread_local bool releasing = false;
  for (CalleeLink& link : callees_) waiting.push_back(std::move(link.group));
  for (auto& tail : tails_) waiting.push_back(std::move(tail));
  if (releasing) return;
  releasing = true;
  while (!waiting.empty()) {
    const std::shared_ptr<RuleGroup> next = std::move(waiting.back());
    waiting.pop_back();
  }
  releasing = false;
}

DfaState* RuleGroup::shared_tail(const DerivativeAutomaton& automaton, TermId term) {
  const std::string key = "tail" + automaton.serialise(term);
  std::shared_ptr<RuleGroup> group = store_.find(key);
  if (!group) {
    group = std::make_shared<RuleGroup>(store_, key, std::vector<CalleeLink>());
    RuleFacts facts;
    facts.productive = true;
    Rule& rule = group->rules_.emplace_back(*group, 0, facts);
    rule.derivatives_ = std::make_unique<DerivativeAutomaton>(automaton, term);
    rule.use_classes(*rule.derivatives_);
    group->is_built_ = true;
    group = store_.insert(std::move(group));
  }
  if (std::find(tails_.begin(), tails_.end(), group) == tails_.end()) tails_.push_back(group);
  const std::lock_guard guard(group->lock_);
  Rule& rule = group->rules_[0];
  return rule.state_of_term(rule.derivatives_->start());
}

const StateMask* RuleGroup::keep(std::unique_ptr<const StateMask> mask) {
  account(mask->memory_bytes());
  masks_.push_back(std::move(mask));
  return masks_.back().get();
}

}  // namespace maskwright
