// What the engine does with token budgets: clocks and deadlines of configurations, and what it refuses.
#include <algorithm>
#include <string>

#include "budget/many_texts.h"
#include "engine/engine.h"
#include "rules/instances/deferred.h"
#include "rules/reached.h"
#include "support/errors.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr uint32_t kMostBitsOfSearches = 4;  // that rules with a parameter move: items in any order
constexpr size_t kFewSteps = 1'000'000;      // of a search that engines wait for
constexpr int64_t kBytesAround = 256;        // of a way to a deferred subgrammar, and from there to the end
constexpr size_t kManySteps = 14'000'000;    // of any other: what a refusal says takes some more

std::string tokens(uint32_t number) {
  return std::to_string(number) + (number == 1 ? " token" : " tokens");
}

}  // namespace

TokenBudgets& Engine::budgets() {
  std::call_once(has_budgets_, [this] {
    budgets_ = std::make_unique<TokenBudgets>(*vocabulary_, stacks_, program_->has_values, searched_bytes_);
  });
  return *budgets_;
}

// By promises: see budget.h.
TokenBudgets& Engine::promised_budgets() {
  std::call_once(has_promised_budgets_, [this] {
    promised_budgets_ =
        std::make_unique<TokenBudgets>(*vocabulary_, stacks_, program_->has_values, promised_bytes_, true);
  });
  return *promised_budgets_;
}

// Whether no deferred subgrammar is missing of those that were at first.
bool Engine::is_whole() {
  if (is_whole_.load(std::memory_order_acquire)) return true;
  std::call_once(knows_missing_, [this] { missing_ = program_->deferred(); });
  if (std::ranges::any_of(missing_, [](const RuleGroup* group) { return group->is_missing(); })) return false;
  is_whole_.store(true, std::memory_order_release);
  return true;
}

// Searches for what can end in time would come to them one by one, and begin again each time.
void Engine::need_whole() {
  if (!is_whole()) throw GrammarNeeded(program_->group);
}

// Whether items may come in many orders, or many texts be remembered.
bool Engine::has_endless_searches() {
  if (most_bits_moved(*program_->group) > kMostBitsOfSearches) return true;
  std::call_once(knows_texts_, [this] {
    has_many_texts_ = program_->has_memory && remember_many_texts(*vocabulary_, program_->groups());
  });
  return has_many_texts_;
}

// What a rule with a budget remembers must be found out by searches.
void Engine::check_budgets_of_rules() {
  if (program_->group->has_lists())
    throw LimitExceeded(
        "remembered_text_budget",
        "a rule cannot have max_tokens in a grammar with distinct elements: give the budget to the whole "
        "output");
  if (!program_->has_memory) return;
  for (RuleGroup* group : program_->groups()) {
    if (!group->has_memory()) continue;
    for (uint32_t i = 0; i < group->num_rules(); ++i) {
      const auto& span = group->rule(i).span();
      if (span && span->max_tokens > 0 && remember_many_texts(*vocabulary_, groups_reached(*group)))
        throw LimitExceeded("remembered_text_budget",
                            "a rule with max_tokens remembers a text that may be one of too many: give the budget to "
                            "rules within it, or to the whole output");
    }
  }
}

// Whether every token that the grammar takes there leaves all open rules time enough. Precondition: it has a core.
bool Engine::is_safe(const Config& config) {
  Config& core = configs_[config.core];
  const bool counts_by_bytes = !program_->has_memory && !program_->has_budgets;
  if (counts_by_bytes && is_far_by_promises(core, config.clock)) return true;
  need_whole();
  if (counts_by_bytes) {
    int64_t far = core.far_clock.load(std::memory_order_relaxed);
    if (far == kUnknownClock) core.far_clock.store(far = budgets().far_clock(core.span()), std::memory_order_relaxed);
    if (config.clock >= far) return true;
  }
  int64_t safe = core.safe_clock.load(std::memory_order_relaxed);
  if (safe == kUnknownClock) {
    const bool has_lists = program_->group->has_lists();
    Config& sized = has_lists ? configs_[without_texts(core)] : core;
    safe = sized.safe_clock.load(std::memory_order_relaxed);
    if (safe == kUnknownClock) safe = budgets().safe_clock(sized.span(), has_lists);
    sized.safe_clock.store(safe, std::memory_order_relaxed);
    core.safe_clock.store(safe, std::memory_order_relaxed);
  }
  return config.clock >= safe;
}

// By how much budgets that know all subgrammars may ask for more: where ways are estimated, theirs may lead through
// another of what is missing.
int64_t Engine::more_than_promised() {
  return promised_budgets().has_estimates() ? most_promised() + kBytesAround : 0;
}

// The bytes of the longest of what is missing.
int64_t Engine::most_promised() const {
  int64_t most = 0;
  for (const RuleGroup* group : missing_) most = std::max<int64_t>(most, group->promised_bytes().value_or(kAnyTokens));
  return most;
}

// Where some subgrammars are missing.
bool Engine::is_far_by_promises(Config& core, int64_t clock) {
  if (is_whole()) return false;
  int64_t far = core.promised_clock.load(std::memory_order_relaxed);
  if (far == kUnknownClock) {
    far = promised_budgets().far_clock(core.span());
    if (far != TokenBudgets::kNeverSafe) far += more_than_promised();
    core.promised_clock.store(far, std::memory_order_relaxed);
  }
  return clock >= far;
}

// With room for the longest of them, whose tokens have some four bytes each: so that few outputs come to where all are
// needed in the midst of decoding.
bool Engine::fits_by_promises(uint32_t max_tokens) {
  if (program_->has_memory || program_->has_budgets || program_->group->has_lists() || is_whole()) return false;
  const std::span<const Item> items = configs_[0].span();
  return std::ranges::all_of(items, [&](const Item& item) {
    const int64_t enough = promised_budgets().enough_tokens(item);
    return enough + std::max(more_than_promised(), most_promised() / 4 + kBytesAround) <= max_tokens;
  });
}

// The configuration that is the same for all lists of as many elements.
ConfigId Engine::without_texts(const Config& config) {
  const std::lock_guard guard(unknown_texts_lock_);
  unknown_texts_.count(config.span());
  const std::lock_guard own_guard(lock_);
  std::vector<Item> items;
  for (const Item& item : config.span()) items.push_back(unknown_texts_.without_texts(item, stacks_));
  unknown_texts_bytes_ = unknown_texts_.memory_bytes();
  return intern(std::move(items), config.complete);
}

bool Engine::rests_on_estimates(ConfigId config) {
  const Config& at = configs_[config];
  const bool by_bounds = at.core != kNoConfig && !at.span().empty() && stacks_.by_bounds(at.span().front().stack);
  return by_bounds && budgets().has_estimates();
}

bool Engine::steps_quickly(ConfigId config) const {
  const Config& at = configs_[config];
  if (at.core == kNoConfig) return true;
  const auto is_past = [&](const std::atomic<int64_t>& kept) {
    const int64_t safe = kept.load(std::memory_order_relaxed);
    return safe != kUnknownClock && at.clock >= safe;
  };
  const Config& core = configs_[at.core];
  return is_past(core.far_clock) || is_past(core.safe_clock) || is_past(core.promised_clock);
}

// The configuration of the items behind a token, without those that cannot end in time. `read`: its text.
ConfigId Engine::within_budgets(const Config& from, Landed landed, bool is_token, std::string_view read) {
  auto& [items, complete, text] = landed;
  const int64_t clock = from.clock - 1;
  if (is_token && is_safe(from)) {  // other text may lead further than any token
    std::erase_if(items, [&](const Item& item) {
      const int64_t deadline = stacks_.deadline(item.stack);
      return deadline != kNoDeadline && clock + deadline < 1;
    });
  } else {
    need_whole();
    std::vector<Item> viable = items;
    budgets().keep_viable(viable, clock);
    const bool is_lost = viable.empty() && !complete;
    if (!is_lost || !budgets().is_sure(from.span(), from.complete, from.clock, from.text, read))
      items = std::move(viable);
  }
  if (items.empty() && !complete) return kNoConfig;
  const std::lock_guard guard(lock_);
  return intern_at(std::move(landed), clock);
}

// Sets the clock and takes the items apart from it. The lock is held.
ConfigId Engine::intern_at(Landed landed, int64_t clock) {
  auto& [items, complete, text] = landed;
  drop_past_ways(items, clock);
  int64_t last = INT64_MIN;
  for (const Item& item : items) {
    const int64_t earliest = stacks_.earliest_deadline(item.stack), deadline = stacks_.deadline(item.stack);
    if (earliest == kNoDeadline) continue;
    last = std::max(last, deadline == kNoDeadline ? earliest : deadline);
  }
  if (last == INT64_MIN) {
    const ConfigId id = intern(std::move(items), complete, 0, text);
    if (program_->has_budgets) relate(id, id, id);
    return id;
  }
  if (last != 0) move_deadlines(items, -last);
  std::vector<Item> plain = items;
  move_deadlines(plain, std::nullopt);
  const ConfigId plain_id = intern(std::move(plain), complete, 0, text);
  const ConfigId core_id = intern(items, complete, 0);
  const ConfigId id = intern(std::move(items), complete, clock + last, text);
  relate(id, core_id, plain_id);
  return id;
}

// Others may be reading a configuration that was there before: what it is related to never changes.
void Engine::relate(ConfigId id, ConfigId core, ConfigId plain) {
  Config& config = configs_[id];
  if (config.core != kNoConfig) return;
  config.core = core;
  config.plain = plain;
}

// Takes out what cannot be returned to any more, beside ways that can. The lock is held.
void Engine::drop_past_ways(std::vector<Item>& items, int64_t clock) {
  const auto is_past = [clock](int64_t deadline) { return deadline != kNoDeadline && clock + deadline < 1; };
  std::unordered_map<StackId, StackId> moved;
  for (Item& item : items) {
    if (!is_past(stacks_.earliest_deadline(item.stack))) continue;
    item.stack = stacks_.rebuilt(item.stack, moved, [&](std::vector<Frame>& frames, StackMark&) {
      const auto is_way = [&](const Frame& frame) { return !frame.target || !is_past(stacks_.deadline(frame.parent)); };
      if (!std::ranges::any_of(frames, is_way)) return;  // what stands on it goes, too
      std::erase_if(frames, [&](const Frame& frame) { return !is_way(frame); });
    });
  }
}

// The lock is held.
void Engine::move_deadlines(std::vector<Item>& items, std::optional<int64_t> later) {
  std::unordered_map<StackId, StackId> moved;
  for (Item& item : items)
    if (stacks_.earliest_deadline(item.stack) != kNoDeadline)
      item.stack = stacks_.with_deadlines(item.stack, later, moved);
}

template <class Tokens>
uint32_t Engine::least_over_start(Tokens&& tokens) {
  uint32_t least = kAnyTokens;
  for (const Item& item : configs_[0].span()) least = std::min<uint32_t>(least, tokens(item));
  return least;
}

uint32_t Engine::enough_tokens() {
  return least_over_start([&](const Item& item) { return budgets().enough_tokens(item); });
}

Unsatisfiable Engine::too_few(uint32_t max_tokens) {
  const uint32_t least = least_over_start([&](const Item& item) { return budgets().least_tokens(item); });
  if (least == kAnyTokens) {
    return Unsatisfiable("no sequence of tokens of this vocabulary is an output",
                         "use a tokenizer whose tokens can spell every text, as most can, byte by byte");
  }
  const std::string needed = tokens(least);
  return Unsatisfiable("the shortest output needs " + needed + ", but max_tokens is " + std::to_string(max_tokens),
                       "allow " + needed + " or more", {least, least});
}

// Where it is not known whether an output fits.
void Engine::refuse_budget(const std::string& limit, uint32_t max_tokens) {
  const uint32_t most = enough_tokens();
  const uint32_t least = least_over_start([&](const Item& item) { return budgets().at_least_tokens(item); });
  const std::string at_least = "at least " + tokens(least), given = std::to_string(max_tokens),
                    enough_are =
                        most < kAnyTokens ? "; " + tokens(most) + (most == 1 ? " is enough" : " are enough") : "";
  const TokensNeeded needed{least, most < kAnyTokens ? most : 0};
  if (least > max_tokens && !configs_[0].complete)
    throw Unsatisfiable("the shortest output needs " + at_least + ", but max_tokens is " + given + enough_are, {},
                        needed);
  if (most < kAnyTokens)
    throw LimitExceeded(limit,
                        "whether an output fits into max_tokens, " + given +
                            (program_->group->has_lists() ? ", is not known" : ", takes too long to find out") +
                            ": the shortest needs " + at_least + enough_are,
                        needed);
}

ConfigId Engine::initial_within(uint32_t max_tokens, bool& by_bounds) {
  const Work::Scope scope;
  const bool fits = by_bounds && fits_by_promises(max_tokens);
  if (!fits) need_whole();
  const bool has_lists = program_->group->has_lists();
  size_t steps = kManySteps;
  if (has_lists) {
    by_bounds = true;
  } else if (!by_bounds && has_endless_searches()) {
    by_bounds = enough_tokens() <= max_tokens;
  } else if (by_bounds && !fits && enough_tokens() > max_tokens) {  // exactly, then, but only if that is soon found out
    by_bounds = false;
    steps = kFewSteps;
  }
  std::vector<Item> items(configs_[0].span().begin(), configs_[0].span().end());
  const bool complete = configs_[0].complete;
  if (!items.empty()) {
    const std::lock_guard guard(lock_);
    const StackId stack = stacks_.intern({{nullptr, 0, kRootStack}}, {nullptr, 0, by_bounds});
    for (Item& item : items) item.stack = stack;
  }
  try {
    const Work::Share share(steps);
    if (!fits) budgets().keep_viable(items, max_tokens);
    if (items.empty() && !complete) {
      if (has_lists)
        throw LimitExceeded(
            "remembered_text_budget",
            "token budgets cannot be kept in a grammar with distinct elements if bytes of its texts are "
            "no tokens of the vocabulary: leave out max_tokens");
      throw too_few(max_tokens);
    }
  } catch (const LimitExceeded& e) {
    refuse_budget(e.limit, max_tokens);
    throw;
  }
  const ConfigId config = [&] {
    const std::lock_guard guard(lock_);
    return intern_at({std::move(items), complete}, max_tokens);
  }();
  const ConfigId core = configs_[config].core;
  if (fits && core != kNoConfig && !is_far_by_promises(configs_[core], max_tokens)) need_whole();
  return config;
}

}  // namespace maskwright
