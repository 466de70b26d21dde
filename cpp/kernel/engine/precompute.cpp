#include "engine/precompute.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace maskwright {
namespace {

constexpr size_t kFewTokens = 512;
constexpr size_t kMostConfigs = 20'000;

// The rules that read a configuration's next byte: its own, and those that these may call there.
std::vector<Rule*> readers_of(std::span<const Item> items) {
  std::vector<Rule*> readers;
  std::vector<DfaState*> open;
  std::unordered_set<DfaState*> seen;
  const auto enter = [&](DfaState* state) {
    if (!seen.insert(state).second) return;
    if (std::ranges::find(readers, state->rule) == readers.end()) readers.push_back(state->rule);
    open.push_back(state);
  };
  for (const Item& item : items) enter(item.state);
  while (!open.empty()) {
    DfaState& state = *open.back();
    open.pop_back();
    state.rule->link(state);
    for (const CallEdge& call : state.calls) enter(call.callee->start());
  }
  return readers;
}

// One of each kind of bytes that no rule there tells apart, the likely ones first.
std::vector<uint8_t> different_bytes(std::span<const Item> items) {
  std::vector<uint8_t> out;
  const std::vector<Rule*> readers = readers_of(items);
  std::unordered_set<uint64_t> seen;
  const auto add = [&](int begin, int end) {
    for (int b = begin; b < end; ++b) {
      const auto byte = static_cast<uint8_t>(b);
      uint64_t kind = 0;
      for (const Rule* rule : readers) kind = mix(kind, 2 * rule->class_of(byte) + (rule->terminator() == byte));
      if (seen.insert(kind).second) out.push_back(byte);
    }
  };
  add(' ', 0x7F);
  add(0, ' ');
  add(0x7F, 0x100);
  return out;
}

bool is_likely(uint8_t byte) {
  return ' ' <= byte && byte < 0x7F && byte != '\\';
}

std::optional<TokenId> single_byte_token(const Vocabulary& vocabulary, uint8_t byte) {
  const NodeId node = vocabulary.root_child(byte);
  if (node == Vocabulary::kRoot) return std::nullopt;
  const Vocabulary::Node& at = vocabulary.node(node);
  return at.token_begin < at.token_own_end ? std::optional(vocabulary.sorted_token(at.token_begin)) : std::nullopt;
}

bool is_space(char c) {
  return c == ' ' || ('\t' <= c && c <= '\r');
}

bool ends_in_spaces(std::string_view text) {
  return text.size() > 1 && is_space(text.back()) && is_space(text[text.size() - 2]);
}

struct Candidate {
  TokenId token;
  std::string_view text;
  ByteSet longer;  // the bytes that go on from it in longer candidates
};

// A few allowed tokens. Of white space, which comes in hundreds of tokens that lead to the same, one character.
std::vector<Candidate> candidates_of(const Vocabulary& vocabulary, const std::vector<TokenId>& allowed) {
  std::vector<Candidate> out;
  for (const TokenId token : allowed)
    if (const auto text = vocabulary.text(token); !ends_in_spaces(text)) out.push_back({token, text, {}});
  std::ranges::sort(out, {}, &Candidate::text);
  std::vector<Candidate*> prefixes;  // of the one at hand, each of the next
  for (Candidate& each : out) {
    while (!prefixes.empty() && !each.text.starts_with(prefixes.back()->text)) prefixes.pop_back();
    for (Candidate* prefix : prefixes)
      if (prefix->text.size() < each.text.size())
        prefix->longer.set(static_cast<uint8_t>(each.text[prefix->text.size()]));
    if (!each.text.empty()) prefixes.push_back(&each);
  }
  return out;
}

}  // namespace

Precomputation::Precomputation(std::shared_ptr<Engine> engine, ConfigId from) : engine_(std::move(engine)) {
  add({from, true});
}

void Precomputation::add(Reached reached) {
  if (!seen_.insert(reached.config).second) return;
  bool is_new = false;
  for (const Item& item : engine_->items(reached.config)) is_new |= seen_states_.insert(item.state).second;
  (!reached.is_likely ? unlikely_ : is_new ? new_ : similar_).push_back(reached.config);
}

void Precomputation::run(const std::function<bool()>& stop) {
  while (!is_done() && !stop()) {
    if (num_configs_ >= kMostConfigs || engine_->half_full()) {
      for (auto* each : {&new_, &similar_, &unlikely_}) each->clear();
      return;
    }
    auto& waiting = !new_.empty() ? new_ : !similar_.empty() ? similar_ : unlikely_;
    const Reached from{waiting.front(), &waiting != &unlikely_};
    const bool is_known = engine_->known_mask(from.config);
    const std::vector<Reached> reached = follow(from, engine_->mask(from.config));
    waiting.pop_front();  // now that nothing can interrupt it
    ++num_configs_;
    if (!is_known) ++num_masks_;
    for (const Reached next : reached) add(next);
  }
}

// Where the tokens lead that a model is likely to write.
std::vector<Precomputation::Reached> Precomputation::follow(Reached from, const ConfigMask& mask) {
  const Vocabulary& vocabulary = engine_->vocabulary();
  std::vector<Reached> reached;
  if (mask.dense() || mask.sparse.size() > kFewTokens) {
    for (const uint8_t byte : different_bytes(engine_->items(from.config))) {
      const std::optional<TokenId> token = single_byte_token(vocabulary, byte);
      const ConfigId next = token ? engine_->step(from.config, *token) : kNoConfig;
      if (next != kNoConfig) reached.push_back({next, from.is_likely && is_likely(byte)});
    }
    return reached;
  }
  for (const Candidate& each : candidates_of(vocabulary, mask.sparse)) {
    const ConfigId next = engine_->step(from.config, each.token);
    if (next == kNoConfig) continue;
    const bool goes_on_otherwise = !(next_bytes(engine_->items(next)) & ~each.longer).empty();
    if (each.longer.empty() || goes_on_otherwise || engine_->complete(next)) reached.push_back({next, from.is_likely});
  }
  return reached;
}

}  // namespace maskwright
