// How few bytes or tokens a rule needs to end, from any state of its automaton: bounds on the tokens that it needs.
//
// Three questions are answered in the same way:
//   enough    by tokens of one byte each, by tokens that the grammar names, and where a rule leaves little choice, as
//             names and enums do, by longer tokens that stay within the rule: a way that exists wherever tokens begin
//             and end, so that lengths of rules one after the other add up. A vocabulary without some byte just has
//             fewer ways. A rule that lies in at most N tokens and needs more has none.
//   at least  the bytes of any way, whatever the vocabulary: divided by the longest token's, tokens that none can
//   spare.
//   bytes     the bytes of a way that exists, whatever the vocabulary, a named token counted as one: the fewest, but
//   for what is said below of large families, and where automata or products are large.
//
// Each question is one run of Dijkstra's algorithm over the states of a rule, which ends at the first way out; what a
// place reached needs is searched only if it is not known yet. Calls weigh what their rules need. Those are found in
// rounds, as long as some of them gets shorter (Knuth 1977). Answers are kept. Cost: as many states as lie nearer than
// the end; a string needs its quote, so one.
//
// Of a repetition only one item is searched, as all are alike: "a"{1000000} takes a million times what `a` does, or, of
// what is enough, as many tokens as of the one that takes most items (strides.h).
//
// Items in any order are rules with a parameter (family.h), of which there are as many as sets of items. So of the
// calls that pass another parameter on, an instance of a large family goes by one alone, onward: that with the lowest
// bits changed, the next item in the order of the bits. Where that cannot be reached, as in the middle of another item,
// a way takes one detour, by any of these calls. What is enough is thus the same whatever was asked before. A call that
// passes another parameter on takes at least one byte, and more is not asked.
//
// Remembered texts count by their lengths (text_measures.h). A text in progress goes on by as few bytes as can be, and
// what recalls it needs as much as it then has; the fewest tokens may lie elsewhere, as a longer text may be one token.
// Lists of distinct elements count by how many they have, and by what the next one needs (new_elements.h).
//
// A value that is compared whatever its spelling must differ from more earlier ones than can be known. So its distance
// is that of a way which *differs*: through a place where it can become any of very many values (growing_places.h),
// with as many bytes more as that takes. Where none is known, as among arrays of booleans, kAssumedBytes are taken to
// do. Of a place in a value, both distances are of use: the plain one once the value differs.
//
// Tested by tests/exhaustive/test_token_budgets.py, test_budgets_in_any_order.py, test_remembered_budgets.py,
// tests/contract/test_work_limits.py.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "budget/new_elements.h"
#include "budget/text_measures.h"
#include "recognizer/recognizer.h"
#include "rules/growing_places.h"
#include "rules/rule.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

class ByteDistances {
 public:
  enum class Bound { Enough, AtLeast, Bytes };
  static constexpr uint32_t kNever = 0xFFFFFFFF;
  static constexpr uint32_t kVeryFar = kNever - 1;  // as far, or farther: no budget is as large
  // `by_promises`: a deferred subgrammar that is missing counts by what is promised of it, which may be more; else it
  // is needed.
  ByteDistances(const Vocabulary& vocabulary, Bound kind, bool by_promises = false);

  // From the state to the end of its rule, at least one byte or token; kNever if there is no such way.
  uint32_t to_end(const TextView& texts, DfaState& state, uint64_t reg, bool differs = false) {
    return of(measured(state, measured_register(texts, state, reg), differs));
  }
  // From where a frame is returned to, to the end of its rule; none if that may end at once. `value`: what returns is
  // one, which its list then has.
  uint32_t after_return(const TextView& texts, const Frame& frame, bool value = false, bool differs = false) {
    DfaState& target = *frame.target;
    const uint64_t reg = measured_register(texts, target, entering(target, frame.reg));
    return after(measured(target, value ? with_one_more(*target.rule, reg) : reg, differs));
  }
  // Calls visit(stack, distance) for each stack that an item may come down to. A text in progress comes down with the
  // rest of the rule that it returns to, which may recall it. `frames`: those of the item's stack. `more`: bytes by
  // which such a text is longer.
  template <class Visit>
  void for_each_way_down(const TextView& texts, const Item& item, std::span<const Frame> frames, uint32_t more,
                         Visit&& visit) {
    if (!item.state->rule->remembers()) return visit(item.stack, to_end(texts, *item.state, item.reg));
    for (const Frame& frame : frames) visit(frame.parent, to_end_of_caller(texts, item, frame, more));
  }
  // The same for ways that differ.
  template <class Visit>
  void for_each_differing_way_down(const TextView& texts, const Item& item, std::span<const Frame> frames,
                                   Visit&& visit) {
    if (!item.state->rule->remembers()) return visit(item.stack, to_end(texts, *item.state, item.reg, true));
    for (const Frame& frame : frames) visit(frame.parent, to_end_of_caller(texts, item, frame, 0, true));
  }
  // What the items that a register still asks for add to the rest, at most; kNever if not known.
  uint32_t needed_items(const DfaState& state, uint64_t reg);
  // Whether something that was found rests on estimates, which depend on what was asked before.
  bool has_estimates() const { return has_estimates_; }
  // Whether whoever asks next may find something else.
  bool is_passing() const { return has_estimates_ || by_promises_; }
  size_t memory_bytes() const;
  static uint32_t sum(uint32_t a, uint32_t b) {
    if (a == kNever || b == kNever) return kNever;
    return a < kVeryFar - b ? a + b : kVeryFar;
  }

 private:
  struct Place {
    DfaState* state;
    uint64_t reg;
    bool differs = false;  // what is asked for is a way that does
    bool operator==(const Place&) const = default;
  };
  struct PlaceHash {
    size_t operator()(const Place& p) const {
      return mix(reinterpret_cast<uintptr_t>(p.state) + (p.differs ? 1 : 0), p.reg);
    }
  };
  struct Visit {
    Place place;
    uint32_t distance;
    uint32_t before;  // the visit it was reached from
    bool after_detour;
  };
  // A place whose distance is being found.
  struct Open {
    Place place;
    uint32_t bound = kNever;
    bool is_waiting = true;
    std::vector<uint32_t> users = {};  // whose searches met it
  };
  // As a register: the end sought is that of one item.
  static constexpr uint64_t kItem = ~uint64_t{0};
  static Place measured(DfaState& state, uint64_t reg, bool differs) {
    return {&state, bounded_register(state, reg, differs), differs};
  }
  static uint64_t bounded_register(const DfaState& state, uint64_t reg, bool differs);
  // Whether the rule may end there, its register being measured.
  static bool ends(const DfaState& state, uint64_t reg) {
    return may_end(state, reg) &&
           (!state.rule->is_list() || MeasuredList::of(reg).count >= state.rule->memory().minimum);
  }
  static bool ends(const Place& place) { return !place.differs && ends(*place.state, place.reg); }
  uint32_t after(const Place& place) { return ends(place) ? 0 : of(place); }
  // As what the next element needs, in a list that compares values: it is the first. Any later one must differ from
  // very many.
  static constexpr uint32_t kFirst = 0;
  bool compares_values(const Rule& list) const { return kind_ == Bound::Enough && list.has_values(); }
  uint64_t measured_register(const TextView& texts, DfaState& state, uint64_t reg);
  uint64_t new_list(Rule& list);
  uint64_t of_list(Rule& list, uint32_t count);
  uint64_t with_one_more(Rule& list, uint64_t reg) {
    return of_list(list, list.memory().counted(MeasuredList::of(reg).count + 1));
  }
  uint32_t to_end_of_caller(const TextView& texts, const Item& item, const Frame& frame, uint32_t more,
                            bool differs = false);
  uint64_t after_text(const DfaState& caller, uint64_t reg, const MemoryRole& role, uint32_t length);
  // Whether a repetition needs more items and knows nothing of what these are.
  static bool needs_items(const Place& place) {
    return place.reg != kItem && place.state->rule->counts() && !place.state->bounded &&
           Count::of(place.reg).needed > 0;
  }
  uint32_t of(const Place& place);
  std::optional<uint32_t> known(const Place& place) const;
  uint32_t repeated(const Place& place, uint32_t first_item, uint32_t item);
  template <class Distance>
  uint32_t with_items(const Place& place, Distance&& distance);
  uint32_t found_so_far(const Place& place);
  void improve(uint32_t index);
  void lower(uint32_t index, uint32_t bound, bool is_found);
  void keep_way(uint32_t found);
  uint32_t search(const Place& from);
  uint32_t find_way(const Place& from);
  bool has_many_states(const Rule& rule) const;
  uint32_t seeming_distance(const Place& place) const;
  enum class Turn { None, Onward, Detour };
  std::optional<uint64_t> onward(const Rule& rule);
  static bool passes_on(const Rule& rule, uint64_t parameter);
  Turn turn(const Rule& rule, const CallEdge& call);
  bool has_only_skipped_calls(const DfaState& state, bool may_turn);
  uint32_t call_bytes(const Place& from, const CallEdge& call, bool differs);
  uint32_t of_element(const Rule& rule, DfaState& start, const MeasuredList& list, bool differs);
  uint32_t of_value(DfaState& start, bool differs);
  uint32_t growth(const Place& place);
  template <class Edge>
  void for_each_edge(const Place& from, bool may_turn, Edge&& go);
  template <class Edge>
  void for_each_longer_token(const Place& from, Edge&& edge);

  const Bound kind_;
  const bool by_promises_;
  const Vocabulary& vocabulary_;
  ByteSet bytes_;  // that are tokens, or of which tokens are
  const bool has_all_bytes_;
  const uint32_t bytes_a_named_token_;
  TextMeasures texts_;
  NewElements elements_;
  GrowingPlaces growing_;
  std::unordered_map<Place, uint32_t, PlaceHash> known_;
  std::unordered_set<Place, PlaceHash> detours_;  // of what is known: the places that take one
  std::unordered_map<const Rule*, std::optional<uint64_t>> onward_;
  std::unordered_set<const Rule*> large_;  // counted products
  bool has_estimates_ = false;
  bool with_detour_ = false;                            // the last search
  std::vector<Open> open_;                              // what is being found
  std::unordered_map<Place, uint32_t, PlaceHash> met_;  // where it stands there
  uint32_t searched_ = 0;                               // what the last search was for
  bool is_found_ = false;                               // the last search needed nothing that is still being found
  std::vector<Visit> visits_;
  uint32_t last_ = kNever;  // the visit from which the search left the rule
};

}  // namespace maskwright
