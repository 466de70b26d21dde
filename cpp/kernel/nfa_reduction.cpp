#include "nfa_reduction.h"

#include <algorithm>
#include <map>

namespace maskwright {
namespace {

constexpr size_t kMaxGrowth = 8;  // edges after the removal of empty moves, to edges before
constexpr size_t kMinEdges = 4096;
constexpr size_t kMaxVisits = 2'000;  // of states, over all rounds: long rules have long texts, and need many rounds
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

// The class of each state in the coarsest stable partition; empty if that takes too long.
std::vector<uint32_t> equivalence_classes(const std::vector<ReducedState>& states) {
  std::vector<uint32_t> class_of(states.size(), 0);
  size_t num_classes = 0;
  for (size_t visits = 0; visits < kMaxVisits; visits += states.size()) {
    std::map<std::vector<uint32_t>, uint32_t> known;
    std::vector<uint32_t> refined(states.size());
    for (size_t s = 0; s < states.size(); ++s) {
      std::vector<NfaEdge> edges = states[s].edges;
      for (NfaEdge& edge : edges) edge.target = class_of[edge.target];
      sort_unique(edges);
      std::vector<uint32_t> signature{states[s].accepting ? 1u : 0u};
      for (const NfaEdge& edge : edges)
        signature.insert(signature.end(), {static_cast<uint32_t>(edge.kind), edge.argument, edge.target});
      refined[s] = known.emplace(std::move(signature), static_cast<uint32_t>(known.size())).first->second;
    }
    class_of = std::move(refined);
    if (known.size() == num_classes) return class_of;
    num_classes = known.size();
  }
  return {};
}

}  // namespace

bool ReducedState::covers(const ReducedState& other) const {
  return (accepting || !other.accepting) &&
         std::includes(edges.begin(), edges.end(), other.edges.begin(), other.edges.end(), before);
}

std::vector<ReducedState> without_empty_moves(const NfaDraft& draft) {
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
    sort_unique(reduced.edges);
    num_edges += reduced.edges.size();
    if (num_edges > kMaxGrowth * draft.edges.size() + kMinEdges) return {};
    for (const NfaEdge& e : reduced.edges)
      if (!met[e.target]) {
        met[e.target] = 1;
        open.push_back(e.target);
      }
  }
  return out;
}

bool reduce(NfaDraft& draft) {
  const std::vector<ReducedState> states = without_empty_moves(draft);
  if (states.empty()) return false;
  const std::vector<uint32_t> class_of = equivalence_classes(states);
  if (class_of.empty()) return false;

  NfaDraft out;
  std::vector<uint32_t> state_of(states.size(), kNone);  // by class
  const auto numbered = [&](uint32_t state) {
    uint32_t& number = state_of[class_of[state]];
    if (number == kNone) number = states[state].accepting && states[state].edges.empty() ? kFinal : out.add_state();
    return number;
  };
  state_of[class_of[kStart]] = kStart;
  std::vector<uint32_t> open{kStart};
  std::vector<uint8_t> done(states.size());
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
