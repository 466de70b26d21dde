#include "automata/covered_states.h"

#include <algorithm>
#include <map>
#include <utility>

namespace maskwright {
namespace {

constexpr int kManyBytes = 64;                            // of a loop that may take what is sought beside it
constexpr uint32_t kMostStates = 512;                     // of an automaton that is looked at: a millisecond's work
constexpr size_t kStepsPerState = 16, kMoreSteps = 1024;  // edges looked at, for a state with a loop
constexpr size_t kMostLoops = 4;                          // for which there are as many steps
constexpr size_t kBytesALoop = 96;                        // in a hash table

bool contains(const std::vector<uint32_t>& states, uint32_t state) {
  return std::ranges::find(states, state) != states.end();
}

size_t most_steps(const Nfa& nfa) {
  return kStepsPerState * nfa.num_states() + kMoreSteps;
}

// Finds what a state covers.
class Coverage {
 public:
  Coverage(const Nfa& nfa, const std::vector<ByteSet>& sets, size_t& all_steps)
      : nfa_(nfa),
        sets_(sets),
        steps_left_(std::min(all_steps, most_steps(nfa))),
        all_steps_(all_steps),
        seen_(nfa.num_states()) {}

  // Of a state, which all that empty moves reach from it follow here, by state; empty if it takes too long to tell, or
  // if there is no other.
  std::vector<uint8_t> of(std::vector<uint32_t> start) {
    if (takes_everything(start)) return std::vector<uint8_t>(nfa_.num_states(), 1);
    if (nfa_.num_states() > kMostStates || !spend(nfa_.num_states())) return {};
    const uint32_t first = number_of_set(std::move(start));
    for (uint32_t s = 0; s < nfa_.num_states(); ++s) number_of_pair(first, s);
    for (uint32_t pair = 0; pair < pairs_.size(); ++pair)
      if (!follow(pair)) return {};
    spread_failure();
    std::vector<uint8_t> out(nfa_.num_states());  // its pairs came first
    for (uint32_t s = 0; s < out.size(); ++s) out[s] = is_failed_[s] ? 0 : 1;
    return std::count(out.begin(), out.end(), 1) > 1 ? out : std::vector<uint8_t>();
  }

 private:
  // What a byte does.
  struct Move {
    ByteSet bytes;
    uint32_t target;  // a set
  };
  struct Set {
    std::vector<uint32_t> states;  // closed under empty moves
    bool may_end = false;
    std::optional<std::vector<Move>> moves;  // once asked for; no two with the same byte
  };

  bool spend(size_t steps) {
    steps = std::min(steps, steps_left_);
    steps_left_ -= steps;
    all_steps_ -= steps;
    return steps_left_ > 0;
  }
  ByteSet bytes_of(const NfaEdge& edge) const {
    if (edge.kind == EdgeKind::Set) return sets_[edge.argument];
    ByteSet out;
    out.set(static_cast<uint8_t>(edge.argument));
    return out;
  }
  // Whether the first of them may end, as it reaches the end by empty moves, and every byte leads it back to itself.
  bool takes_everything(const std::vector<uint32_t>& closed) const {
    const uint32_t state = closed[0];
    return contains(closed, kFinal) && std::any_of(nfa_.begin(state), nfa_.end(state), [&](const NfaEdge& e) {
             return e.target == state && e.kind == EdgeKind::Set && (~sets_[e.argument]).empty();
           });
  }
  uint32_t number_of_set(std::vector<uint32_t> closed) {
    std::ranges::sort(closed);
    const auto [it, is_new] = set_numbers_.try_emplace(closed, static_cast<uint32_t>(all_sets_.size()));
    if (is_new) {
      const bool may_end = std::ranges::binary_search(closed, kFinal);
      all_sets_.push_back({std::move(closed), may_end, std::nullopt});
    }
    return it->second;
  }
  uint32_t number_of_pair(uint32_t set, uint32_t state) {
    const auto [it, is_new] =
        pair_numbers_.try_emplace(uint64_t{set} << 32 | state, static_cast<uint32_t>(pairs_.size()));
    if (is_new) pairs_.emplace_back(set, state);
    return it->second;
  }

  // Bytes that lead to the same states are taken together. False if it takes too long.
  bool find_moves(uint32_t set) {
    std::vector<std::pair<ByteSet, std::vector<uint32_t>>> parts;  // disjoint
    for (const uint32_t s : all_sets_[set].states)
      for (auto e = nfa_.begin(s); e != nfa_.end(s); ++e) {
        if (e->kind == EdgeKind::Epsilon) continue;
        ByteSet left = bytes_of(*e);
        for (size_t i = 0, size = parts.size(); i < size; ++i) {
          const ByteSet shared = parts[i].first & left;
          if (shared.empty()) continue;
          if (shared != parts[i].first) {
            parts.emplace_back(parts[i].first & ~shared, parts[i].second);
            parts[i].first = shared;
          }
          parts[i].second.push_back(e->target);
          left = left & ~shared;
        }
        if (!left.empty()) parts.emplace_back(left, std::vector{e->target});
        if (!spend(parts.size())) return false;
      }
    std::vector<Move> moves;
    for (auto& [bytes, targets] : parts) {
      std::ranges::sort(targets);
      targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
      nfa_.close(targets, seen_);
      if (!spend(targets.size())) return false;
      moves.push_back({bytes, number_of_set(std::move(targets))});
    }
    all_sets_[set].moves = std::move(moves);
    return true;
  }

  // What follows from a pair: whether it fails, and which other ones it would fail with. False if it takes too long.
  bool follow(uint32_t pair) {
    const auto [set, state] = pairs_[pair];
    if (!all_sets_[set].moves && !find_moves(set)) return false;
    bool fails = state == kFinal && !all_sets_[set].may_end;
    for (auto e = nfa_.begin(state); e != nfa_.end(state); ++e) {
      if (!spend(1)) return false;
      if (e->kind == EdgeKind::Epsilon) {
        needs_.emplace_back(number_of_pair(set, e->target), pair);
        continue;
      }
      ByteSet left = bytes_of(*e);
      for (const Move& move : *all_sets_[set].moves) {
        if ((left & move.bytes).empty()) continue;
        needs_.emplace_back(number_of_pair(move.target, e->target), pair);
        left = left & ~move.bytes;
      }
      fails = fails || !left.empty();
    }
    is_failed_.push_back(fails);
    return true;
  }

  void spread_failure() {
    std::ranges::sort(needs_);
    std::vector<uint32_t> open;
    for (uint32_t pair = 0; pair < pairs_.size(); ++pair)
      if (is_failed_[pair]) open.push_back(pair);
    while (!open.empty()) {
      const uint32_t failed = open.back();
      open.pop_back();
      for (auto it = std::ranges::lower_bound(needs_, std::pair{failed, uint32_t{0}});
           it != needs_.end() && it->first == failed; ++it) {
        if (is_failed_[it->second]) continue;
        is_failed_[it->second] = true;
        open.push_back(it->second);
      }
    }
  }

  const Nfa& nfa_;
  const std::vector<ByteSet>& sets_;
  size_t steps_left_;
  size_t& all_steps_;
  std::vector<uint8_t> seen_;
  std::vector<Set> all_sets_;
  std::map<std::vector<uint32_t>, uint32_t> set_numbers_;
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;  // a set, and a state that it is to cover
  std::unordered_map<uint64_t, uint32_t> pair_numbers_;
  std::vector<std::pair<uint32_t, uint32_t>> needs_;  // a pair, and one that fails with it
  std::vector<bool> is_failed_;                       // by pair
};

}  // namespace

CoveredStates::CoveredStates(const Nfa& nfa, const std::vector<ByteSet>& sets)
    : nfa_(nfa), sets_(sets), steps_left_(kMostLoops * most_steps(nfa)) {}

bool CoveredStates::loops(const Nfa& nfa, const std::vector<ByteSet>& sets, uint32_t state) {
  return std::any_of(nfa.begin(state), nfa.end(state), [&](const NfaEdge& e) {
    return e.kind == EdgeKind::Set && e.target == state && sets[e.argument].count() >= kManyBytes;
  });
}

void CoveredStates::leave_out(std::vector<uint32_t>& states, std::vector<uint8_t>& seen) {
  std::vector<uint32_t> with_loops;
  for (const uint32_t s : states)
    if (loops(nfa_, sets_, s)) with_loops.push_back(s);
  if (with_loops.size() > 1) {  // what comes last covers most
    if (distances_.empty()) {
      distances_ = nfa_.distances_to_end();
      bytes_ += distances_.capacity() * sizeof(uint32_t);
    }
    std::ranges::sort(with_loops, {}, [this](uint32_t s) { return std::pair(distances_[s], s); });
  }
  for (const uint32_t s : with_loops) {
    if (!contains(states, s)) continue;
    Loop* loop = loop_at(s, seen);
    if (!loop || loop->closure.size() == states.size()) return;  // nothing is there but what empty moves reach from it
    if (!loop->covers) {
      loop->covers = Coverage(nfa_, sets_, steps_left_).of(loop->closure);
      bytes_ += loop->covers->capacity();
    }
    if (loop->covers->empty()) continue;
    std::erase_if(states, [&](uint32_t other) { return (*loop->covers)[other] != 0; });
    states.push_back(s);
    nfa_.close(states, seen);
    if (loop->closure.size() == states.size()) return;
  }
}

// nullptr if there are no steps left to look at it.
CoveredStates::Loop* CoveredStates::loop_at(uint32_t state, std::vector<uint8_t>& seen) {
  if (const auto it = known_.find(state); it != known_.end()) return &it->second;
  if (steps_left_ == 0) return nullptr;
  std::vector<uint32_t> closure{state};
  nfa_.close(closure, seen);
  steps_left_ -= std::min(steps_left_, closure.size());
  bytes_ += kBytesALoop + closure.capacity() * sizeof(uint32_t);
  return &known_.emplace(state, Loop{std::move(closure), std::nullopt}).first->second;
}

}  // namespace maskwright
