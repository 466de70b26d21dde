#include "engine/matcher.h"

#include <algorithm>
#include <bit>

namespace maskwright {
namespace {

constexpr size_t kQuickWork = 512;  // items times bytes; a few ns each

// Precondition: the mask allows exactly one token.
TokenId sole_token(const ConfigMask& mask, uint32_t num_words) {
  if (!mask.sparse.empty()) return mask.sparse.front();
  const uint32_t* words = mask.dense();
  for (uint32_t w = 0; w + 1 < num_words; ++w)
    if (words[w]) return static_cast<TokenId>(32 * w + static_cast<uint32_t>(std::countr_zero(words[w])));
  return static_cast<TokenId>(32 * (num_words - 1) + static_cast<uint32_t>(std::countr_zero(words[num_words - 1])));
}

}  // namespace

Matcher::Matcher(std::shared_ptr<CompiledGrammar> grammar, const std::vector<TokenId>& stop_tokens,
                 bool terminate_without_stop_token, Budget budget, double default_temperature)
    : grammar_(std::move(grammar)),
      engine_(grammar_->engine()),
      terminate_without_stop_token_(terminate_without_stop_token),
      budget_(budget),
      default_temperature_(default_temperature),
      initial_(initial_in(*engine_)) {
  for (const TokenId token : stop_tokens)
    if (!is_among_stops(token)) stop_tokens_.push_back(token);
}

Matcher::Point Matcher::here() {
  if (engine_->past_budget()) renew();
  return {config(), terminated_};
}

// A token that the grammar names goes on in it, even if it is a stop token too.
std::optional<Matcher::Point> Matcher::after(Point point, TokenId token) {
  if (point.terminated) return std::nullopt;
  const ConfigId next = engine_->step(point.config, token);
  const bool is_unnamed = next != kNoConfig && is_among_stops(token) && !engine_->names(point.config, token);
  if (next != kNoConfig && (!is_unnamed || needs_stops_as_content(point.config))) return Point{next, false};
  if (ends_output(token) && engine_->complete(point.config)) return Point{point.config, true};
  return std::nullopt;
}

bool Matcher::has_stops(const ConfigMask& mask) const {
  return std::ranges::any_of(stop_tokens_, [&](TokenId token) { return mask.allows(token); });
}

bool Matcher::needs_stops_as_content(ConfigId config) {
  if (engine_->complete(config)) return false;
  const ConfigMask& mask = engine_->mask(config);
  if (mask.num_allowed > stop_tokens_.size()) return false;
  const auto is_unnamed = [&](TokenId token) { return mask.allows(token) && !engine_->names(config, token); };
  return std::ranges::count_if(stop_tokens_, is_unnamed) == mask.num_allowed;
}

// Moves to the current engine by replaying the history. Other estimates might refuse what these have allowed.
void Matcher::renew() {
  auto fresh = grammar_->engine();
  if (fresh == engine_ || engine_->rests_on_estimates(config())) return;
  const std::vector<Entry> entries = history_.entries();
  const std::vector<ByteEntry> byte_entries = byte_entries_.entries();
  SharedLog<Entry> replayed;
  const ConfigId initial = initial_in(*fresh);
  ConfigId config = initial;
  size_t byte_entry = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].token == kBytes)
      config = fresh->step_bytes(config, *byte_entries[byte_entry++].bytes);
    else if (!(terminated_ && i + 1 == entries.size()))
      config = fresh->step(config, entries[i].token);
    if (config == kNoConfig) return;
    replayed.push({entries[i].token, config});
  }
  fresh->allow_for_replay();
  engine_ = std::move(fresh);
  initial_ = initial;
  history_ = std::move(replayed);
}

bool Matcher::accept(TokenId token) {
  const std::optional<Point> next = after(here(), token);
  if (!next) return false;
  history_.push({token, next->config});
  terminated_ = next->terminated;
  return true;
}

bool Matcher::accepts_quickly(TokenId token) const {
  if (terminated_) return true;
  if (!here_is_known()) return false;
  const ConfigId from = config();
  const ConfigMask* mask = engine_->known_mask(from);
  if (is_among_stops(token) && (!mask || mask->allows(token))) return false;
  if (engine_->known_step(from, token) != kNoConfig) return true;
  return mask && engine_->steps_quickly(from) &&
         engine_->items(from).size() * grammar_->vocabulary().text(token).size() <= kQuickWork;
}

size_t Matcher::validate(const TokenId* tokens, size_t count) {
  std::optional<Point> at = here();
  for (size_t i = 0; i < count; ++i)
    if (!(at = after(*at, tokens[i]))) return i;
  return count;
}

bool Matcher::accept_bytes(std::string_view bytes) {
  if (terminated_ || bytes.empty()) return bytes.empty();
  const Point point = here();
  const ConfigId after = engine_->step_bytes(point.config, bytes);
  if (after == kNoConfig) return false;
  byte_entries_.push({history_.size(), std::make_shared<const std::string>(bytes)});
  history_.push({kBytes, after});
  return true;
}

uint32_t Matcher::fill(Point point, uint32_t* words) {
  if (point.terminated) {
    std::fill_n(words, num_words(), 0);
    return 0;
  }
  const ConfigMask& mask = engine_->mask(point.config);
  mask.write(words, num_words());
  uint32_t allowed = mask.num_allowed;
  const auto is_set = [&](TokenId token) { return (words[token / 32] >> (token % 32) & 1) != 0; };
  if (std::ranges::any_of(stop_tokens_, is_set) && !needs_stops_as_content(point.config))
    for (const TokenId token : stop_tokens_)
      if (is_set(token) && !engine_->names(point.config, token)) {
        words[token / 32] &= ~(uint32_t{1} << (token % 32));
        --allowed;
      }
  if (engine_->complete(point.config) && !terminate_without_stop_token_)
    for (const TokenId token : stop_tokens_) {
      uint32_t& word = words[token / 32];
      const uint32_t bit = uint32_t{1} << (token % 32);
      allowed += (word & bit) ? 0 : 1;
      word |= bit;
    }
  return allowed;
}

std::optional<TokenId> Matcher::forced_token() {
  const Point point = here();
  if (point.terminated) return std::nullopt;
  const ConfigMask& mask = engine_->mask(point.config);
  if (mask.num_allowed > stop_tokens_.size() + 1) return std::nullopt;
  if (has_stops(mask)) return forced_among_stops(point);
  if (mask.num_allowed > 1) return std::nullopt;
  std::optional<TokenId> only;
  if (mask.num_allowed == 1) only = sole_token(mask, num_words());
  if (engine_->complete(point.config) && !terminate_without_stop_token_)
    for (const TokenId token : stop_tokens_) {
      if (only && *only != token) return std::nullopt;
      only = token;
    }
  return only;
}

std::optional<TokenId> Matcher::forced_among_stops(Point point) {
  ConfigMask mask;
  mask.own_dense.resize(num_words());
  if (fill(point, mask.own_dense.data()) != 1) return std::nullopt;
  return sole_token(mask, num_words());
}

bool Matcher::text_may_follow() {
  const Point point = here();
  return !point.terminated && engine_->bytes_may_follow(point.config);
}

Precomputation Matcher::precomputation() {
  const Point point = here();
  return Precomputation(engine_, point.config);
}

void Matcher::update(CaptureTracker& tracker) const {
  tracker.truncate(history_.size());
  const size_t known = tracker.num_entries();
  if (known == history_.size()) return;
  std::vector<Entry> entries = history_.entries(known);
  if (terminated_) entries.pop_back();  // a stop token is no output
  std::vector<ByteEntry> texts;
  if (!byte_entries_.empty() && byte_entries_.back().position >= known) texts = byte_entries_.entries();
  auto text = std::ranges::lower_bound(texts, known, {}, &ByteEntry::position);
  for (const Entry& entry : entries)
    if (entry.token == kBytes)
      tracker.read_bytes(*(text++)->bytes);
    else
      tracker.read_token(entry.token);
}

bool Matcher::rollback(size_t count) {
  if (count > history_.size()) return false;
  if (count == 0) return true;
  history_.pop(count);
  while (!byte_entries_.empty() && byte_entries_.back().position >= history_.size()) byte_entries_.pop(1);
  terminated_ = false;
  return true;
}

void Matcher::reset() {
  history_.clear();
  byte_entries_.clear();
  terminated_ = false;
  engine_ = grammar_->engine();
  initial_ = initial_in(*engine_);
}

}  // namespace maskwright
