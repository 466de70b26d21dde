#include "vocabulary/vocabulary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string_view>
#include <utility>

namespace maskwright {
namespace {

// Letters that a pattern's beginning is likely to have, and that many tokens hold, are alone in their class.
constexpr std::string_view kSingleLetters = "abcdefilnorstu";

constexpr std::array<int8_t, 128> make_ascii_classes() {
  enum : int8_t { kDigits, kOtherLower, kUpperHex, kOtherUpper, kTab, kLineEnd, kControl, kFirstSingle };
  std::array<int8_t, 128> out{};
  int next = kFirstSingle;
  for (int b = 0; b < 128; ++b) {
    const char c = static_cast<char>(b);
    if (c >= '0' && c <= '9')
      out[b] = kDigits;
    else if (c >= 'a' && c <= 'z' && kSingleLetters.find(c) == std::string_view::npos)
      out[b] = kOtherLower;
    else if (c >= 'A' && c <= 'F')
      out[b] = kUpperHex;
    else if (c >= 'G' && c <= 'Z')
      out[b] = kOtherUpper;
    else if (c == '\t')
      out[b] = kTab;
    else if (c == '\n' || c == '\r')
      out[b] = kLineEnd;
    else if (b < 0x20 || b == 0x7F)
      out[b] = kControl;
    else
      out[b] = static_cast<int8_t>(next++);  // the space and each punctuation mark, too
  }
  return out;
}

constexpr uint32_t kMaxCountedChars = 64;  // longer tokens are so few that nothing is gained by bitsets for them

constexpr std::array<int8_t, 128> kAsciiClasses = make_ascii_classes();
static_assert(kAsciiClasses['~'] < kClassOtherSpace);

constexpr CharClasses bit(int character_class) {
  return CharClasses{1} << character_class;
}

// How many bytes the character that a byte leads has; 1 if it leads none beyond ASCII.
constexpr int encoded_length(uint8_t lead) {
  return lead >= 0xC2 && lead <= 0xDF ? 2 : lead >= 0xE0 && lead <= 0xEF ? 3 : lead >= 0xF0 && lead <= 0xF4 ? 4 : 1;
}
constexpr uint32_t lead_bits(uint8_t lead, int length) {
  return lead & (0xFFu >> (length + 1));
}
// The class of characters of this length that are no white space.
constexpr CharClasses ordinary(int length) {
  return bit(length == 2 ? kClassOther2 : length == 3 ? kClassOther3 : kClassOther4);
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
  sort_tokens();
  build_trie();
  build_char_classes();
  build_classes_before();
  build_char_counts();
}

// By their bytes, the first eight of which decide most comparisons. Those of shorter tokens are filled up with zeros,
// and what is the same then is compared as a whole.
void Vocabulary::sort_tokens() {
  struct Keyed {
    uint64_t beginning;
    TokenId token;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(sorted_.size());
  for (const TokenId token : sorted_) {
    uint64_t beginning = 0;
    const std::string_view bytes = text(token);
    for (size_t i = 0; i < 8; ++i) beginning = beginning << 8 | (i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0);
    keyed.push_back({beginning, token});
  }
  std::sort(keyed.begin(), keyed.end(), [this](const Keyed& a, const Keyed& b) {
    if (a.beginning != b.beginning) return a.beginning < b.beginning;
    const int order = text(a.token).compare(text(b.token));
    return order != 0 ? order < 0 : a.token < b.token;
  });
  for (size_t i = 0; i < keyed.size(); ++i) sorted_[i] = keyed[i].token;
}

void Vocabulary::build_trie() {
  struct Open {
    NodeId node;
    uint32_t depth;
  };
  nodes_.reserve(sorted_.size() * 2 + 1);
  bytes_.reserve(sorted_.size() * 2 + 1);
  nodes_.push_back({.token_end = num_text_tokens()});
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
      nodes_.push_back({.token_begin = begin, .token_own_end = begin, .token_end = position});
      bytes_.push_back(byte);
    }
    nodes_[id].num_children = static_cast<uint16_t>(nodes_.size() - nodes_[id].first_child);
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
  std::vector<CharClasses> below(nodes_.size());
  for (NodeId id = static_cast<NodeId>(nodes_.size()); id-- > 0;) {
    Node& at = nodes_[id];
    for (uint32_t i = 0; i < at.num_children; ++i) below[id] |= nodes_[at.first_child + i].classes_from;
    at.classes_from = bytes_[id] < 0x80 ? bit(ascii_class(bytes_[id])) | below[id] : classes_from_lead(id, below);
  }
}

// What the characters that begin with `lead` add, up to and including all that follows them. A token that ends inside a
// well-formed character adds nothing more: it can be completed.
CharClasses Vocabulary::classes_from_lead(NodeId lead, const std::vector<CharClasses>& below) const {
  const uint8_t first = bytes_[lead];
  const int length = encoded_length(first);
  if (length == 1) return bit(kClassMalformed) | below[lead];
  CharClasses out = 0;
  std::vector<std::pair<NodeId, uint32_t>> level{{lead, lead_bits(first, length)}};  // with the bits read so far
  for (int depth = 1; depth < length; ++depth) {
    std::vector<std::pair<NodeId, uint32_t>> next;
    for (const auto& [id, bits] : level) {
      if (nodes_[id].token_begin != nodes_[id].token_own_end) out |= ordinary(length);  // of a token that ends inside
      for (uint32_t i = 0; i < nodes_[id].num_children; ++i) {
        const NodeId child = nodes_[id].first_child + i;
        const bool well_formed = depth == 1 ? is_second_byte(first, bytes_[child]) : is_continuation(bytes_[child]);
        if (well_formed) {
          next.emplace_back(child, bits << 6 | (bytes_[child] & 0x3Fu));
          continue;
        }
        out |= bit(kClassMalformed) | below[child];
        if (bytes_[child] < 0x80) out |= bit(ascii_class(bytes_[child]));
      }
    }
    level = std::move(next);
  }
  for (const auto& [id, code_point] : level)
    out |= (is_other_space(code_point) ? bit(kClassOtherSpace) : ordinary(length)) | below[id];
  return out;
}

// From parents to children, this time.
void Vocabulary::build_classes_before() {
  struct Reading {
    CharClasses whole = 0;       // of the characters that have ended
    NodeId lead = 0;             // of one that has not
    uint32_t bits = 0;           // of its code point
    int length = 0, needed = 0;  // bytes, of it in all and still to come
  };
  std::vector<Reading> readings(nodes_.size());
  std::vector<CharClasses> of_token(sorted_.size());
  classes_before_.assign(nodes_.size(), 0);
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Reading& at = readings[id];
    std::fill(of_token.begin() + nodes_[id].token_begin, of_token.begin() + nodes_[id].token_own_end,
              at.whole | (at.needed > 0 ? ordinary(at.length) : 0));
    for (uint32_t i = 0; i < nodes_[id].num_children; ++i) {
      const NodeId child = nodes_[id].first_child + i;
      const uint8_t byte = bytes_[child];
      Reading after = at;
      bool well_formed = true;
      if (at.needed == 0) {
        after.length = encoded_length(byte);
        after.needed = after.length - 1;
        after.lead = child;
        after.bits = lead_bits(byte, after.length);
        well_formed = byte < 0x80 || after.length > 1;
        if (byte < 0x80) after.whole |= bit(ascii_class(byte));
      } else if (at.needed == at.length - 1 ? is_second_byte(bytes_[at.lead], byte) : is_continuation(byte)) {
        after.bits = at.bits << 6 | (byte & 0x3Fu);
        if (--after.needed == 0)
          after.whole |= is_other_space(after.bits) ? bit(kClassOtherSpace) : ordinary(at.length);
      } else {
        well_formed = false;
        after.needed = 0;
        if (byte < 0x80) after.whole |= bit(ascii_class(byte));
      }
      classes_before_[child] = at.whole | (well_formed || at.needed == 0 ? 0 : bit(kClassMalformed));
      if (!well_formed) {
        after.whole |= bit(kClassMalformed);
        if ((at.whole & bit(kClassMalformed)) == 0) malformed_.push_back(after.lead);
      }
      readings[child] = after;
    }
  }
  std::sort(malformed_.begin(), malformed_.end());
  malformed_.erase(std::unique(malformed_.begin(), malformed_.end()), malformed_.end());
  build_tokens_with(of_token);
}

void Vocabulary::build_tokens_with(const std::vector<CharClasses>& classes_of_token) {
  constexpr size_t kNumClasses = 64;
  tokens_with_.resize(2 * kNumClasses);
  for (size_t p = 0; p < sorted_.size(); ++p)
    for (CharClasses left = classes_of_token[p]; left; left &= left - 1) {
      std::vector<uint32_t>& bits = tokens_with_[kNumClasses + static_cast<size_t>(std::countr_zero(left))];
      if (bits.empty()) bits.resize(num_words());
      bits[static_cast<size_t>(sorted_[p]) / 32] |= uint32_t{1} << (sorted_[p] % 32);
    }
  for (size_t i = kNumClasses; i-- > 1;)
    for (const size_t half : {2 * i, 2 * i + 1}) {
      if (tokens_with_[half].empty()) continue;
      if (tokens_with_[i].empty()) tokens_with_[i].resize(num_words());
      for (size_t w = 0; w < num_words(); ++w) tokens_with_[i][w] |= tokens_with_[half][w];
    }
}

std::vector<uint32_t> Vocabulary::tokens_of(CharClasses classes) const {
  std::vector<uint32_t> out = text_tokens_;
  struct Half {
    size_t index;
    CharClasses classes;
    int size;
  };
  std::vector<Half> open{{1, ~CharClasses{0}, 64}};
  while (!open.empty()) {
    const auto [index, all, size] = open.back();
    open.pop_back();
    if ((all & ~classes) == 0 || tokens_with_[index].empty()) continue;
    if ((all & classes) == 0) {
      for (size_t w = 0; w < out.size(); ++w) out[w] &= ~tokens_with_[index][w];
      continue;
    }
    const CharClasses high = all & all << size / 2;
    open.push_back({2 * index, all & ~high, size / 2});
    open.push_back({2 * index + 1, high, size / 2});
  }
  return out;
}

void Vocabulary::build_char_counts() {
  num_chars_.assign(nodes_.size(), 0);
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
    Node& at = nodes_[id];
    at.max_chars = num_chars_[id];
    for (uint32_t i = 0; i < at.num_children; ++i)
      at.max_chars = std::max(at.max_chars, nodes_[at.first_child + i].max_chars);
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
  size_t bitsets = text_tokens_.capacity();
  for (const auto& bits : tokens_within_) bitsets += bits.capacity();
  for (const auto& bits : tokens_with_) bitsets += bits.capacity();
  return sizeof(*this) + pool_.capacity() + offsets_.capacity() * sizeof(uint32_t) + bitsets * sizeof(uint32_t) +
         sorted_.capacity() * sizeof(TokenId) + nodes_.capacity() * sizeof(Node) + bytes_.capacity() +
         classes_before_.capacity() * sizeof(CharClasses) + 2 * (num_chars_.capacity() + token_chars_.capacity()) +
         (malformed_.capacity() + long_tokens_.capacity() + nodes_.size()) * sizeof(uint32_t);
}

size_t Vocabulary::depth(NodeId id) const {
  const std::string_view bytes = text(sorted_[nodes_[id].token_begin]);
  NodeId at = kRoot;
  size_t depth = 0;
  while (at != id) at = child(at, static_cast<uint8_t>(bytes[depth++]));
  return depth;
}

const std::vector<uint32_t>& Vocabulary::unfinished() const {
  std::call_once(knows_unfinished_, [this] {
    for (uint32_t p = 0; p < sorted_.size(); ++p) {
      const std::string_view bytes = text(sorted_[p]);
      size_t lead = bytes.size();  // behind the last byte that begins a character
      while (lead > 0 && is_continuation(static_cast<uint8_t>(bytes[lead - 1]))) --lead;
      const uint8_t byte = lead > 0 ? static_cast<uint8_t>(bytes[lead - 1]) : 0;
      const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
      if (length > 1 && bytes.size() - (lead - 1) < length) unfinished_.push_back(p);
    }
  });
  return unfinished_;
}

}  // namespace maskwright
