#include "automata/nfa_reduction.h"

#include <algorithm>
#include <utility>

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

bool same_label(const NfaEdge& a, const NfaEdge& b) {
  return a.kind == b.kind && a.argument == b.argument;
}

// Of the edges from `first` on.
void sort_unique(std::vector<NfaEdge>& edges, size_t first = 0) {
  const auto begin = edges.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, edges.end(), before);
  edges.erase(std::unique(begin, edges.end(), same), edges.end());
}

// The coarsest partition of the states in which those of one class have edges alike.
class Refinement {
 public:
  Refinement(const std::vector<ReducedState>& states, ReductionBudget& budget)
      : states_(states),
        budget_(budget),
        class_of_(states.size()),
        class_size_(2),
        is_dirty_(states.size()),
        repeats_labels_(states.size()) {
    for (uint32_t s = 0; s < states.size(); ++s) {
      class_of_[s] = states[s].accepting ? 1 : 0;
      ++class_size_[class_of_[s]];
      make_dirty(s);
      const auto& edges = states[s].edges;
      repeats_labels_[s] = std::ranges::adjacent_find(edges, same_label) != edges.end();
    }
    find_sources();
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
  // A state with its class before the round, and its signature: the labels of its edges and the classes that they lead
  // to, as a range of signatures_.
  struct Described {
    uint32_t state, old_class;
    uint64_t hash;
    size_t begin, end;
  };

  // Splits the classes that have states whose edges lead to other classes than before. Only those that lead to what
  // has moved are looked at again.
  void split() {
    describe();
    for (auto begin = described_.cbegin(), end = begin; begin != described_.cend(); begin = end) {
      const uint32_t old_class = begin->old_class;
      end = std::find_if(begin, described_.cend(), [&](const Described& d) { return d.old_class != old_class; });
      split_class(old_class, {&*begin, static_cast<size_t>(end - begin)});
    }
  }
  // Those that are not dirty are alike, and differ from all others, which lead to a class made since. They stay; or
  // the largest part does.
  void split_class(uint32_t old_class, std::span<const Described> members) {
    parts_.clear();
    for (size_t begin = 0, end = 0; begin < members.size(); begin = end) {
      while (end < members.size() && !differ(members[begin], members[end])) ++end;
      parts_.push_back(members.subspan(begin, end - begin));
    }
    const bool some_are_not_dirty = class_size_[old_class] > members.size();
    const auto stays = some_are_not_dirty
                           ? parts_.end()
                           : std::ranges::max_element(parts_, {}, [](const auto& part) { return part.size(); });
    for (auto part = parts_.begin(); part != parts_.end(); ++part) {
      if (part == stays) continue;
      for (const Described& moved : *part) {
        class_of_[moved.state] = static_cast<uint32_t>(class_size_.size());
        for (uint32_t s = sources_begin_[moved.state]; s < sources_begin_[moved.state + 1]; ++s)
          make_dirty(sources_[s]);
      }
      class_size_.push_back(static_cast<uint32_t>(part->size()));
      class_size_[old_class] -= static_cast<uint32_t>(part->size());
    }
  }
  // Describes the dirty states, those alike next to each other, and leaves none dirty. All signatures are told by the
  // classes before the round.
  void describe() {
    signatures_.clear();
    described_.clear();
    for (const uint32_t s : dirty_) {
      const size_t begin = signatures_.size();
      for (const NfaEdge& edge : states_[s].edges)
        signatures_.push_back(uint64_t{static_cast<uint32_t>(edge.kind) << 29 | edge.argument} << 32 |
                              class_of_[edge.target]);
      if (repeats_labels_[s]) {
        const auto first = signatures_.begin() + static_cast<std::ptrdiff_t>(begin);
        std::sort(first, signatures_.end());
        signatures_.erase(std::unique(first, signatures_.end()), signatures_.end());
      }
      uint64_t hash = 0;
      for (size_t i = begin; i < signatures_.size(); ++i) hash = mix(hash, signatures_[i]);
      described_.push_back({s, class_of_[s], hash, begin, signatures_.size()});
      is_dirty_[s] = 0;
    }
    dirty_.clear();
    std::ranges::sort(described_, [](const Described& a, const Described& b) {
      return a.old_class != b.old_class ? a.old_class < b.old_class : a.hash < b.hash;
    });
    for (auto begin = described_.begin(), end = begin; begin != described_.end(); begin = end) {
      bool alike = true;  // or different signatures have the same hash
      while (end != described_.end() && end->old_class == begin->old_class && end->hash == begin->hash)
        alike = !differ(*begin, *end++) && alike;
      if (!alike)
        std::ranges::sort(begin, end, [this](const Described& a, const Described& b) {
          return std::ranges::lexicographical_compare(signature(a), signature(b));
        });
    }
  }
  bool differ(const Described& a, const Described& b) const {
    return a.hash != b.hash || !std::ranges::equal(signature(a), signature(b));
  }
  std::span<const uint64_t> signature(const Described& d) const {
    return std::span(signatures_).subspan(d.begin, d.end - d.begin);
  }
  void make_dirty(uint32_t state) {
    if (is_dirty_[state]) return;
    is_dirty_[state] = 1;
    dirty_.push_back(state);
  }
  // The states with an edge to state s become sources_[sources_begin_[s], sources_begin_[s + 1]).
  void find_sources() {
    sources_begin_.assign(states_.size() + 2, 0);
    for (const ReducedState& state : states_)
      for (const NfaEdge& edge : state.edges) ++sources_begin_[edge.target + 2];
    for (size_t i = 2; i < sources_begin_.size(); ++i) sources_begin_[i] += sources_begin_[i - 1];
    sources_.resize(sources_begin_.back());
    for (uint32_t s = 0; s < states_.size(); ++s)
      for (const NfaEdge& edge : states_[s].edges) sources_[sources_begin_[edge.target + 1]++] = s;
  }

  const std::vector<ReducedState>& states_;
  ReductionBudget& budget_;
  std::vector<uint32_t> class_of_, class_size_;
  std::vector<uint32_t> sources_begin_, sources_;
  std::vector<uint32_t> dirty_;
  std::vector<uint8_t> is_dirty_;
  std::vector<uint8_t> repeats_labels_;  // of others, the signature is sorted as the edges are
  std::vector<Described> described_;
  std::vector<std::span<const Described>> parts_;  // of the class that is being split
  std::vector<uint64_t> signatures_;
};

}  // namespace

bool ReducedState::covers(const ReducedState& other) const {
  return (accepting || !other.accepting) &&
         std::includes(edges.begin(), edges.end(), other.edges.begin(), other.edges.end(), before);
}

ReducedNfa without_empty_moves(const NfaDraft& draft, ReductionBudget& budget) {
  struct Range {
    size_t begin = 0, end = 0;
  };
  const Nfa nfa(draft);
  ReducedNfa out;
  out.states.resize(draft.num_states);
  std::vector<Range> ranges(draft.num_states);  // of edges, which move while they become more
  std::vector<uint8_t> seen(draft.num_states), met(draft.num_states);
  std::vector<uint32_t> open{kStart}, closure;
  met[kStart] = 1;
  while (!open.empty()) {
    const uint32_t state = open.back();
    open.pop_back();
    closure.assign(1, state);
    nfa.close(closure, seen);
    Range& range = ranges[state];
    range.begin = out.edges.size();
    for (const uint32_t s : closure) {
      if (s == kFinal) out.states[state].accepting = true;
      for (auto e = nfa.begin(s); e != nfa.end(s); ++e)
        if (e->kind != EdgeKind::Epsilon) out.edges.push_back(*e);
    }
    const bool affordable = budget.spend(closure.size() + out.edges.size() - range.begin);
    sort_unique(out.edges, range.begin);
    range.end = out.edges.size();
    if (!affordable || range.end > kMaxGrowth * draft.edges.size() + kMinEdges) return {};
    for (size_t i = range.begin; i < range.end; ++i)
      if (const uint32_t target = out.edges[i].target; !met[target]) {
        met[target] = 1;
        open.push_back(target);
      }
  }
  for (uint32_t s = 0; s < draft.num_states; ++s)
    out.states[s].edges = std::span(out.edges).subspan(ranges[s].begin, ranges[s].end - ranges[s].begin);
  return out;
}

bool reduce(NfaDraft& draft, ReductionBudget& budget) {
  const ReducedNfa reduced = without_empty_moves(draft, budget);
  const std::vector<ReducedState>& states = reduced.states;
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
  std::vector<NfaEdge> edges;
  out.edges.reserve(draft.edges.size());
  while (!open.empty()) {
    const uint32_t state = open.back();
    open.pop_back();
    if (done[class_of[state]]) continue;
    done[class_of[state]] = 1;
    const uint32_t from = numbered(state);
    if (from == kFinal) continue;
    if (states[state].accepting) out.add(from, EdgeKind::Epsilon, 0, kFinal);
    edges.assign(states[state].edges.begin(), states[state].edges.end());
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
