// From the bytes that src/maskwright/ir/portable.py writes to the kernel's flat form.
//
// The bytes may be anybody's: they are checked against their checksum, and everything in them against what the kernel
// relies on (cpp/kernel/grammar/ir.h, src/maskwright/ir/expressions.py). The work is bounded by their length.
// Tested by web/tests/grammar_files.test.js.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "grammar/ir.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

// The grammar names tokens that the tokenizer does not have.
class TokenizerMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The tokens of a tokenizer by their text, special ones included.
struct TokenTexts {
  std::string bytes;
  std::vector<uint32_t> ends;  // of token i, in `bytes`

  size_t size() const { return ends.size(); }
  std::string_view operator[](size_t token) const {
    const uint32_t begin = token == 0 ? 0 : ends[token - 1];
    return std::string_view(bytes).substr(begin, ends[token] - begin);
  }
};

// With captures as rules, or without them but with spans (cpp/bindings/read_ir.cpp does the same with Python's tuples).
GrammarIr read_grammar(std::string_view data, const Vocabulary& vocabulary, const TokenTexts& texts,
                       bool with_captures);

}  // namespace maskwright
