#include "token_texts.h"

#include <algorithm>

namespace maskwright {
namespace {

void add_named(const std::string& name, const TokenTexts& texts, std::vector<bool>& members) {
  bool found = false;
  for (size_t token = 0; token < texts.size(); ++token)
    if (texts[token] == name) found = members[token] = true;
  if (!found) throw TokenizerMismatch("the tokenizer has no token '" + name.substr(0, 60) + "'");
}

}  // namespace

std::vector<TokenId> find_tokens(const NamedTokens& named, const Vocabulary& vocabulary, const TokenTexts& texts) {
  std::vector<bool> members(vocabulary.vocab_size());
  for (const std::string& name : named.names) add_named(name, texts, members);
  for (const auto& [first, last] : named.id_ranges) {
    if (static_cast<size_t>(last) >= members.size())
      throw TokenizerMismatch("there is no token " + std::to_string(last) + ": the tokenizer has " +
                              std::to_string(members.size()) + " ids");
    std::fill(members.begin() + first, members.begin() + last + 1, true);
  }
  const std::vector<TokenId>& stops = vocabulary.stop_tokens();
  std::vector<TokenId> ids;
  for (size_t token = 0; token < members.size(); ++token) {
    const auto id = static_cast<TokenId>(token);
    const bool can_stand =
        token < texts.size() && !texts[token].empty() && std::find(stops.begin(), stops.end(), id) == stops.end();
    if (named.negated ? can_stand && !members[token] : members[token]) ids.push_back(id);
  }
  return ids;
}

}  // namespace maskwright
