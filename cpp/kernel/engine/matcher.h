// One sequence being matched: a configuration id per token, and nothing else.
//
// fork and rollback cost the same whatever the length (shared_log.h). A `Point` is a state that the matcher could be
// in; drafts are followed from point to point without moving the matcher. A matcher belongs to one thread at a time;
// points may be filled by several at once, while nobody moves it.
//
// A stop token may be text in the vocabulary, or one of a set of all tokens but some. An engine that samples it stops,
// so it is not content: only where the grammar names it, or where nothing else at all is allowed and the output is not
// complete. Stop tokens belong to the matcher and masks to all, so their bits are cleared when a mask is filled; where
// the mask has none of them, which is the common case, that costs a look at each. Tested by tests/exhaustive,
// tests/contract.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/capture_tracker.h"
#include "engine/compiled_grammar.h"
#include "engine/precompute.h"
#include "support/shared_log.h"

namespace maskwright {

class Matcher {
 public:
  struct Point {
    ConfigId config;
    bool terminated;
  };

  struct Budget {
    uint32_t max_tokens = 0;  // of the whole output, stop tokens apart; 0: any number
    bool by_bounds = false;   // see Engine::initial_within: decided once, whatever engine the matcher moves to
  };

  // `default_temperature`: where no rule has one; negative: none.
  Matcher(std::shared_ptr<CompiledGrammar> grammar, const std::vector<TokenId>& stop_tokens,
          bool terminate_without_stop_token, Budget budget, double default_temperature);

  bool accept(TokenId token);
  // How many of the tokens would be accepted one after the other. The state stays.
  size_t validate(const TokenId* tokens, size_t count);
  bool accept_bytes(std::string_view bytes);
  // Writes ceil(vocab_size / 32) words and returns the number of tokens allowed.
  uint32_t fill(uint32_t* words) { return fill(here(), words); }
  bool rollback(size_t count);  // false, and nothing happens, if the history is shorter
  void reset();
  bool is_completed() const { return engine_->complete(config()); }
  bool is_terminated() const { return terminated_ || (terminate_without_stop_token_ && is_completed()); }
  // Equal in two matchers of one grammar where the same outputs may follow, budgets apart, until the grammar starts
  // over.
  ConfigId configuration_id() const { return engine_->without_budgets(config()); }
  // The only token allowed, if there is exactly one.
  std::optional<TokenId> forced_token();
  // Whether text may come next, whatever tokens there are for it: not only special tokens and stop tokens. Needs no
  // mask.
  bool text_may_follow();
  // Of the rule that the next token is in, see Engine::temperature.
  std::optional<double> temperature() { return temperature(here()); }
  std::optional<double> temperature(Point point) const {
    double found = point.terminated ? -1 : engine_->temperature(point.config);
    if (found < 0) found = default_temperature_;
    return found < 0 ? std::nullopt : std::optional(found);
  }
  std::string forced_bytes(size_t limit) {
    return terminated_ ? std::string() : engine_->forced_bytes(config(), limit);
  }
  std::optional<std::vector<EndPiece>> short_end(size_t most) const { return engine_->short_end(config(), most); }
  std::shared_ptr<const Program> program() const { return grammar_->program(); }
  // Computes masks that will be needed soon (precompute.h).
  Precomputation precomputation();

  // Where it stands. Moves to the current engine first, which may mean to replay the history; points of before are
  // void.
  Point here();
  // Where a token leads from a point, or nothing if it is not allowed there.
  std::optional<Point> after(Point point, TokenId token);
  uint32_t fill(Point point, uint32_t* words);

  // Whether these take look-ups only; a fill, a copy besides.
  bool here_is_known() const { return !engine_->past_budget(); }
  bool after_is_known(Point point, TokenId token) const {
    return point.terminated || (!is_among_stops(token) && engine_->known_step(point.config, token) != kNoConfig);
  }
  bool mask_is_known(Point point) const { return point.terminated || engine_->known_mask(point.config) != nullptr; }
  bool mask_is_known() const { return here_is_known() && mask_is_known({config(), terminated_}); }
  // Whether accepting takes a few microseconds at most. Where the mask is known, so are the automata's states.
  bool accepts_quickly(TokenId token) const;

  size_t num_accepted() const { return history_.size(); }
  const CompiledGrammar& grammar() const { return *grammar_; }
  const Engine* engine() const { return engine_.get(); }
  uint32_t num_words() const { return grammar_->vocabulary().num_words(); }
  const std::vector<TokenId>& stop_tokens() const { return stop_tokens_; }
  // Brings a tracker made for this matcher to what was accepted.
  void update(CaptureTracker& tracker) const;
  // Calls one of these for each entry of the history, in order; a stop token that ended the output is a token too.
  template <class OnToken, class OnBytes>
  void replay(OnToken&& on_token, OnBytes&& on_bytes) const {
    const std::vector<ByteEntry> texts = byte_entries_.empty() ? std::vector<ByteEntry>() : byte_entries_.entries();
    auto text = texts.begin();
    for (const Entry& entry : history_.entries())
      entry.token == kBytes ? on_bytes(*(text++)->bytes) : on_token(entry.token);
  }

 private:
  struct Entry {
    TokenId token;
    ConfigId config;  // after the token
  };
  struct ByteEntry {
    size_t position;  // in the history
    std::shared_ptr<const std::string> bytes;
  };
  // Bytes accepted as such appear in the history under this id; their text is kept beside it.
  static constexpr TokenId kBytes = -1;
  ConfigId config() const { return history_.empty() ? initial_ : history_.back().config; }
  ConfigId initial_in(Engine& engine) {
    return budget_.max_tokens == 0 ? engine.initial() : engine.initial_within(budget_.max_tokens, budget_.by_bounds);
  }
  void renew();
  bool is_among_stops(TokenId token) const {
    return std::find(stop_tokens_.begin(), stop_tokens_.end(), token) != stop_tokens_.end();
  }
  bool ends_output(TokenId token) const { return !terminate_without_stop_token_ && is_among_stops(token); }
  // Whether the mask has any of the stop tokens, named or not.
  bool has_stops(const ConfigMask& mask) const;
  // Whether stop tokens that the grammar does not name are all that it takes there.
  bool needs_stops_as_content(ConfigId config);
  std::optional<TokenId> forced_among_stops(Point point);

  std::shared_ptr<CompiledGrammar> grammar_;
  std::shared_ptr<Engine> engine_;
  SharedLog<Entry> history_;
  SharedLog<ByteEntry> byte_entries_;
  std::vector<TokenId> stop_tokens_;  // no two alike
  bool terminate_without_stop_token_;
  Budget budget_;
  double default_temperature_;
  ConfigId initial_;
  bool terminated_ = false;
};

}  // namespace maskwright
