// Remembered texts as bounds on budgets see them: how long each is, and nothing else.
//
// What a rule that has to do with remembered text (recognizer/remembered.h) needs to its end depends on the texts in
// its register only by how long they are to write. So bounds are found, and kept, for registers *measured*: of a scope,
// the numbers of its texts with a length each; where a text is recalled, the length that is left; of a list of distinct
// elements, how many it has.
//
//     after `<abc>` and after `<xyz>`, if both names are one token each: the same register, so the same bound
//
// A length is in bytes, or in the fewest tokens that write the text and nothing else. A text in progress is as long in
// tokens as it has bytes, if each byte is a token, and its end makes it shorter: so a bound does not grow on the way
// along which it was found.
//
// Cost: for a text in tokens, a walk down the trie from each of its bytes, once; a look-up for texts met before. What
// is known of a text's beginning is used again: on the way through a vocabulary, texts differ in one token. Tested by
// tests/exhaustive/test_remembered_budgets.py.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "recognizer/recognizer.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

class TextMeasures {
 public:
  static constexpr uint32_t kNever = 0xFFFFFFFF;  // no tokens write it
  enum class Unit { Bytes, Tokens };
  TextMeasures(const Vocabulary& vocabulary, Unit unit);

  // The register of a state, measured. That of a text or a value in progress is 0: how long it is matters only behind
  // it.
  uint64_t of(const TextView& texts, const DfaState& state, uint64_t reg);
  uint32_t in_progress(const TextView& texts, CellId text);
  // Of a scope's register: with a text that was remembered, of this length; and the length of one.
  uint64_t with_text(uint64_t scope, uint8_t number, uint32_t length);
  uint32_t length_in(uint64_t scope, uint8_t number) const;
  size_t memory_bytes() const;

 private:
  struct StoredCell {
    const CellStore* store;
    CellId cell;
    bool operator==(const StoredCell&) const = default;
  };
  struct StoredCellHash {
    size_t operator()(const StoredCell& at) const { return mix(reinterpret_cast<uintptr_t>(at.store), at.cell); }
  };
  // The ways to write a text: in so many tokens, or with another one begun, which stands at the node.
  struct Writing {
    uint32_t whole = kNever;
    struct Begun {
      NodeId node;
      uint32_t tokens;
    };
    std::vector<Begun> begun;
  };
  CellId environment(const TextView& texts, CellId id);
  uint32_t length(const TextView& texts, CellId text);
  uint32_t rest(const TextView& texts, CellId text, uint32_t position);
  Writing writing(const TextView& texts, CellId text);
  void write(Writing& writing, uint8_t byte) const;
  std::vector<uint32_t> tokens_of_rests(std::string_view text) const;

  const Vocabulary& vocabulary_;
  const Unit unit_;
  bool has_all_bytes_ = true;  // each is a token
  CellStore measured_;         // environments, their values being lengths
  std::unordered_map<StoredCell, CellId, StoredCellHash> environments_;
  std::unordered_map<StoredCell, Writing, StoredCellHash> writings_;
  std::unordered_map<StoredCell, std::vector<uint32_t>, StoredCellHash> rests_;  // the tokens from each byte on
  size_t text_bytes_ = 0;
};

}  // namespace maskwright
