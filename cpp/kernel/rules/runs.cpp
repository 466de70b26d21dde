#include "rules/runs.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "rules/rule.h"
#include "support/errors.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr size_t kMostStates = 320;
constexpr size_t kMostSteps = 100'000;  // which a mask can do without
constexpr uint32_t kMostChars = 96;
constexpr size_t kMostHomes = 16;
constexpr uint32_t kFewChars = 24;  // most tokens have fewer: a run that is no longer is sought with fewer classes

constexpr ByteSet kLetters = [] {
  ByteSet out;
  for (int b = 'a'; b <= 'z'; ++b) out.set(static_cast<uint8_t>(b));
  return out;
}();
constexpr ByteSet kWords = [] {
  ByteSet out;
  for (int b = '0'; b <= '9'; ++b) out.set(static_cast<uint8_t>(b));
  for (int b = 'a'; b <= 'z'; ++b) {
    out.set(static_cast<uint8_t>(b));
    out.set(static_cast<uint8_t>(b - 'a' + 'A'));
  }
  out.set(' ');
  return out;
}();

// Whether a run may pass the state: nothing is called, and items end with each character. A state that is not bounded
// is the counter's own, where nothing else is asked for any more.
bool can_run(DfaState& state) {
  if (state.rule->is_derived() || !state.calls.empty() || state.rule->recalls()) return false;
  return !state.rule->counts() ||
         (state.counter_head && state.rule->counts_characters() && may_complete(state, kUnboundedReg));
}

// Whether words may follow, and some character of one leads elsewhere than back.
bool may_run(DfaState& state) {
  if (!can_run(state) || !(kLetters & ~state.live).empty()) return false;
  bool leaves = false;
  (kWords & state.live).for_each([&](uint8_t byte) { leaves = leaves || state.rule->next(state, byte) != &state; });
  return leaves;
}

// The states reached from one by characters that keep the rule going.
class Search {
 public:
  explicit Search(DfaState& start) : reached_{&start}, is_reached_{&start} {
    for (int b = 0; b < 128; ++b)
      if (b != start.rule->terminator()) going_.set(static_cast<uint8_t>(b));
  }

  void run() {
    size_t begin = 0;
    while (begin < reached_.size() && chars_ < kMostChars) {
      const size_t end = reached_.size();
      layers_.push_back(begin);
      const ByteSet stops = going_ & ~bytes_that_go_on(begin, end);
      if (!stops.empty()) {
        if (chars_ >= kFewChars) return;
        going_ = going_ & ~stops;
      }
      if (!add_layer(begin, end)) {
        if (chars_ < kFewChars) going_ = {};
        return;
      }
      begin = end;
      ++chars_;
    }
    if (begin == reached_.size()) chars_ = kManyChars;
  }

  CharClasses classes() {
    CharClasses out = 0, broken = 0;
    for (int b = 0; b < 128; ++b) {
      const auto byte = static_cast<uint8_t>(b);
      (going_.test(byte) ? out : broken) |= CharClasses{1} << ascii_class(byte);
    }
    out &= ~broken;
    return out == 0 ? out : out | beyond_ascii();
  }

  // What all states may still need, and whether all of them are steady.
  Way farthest_way() const {
    Way farthest{0, true, false};
    for (DfaState* state : reached_) {
      if (!state->bounded) continue;
      const Way way = state->rule->lengths()->way(*state);
      farthest.items = std::max(farthest.items, way.items);
      farthest.steady = farthest.steady && way.steady;
    }
    return farthest;
  }

  // Each state that the run holds for, and for how many characters. One without characters holds for all.
  template <class Visit>
  void for_each_state(Visit&& visit) const {
    if (chars_ == kManyChars || going_.empty()) {
      for (DfaState* state : reached_) visit(*state, kManyChars);
      return;
    }
    for (uint32_t depth = 0; depth < chars_ && depth + 1 < layers_.size(); ++depth)
      for (size_t i = layers_[depth]; i < layers_[depth + 1]; ++i) visit(*reached_[i], chars_ - depth);
  }

 private:
  static DfaState* next(DfaState& state, uint8_t byte) { return state.rule->next(state, byte); }

  // Of the bytes that still go on, those by which every state of a layer does, to where all such words may follow.
  ByteSet bytes_that_go_on(size_t begin, size_t end) const {
    ByteSet out = going_;
    for (size_t i = begin; i < end; ++i)
      going_.for_each([&](uint8_t byte) {
        DfaState* to = next(*reached_[i], byte);
        if (!to || !can_run(*to) || !(going_ & kWords & reached_[0]->live & ~to->live).empty()) out.clear(byte);
      });
    return out;
  }

  // False if there are too many.
  bool add_layer(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const DfaState* last = nullptr;  // most bytes lead where the one before does
      going_.for_each([&](uint8_t byte) {
        DfaState* to = next(*reached_[i], byte);
        if (to != last && is_reached_.insert(to).second) reached_.push_back(to);
        last = to;
      });
      if (reached_.size() > kMostStates) return false;
    }
    return true;
  }

  // Those of other characters that lead every state back to itself, or to where they lead a state that they lead back
  // to itself: behind a word that overlaps itself, such a state may be reached last. Where the run is limited, it has
  // to be the first one, or fewer characters might follow than are left.
  CharClasses beyond_ascii() {
    std::vector<DfaState*> homes, others;
    CharClasses out = kBeyondAscii;
    for (DfaState* state : reached_) {
      const CharClasses classes = state->rule->loop_classes(*state) & kBeyondAscii;
      if (classes != 0) out &= classes;
      if (classes == 0)
        others.push_back(state);
      else if (homes.size() < kMostHomes && (state == reached_[0] || chars_ == kManyChars))
        homes.push_back(state);
    }
    const auto leads_home = [&](DfaState* state) {
      return std::ranges::any_of(homes, [&](DfaState* home) { return lead_alike(*state, *home); });
    };
    return std::ranges::all_of(others, leads_home) ? out : 0;
  }
  static bool lead_alike(DfaState& a, DfaState& b) {
    for (int byte = 128; byte < 256; ++byte)
      if (next(a, static_cast<uint8_t>(byte)) != next(b, static_cast<uint8_t>(byte))) return false;
    return true;
  }

  std::vector<DfaState*> reached_;  // layer by layer
  std::unordered_set<const DfaState*> is_reached_;
  std::vector<size_t> layers_;  // where each begins
  ByteSet going_;
  uint32_t chars_ = 0;
};

void seek_run(DfaState& state) {
  Search search(state);
  search.run();
  const CharClasses classes = search.classes();
  const Way way = search.farthest_way();
  search.for_each_state([&](DfaState& reached, uint32_t chars) {
    const CharClasses loop_classes = reached.rule->loop_classes(reached);
    if (classes == 0)
      reached.run.set({loop_classes, kManyChars});  // not to be sought again from each
    else if ((loop_classes & ~classes) == 0)
      reached.run.set({classes, chars, way.items, way.steady});
  });
}

}  // namespace

Run run_from(DfaState& state, bool seeks) {
  if (const auto known = state.run.get()) return *known;
  const Run loop{state.rule->loop_classes(state), kManyChars};
  if (!seeks) return loop;
  try {
    const Work::Share share(kMostSteps);
    if (may_run(state)) seek_run(state);
  } catch (const LimitExceeded&) {  // the output may never come to where the search did
  }
  state.run.set(loop);  // unless it is known by now
  return state.run.get().value_or(loop);
}

}  // namespace maskwright
