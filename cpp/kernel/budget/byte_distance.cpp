#include "budget/byte_distance.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "masks/strides.h"
#include "rules/instances/family.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr size_t kStepsAPlace = 40, kStepsAnEdge = 6;  // measured: tables and a queue
constexpr uint32_t kNearEnd = 2, kFarEnd = 1000;       // in bytes: longer tokens are looked for between them
constexpr int kFewChoices = 64;           // of the next byte: in texts with more, one byte is as good as any
constexpr uint32_t kMaxSpelled = 64;      // nodes of the trie for the tokens from one place
constexpr uint32_t kManyStates = 16'384;  // of an automaton, such as that of an enum of a thousand texts
constexpr uint32_t kManyStatesByPromises = 256;
constexpr size_t kManyPlaces = 5000;  // of a search in a counted product
constexpr uint32_t kManyBits = 4;     // moved by a family: more have too many instances to look at all of them
constexpr size_t kBytesAPlace = 64;   // of a hash table

ByteSet bytes_of(const Vocabulary& vocabulary, ByteDistances::Bound kind) {
  ByteSet out;
  for (int b = 0; b < 256; ++b) {
    const auto byte = static_cast<uint8_t>(b);
    const NodeId node = vocabulary.root_child(byte);
    const Vocabulary::Node& at = vocabulary.node(node);
    const bool is_token = node != Vocabulary::kRoot && at.token_begin < at.token_own_end;
    if (is_token || kind != ByteDistances::Bound::Enough) out.set(byte);
  }
  return out;
}

}  // namespace

ByteDistances::ByteDistances(const Vocabulary& vocabulary, Bound kind, bool by_promises)
    : kind_(kind),
      by_promises_(by_promises),
      vocabulary_(vocabulary),
      bytes_(bytes_of(vocabulary, kind)),
      has_all_bytes_(bytes_.count() == 256),
      bytes_a_named_token_(kind == Bound::AtLeast ? std::max<uint32_t>(vocabulary.max_token_length(), 1) : 1),
      texts_(vocabulary, kind == Bound::Enough ? TextMeasures::Unit::Tokens : TextMeasures::Unit::Bytes),
      elements_(bytes_, [this](DfaState& state) { return of({&state, 0}); }),
      growing_(bytes_) {}

// A way out needs at most two items more than it must have: with fewer allowed, counts that differ meet. One that
// differs may need more, but is looked for only where there is no limit.
uint64_t ByteDistances::bounded_register(const DfaState& state, uint64_t reg, bool differs) {
  if (!state.rule->counts() || state.bounded) return reg;
  Count count = Count::of(reg);
  if (differs && count.remaining == Count::kUnlimited) return reg;
  count.remaining = std::min(count.remaining, count.needed < Count::kUnlimited - 2 ? count.needed + 2 : count.needed);
  return count.reg();
}

// Of a list, what the next element takes depends on the earlier ones, but a bound from below does not look at them.
uint64_t ByteDistances::measured_register(const TextView& texts, DfaState& state, uint64_t reg) {
  if (!state.rule->is_list() || kind_ == Bound::AtLeast) return texts_.of(texts, state, reg);
  const Chosen list = Chosen::of(reg);
  if (compares_values(*state.rule)) return MeasuredList{list.set == kNoTexts ? kFirst : kNever, list.count}.reg();
  return MeasuredList{elements_.next(texts, *state.rule, reg), list.count}.reg();
}

uint64_t ByteDistances::new_list(Rule& list) {
  return compares_values(list) ? MeasuredList{kFirst, 0}.reg() : of_list(list, 0);
}

// The register of a list with so many elements, whatever these are. Where none must follow, none is looked for.
uint64_t ByteDistances::of_list(Rule& list, uint32_t count) {
  if (kind_ == Bound::AtLeast) return count;
  if (compares_values(list)) return MeasuredList{kNever, count}.reg();
  const bool needs_more = count < std::max<uint32_t>(list.memory().minimum, 1);
  return MeasuredList{needs_more ? elements_.next_of(list, count) : kNever, count}.reg();
}

uint32_t ByteDistances::to_end_of_caller(const TextView& texts, const Item& item, const Frame& frame, uint32_t more,
                                         bool differs) {
  const MemoryRole& role = item.state->rule->memory();
  DfaState& target = *frame.target;
  if (role.kind == MemoryRole::Kind::Element) {
    const bool is_new = kind_ != Bound::AtLeast;
    const uint32_t rest = is_new ? elements_.rest(texts, *item.state, item.reg) : of({item.state, 0});
    const uint64_t reg = after_text(target, Chosen::of(frame.reg).count, role, rest);
    const uint32_t way = sum(rest, after({&target, reg, differs}));
    return differs ? std::min(way, sum(elements_.any(*item.state), after({&target, reg}))) : way;
  }
  const uint32_t rest = of({item.state, 0});
  const uint32_t length = sum(texts_.in_progress(texts, static_cast<CellId>(item.reg)), sum(rest, more));
  const uint64_t before = texts_.of(texts, target, frame.reg);
  return sum(rest, after({&target, after_text(target, before, role, length), differs}));
}

// The register of a scope or a list after a text of this length.
uint64_t ByteDistances::after_text(const DfaState& caller, uint64_t reg, const MemoryRole& role, uint32_t length) {
  if (role.kind == MemoryRole::Kind::Remember) return texts_.with_text(reg, role.number, length);
  return of_list(*caller.rule, caller.rule->memory().counted(MeasuredList::of(reg).count + 1));
}

// The items needed, and the byte after them.
uint32_t ByteDistances::repeated(const Place& place, uint32_t first_item, uint32_t item) {
  Rule& rule = *place.state->rule;
  const int terminator = rule.terminator();
  const uint32_t last = terminator < 0 ? 0 : bytes_.test(static_cast<uint8_t>(terminator)) ? 1 : kNever;
  if (first_item == kNever || item == kNever || last == kNever) return kNever;
  const bool is_between = place.state == rule.head() || place.state == rule.start();
  const bool is_apart = !is_between || place.differs;
  const uint64_t first = is_apart ? first_item : 0;
  uint64_t items = Count::of(place.reg).needed - (is_apart ? 1 : 0), tokens = 0;
  // For all of them, the last one too, or what is left after a stride may seem farther.
  if (kind_ == Bound::Enough && items > (item > 1 ? 0 : 1)) {
    const uint32_t stride = stride_of(vocabulary_, rule);
    if (stride > 0) {
      tokens = items / stride;
      items %= stride;
    }
  }
  const uint64_t total = first + tokens + items * item;
  return sum(static_cast<uint32_t>(std::min<uint64_t>(total, kVeryFar)), last);
}

// The same by the distances of items. A way that differs does so in the first of them, or behind them.
template <class Distance>
uint32_t ByteDistances::with_items(const Place& place, Distance&& distance) {
  const Place head{place.state->rule->head(), kItem};
  const uint32_t found = repeated(place, distance(Place{place.state, kItem, place.differs}), distance(head));
  if (!place.differs) return found;
  const Place plain{place.state, place.reg};
  const uint32_t behind = repeated(plain, distance(Place{place.state, kItem}), distance(head));
  return std::min(found, sum(behind, growth({head.state, place.reg, true})));
}

uint32_t ByteDistances::needed_items(const DfaState& state, uint64_t reg) {
  Rule& rule = *state.rule;
  if (!rule.counts() || Count::of(reg).needed == 0) return 0;
  if (state.bounded) return kNever;
  const uint32_t item = of({rule.head(), kItem});
  if (item == kNever) return kNever;
  return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{Count::of(reg).needed} * item, kVeryFar));
}

// What was found before; and the automaton of a plain rule knows how many bytes its states are from the end.
std::optional<uint32_t> ByteDistances::known(const Place& place) const {
  Rule& rule = *place.state->rule;
  if (rule.recalls()) return place.differs ? kNever : static_cast<uint32_t>(place.reg);
  if (const auto it = known_.find(place); it != known_.end()) return it->second;
  if (place.differs) return {};
  if (const Multiples* multiples = rule.multiples(); multiples && has_all_bytes_ && !may_end(*place.state, place.reg))
    return multiples->bytes_to_end(place.state->key[0], place.reg);
  if (!has_all_bytes_ || place.state->final || !rule.is_plain_nfa()) return {};
  const uint32_t bytes = rule.bytes_to_end(*place.state);
  const bool is_good_enough = kind_ != Bound::Enough || bytes <= kNearEnd || bytes > kFarEnd;
  return is_good_enough ? std::optional(bytes) : std::nullopt;
}

uint32_t ByteDistances::of(const Place& place) {
  if (needs_items(place)) return with_items(place, [this](const Place& item) { return of(item); });
  if (const auto distance = known(place)) return *distance;
  met_ = {{place, 0}};
  open_.clear();
  open_.push_back({place});
  for (bool are_waiting = true; are_waiting;) {
    are_waiting = false;
    for (uint32_t i = static_cast<uint32_t>(open_.size()); i-- > 0;) {
      if (!open_[i].is_waiting) continue;
      are_waiting = true;
      const size_t num_met = open_.size();
      improve(i);
      if (open_.size() > num_met) i = static_cast<uint32_t>(open_.size());  // what is called comes before its callers
    }
  }
  if (const auto settled = known_.find(place); settled != known_.end()) return settled->second;
  for (const Open& open : open_) known_.emplace(open.place, open.bound);
  is_found_ = true;
  const uint32_t found = search(place);
  keep_way(found);
  return found;
}

// By what is known so far. What needs nothing that is still being found is found.
void ByteDistances::improve(uint32_t index) {
  const Place at = open_[index].place;
  open_[index].is_waiting = false;
  if (known_.contains(at)) return;
  searched_ = index;
  is_found_ = true;
  const uint32_t found = search(at);
  if (is_found_) {
    known_.emplace(at, found);
    keep_way(found);
  }
  lower(index, found, is_found_);
}

// Those that need the place wait to be searched again: if its bound got lower; or if it is found, and they have no way
// yet, as detours are taken only where all is found.
void ByteDistances::lower(uint32_t index, uint32_t bound, bool is_found) {
  Open& open = open_[index];
  const bool is_lower = bound < open.bound;
  open.bound = std::min(open.bound, bound);
  for (const uint32_t index_of_user : open.users) {
    Open& user = open_[index_of_user];
    if (is_lower || (is_found && user.bound == kNever && onward(*user.place.state->rule))) user.is_waiting = true;
  }
}

// Whatever lies on the way of the last search knows its distance, too.
void ByteDistances::keep_way(uint32_t found) {
  if (found == kVeryFar) return;  // how much of it is left farther on is not known
  for (uint32_t v = last_; v != kNever; v = visits_[v].before) {
    const auto [known, is_new] = known_.try_emplace(visits_[v].place, found - visits_[v].distance);
    if (const auto open = is_new ? met_.find(visits_[v].place) : met_.end(); open != met_.end())
      lower(open->second, known->second, true);
    if (with_detour_ && !visits_[v].after_detour) detours_.insert(visits_[v].place);
  }
}

uint32_t ByteDistances::search(const Place& from) {
  with_detour_ = false;
  const uint32_t found = find_way(from);
  if (found != kNever || !is_found_ || !onward(*from.state->rule)) return found;
  with_detour_ = true;
  detours_.insert(from);
  return find_way(from);
}

// From the states of a large automaton or a counted product, of which there may be very many, not the shortest way is
// sought but some way, where fewest steps seem to be left; or, of a product, what the count asks for. By promises,
// which are bounds themselves, an automaton is large soon.
uint32_t ByteDistances::find_way(const Place& from) {
  using Entry = std::pair<uint32_t, uint32_t>;  // distance or, of a large product, how far the end seems; visit
  Rule& rule = *from.state->rule;
  const bool is_large = has_many_states(rule) || large_.contains(&rule);
  // A counted product may become large; the few that stand outside deferred subgrammars are small.
  const bool may_be_large = rule.num_nfa_states() > kManyStates || (rule.lengths() && !by_promises_);
  has_estimates_ = has_estimates_ || may_be_large || large_.contains(&rule);
  visits_.clear();
  last_ = kNever;
  if (is_large && kind_ == Bound::AtLeast) {
    const bool knows_items = rule.counts() && from.reg != kItem;
    return knows_items ? std::max(Count::of(from.reg).needed, 2U) - 1 : 1;
  }
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::unordered_map<Place, uint32_t, PlaceHash> best, best_after;  // the detour
  uint32_t shortest = kNever;
  visits_.push_back({from, 0, kNever, false});
  queue.emplace(0, 0);
  while (!queue.empty() && (is_large ? shortest == kNever : queue.top().first < shortest)) {
    Work::spend(kStepsAPlace);
    if (!is_large && visits_.size() > kManyPlaces && rule.lengths()) {
      large_.insert(&rule);
      return find_way(from);
    }
    const uint32_t visit = queue.top().second, distance = visits_[visit].distance;
    queue.pop();
    const Place at = visits_[visit].place;
    const bool is_after = visits_[visit].after_detour, may_turn = with_detour_ && !is_after;
    const auto go = [&](const Place& to, uint32_t bytes, bool turns) {
      const auto& [target, reg, differs] = to;
      Work::spend(kStepsAnEdge);
      uint32_t there = sum(distance, bytes);
      if (there == kNever || (differs && !target)) return;
      const bool is_item = from.reg == kItem;
      const bool is_far = target && !is_item && needs_items(to);
      if (is_far) there = sum(there, found_so_far(to));
      const bool is_end = !target || is_far || (is_item ? target->counter_head && !differs : ends(to));
      if (is_end && there < shortest) {
        shortest = there;
        last_ = visit;
      }
      if (!target || is_far || (is_item && target->counter_head) || !may_continue(*target, reg)) return;
      const bool after_detour = is_after || turns;
      if (const auto rest = known(to)) {  // a way through it needs no search
        const bool needs_detour = detours_.contains(to);
        if (needs_detour != (with_detour_ && !after_detour)) return;
        if (sum(there, *rest) < shortest) {
          shortest = sum(there, *rest);
          last_ = visit;
        }
        return;
      }
      const auto [it, fresh] = (after_detour ? best_after : best).try_emplace(to, there);
      if (!fresh && it->second <= there) return;
      it->second = there;
      visits_.push_back({to, there, visit, after_detour});
      const uint32_t order = is_large ? seeming_distance(to) : there;
      queue.emplace(order, static_cast<uint32_t>(visits_.size() - 1));
    };
    for_each_edge(at, may_turn, go);
  }
  return shortest;
}

bool ByteDistances::has_many_states(const Rule& rule) const {
  return rule.num_nfa_states() > (by_promises_ ? kManyStatesByPromises : kManyStates);
}

uint32_t ByteDistances::seeming_distance(const Place& place) const {
  Rule& rule = *place.state->rule;
  if (has_many_states(rule)) return rule.steps_to_end(*place.state);
  return sum(place.state->bounded ? rule.guess(*place.state) : 1, Count::of(place.reg).needed);
}

// What is known so far; a place met for the first time is looked at in the next round.
uint32_t ByteDistances::found_so_far(const Place& place) {
  if (needs_items(place)) return with_items(place, [this](const Place& item) { return found_so_far(item); });
  if (const auto distance = known(place)) return *distance;
  const auto [found, fresh] = met_.try_emplace(place, static_cast<uint32_t>(open_.size()));
  if (fresh) open_.push_back({place});
  Open& open = open_[found->second];
  if (std::ranges::find(open.users, searched_) == open.users.end()) open.users.push_back(searched_);
  is_found_ = false;
  return open.bound;
}

// How an instance of a large family goes on: with the parameter that differs in the lowest bits, of those that its
// calls pass on. Nothing for all other rules, and where nothing is passed on.
std::optional<uint64_t> ByteDistances::onward(const Rule& rule) {
  const Family* family = rule.group().family();
  if (!family || family->num_bits_moved() <= kManyBits) return {};
  const auto [it, fresh] = onward_.try_emplace(&rule);
  if (!fresh) return it->second;
  for (const Callee& callee : rule.callees()) {
    const Rule& model = callee.rule ? *callee.rule : *callee.instance->model;
    const uint64_t parameter = callee.rule ? callee.rule->parameter() : callee.instance->parameter;
    if (&model.group() != &rule.group() || !passes_on(rule, parameter)) continue;
    if (!it->second || (parameter ^ rule.parameter()) < (*it->second ^ rule.parameter())) it->second = parameter;
  }
  return it->second;
}

// A call that begins anew passes zero.
bool ByteDistances::passes_on(const Rule& rule, uint64_t parameter) {
  return parameter != rule.parameter() && parameter != 0;
}

// How a search treats a call. The callee need not be linked.
ByteDistances::Turn ByteDistances::turn(const Rule& rule, const CallEdge& call) {
  const Callee& callee = rule.callees()[call.argument];
  const Rule& model = callee.rule ? *callee.rule : *callee.instance->model;
  const uint64_t passed = callee.rule ? callee.rule->parameter() : callee.instance->parameter;
  if (&model.group() != &rule.group() || !passes_on(rule, passed)) return Turn::None;
  const auto parameter = onward(rule);
  if (!parameter) return Turn::None;
  return passed == *parameter ? Turn::Onward : Turn::Detour;
}

// Whether all that leaves the state is detours that the search does not take. Their callees then stay unlinked: behind
// each item in any order there is one, so linking them all would cost far more than the search.
bool ByteDistances::has_only_skipped_calls(const DfaState& state, bool may_turn) {
  if (may_turn || kind_ == Bound::AtLeast || state.linked.load(std::memory_order_acquire)) return false;
  if (state.has_own_bytes || state.terminates || !state.token_edges.empty()) return false;
  return std::ranges::all_of(state.calls,
                             [&](const CallEdge& call) { return turn(*state.rule, call) == Turn::Detour; });
}

// `differs`: by what is called, the value differs that the call is in.
uint32_t ByteDistances::call_bytes(const Place& from, const CallEdge& call, bool differs) {
  if (call.callee->recalls()) return differs ? kNever : texts_.length_in(from.reg, call.callee->memory().number);
  const RuleGroup& group = call.callee->group();
  if (by_promises_ && group.is_missing()) return has_all_bytes_ ? group.promised_bytes().value_or(kNever) : kNever;
  const Rule& rule = *from.state->rule;
  if (rule.is_list()) {
    const MeasuredList list = MeasuredList::of(from.reg);
    if (list.count >= rule.memory().maximum) return kNever;
    if (call.callee->is_element() && kind_ != Bound::AtLeast)
      return of_element(rule, *call.callee->start(), list, differs);
    if (call.callee->is_value() && kind_ == Bound::Enough)
      return of_value(*call.callee->start(), differs || list.next != kFirst);
  }
  DfaState& start = *call.callee->start();
  const uint64_t reg = call.callee->is_list() ? new_list(*call.callee) : call.reg;
  const Place place{&start, bounded_register(start, reg, differs), differs};
  const uint32_t bytes = found_so_far(place);
  const auto& span = call.callee->span();
  return kind_ == Bound::Enough && span && span->max_tokens > 0 && bytes > span->max_tokens ? kNever : bytes;
}

// In how few bytes the value can become any of very many where it is. Within an item it cannot, and what may come
// behind the item is asked of the repetition.
uint32_t ByteDistances::growth(const Place& place) {
  if (place.reg == kItem) return kNever;
  const bool is_limited = place.state->rule->counts() && Count::of(place.reg).remaining != Count::kUnlimited;
  return is_limited ? kNever : growing_.bytes_for_many(*place.state);
}

uint32_t ByteDistances::of_element(const Rule& rule, DfaState& start, const MeasuredList& list, bool differs) {
  if (!compares_values(rule)) return differs ? elements_.any(start) : list.next;
  return differs || list.next != kFirst ? elements_.any(start) : found_so_far({&start, 0});
}

uint32_t ByteDistances::of_value(DfaState& start, bool differs) {
  const uint32_t bytes = found_so_far({&start, 0, differs});
  return bytes == kNever && differs ? sum(found_so_far({&start, 0}), kAssumedBytes) : bytes;
}

// Reports where one byte, token or call leads: the place and the bytes; no state where the rule ends.
// Of bytes in a row that lead to the same state, as most bytes of a text do, only the first is reported.
template <class Edge>
void ByteDistances::for_each_edge(const Place& from, bool may_turn, Edge&& go) {
  const auto edge = [&](DfaState* target, uint64_t reg, uint32_t bytes) {
    go({target, reg, from.differs}, bytes, false);
  };
  DfaState& state = *from.state;
  Rule& rule = *state.rule;
  if (has_only_skipped_calls(state, may_turn)) return;
  rule.link(state);
  if (from.differs) go({&state, bounded_register(state, from.reg, false)}, growth(from), false);
  if (may_terminate(state, from.reg) && bytes_.test(static_cast<uint8_t>(rule.terminator()))) edge(nullptr, 0, 1);
  if (!may_repeat(state, from.reg)) return;
  const DfaState* last = nullptr;
  (state.live & bytes_).for_each([&](uint8_t byte) {
    DfaState* target = rule.next(state, byte);
    if (!target || (target == std::exchange(last, target) && !rule.multiples())) return;
    if (const auto reg = after_byte(state, *target, byte, from.reg))
      edge(target, bounded_register(*target, *reg, from.differs), 1);
  });
  if (kind_ == Bound::Enough && (!rule.remembers() || rule.is_element())) for_each_longer_token(from, edge);
  for (TokenEdge& tokens : state.token_edges) {
    if (rule.token_set(tokens.argument).ids.empty()) continue;
    DfaState* target = rule.target(state, tokens);
    edge(target, entering(*target, from.reg), bytes_a_named_token_);
  }
  for (CallEdge& call : state.calls) {
    const Turn turn = this->turn(rule, call);
    const bool is_cut = kind_ == Bound::AtLeast && turn != Turn::None;
    if (turn == Turn::Detour && !is_cut && !may_turn) continue;
    DfaState* target = rule.target(state, call);
    const auto go_by = [&](uint32_t bytes, bool differs) {
      uint64_t reg = entering(*target, from.reg);
      if (call.callee->remembers() || call.callee->is_value())
        reg = after_text(*target, reg, call.callee->memory(), bytes);
      go({target, reg, differs}, bytes, turn == Turn::Detour && !is_cut);
    };
    go_by(is_cut ? 1 : call_bytes(from, call, false), from.differs);
    if (from.differs) go_by(call_bytes(from, call, true), false);
  }
}

// Reports where tokens of several bytes lead that stay within the rule, as long as the rule leaves little choice: the
// names of members, the values of enums. Not all of them need be found, so a few nodes of the trie will do, and of
// bytes in a row that lead to the same state, the first one.
template <class Edge>
void ByteDistances::for_each_longer_token(const Place& from, Edge&& edge) {
  struct At {
    NodeId node;
    DfaState* state;
    uint64_t reg;
  };
  std::vector<At> open{{Vocabulary::kRoot, from.state, from.reg}};
  for (uint32_t spelled = 0; !open.empty() && spelled < kMaxSpelled;) {
    const At at = open.back();
    open.pop_back();
    if (!at.state->has_own_bytes) continue;  // nor are its calls linked
    Rule& rule = *at.state->rule;            // a product goes on in an operand's state where that alone decides
    rule.link(*at.state);
    if (at.state->live.count() > kFewChoices || !may_repeat(*at.state, at.reg)) continue;
    const DfaState* last = nullptr;
    at.state->live.for_each([&](uint8_t byte) {
      const NodeId node = vocabulary_.child(at.node, byte);
      if (node == Vocabulary::kRoot) return;
      DfaState* target = rule.next(*at.state, byte);
      if (!target || (target == std::exchange(last, target) && !rule.multiples())) return;
      const auto reg = after_byte(*at.state, *target, byte, at.reg);
      if (!reg) return;
      Work::spend(kStepsAnEdge);
      ++spelled;
      const Vocabulary::Node& there = vocabulary_.node(node);
      if (at.node != Vocabulary::kRoot && there.token_begin < there.token_own_end)
        edge(target, bounded_register(*target, *reg, from.differs), 1);
      if (!target->counter_head && may_continue(*target, *reg)) open.push_back({node, target, *reg});
    });
  }
}

size_t ByteDistances::memory_bytes() const {
  return known_.size() * kBytesAPlace + texts_.memory_bytes() + elements_.memory_bytes() + growing_.memory_bytes();
}

}  // namespace maskwright
