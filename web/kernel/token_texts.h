// Which tokens a grammar file names, as src/maskwright/tokenizer/token_sets.py finds them where there is Python.
// Tested by web/tests/grammar_files.test.js.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/read_grammar.h"
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

// In ascending order.
std::vector<TokenId> find_tokens(const NamedTokens& named, const Vocabulary& vocabulary, const TokenTexts& texts);

}  // namespace maskwright
