// The vocabulary as a trie over token bytes, built once per tokenizer and shared by everything.
//
// Example: tokens "a", "ab", "b" give a root with children a, b, and below a a child b. Children of a node are
// adjacent, and tokens are sorted by their bytes, so that every subtree is one range of sorted positions.
//
// Each node also knows which classes of characters occur from it down (`classes_from`), so that a walk whose automaton
// state loops on all of them accepts the subtree as one range without descending; and which come before it
// (`classes_before`), so that the places at which such a loop is left are found without walking to them. All tokens of
// some classes alone are a few bitsets away (`tokens_of`).
//
// Cost: 50 bytes a node, 36 a token; 200,000 tokens build in well under half a second. What a walk asks about a node
// shares half a cache line.
// Tested by tests/kernel/test_large_vocabulary.py.
#pragma once

#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "support/ids.h"

namespace maskwright {

// Classes of characters for subtree skipping. ASCII falls into classes that JSON and programs tell apart; the other
// well-formed characters of one encoded length form a class, but for white space and line ends, which `\s` and `.` tell
// apart; kMalformed stands for any byte that is not part of a well-formed one.
using CharClasses = uint64_t;
// The most characters of a token that are told apart; longer tokens count as this long.
inline constexpr uint16_t kManyChars = 0xFFFF;
inline constexpr int kClassOtherSpace = 59, kClassOther2 = 60, kClassOther3 = 61, kClassOther4 = 62,
                     kClassMalformed = 63;
inline constexpr CharClasses kBeyondAscii = ~((CharClasses{1} << kClassOtherSpace) - 1);
int ascii_class(uint8_t byte);  // Precondition: byte < 0x80.
inline constexpr bool is_continuation(uint8_t byte) {
  return (byte & 0xC0) == 0x80;
}
// White space and line ends beyond ASCII.
inline constexpr bool is_other_space(uint32_t code_point) {
  return code_point == 0x85 || code_point == 0xA0 || code_point == 0x1680 ||
         (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x2028 || code_point == 0x2029 ||
         code_point == 0x202F || code_point == 0x205F || code_point == 0x3000 || code_point == 0xFEFF;
}

class Vocabulary {
 public:
  struct alignas(32) Node {
    CharClasses classes_from = 0;  // of the characters from its own byte on, down to all tokens
    uint32_t first_child = 0;
    uint32_t below_end = 0;      // all nodes below this one: [first_child, below_end)
    uint32_t token_begin = 0;    // sorted positions of the subtree: [token_begin, token_end)
    uint32_t token_own_end = 0;  // of the tokens that end exactly here: [token_begin, token_own_end)
    uint32_t token_end = 0;
    uint16_t num_children = 0;
    uint16_t max_chars = 0;  // characters begun in the longest token at or below, from the root on
  };

  // `token_bytes[i]` is the text of token i. Special tokens and empty texts never match by text. Ids from
  // token_bytes.size() to vocab_size are padding. Precondition: ids in `special` and `stop` are below vocab_size.
  Vocabulary(const std::vector<std::string_view>& token_bytes, const std::vector<TokenId>& special,
             std::vector<TokenId> stop, uint32_t vocab_size);

  static constexpr NodeId kRoot = 0;
  const Node& node(NodeId id) const { return nodes_[id]; }
  uint8_t byte(NodeId id) const { return bytes_[id]; }
  CharClasses classes_from(NodeId id) const { return nodes_[id].classes_from; }
  // Of the characters before the one that the node begins or goes on with.
  CharClasses classes_before(NodeId id) const { return classes_before_[id]; }
  // The nodes that begin what may become no well-formed character, all before them being well-formed; ascending.
  const std::vector<NodeId>& malformed() const { return malformed_; }
  // The bitset of all tokens whose characters are all of these classes.
  std::vector<uint32_t> tokens_of(CharClasses classes) const;
  // The nodes with this byte, ascending.
  const std::vector<NodeId>& nodes_with(uint8_t byte) const { return nodes_with_[byte]; }
  // Characters begun from the root to the node, its own included.
  uint16_t num_chars(NodeId id) const { return num_chars_[id]; }
  uint16_t max_chars_below(NodeId id) const { return nodes_[id].max_chars; }
  // Takes the tokens that begin more than `limit` characters out of a bitset.
  void keep_within(std::vector<uint32_t>& bits, uint32_t limit) const;
  // Characters begun in a token, by sorted position.
  uint16_t token_chars(uint32_t position) const { return token_chars_[position]; }
  // A node's child on this byte, or 0.
  NodeId child(NodeId id, uint8_t byte) const {
    if (id == kRoot) return root_children_[byte];
    const uint8_t* first = bytes_.data() + nodes_[id].first_child;
    const void* found = std::memchr(first, byte, nodes_[id].num_children);
    return found ? nodes_[id].first_child + static_cast<NodeId>(static_cast<const uint8_t*>(found) - first) : 0;
  }
  // How many bytes lead to a node.
  size_t depth(NodeId id) const;
  // The sorted positions of the tokens that end inside a character, ascending.
  const std::vector<uint32_t>& unfinished() const;
  // The root's child on this byte, or 0.
  NodeId root_child(uint8_t byte) const { return root_children_[byte]; }
  TokenId sorted_token(uint32_t position) const { return sorted_[position]; }
  uint32_t num_text_tokens() const { return static_cast<uint32_t>(sorted_.size()); }

  uint32_t vocab_size() const { return vocab_size_; }
  uint32_t num_words() const { return (vocab_size_ + 31) / 32; }
  // The bitset of all tokens that can match by text, num_words() long.
  const std::vector<uint32_t>& text_tokens() const { return text_tokens_; }
  // The text of a token, empty for special, empty and padding tokens.
  std::string_view text(TokenId token) const {
    return static_cast<uint32_t>(token) < offsets_.size() - 1
               ? std::string_view(pool_).substr(offsets_[token], offsets_[token + 1] - offsets_[token])
               : std::string_view();
  }
  const std::vector<TokenId>& stop_tokens() const { return stop_; }
  uint32_t max_token_length() const { return max_token_length_; }
  size_t num_nodes() const { return nodes_.size(); }
  size_t memory_bytes() const;

 private:
  void sort_tokens();
  void build_trie();
  void build_char_classes();
  void build_char_counts();
  CharClasses classes_from_lead(NodeId lead, const std::vector<CharClasses>& below) const;
  void build_classes_before();
  void build_tokens_with(const std::vector<CharClasses>& classes_of_token);

  uint32_t vocab_size_;
  uint32_t max_token_length_ = 0;
  std::string pool_;
  std::vector<uint32_t> offsets_;
  std::vector<TokenId> sorted_;
  std::vector<TokenId> stop_;
  std::vector<uint32_t> text_tokens_;
  std::vector<Node> nodes_;
  std::vector<uint8_t> bytes_;
  std::vector<CharClasses> classes_before_;
  std::vector<NodeId> malformed_;
  // Bitsets of the tokens with characters of these classes: 2, 4, ... 64 neighbouring ones together, in the form of a
  // heap: those of class c alone are at 64 + c, those of node i's two halves at 2 i and 2 i + 1.
  std::vector<std::vector<uint32_t>> tokens_with_;
  std::vector<uint16_t> num_chars_, token_chars_;
  std::vector<NodeId> nodes_with_[256];
  std::vector<std::vector<uint32_t>> tokens_within_;  // bitsets, by the most characters begun
  std::vector<uint32_t> long_tokens_;                 // sorted positions of the tokens that are in none of them
  NodeId root_children_[256] = {};
  mutable std::once_flag knows_unfinished_;  // found when first asked for
  mutable std::vector<uint32_t> unfinished_;
};

}  // namespace maskwright
