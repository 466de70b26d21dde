#include "nfa_reduction.h"

#include <algorithm>
#include <unordered_map>

namespace maskwright {
namespace {

constexpr size_t kMaxGrowth = 8;  // edges after the removal of empty moves, to edges before
constexpr size_t kMinEdges = 4096;
constexpr size_t kMaxVisits = 100;  // of a state, on the average
constexpr uint32_t kNone = 0xFFFFFFFF;

bool before(const NfaEdge& a, const NfaEdge& b) {
  if (a.kind != b.kind) return a.kind < b.kind;
  return a.argument != b.argument ? a.argument < b.argument : a.target < b.target;
}

bool same(const NfaEdge& a, const NfaEdge& b) {
  return !before(a, b) && !before(b, a);
}

void sort_unique(std::vector<NfaEdge>& edges) {
  std::sort(edges.begin(), edges.end(), before);
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
}

using Signature = std::vector<uint32_t>;  // the labels of a state's edges and the classes that they lead to

struct SignatureHash {
  size_t operator()(const Signature& signature) const {
    uint64_t h = signature.size();
    for (const uint32_t value : signature) h = mix(h, value);
    return h;
  }
};

// The coarsest partition of the states in which those of one class have edges alike.
class Refinement {
 public:
  Refinement(const std::vector<ReducedState>& states, ReductionBudget& budget)
      : states_(states),
        budget_(budget),
        class_of_(states.size()),
        class_size_(2),
        sources_(states.size()),
        dirty_(states.size()) {
    for (uint32_t s = 0; s < states.size(); ++s) {
      class_of_[s] = states[s].accepting ? 1 : 0;
      ++class_size_[class_of_[s]];
      dirty_[s] = s;
      for (const NfaEdge& edge : states[s].edges) sources_[edge.target].push_back(s);
    }
  }
  // The class of each state; empty if that takes too long.
  std::vector<uint32_t> run() {
    for (size_t work = 0; !dirty_.empty(); split()) {
      size_t num_edges = 0;
      for (const uint32_t s : dirty_) num_edges += states_[s].edges.size();
      if (!budget_.spend(num_edges) || (work += dirty_.size()) > kMaxVisits * states_.size()) return {};
    }
    return std::move(class_of_);
  }

 private:
  // Splits the classes that have states whose edges lead to other classes than before. Only those that lead to what
  // has moved are looked at again.
  void split() {
    std::ranges::sort(dirty_, {}, [this](uint32_t s) { return class_of_[s]; });
    std::vector<uint32_t> moved;
    for (size_t begin = 0, end = 0; begin < dirty_.size(); begin = end) {
      const uint32_t old_class = class_of_[dirty_[begin]];
      std::unordered_map<Signature, std::vector<uint32_t>, SignatureHash> parts;
      for (; end < dirty_.size() && class_of_[dirty_[end]] == old_class; ++end)
        parts[signature(dirty_[end])].push_back(dirty_[end]);
      // Those that are not dirty are alike, and differ from all others, which lead to a class made since. They stay.
      const std::vector<uint32_t>* stays = nullptr;
      if (class_size_[old_class] == end - begin)
        for (const auto& [_, part] : parts)
          if (!stays || part.size() > stays->size()) stays = &part;
      for (const auto& [_, part] : parts) {
        if (&part == stays) continue;
        leavers_.emplace_back(static_cast<uint32_t>(class_size_.size()), part);
        class_size_.push_back(static_cast<uint32_t>(part.size()));
        class_size_[old_class] -= static_cast<uint32_t>(part.size());
      }
    }
    // Only now, as signatures are told by the classes before the round.
    dirty_.clear();
    for (const auto& [new_class, part] : leavers_)
      for (const uint32_t s : part) {
        class_of_[s] = new_class;
        dirty_.insert(dirty_.end(), sources_[s].begin(), sources_[s].end());
      }
    leavers_.clear();
    std::ranges::sort(dirty_);
    dirty_.erase(std::unique(dirty_.begin(), dirty_.end()), dirty_.end());
  }
  Signature signature(uint32_t state) {
    edges_ = states_[state].edges;
    for (NfaEdge& edge : edges_) edge.target = class_of_[edge.target];
    sort_unique(edges_);
    Signature out;
    out.reserve(2 * edges_.size());
    for (const NfaEdge& edge : edges_)
      out.insert(out.end(), {static_cast<uint32_t>(edge.kind) << 29 | edge.argument, edge.target});
    return out;
  }

  const std::vector<ReducedState>& states_;
  ReductionBudget& budget_;
  std::vector<uint32_t> class_of_, class_size_;
  std::vector<std::vector<uint32_t>> sources_;
  std::vector<uint32_t> dirty_;
  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> leavers_;
  std::vector<NfaEdge> edges_;
};

}  // namespace

bool ReducedState::covers(const ReducedState& other) const {
  return (accepting || !other.accepting) &&
         std::includes(edges.begin(), edges.end(), other.edges.begin(), other.edges.end(), before);
}

std::vector<ReducedState> without_empty_moves(const NfaDraft& draft, ReductionBudget& budget) {
  const Nfa nfa(draft);
  std::vector<ReducedState> out(draft.num_states);
  std::vector<uint8_t> seen(draft.num_states), met(draft.num_states);
  std::vector<uint32_t> open{kStart}, closure;
  met[kStart] = 1;
  size_t num_edges = 0;
  while (!open.empty()) {
    const uint32_t state = open.back();
    open.pop_back();
    closure.assign(1, state);
    nfa.close(closure, seen);
    ReducedState& reduced = out[state];
    for (const uint32_t s : closure) {
      reduced.accepting = reduced.accepting || s == kFinal;
      for (auto e = nfa.begin(s); e != nfa.end(s); ++e)
        if (e->kind != EdgeKind::Epsilon) reduced.edges.push_back(*e);
    }
    const bool affordable = budget.spend(closure.size() + reduced.edges.size());
    sort_unique(reduced.edges);
    num_edges += reduced.edges.size();
    if (!affordable || num_edges > kMaxGrowth * draft.edges.size() + kMinEdges) return {};
    for (const NfaEdge& e : reduced.edges)
      if (!met[e.target]) {
        met[e.target] = 1;
        open.push_back(e.target);
      }
  }
  return out;
}

bool reduce(NfaDraft& draft, ReductionBudget& budget) {
  const std::vector<ReducedState> states = without_empty_moves(draft, budget);
  if (states.empty()) return false;
  const std::vector<uint32_t> class_of = Refinement(states, budget).run();
  if (class_of.empty()) return false;

  NfaDraft out;
  std::vector<uint32_t> state_of(states.size() + 2, kNone);  // by class
  const auto numbered = [&](uint32_t state) {
    uint32_t& number = state_of[class_of[state]];
    if (number == kNone) number = states[state].accepting && states[state].edges.empty() ? kFinal : out.add_state();
    return number;
  };
  state_of[class_of[kStart]] = kStart;
  std::vector<uint32_t> open{kStart};
  std::vector<uint8_t> done(states.size() + 2);
  while (!open.empty()) {
    const uint32_t state = open.back();
    open.pop_back();
    if (done[class_of[state]]) continue;
    done[class_of[state]] = 1;
    const uint32_t from = numbered(state);
    if (from == kFinal) continue;
    if (states[state].accepting) out.add(from, EdgeKind::Epsilon, 0, kFinal);
    std::vector<NfaEdge> edges = states[state].edges;
    for (NfaEdge& edge : edges) {
      open.push_back(edge.target);
      edge.target = numbered(edge.target);
    }
    sort_unique(edges);
    for (const NfaEdge& edge : edges) out.add(from, edge.kind, edge.argument, edge.target);
  }
  draft = std::move(out);
  return true;
}

}  // namespace maskwright
