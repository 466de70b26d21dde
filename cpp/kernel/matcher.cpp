#include "matcher.h"

#include <algorithm>

namespace maskwright {

// A long chain of chunks is released link by link, not by recursion.
History::Chunk::~Chunk() {
  auto link = std::move(previous);
  while (link && link.use_count() == 1) {
    auto next = std::move(const_cast<Chunk&>(*link).previous);
    link = std::move(next);
  }
}

void History::push(Entry entry) {
  if (!chunk_ || used_ == kChunk) {
    auto fresh = std::make_shared<Chunk>();
    fresh->previous = std::move(chunk_);
    chunk_ = std::move(fresh);
    before_ += used_;
    used_ = 0;
  } else if (chunk_.use_count() > 1) {
    chunk_ = std::make_shared<Chunk>(*chunk_);  // shared with a fork
  }
  chunk_->entries[used_++] = entry;
}

void History::pop(size_t count) {
  while (count > used_) {
    count -= used_;
    // Chunks below the last are full and never written again, so dropping const is safe: push copies a shared one.
    chunk_ = std::const_pointer_cast<Chunk>(chunk_->previous);
    used_ = kChunk;
    before_ -= kChunk;
  }
  used_ -= count;
  if (used_ == 0 && before_ > 0) {
    chunk_ = std::const_pointer_cast<Chunk>(chunk_->previous);
    used_ = kChunk;
    before_ -= kChunk;
  }
}

void History::clear() {
  *this = History();
}

std::vector<TokenId> History::tokens(size_t first) const {
  std::vector<TokenId> out(size() - first);
  const Chunk* chunk = chunk_.get();
  size_t begin = before_, used = used_;
  while (chunk && used > 0 && begin + used > first) {
    for (size_t i = begin < first ? first - begin : 0; i < used; ++i) out[begin + i - first] = chunk->entries[i].token;
    chunk = chunk->previous.get();
    used = kChunk;
    begin = begin >= kChunk ? begin - kChunk : 0;
  }
  return out;
}

Matcher::Matcher(std::shared_ptr<CompiledGrammar> grammar, std::vector<TokenId> stop_tokens,
                 bool terminate_without_stop_token)
    : grammar_(std::move(grammar)),
      engine_(grammar_->engine()),
      stop_tokens_(std::move(stop_tokens)),
      terminate_without_stop_token_(terminate_without_stop_token) {}

bool Matcher::is_stop(TokenId token) const {
  return !terminate_without_stop_token_ &&
         std::find(stop_tokens_.begin(), stop_tokens_.end(), token) != stop_tokens_.end();
}

// A token that the grammar itself takes goes on in it, even if it is a stop token too.
ConfigId Matcher::next(ConfigId config, TokenId token, bool& terminated) {
  terminated = false;
  const ConfigId after = engine_->step(config, token);
  if (after != kNoConfig || !is_stop(token) || !engine_->complete(config)) return after;
  terminated = true;
  return config;
}

// Moves to the current engine by replaying the history.
void Matcher::renew() {
  auto fresh = grammar_->engine();
  if (fresh == engine_) return;
  const std::vector<TokenId> tokens = history_.tokens();
  History replayed;
  ConfigId config = fresh->initial();
  size_t byte_entry = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == kBytes)
      config = fresh->step_bytes(config, byte_entries_[byte_entry++].second);
    else if (!(terminated_ && i + 1 == tokens.size()))
      config = fresh->step(config, tokens[i]);
    replayed.push({tokens[i], config});
  }
  fresh->allow_for_replay();
  engine_ = std::move(fresh);
  history_ = std::move(replayed);
}

bool Matcher::accept(TokenId token) {
  if (terminated_) return false;
  if (stale()) renew();
  bool terminated;
  const ConfigId after = next(config(), token, terminated);
  if (after == kNoConfig) return false;
  history_.push({token, after});
  terminated_ = terminated;
  return true;
}

size_t Matcher::validate(const TokenId* tokens, size_t count) {
  if (terminated_) return 0;
  if (stale()) renew();
  ConfigId at = config();
  for (size_t i = 0; i < count; ++i) {
    bool terminated;
    at = next(at, tokens[i], terminated);
    if (at == kNoConfig) return i;
    if (terminated) return i + 1;
  }
  return count;
}

bool Matcher::accept_bytes(std::string_view bytes) {
  if (terminated_) return bytes.empty();
  if (bytes.empty()) return true;
  if (stale()) renew();
  const ConfigId after = engine_->step_bytes(config(), bytes);
  if (after == kNoConfig) return false;
  byte_entries_.emplace_back(history_.size(), std::string(bytes));
  history_.push({kBytes, after});
  return true;
}

uint32_t Matcher::fill(uint32_t* words) {
  const uint32_t num_words = grammar_->vocabulary().num_words();
  if (terminated_) {
    std::fill_n(words, num_words, 0);
    return 0;
  }
  if (stale()) renew();
  const ConfigMask& mask = engine_->mask(config());
  mask.write(words, num_words);
  uint32_t allowed = mask.num_allowed;
  if (engine_->complete(config()) && !terminate_without_stop_token_)
    for (const TokenId token : stop_tokens_) {
      uint32_t& word = words[token / 32];
      const uint32_t bit = uint32_t{1} << (token % 32);
      allowed += (word & bit) ? 0 : 1;
      word |= bit;
    }
  return allowed;
}

void Matcher::update(CaptureTracker& tracker) const {
  if (tracker.num_entries() >= history_.size()) return;
  std::vector<TokenId> tokens = history_.tokens(tracker.num_entries());
  if (terminated_) tokens.pop_back();  // a stop token is no output
  auto bytes = std::lower_bound(byte_entries_.begin(), byte_entries_.end(), tracker.num_entries(),
                                [](const auto& entry, size_t position) { return entry.first < position; });
  for (const TokenId token : tokens)
    if (token == kBytes)
      tracker.read_bytes((bytes++)->second);
    else
      tracker.read_token(token);
}

bool Matcher::rollback(size_t count) {
  if (count > history_.size()) return false;
  if (count == 0) return true;
  history_.pop(count);
  while (!byte_entries_.empty() && byte_entries_.back().first >= history_.size()) byte_entries_.pop_back();
  terminated_ = false;
  return true;
}

void Matcher::reset() {
  history_.clear();
  byte_entries_.clear();
  terminated_ = false;
  engine_ = grammar_->engine();
}

}  // namespace maskwright
