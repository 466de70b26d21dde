#include "precompute.h"

#include <algorithm>
#include <vector>

namespace maskwright {
namespace {

constexpr size_t kFewTokens = 512;
constexpr size_t kMostConfigs = 20'000;

// The tokens of one byte, each once.
void add_single_bytes(const Vocabulary& vocabulary, std::vector<TokenId>& out) {
  for (int byte = 0; byte < 256; ++byte) {
    const NodeId node = vocabulary.root_child(static_cast<uint8_t>(byte));
    if (node == Vocabulary::kRoot) continue;
    const Vocabulary::Node& at = vocabulary.node(node);
    if (at.token_begin < at.token_own_end) out.push_back(vocabulary.sorted_token(at.token_begin));
  }
}

// Those of the tokens whose text no other one goes on from, special tokens included.
void add_longest(const Vocabulary& vocabulary, std::vector<TokenId> tokens, std::vector<TokenId>& out) {
  std::sort(tokens.begin(), tokens.end(),
            [&](TokenId a, TokenId b) { return vocabulary.text(a) < vocabulary.text(b); });
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = vocabulary.text(tokens[i]);
    if (text.empty() || i + 1 == tokens.size() || !vocabulary.text(tokens[i + 1]).starts_with(text))
      out.push_back(tokens[i]);
  }
}

std::vector<TokenId> likely_tokens(const Vocabulary& vocabulary, const ConfigMask& mask) {
  std::vector<TokenId> out;
  if (!mask.dense() && mask.sparse.size() <= kFewTokens)
    add_longest(vocabulary, mask.sparse, out);
  else
    add_single_bytes(vocabulary, out);
  return out;
}

}  // namespace

Precomputation::Precomputation(std::shared_ptr<Engine> engine, ConfigId from) : engine_(std::move(engine)) {
  add(from);
}

void Precomputation::add(ConfigId config) {
  if (!seen_.insert(config).second) return;
  bool is_new = false;
  for (const Item& item : engine_->items(config)) is_new |= seen_states_.insert(item.state).second;
  (is_new ? new_ : similar_).push_back(config);
}

void Precomputation::run(const std::function<bool()>& stop) {
  while (!is_done() && !stop()) {
    if (num_configs_ >= kMostConfigs || engine_->half_full()) {
      new_.clear();
      similar_.clear();
      return;
    }
    auto& waiting = new_.empty() ? similar_ : new_;
    const ConfigId config = waiting.front();
    const bool is_known = engine_->known_mask(config);
    std::vector<ConfigId> reached;
    for (const TokenId token : likely_tokens(engine_->vocabulary(), engine_->mask(config))) {
      const ConfigId next = engine_->step(config, token);
      if (next != kNoConfig) reached.push_back(next);
    }
    waiting.pop_front();  // now that nothing can interrupt it
    ++num_configs_;
    if (!is_known) ++num_masks_;
    for (const ConfigId next : reached) add(next);
  }
}

}  // namespace maskwright
