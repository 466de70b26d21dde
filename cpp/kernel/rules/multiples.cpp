#include "rules/multiples.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "rules/rule.h"
#include "support/errors.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr size_t kMaxNodes = 50'000;
constexpr size_t kMaxEndings = 200'000;
constexpr size_t kMaxEndingsOfNode = 1'000;
constexpr uint32_t kMaxBytes = 2'000;  // of an ending

bool is_digit(uint8_t byte) {
  return byte >= '0' && byte <= '9';
}

[[noreturn]] void too_large() {
  throw LimitExceeded("multiples", "numbers that must be multiples have too long bounds, or digits that may not come");
}

uint64_t shifted(uint64_t value, uint32_t digits, uint64_t modulus) {
  for (value %= modulus; digits > 0 && value != 0; --digits) value = value * 10 % modulus;
  return value;
}

}  // namespace

Multiples::Multiples(Rule& operand, uint64_t modulus, uint32_t scale)
    : operand_(operand), scale_(scale), moduli_(scale + 1) {
  if (operand.counts()) throw LimitExceeded("multiples", "numbers that must be multiples count what they repeat");
  moduli_[scale] = modulus;
  for (uint32_t place = scale; place > 0; --place)  // one more zero makes up for a factor of 2 and one of 5
    moduli_[place - 1] = moduli_[place] / std::gcd(moduli_[place], uint64_t{10});
  find_nodes();
  find_classes();
  find_endings();
}

void Multiples::find_nodes() {
  std::map<std::pair<DfaState*, uint32_t>, uint32_t> known;
  const auto node_of = [&](DfaState* state, uint32_t place) {
    const auto [it, is_new] = known.try_emplace({state, place}, static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({state, place, state && state->final});
    return it->second;
  };
  node_of(operand_.productive() ? operand_.start() : nullptr, kBeforePoint);
  for (uint32_t n = 0; n < nodes_.size() && nodes_[n].state; ++n) {
    if (nodes_.size() > kMaxNodes) too_large();
    DfaState* const state = nodes_[n].state;
    const uint32_t place = nodes_[n].place;
    std::vector<Edge> edges;
    state->live.for_each([&](uint8_t byte) {
      const bool counts = is_digit(byte) && place != scale_;
      if (!counts && byte != '-' && byte != '0' && (byte != '.' || place != kBeforePoint)) return;
      DfaState* const target = state->rule->next(*state, byte);
      if (!target) return;
      const uint32_t next = byte == '.' ? 0 : counts && place != kBeforePoint ? place + 1 : place;
      edges.push_back({byte, counts, node_of(target, next)});
      nodes_[n].live.set(byte);
    });
    Work::spend(edges.size() + 1);
    nodes_[n].edges = std::move(edges);
  }
}

// Bytes that lead somewhere have a class each, all others one together.
void Multiples::find_classes() {
  ByteSet live;
  for (const Node& node : nodes_) live |= node.live;
  if (live.count() == 256) num_classes_ = 0;
  live.for_each([&](uint8_t byte) { class_of_[byte] = static_cast<uint8_t>(num_classes_++); });
}

// From the shortest endings to longer ones. What a node with an ending for every remainder has besides cannot matter.
void Multiples::find_endings() {
  std::vector<std::vector<Ending>> found(nodes_.size());
  for (uint32_t n = 0; n < nodes_.size(); ++n)
    if (nodes_[n].is_end) found[n].push_back({0, 0, place_of(n), 0, 1, true, true});
  for (uint32_t bytes = 1;; ++bytes) {
    bool is_new = false;
    for (uint32_t n = 0; n < nodes_.size(); ++n) is_new = keep(n, found[n]) || is_new;
    if (!is_new) return;
    if (bytes > kMaxBytes) too_large();
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      found[n].clear();
      if (!nodes_[n].is_free) add_endings(n, bytes, found[n]);
    }
  }
}

// Takes over what is not there yet, and returns whether there is any.
bool Multiples::keep(uint32_t n, const std::vector<Ending>& found) {
  Node& node = nodes_[n];
  const size_t before = node.endings.size();
  for (const Ending& ending : found) {
    const bool is_known = std::ranges::any_of(node.endings, [&](const Ending& other) {
      return other.digits == ending.digits && other.place == ending.place && other.low == ending.low &&
             other.size >= ending.size;
    });
    if (is_known) continue;
    node.endings.push_back(ending);
    node.is_free = node.is_free || ending.size == moduli_[ending.place];
    if (++num_endings_ > kMaxEndings || node.endings.size() > kMaxEndingsOfNode) too_large();
  }
  Work::spend(before * found.size());
  return node.endings.size() > before;
}

// The endings of so many bytes. Of digits in a row, ranges that touch become one.
void Multiples::add_endings(uint32_t n, uint32_t bytes, std::vector<Ending>& out) const {
  const Edge* last = nullptr;
  std::vector<Ending> open;  // those of the last digit that have the greatest number there, as they are before it
  for (const Edge& edge : nodes_[n].edges) {
    const auto& endings = nodes_[edge.target].endings;
    const auto begin = std::ranges::lower_bound(endings, bytes - 1, {}, &Ending::bytes);
    const bool follows = last && edge.counts && last->counts && edge.byte == last->byte + 1;
    std::vector<Ending> touching;
    if (!follows) open.clear();
    for (auto it = begin; it != endings.end(); ++it) {
      Ending ending = before(edge, *it);
      const auto touched = std::ranges::find_if(open, [&](const Ending& other) {
        return it->is_first && other.digits == ending.digits && other.place == ending.place;
      });
      if (touched != open.end()) {
        ending.low = touched->low;
        ending.size = std::min(touched->size + ending.size, moduli_[ending.place]);
        ending.is_first = touched->is_first;
        std::erase(out, *touched);
      }
      out.push_back(ending);
      if (it->is_last) touching.push_back(ending);
    }
    Work::spend(1 + static_cast<size_t>(endings.end() - begin));
    open = std::move(touching);
    last = &edge;
  }
}

// An ending of where an edge leads, with the edge's byte before it.
Multiples::Ending Multiples::before(const Edge& edge, Ending ending) const {
  ++ending.bytes;
  if (!edge.counts) return ending;
  const uint64_t modulus = moduli_[ending.place], digit = edge.byte - uint64_t{'0'};
  ending.low = (ending.low + shifted(digit, ending.digits, modulus)) % modulus;
  ++ending.digits;
  ending.is_first = ending.is_first && edge.byte == '0';
  ending.is_last = ending.is_last && edge.byte == '9';
  return ending;
}

std::optional<uint32_t> Multiples::next(uint32_t node, uint8_t byte) const {
  const auto& edges = nodes_[node].edges;
  const auto edge = std::ranges::lower_bound(edges, byte, {}, &Edge::byte);
  if (edge == edges.end() || edge->byte != byte) return std::nullopt;
  return edge->target;
}

uint64_t Multiples::after(uint32_t node, uint8_t byte, uint64_t remainder) const {
  if (!is_digit(byte) || nodes_[node].place == scale_) return remainder;
  return (remainder * 10 + (byte - uint64_t{'0'})) % moduli_[scale_];
}

std::optional<uint32_t> Multiples::bytes_to_end(uint32_t node, uint64_t remainder) const {
  for (const Ending& ending : nodes_[node].endings) {
    const uint64_t modulus = moduli_[ending.place];
    const uint64_t wanted = modulus - shifted(remainder, ending.digits, modulus);  // of the digits that follow
    if ((wanted + modulus - ending.low) % modulus < ending.size) return ending.bytes;
  }
  return std::nullopt;
}

size_t Multiples::memory_bytes() const {
  size_t bytes = sizeof(*this) + nodes_.capacity() * sizeof(Node);
  for (const Node& node : nodes_)
    bytes += node.edges.capacity() * sizeof(Edge) + node.endings.capacity() * sizeof(Ending);
  return bytes;
}

}  // namespace maskwright
