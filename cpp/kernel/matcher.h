// One sequence being matched: a configuration id per token, and nothing else.
//
// The history is a list of chunks shared between forks, so that fork copies one chunk and rollback only counts back,
// whatever the length. A matcher belongs to one thread at a time. Tested by tests/exhaustive, tests/contract.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture_tracker.h"
#include "compiled_grammar.h"

namespace maskwright {

class History {
 public:
  struct Entry {
    TokenId token;
    ConfigId config;  // after the token
  };
  size_t size() const { return before_ + used_; }
  const Entry& back() const { return chunk_->entries[used_ - 1]; }
  void push(Entry entry);
  void pop(size_t count);
  void clear();
  std::vector<TokenId> tokens(size_t first = 0) const;

 private:
  static constexpr size_t kChunk = 64;
  struct Chunk {
    std::shared_ptr<const Chunk> previous;
    std::array<Entry, kChunk> entries;
    Chunk() = default;
    Chunk(const Chunk&) = default;
    Chunk& operator=(const Chunk&) = delete;
    ~Chunk();
  };
  std::shared_ptr<Chunk> chunk_;
  size_t before_ = 0;  // entries in earlier chunks
  size_t used_ = 0;    // entries in this one
};

class Matcher {
 public:
  Matcher(std::shared_ptr<CompiledGrammar> grammar, std::vector<TokenId> stop_tokens,
          bool terminate_without_stop_token);

  bool accept(TokenId token);
  // How many of the tokens would be accepted one after the other. The state stays.
  size_t validate(const TokenId* tokens, size_t count);
  bool accept_bytes(std::string_view bytes);
  // Whether filling takes no more than a copy.
  bool mask_is_known() const { return terminated_ || (!stale() && engine_->known_mask(config()) != nullptr); }
  // Writes ceil(vocab_size / 32) words and returns the number of tokens allowed.
  uint32_t fill(uint32_t* words);
  bool rollback(size_t count);  // false, and nothing happens, if the history is shorter
  void reset();
  bool is_completed() { return engine_->complete(config()); }
  bool is_terminated() { return terminated_ || (terminate_without_stop_token_ && is_completed()); }
  std::string forced_bytes(size_t limit) {
    return terminated_ ? std::string() : engine_->forced_bytes(config(), limit);
  }
  size_t num_accepted() const { return history_.size(); }
  std::vector<TokenId> tokens() const { return history_.tokens(); }
  const CompiledGrammar& grammar() const { return *grammar_; }
  const std::shared_ptr<CompiledGrammar>& shared_grammar() const { return grammar_; }
  const std::vector<TokenId>& stop_tokens() const { return stop_tokens_; }
  // Brings a tracker made for this matcher up to what was accepted.
  void update(CaptureTracker& tracker) const;

 private:
  // Bytes accepted as such appear in the history under this id; their text is kept beside it.
  static constexpr TokenId kBytes = -1;
  ConfigId config() const { return history_.size() ? history_.back().config : engine_->initial(); }
  bool stale() const { return engine_->past_budget(); }
  void renew();
  bool is_stop(TokenId token) const;
  ConfigId next(ConfigId config, TokenId token, bool& terminated);

  std::shared_ptr<CompiledGrammar> grammar_;
  std::shared_ptr<Engine> engine_;
  History history_;
  std::vector<std::pair<size_t, std::string>> byte_entries_;  // history position, bytes
  std::vector<TokenId> stop_tokens_;
  bool terminate_without_stop_token_;
  bool terminated_ = false;
};

}  // namespace maskwright
