#include "vocabulary.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace maskwright {
namespace {

constexpr std::array<int8_t, 128> make_ascii_classes() {
  std::array<int8_t, 128> out{};
  int next = 8;
  for (int b = 0; b < 128; ++b) {
    const char c = static_cast<char>(b);
    if (c >= '0' && c <= '9')
      out[b] = 0;
    else if (c >= 'a' && c <= 'f')
      out[b] = 1;
    else if (c >= 'g' && c <= 'z')
      out[b] = 2;
    else if (c >= 'A' && c <= 'F')
      out[b] = 3;
    else if (c >= 'G' && c <= 'Z')
      out[b] = 4;
    else if (c == '\t')
      out[b] = 5;
    else if (c == '\n' || c == '\r')
      out[b] = 6;
    else if (b < 0x20 || b == 0x7F)
      out[b] = 7;
    else
      out[b] = static_cast<int8_t>(next++);  // the space and each punctuation mark by itself
  }
  return out;
}

constexpr uint32_t kMaxCountedChars = 64;  // longer tokens are so few that nothing is gained by bitsets for them

constexpr std::array<int8_t, 128> kAsciiClasses = make_ascii_classes();

constexpr CharClasses bit(int character_class) {
  return CharClasses{1} << character_class;
}

// Whether `second` may follow `lead` in well-formed UTF-8 (Unicode 15, table 3-7).
constexpr bool is_second_byte(uint8_t lead, uint8_t second) {
  switch (lead) {
    case 0xE0: return second >= 0xA0 && second <= 0xBF;
    case 0xED: return second >= 0x80 && second <= 0x9F;
    case 0xF0: return second >= 0x90 && second <= 0xBF;
    case 0xF4: return second >= 0x80 && second <= 0x8F;
    default: return is_continuation(second);
  }
}

}  // namespace

int ascii_class(uint8_t byte) {
  return kAsciiClasses[byte];
}

Vocabulary::Vocabulary(const std::vector<std::string_view>& token_bytes, const std::vector<TokenId>& special,
                       std::vector<TokenId> stop, uint32_t vocab_size)
    : vocab_size_(vocab_size), stop_(std::move(stop)), text_tokens_(num_words()) {
  std::vector<bool> is_special(token_bytes.size());
  for (const TokenId id : special)
    if (static_cast<size_t>(id) < is_special.size()) is_special[id] = true;

  size_t total = 0;
  for (const auto& text : token_bytes) total += text.size();
  pool_.reserve(total);
  offsets_.reserve(token_bytes.size() + 1);
  offsets_.push_back(0);
  for (size_t i = 0; i < token_bytes.size(); ++i) {
    if (!is_special[i] && !token_bytes[i].empty()) {
      pool_.append(token_bytes[i]);
      sorted_.push_back(static_cast<TokenId>(i));
      text_tokens_[i / 32] |= uint32_t{1} << (i % 32);
      max_token_length_ = std::max(max_token_length_, static_cast<uint32_t>(token_bytes[i].size()));
    }
    offsets_.push_back(static_cast<uint32_t>(pool_.size()));
  }
  std::sort(sorted_.begin(), sorted_.end(), [this](TokenId a, TokenId b) {
    const int order = text(a).compare(text(b));
    return order != 0 ? order < 0 : a < b;
  });
  build_trie();
  build_char_classes();
  build_char_counts();
}

void Vocabulary::build_trie() {
  struct Open {
    NodeId node;
    uint32_t depth;
  };
  nodes_.reserve(sorted_.size() * 2 + 1);
  bytes_.reserve(sorted_.size() * 2 + 1);
  nodes_.push_back({0, 0, 0, 0, num_text_tokens(), 0});
  bytes_.push_back(0);
  std::vector<Open> open{{kRoot, 0}};
  while (!open.empty()) {
    const auto [id, depth] = open.back();
    open.pop_back();
    uint32_t position = nodes_[id].token_begin;
    const uint32_t end = nodes_[id].token_end;
    while (position < end && text(sorted_[position]).size() == depth) ++position;
    nodes_[id].token_own_end = position;
    nodes_[id].first_child = static_cast<NodeId>(nodes_.size());
    while (position < end) {
      const auto byte = static_cast<uint8_t>(text(sorted_[position])[depth]);
      const uint32_t begin = position;
      while (position < end && static_cast<uint8_t>(text(sorted_[position])[depth]) == byte) ++position;
      nodes_.push_back({0, 0, begin, begin, position, 0});
      bytes_.push_back(byte);
    }
    nodes_[id].num_children = static_cast<uint32_t>(nodes_.size()) - nodes_[id].first_child;
    // The first child is opened next, which keeps a subtree's nodes close together.
    for (uint32_t i = nodes_[id].num_children; i-- > 0;) open.push_back({nodes_[id].first_child + i, depth + 1});
  }
  // Nodes are numbered so that all below one are adjacent; a node's last child, if any, knows where they end.
  for (NodeId id = static_cast<NodeId>(nodes_.size()); id-- > 0;) {
    Node& at = nodes_[id];
    at.below_end = at.first_child;
    for (uint32_t i = 0; i < at.num_children; ++i)
      at.below_end = std::max({at.below_end, at.first_child + i + 1, nodes_[at.first_child + i].below_end});
  }
  for (NodeId id = 1; id < nodes_.size(); ++id) nodes_with_[bytes_[id]].push_back(id);
  for (uint32_t i = 0; i < nodes_[kRoot].num_children; ++i)
    root_children_[bytes_[nodes_[kRoot].first_child + i]] = nodes_[kRoot].first_child + i;
}

// Children have higher numbers than their parents, so one descending pass sees every child before its parent.
void Vocabulary::build_char_classes() {
  classes_below_.assign(nodes_.size(), 0);
  classes_from_.assign(nodes_.size(), 0);
  for (NodeId id = static_cast<NodeId>(nodes_.size()); id-- > 0;) {
    for (uint32_t i = 0; i < nodes_[id].num_children; ++i)
      classes_below_[id] |= classes_from_[nodes_[id].first_child + i];
    classes_from_[id] = bytes_[id] < 0x80 ? bit(ascii_class(bytes_[id])) | classes_below_[id] : classes_from_lead(id);
  }
}

// What the characters that begin with `lead` add, up to and including all that follows them. A token that ends inside a
// well-formed character adds nothing more: it can be completed.
CharClasses Vocabulary::classes_from_lead(NodeId lead) const {
  const uint8_t first = bytes_[lead];
  const int length = first >= 0xC2 && first <= 0xDF   ? 2
                     : first >= 0xE0 && first <= 0xEF ? 3
                     : first >= 0xF0 && first <= 0xF4 ? 4
                                                      : 1;
  if (length == 1) return bit(kClassMalformed) | classes_below_[lead];
  const CharClasses ordinary = bit(length == 2 ? kClassOther2 : length == 3 ? kClassOther3 : kClassOther4);
  CharClasses out = 0;
  std::vector<std::pair<NodeId, uint32_t>> level{{lead, first & (0xFFu >> (length + 1))}};  // with the bits read so far
  for (int depth = 1; depth < length; ++depth) {
    std::vector<std::pair<NodeId, uint32_t>> next;
    for (const auto& [id, bits] : level) {
      if (nodes_[id].token_begin != nodes_[id].token_own_end) out |= ordinary;  // of a token that ends inside
      for (uint32_t i = 0; i < nodes_[id].num_children; ++i) {
        const NodeId child = nodes_[id].first_child + i;
        const bool well_formed = depth == 1 ? is_second_byte(first, bytes_[child]) : is_continuation(bytes_[child]);
        if (well_formed) {
          next.emplace_back(child, bits << 6 | (bytes_[child] & 0x3Fu));
          continue;
        }
        out |= bit(kClassMalformed) | classes_below_[child];
        if (bytes_[child] < 0x80) out |= bit(ascii_class(bytes_[child]));
      }
    }
    level = std::move(next);
  }
  for (const auto& [id, code_point] : level)
    out |= (is_other_space(code_point) ? bit(kClassOtherSpace) : ordinary) | classes_below_[id];
  return out;
}

void Vocabulary::build_char_counts() {
  num_chars_.assign(nodes_.size(), 0);
  max_chars_below_.assign(nodes_.size(), 0);
  token_chars_.assign(sorted_.size(), 0);
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& at = nodes_[id];
    for (uint32_t i = 0; i < at.num_children; ++i) {
      const NodeId child = at.first_child + i;
      const bool begins = !is_continuation(bytes_[child]) && num_chars_[id] < kManyChars;
      num_chars_[child] = static_cast<uint16_t>(num_chars_[id] + (begins ? 1 : 0));
    }
    std::fill(token_chars_.begin() + at.token_begin, token_chars_.begin() + at.token_own_end, num_chars_[id]);
  }
  uint32_t most = 0;
  for (const uint16_t chars : token_chars_) most = std::max<uint32_t>(most, chars);
  tokens_within_.assign(std::min(most + 1, kMaxCountedChars), std::vector<uint32_t>(num_words()));
  for (uint32_t p = 0; p < sorted_.size(); ++p)
    if (token_chars_[p] < tokens_within_.size())
      tokens_within_[token_chars_[p]][sorted_[p] / 32] |= uint32_t{1} << (sorted_[p] % 32);
    else
      long_tokens_.push_back(p);
  for (size_t k = 1; k < tokens_within_.size(); ++k)
    for (uint32_t w = 0; w < num_words(); ++w) tokens_within_[k][w] |= tokens_within_[k - 1][w];
  for (NodeId id = static_cast<NodeId>(nodes_.size()); id-- > 0;) {
    const Node& at = nodes_[id];
    max_chars_below_[id] = num_chars_[id];
    for (uint32_t i = 0; i < at.num_children; ++i)
      max_chars_below_[id] = std::max(max_chars_below_[id], max_chars_below_[at.first_child + i]);
  }
}

void Vocabulary::keep_within(std::vector<uint32_t>& bits, uint32_t limit) const {
  if (limit < tokens_within_.size()) {
    for (uint32_t w = 0; w < num_words(); ++w) bits[w] &= tokens_within_[limit][w];
    return;
  }
  for (const uint32_t p : long_tokens_)
    if (token_chars_[p] > limit) bits[sorted_[p] / 32] &= ~(uint32_t{1} << (sorted_[p] % 32));
}

size_t Vocabulary::memory_bytes() const {
  return pool_.capacity() + offsets_.capacity() * sizeof(uint32_t) + sorted_.capacity() * sizeof(TokenId) +
         text_tokens_.capacity() * sizeof(uint32_t) + nodes_.capacity() * sizeof(Node) + bytes_.capacity() +
         2 * classes_below_.capacity() * sizeof(CharClasses) +
         2 * (num_chars_.capacity() + max_chars_below_.capacity()) + 2 * token_chars_.capacity() +
         tokens_within_.size() * num_words() * 4 + long_tokens_.capacity() * 4 + nodes_.size() * sizeof(NodeId) +
         sizeof(*this);
}

}  // namespace maskwright
