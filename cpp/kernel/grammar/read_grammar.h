// From the bytes that src/maskwright/ir/portable.py writes to the flat form of a grammar.
//
//     GrammarFile file = read_grammar(data, vocab_size, false);
//     for (const NamedTokens& each : file.named_tokens) supply_tokens(file.ir, each, ids_of(each));
//
// The bytes may be anybody's: they are checked against their checksum, and everything in them against what the kernel
// relies on (ir.h, src/maskwright/ir/expressions.py). The work and the memory are bounded by their length. What the
// notes say is not looked at.
// Tested by tests/saved/test_hostile_bytes.py, and in the browser by web/tests.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/ir.h"

namespace maskwright {

// A rule whose body the tokenizer supplies (src/maskwright/tokenizer/token_sets.py): tokens by name and by ids, or all
// but those.
struct NamedTokens {
  uint32_t rule;
  bool negated;
  std::vector<std::string> names;
  std::vector<std::pair<TokenId, TokenId>> id_ranges;  // both ends included
};

struct GrammarFile {
  GrammarIr ir;
  std::vector<NamedTokens> named_tokens;
};

// With captures as rules, or without them but with spans (cpp/bindings/read_ir.cpp does the same with Python's tuples).
// Throws MalformedGrammar or LimitExceeded.
GrammarFile read_grammar(std::string_view data, uint32_t vocab_size, bool with_captures);

// Gives a rule its body. Precondition: `ids` are in the vocabulary, ascending.
void supply_tokens(GrammarIr& ir, const NamedTokens& named, std::vector<TokenId> ids);

}  // namespace maskwright
