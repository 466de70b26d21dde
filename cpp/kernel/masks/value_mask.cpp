#include "masks/value_mask.h"

#include <algorithm>

#include "masks/collector.h"
#include "masks/trie_walk.h"

namespace maskwright {
namespace {

// What walks report of the tokens in which a value is closed.
class ClosesValues {
 public:
  ClosesValues(const Vocabulary& vocabulary, const Recognizer& recognizer)
      : vocabulary_(vocabulary), recognizer_(recognizer) {}
  static constexpr bool kSeesRefused = false;
  void allow(uint32_t begin, uint32_t end) { allow_short(begin, end, kManyChars); }
  void allow_short(uint32_t begin, uint32_t end, uint32_t limit) {
    if (!recognizer_.has_decided()) return;
    for (uint32_t p = begin; p < end; ++p)
      if (vocabulary_.token_chars(p) <= limit) tokens.push_back(vocabulary_.sorted_token(p));
  }
  void exit(NodeId) {}
  void exit_range(const StateMask::ExitRange&) {}
  static bool skips(NodeId, const Recognizer&) { return false; }

  std::vector<TokenId> tokens;

 private:
  const Vocabulary& vocabulary_;
  const Recognizer& recognizer_;
};

uint64_t bare_register(const DfaState& state, uint64_t reg, CellStore& cells) {
  if (state.rule->is_value()) return kUnknownBegin;
  if (state.rule->is_of_kinds())
    return state.rule->is_list() ? Chosen{0, kUnknownTexts}.reg() : Spelled{kUnknownTexts, kNoCell}.reg();
  if (!state.rule->has_values()) return reg;
  auto [count, set] = Chosen::of(reg);
  const auto find = [&](CellId id) -> const Cell& { return cells.cell(id); };
  if (is_trie(set) && find(set).kind == Cell::Kind::Grown) set = find(set).parent;
  return Chosen{count, without_values(set, find, [&](const Cell& cell) { return cells.intern(cell); })}.reg();
}

}  // namespace

Item bare(const Item& item, StackStore& store, std::unordered_map<StackId, StackId>& moved) {
  const StackId stack = store.rebuilt(item.stack, moved, [&](std::vector<Frame>& frames, StackMark&) {
    for (Frame& frame : frames)
      if (frame.target) frame.reg = bare_register(*frame.target, frame.reg, store.cells());
  });
  return {item.state, bare_register(*item.state, item.reg, store.cells()), stack};
}

std::vector<TokenId> tokens_closing_values(const Vocabulary& vocabulary, const StackStore& store,
                                           std::span<const Item> items) {
  thread_local Recognizer recognizer;
  recognizer.reset(store, items, false);
  ClosesValues sink(vocabulary, recognizer);
  walk_below(vocabulary, recognizer, Vocabulary::kRoot, sink);
  std::vector<TokenId> out = std::move(sink.tokens);
  if (!may_read_tokens(items)) return out;
  for (TokenId token = 0; token < static_cast<TokenId>(vocabulary.vocab_size()); ++token) {
    if (!recognizer.push_token(token)) continue;
    if (recognizer.has_decided()) out.push_back(token);
    recognizer.pop();
  }
  return out;
}

std::vector<TokenId> refused_tokens(const Vocabulary& vocabulary, Recognizer& recognizer, const BareMask& bare) {
  std::vector<TokenId> out;
  std::string_view pushed;  // by the recogniser
  for (const TokenId token : bare.undecided) {
    const std::string_view text = vocabulary.text(token);
    const auto common = std::mismatch(pushed.begin(), pushed.end(), text.begin(), text.end());
    const auto same = static_cast<size_t>(common.first - pushed.begin());
    recognizer.pop(pushed.size() - same);
    pushed = text.substr(0, same);
    while (pushed.size() < text.size() && recognizer.push(static_cast<uint8_t>(text[pushed.size()])))
      pushed = text.substr(0, pushed.size() + 1);
    if (!text.empty() && pushed.size() == text.size()) continue;
    recognizer.pop(pushed.size());
    pushed = {};
    if (recognizer.push_token(token))
      recognizer.pop();
    else
      out.push_back(token);
  }
  return out;
}

std::unique_ptr<const ConfigMask> without(const ConfigMask& mask, const std::vector<TokenId>& refused,
                                          uint32_t num_words) {
  auto out = std::make_unique<ConfigMask>();
  const auto is_refused = [&](TokenId token) { return std::ranges::find(refused, token) != refused.end(); };
  if (mask.dense()) {
    out->own_dense.resize(num_words);
    mask.write(out->own_dense.data(), num_words);
    for (const TokenId token : refused) clear_bit(out->own_dense, token);
    out->num_allowed = count_bits(out->own_dense);
    return out;
  }
  for (const TokenId token : mask.sparse)
    if (!is_refused(token)) out->sparse.push_back(token);
  out->num_allowed = static_cast<uint32_t>(out->sparse.size());
  return out;
}

}  // namespace maskwright
