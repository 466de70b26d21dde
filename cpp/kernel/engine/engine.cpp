#include "engine/engine.h"

#include <algorithm>
#include <set>
#include <string>

#include "budget/many_texts.h"
#include "rules/instances/family.h"
#include "rules/reached.h"
#include "support/errors.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr size_t kMaxBudgetGrowth = 16;
constexpr size_t kMaxSmallBudget = size_t{256} << 20;  // a small budget may grow to this all the same
constexpr size_t kMaxForcedWork = 20'000;              // items looked at in one search for forced bytes
constexpr uint32_t kMostBitsOfSearches = 8;            // that rules with a parameter move: items in any order
constexpr size_t kFewSteps = 1'000'000;                // of a search that engines wait for

}  // namespace

ConfigId TransitionTable::find(ConfigId config, TokenId token) const {
  const Table& table = *table_.load(std::memory_order_acquire);
  const uint64_t key = key_of(config, token);
  for (size_t s = mix(0, key) & table.mask;; s = (s + 1) & table.mask) {
    const uint64_t found = table.slots[s].key.load(std::memory_order_acquire);
    if (found == key) return table.slots[s].next.load(std::memory_order_relaxed);
    if (found == kFree) return kNoConfig;
  }
}

void TransitionTable::insert(ConfigId config, TokenId token, ConfigId next) {
  if (2 * used_ > tables_.back()->mask) grow(2 * (tables_.back()->mask + 1));
  const Table& table = *tables_.back();
  const uint64_t key = key_of(config, token);
  size_t s = mix(0, key) & table.mask;
  for (; table.slots[s].key.load(std::memory_order_relaxed) != kFree; s = (s + 1) & table.mask)
    if (table.slots[s].key.load(std::memory_order_relaxed) == key) return;
  table.slots[s].next.store(next, std::memory_order_relaxed);
  table.slots[s].key.store(key, std::memory_order_release);
  ++used_;
}

void TransitionTable::grow(size_t size) {
  auto table = std::make_unique<Table>(Table{size - 1, std::make_unique<Slot[]>(size)});
  if (!tables_.empty()) {
    const Table& old = *tables_.back();
    for (size_t i = 0; i <= old.mask; ++i) {
      const uint64_t key = old.slots[i].key.load(std::memory_order_relaxed);
      if (key == kFree) continue;
      size_t s = mix(0, key) & table->mask;
      while (table->slots[s].key.load(std::memory_order_relaxed) != kFree) s = (s + 1) & table->mask;
      table->slots[s].next.store(old.slots[i].next.load(std::memory_order_relaxed), std::memory_order_relaxed);
      table->slots[s].key.store(key, std::memory_order_relaxed);
    }
  }
  bytes_ += size * sizeof(Slot);
  table_.store(table.get(), std::memory_order_release);
  tables_.push_back(std::move(table));
}

Engine::Engine(std::shared_ptr<const Vocabulary> vocabulary, std::shared_ptr<const Program> program,
               size_t budget_bytes, std::shared_ptr<MaskCounters> counters)
    : vocabulary_(std::move(vocabulary)),
      program_(std::move(program)),
      counters_(std::move(counters)),
      initial_budget_bytes_(budget_bytes),
      budget_bytes_(budget_bytes) {
  Rule& root = *program_->root;
  std::vector<Item> items;
  const Work::Scope scope;
  if (root.productive()) items.push_back({root.start(), 0, kRootStack});
  if (program_->has_budgets) {
    check_budgets_of_rules();
    budgets().keep_viable(items, 0);
    if (items.empty() && !root.nullable()) {
      throw Unsatisfiable("no output fits the token budgets of this grammar",
                          "raise max_tokens where the grammar sets it");
    }
  }
  intern_at(std::move(items), root.nullable(), 0);
}

ConfigId Engine::step(ConfigId config, TokenId token) {
  if (optimisations.config_memo)
    if (const ConfigId known = transitions_.find(config, token); known != kNoConfig) return known;
  if (token < 0 || static_cast<uint32_t>(token) >= vocabulary_->vocab_size()) return kNoConfig;
  const Work::Scope scope;
  thread_local Recognizer recognizer;
  const Config& from = configs_[config];
  std::vector<Item> items;
  bool complete = false, alive = false;
  CellId text_read = from.text;
  // A token may be read as such and as its text. Stacks of the first reading are kept before the second begins.
  recognizer.reset(stacks_, from.span(), from.complete, from.clock, from.text);
  if (recognizer.push_token(token)) {
    items.assign(recognizer.items().begin(), recognizer.items().end());
    complete = recognizer.complete();
    alive = true;
    text_read = recognizer.text();
    const std::lock_guard guard(lock_);
    import_stacks(recognizer, stacks_, items, text_read);
  }
  if (alive) recognizer.reset(stacks_, from.span(), from.complete, from.clock, from.text);
  const std::string_view text = vocabulary_->text(token);
  bool by_text = !text.empty();
  for (size_t i = 0; by_text && i < text.size(); ++i) by_text = recognizer.push(static_cast<uint8_t>(text[i]));
  if (by_text) {
    items.insert(items.end(), recognizer.items().begin(), recognizer.items().end());
    complete = complete || recognizer.complete();
    text_read = recognizer.text();
    alive = true;
  }
  if (!alive) return kNoConfig;
  return after_token(config, token, recognizer, {std::move(items), complete, text_read});
}

bool Engine::names(ConfigId config, TokenId token) {
  const Work::Scope scope;
  thread_local Recognizer recognizer;
  const Config& from = configs_[config];
  recognizer.reset(stacks_, from.span(), from.complete, from.clock, from.text);
  if (!recognizer.push_token(token, true)) return false;
  if (from.core == kNoConfig) return true;
  std::vector<Item> items(recognizer.items().begin(), recognizer.items().end());
  return after_token(config, kNoToken, recognizer, {std::move(items), recognizer.complete()}) != kNoConfig;
}

// Keeps where a token leads. The stacks made last are still the recogniser's.
ConfigId Engine::after_token(ConfigId config, TokenId token, const Recognizer& recognizer, Landed landed) {
  auto& [items, complete, text] = landed;
  std::unique_lock guard(lock_);
  import_stacks(recognizer, stacks_, items, text);
  ConfigId next;
  if (configs_[config].core != kNoConfig) {
    guard.unlock();
    next = within_budgets(configs_[config], std::move(items), complete, token != kNoToken);
    if (next == kNoConfig) return kNoConfig;
    guard.lock();
  } else {
    next = intern(std::move(items), complete, 0, text);
  }
  if (token != kNoToken) transitions_.insert(config, token, next);
  account();
  return next;
}

ConfigId Engine::step_bytes(ConfigId config, std::string_view bytes) {
  thread_local Recognizer recognizer;
  constexpr size_t kBlock = 1024;  // scratch stacks are imported now and then, so that long texts need little memory
  const Config& from = configs_[config];
  std::vector<Item> items(from.span().begin(), from.span().end());
  bool complete = from.complete;
  CellId text = from.text;
  while (true) {
    const std::string_view block = bytes.substr(0, kBlock);
    bytes.remove_prefix(block.size());
    const Work::Scope scope;
    recognizer.reset(stacks_, items, complete, from.clock, text);
    for (const char c : block)
      if (!recognizer.push(static_cast<uint8_t>(c))) return kNoConfig;
    items.assign(recognizer.items().begin(), recognizer.items().end());
    complete = recognizer.complete();
    text = recognizer.text();
    if (bytes.empty()) return after_token(config, kNoToken, recognizer, {std::move(items), complete, text});
    const std::lock_guard guard(lock_);
    import_stacks(recognizer, stacks_, items, text);
    account();
  }
}

TokenBudgets& Engine::budgets() {
  if (program_->has_values)
    throw LimitExceeded("remembered_text_budget",
                        "token budgets cannot be kept in a grammar with distinct elements of any spelling: leave out "
                        "max_tokens");
  std::call_once(has_budgets_,
                 [this] { budgets_ = std::make_unique<TokenBudgets>(*vocabulary_, stacks_, searched_bytes_); });
  return *budgets_;
}

// Whether items may come in many orders, or many texts be remembered.
bool Engine::has_endless_searches() {
  const auto is_large = [](const Family* family) { return family->num_bits_moved() > kMostBitsOfSearches; };
  if (std::ranges::any_of(program_->families(), is_large)) return true;
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

bool Engine::steps_quickly(ConfigId config) const {
  const Config& at = configs_[config];
  if (at.core == kNoConfig) return true;
  const int64_t safe = configs_[at.core].safe_clock.load(std::memory_order_relaxed);
  return safe != kUnknownClock && at.clock >= safe;
}

// The configuration of the items behind a token, without those that cannot end in time.
ConfigId Engine::within_budgets(const Config& from, std::vector<Item> items, bool complete, bool is_token) {
  const int64_t clock = from.clock - 1;
  if (is_token && is_safe(from))  // other text may lead further than any token
    std::erase_if(items, [&](const Item& item) {
      const int64_t deadline = stacks_.deadline(item.stack);
      return deadline != kNoDeadline && clock + deadline < 1;
    });
  else
    budgets().keep_viable(items, clock);
  if (items.empty() && !complete) return kNoConfig;
  const std::lock_guard guard(lock_);
  return intern_at(std::move(items), complete, clock);
}

// Sets the clock and takes the items apart from it. The lock is held.
ConfigId Engine::intern_at(std::vector<Item> items, bool complete, int64_t clock) {
  int64_t last = INT64_MIN;
  for (const Item& item : items)
    if (const int64_t deadline = stacks_.deadline(item.stack); deadline != kNoDeadline) last = std::max(last, deadline);
  if (last == INT64_MIN) {
    const ConfigId id = intern(std::move(items), complete);
    if (program_->has_budgets) relate(id, id, id);
    return id;
  }
  if (last != 0) move_deadlines(items, -last);
  std::vector<Item> plain = items;
  move_deadlines(plain, std::nullopt);
  const ConfigId plain_id = intern(std::move(plain), complete);
  const ConfigId core_id = intern(items, complete, 0);
  const ConfigId id = intern(std::move(items), complete, clock + last);
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

// The lock is held.
void Engine::move_deadlines(std::vector<Item>& items, std::optional<int64_t> later) {
  std::unordered_map<StackId, StackId> moved;
  for (Item& item : items)
    if (stacks_.deadline(item.stack) != kNoDeadline) item.stack = stacks_.with_deadlines(item.stack, later, moved);
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
  const std::string needed = std::to_string(least);
  return Unsatisfiable(
      "the shortest output needs " + needed + " tokens, but max_tokens is " + std::to_string(max_tokens),
      "allow " + needed + " tokens or more");
}

// Where it is not known whether an output fits.
void Engine::refuse_budget(const std::string& limit, uint32_t max_tokens) {
  const uint32_t most = enough_tokens();
  const uint32_t least = least_over_start([&](const Item& item) { return budgets().at_least_tokens(item); });
  const std::string at_least = "at least " + std::to_string(least) + " tokens", given = std::to_string(max_tokens),
                    enough_are = most < kAnyTokens ? "; " + std::to_string(most) + " tokens are enough" : "";
  if (least > max_tokens && !configs_[0].complete)
    throw Unsatisfiable("the shortest output needs " + at_least + ", but max_tokens is " + given + enough_are);
  if (most < kAnyTokens)
    throw LimitExceeded(limit, "whether an output fits into max_tokens, " + given +
                                   ", takes too long to find out: the shortest needs " + at_least + enough_are);
}

ConfigId Engine::initial_within(uint32_t max_tokens, bool& by_bounds) {
  const Work::Scope scope;
  const bool has_lists = program_->group->has_lists();
  if (has_lists) {
    by_bounds = true;
  } else if (!by_bounds && has_endless_searches()) {
    by_bounds = enough_tokens() <= max_tokens;
  } else if (by_bounds && enough_tokens() > max_tokens) {  // exactly, then, but only if that is soon found out
    by_bounds = false;
    Work::leave(kFewSteps);
  }
  std::vector<Item> items(configs_[0].span().begin(), configs_[0].span().end());
  const bool complete = configs_[0].complete;
  if (!items.empty()) {
    const std::lock_guard guard(lock_);
    const StackId stack = stacks_.intern({{nullptr, 0, kRootStack}}, {nullptr, 0, by_bounds});
    for (Item& item : items) item.stack = stack;
  }
  try {
    budgets().keep_viable(items, max_tokens);
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
  const std::lock_guard guard(lock_);
  return intern_at(std::move(items), complete, max_tokens);
}

const ConfigMask& Engine::mask(ConfigId config) {
  if (const ConfigMask* known = known_mask(config)) {
    counters_->hits.add();
    return *known;
  }
  Config& at = configs_[config];
  if (const LimitExceeded* refusal = at.refusal.load(std::memory_order_acquire)) throw *refusal;
  const Work::Scope scope;
  const bool is_near = at.core != kNoConfig && !is_safe(at);
  if (!is_near && at.core != kNoConfig && at.plain != config) {
    const ConfigMask& plain = mask(at.plain);
    if (optimisations.config_memo) at.mask.store(&plain, std::memory_order_release);
    return plain;
  }
  counters_->misses.add();
  std::unique_ptr<const ConfigMask> built;
  if (const ConfigMask* shared = is_near ? nullptr : shared_mask(at, built)) {
    if (!optimisations.config_memo) return *shared;
    const std::lock_guard guard(lock_);
    account();
    at.mask.store(shared, std::memory_order_release);
    return *shared;
  }
  if (!built) built = build_mask(at, is_near);
  if (!optimisations.config_memo) {
    thread_local std::unique_ptr<const ConfigMask> last;
    last = std::move(built);
    return *last;
  }
  const std::lock_guard guard(lock_);
  if (const ConfigMask* earlier = at.mask.load(std::memory_order_acquire)) return *earlier;
  mask_bytes_ += built->memory_bytes();
  at.mask.store(built.get(), std::memory_order_release);
  masks_.push_back(std::move(built));
  account();
  return *masks_.back();
}

// A mask that holds for other configurations as well: of a list of distinct elements, whatever the earlier ones are.
// Else, where values must differ, one that is `built` from such a mask.
const ConfigMask* Engine::shared_mask(Config& config, std::unique_ptr<const ConfigMask>& built) {
  if (program_->has_values) return mask_among_values(config, built);
  if (!optimisations.state_masks || !optimisations.config_memo) return nullptr;
  if (config.num_items != 1 || !distinct_masks_.concerns(config.items[0])) return nullptr;
  thread_local Recognizer recognizer;
  try {
    return distinct_masks_.shared(config.items[0], recognizer);
  } catch (const LimitExceeded&) {  // as making another one will find as well
    return nullptr;
  }
}

// What was given up is not begun again: the next time it would end elsewhere, with what is known by then.
template <class Make>
auto Engine::keeping_refusal(Config& config, Make&& make) {
  try {
    return make();
  } catch (const LimitExceeded& error) {
    const std::lock_guard guard(lock_);
    refusals_.push_back(std::make_unique<const LimitExceeded>(error));
    config.refusal.store(refusals_.back().get(), std::memory_order_release);
    throw;
  }
}

const ConfigMask* Engine::mask_among_values(Config& config, std::unique_ptr<const ConfigMask>& built) {
  return keeping_refusal(config, [&]() -> const ConfigMask* {
    const BareMask& bare = bare_mask(config);
    if (bare.undecided.empty()) return bare.mask.get();
    thread_local Recognizer recognizer;
    recognizer.reset(stacks_, config.span(), config.complete, config.clock, config.text);
    const std::vector<TokenId> refused = refused_tokens(*vocabulary_, recognizer, bare);
    if (refused.empty()) return bare.mask.get();
    built = without(*bare.mask, refused, vocabulary_->num_words());
    return nullptr;
  });
}

const BareMask& Engine::bare_mask(const Config& config) {
  std::vector<Item> items;
  ConfigId id;
  {
    const std::lock_guard guard(lock_);
    for (const Item& item : config.span()) items.push_back(bare(item, stacks_, bare_stacks_));
    id = intern(items, config.complete);
    if (const auto it = bare_masks_.find(id); it != bare_masks_.end()) return *it->second;
  }
  auto made = std::make_unique<BareMask>();
  made->mask = config_mask(*vocabulary_, stacks_, distinct_masks_, items);
  made->undecided = tokens_closing_values(*vocabulary_, stacks_, items);
  const std::lock_guard guard(lock_);
  const auto [it, is_new] = bare_masks_.try_emplace(id, std::move(made));
  if (is_new) mask_bytes_ += it->second->memory_bytes();
  return *it->second;
}

std::unique_ptr<const ConfigMask> Engine::build_mask(Config& config, bool is_near) {
  return keeping_refusal(config, [&]() -> std::unique_ptr<const ConfigMask> {
    return is_near ? budgets().mask(config.span(), config.complete, config.clock)
                   : config_mask(*vocabulary_, stacks_, distinct_masks_, config.span());
  });
}

double Engine::temperature(ConfigId config) const {
  double highest = -1;
  if (!program_->has_temperatures) return highest;
  // What reads next: items, and the starts of rules that they call, each with the temperature there.
  std::set<std::pair<DfaState*, double>> seen;
  std::vector<std::pair<DfaState*, double>> open;
  const auto enter = [&](DfaState* state, double temperature) {
    if (seen.emplace(state, temperature).second) open.emplace_back(state, temperature);
  };
  for (const Item& item : items(config)) {
    const double temperature = stacks_.temperature(item.stack);
    if (may_repeat(*item.state, item.reg))
      enter(item.state, temperature);
    else
      highest = std::max(highest, temperature);
  }
  while (!open.empty()) {
    const auto [state, temperature] = open.back();
    open.pop_back();
    if (state->has_own_bytes || !state->token_edges.empty()) highest = std::max(highest, temperature);
    state->rule->link(*state);
    for (const CallEdge& call : state->calls) {
      const auto& span = call.callee->span();
      enter(call.callee->start(), span && span->temperature >= 0 ? span->temperature : temperature);
    }
  }
  return highest;
}

// A shorter answer is still right, so this ends early rather than in an error.
std::string Engine::forced_bytes(ConfigId config, size_t limit) {
  const Work::Scope scope;
  std::string out;
  try {
    add_forced_bytes(configs_[config], limit, out);
  } catch (const LimitExceeded&) {
  }
  return out;
}

std::optional<std::vector<EndPiece>> Engine::short_end(ConfigId config, size_t most) {
  const Work::Scope scope;
  const Config& at = configs_[without_budgets(config)];
  Recognizer recognizer;
  recognizer.reset(stacks_, at.span(), at.complete, at.clock, at.text);
  return ShortEnd(*vocabulary_, recognizer).find(most);
}

// At a limit of work, some may.
bool Engine::bytes_may_follow(ConfigId config) {
  const Work::Scope scope;
  const Config& at = configs_[config];
  try {
    Recognizer recognizer;
    recognizer.reset(stacks_, at.span(), at.complete, at.clock, at.text);
    bool found = false;
    recognizer.next_bytes().for_each([&](uint8_t byte) {
      if (found || !recognizer.push(byte)) return;
      recognizer.pop();
      found = true;
    });
    return found;
  } catch (const LimitExceeded&) {
    return true;
  }
}

void Engine::add_forced_bytes(const Config& at, size_t limit, std::string& out) const {
  Recognizer recognizer;
  recognizer.reset(stacks_, at.span(), at.complete, at.clock, at.text);
  size_t work = 0;
  while (out.size() < limit && work < kMaxForcedWork && !recognizer.complete()) {
    work += recognizer.items().size();
    bool by_token = false;
    for (const Item& item : recognizer.items()) {
      by_token = by_token || !item.state->token_edges.empty();
      item.state->rule->link(*item.state);
      for (const CallEdge& call : item.state->calls) by_token = by_token || call.callee->first_has_tokens();
    }
    if (by_token) break;
    int count = 0;
    uint8_t only = 0;
    recognizer.next_bytes().for_each([&](uint8_t byte) {
      if (count > 1 || !recognizer.push(byte)) return;
      recognizer.pop();
      ++count;
      only = byte;
    });
    if (count != 1) break;
    recognizer.push(only);
    out.push_back(static_cast<char>(only));
  }
}

// Precondition: stacks in the store. The lock is held.
ConfigId Engine::intern(std::vector<Item> items, bool complete, int64_t clock, CellId text) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  uint64_t h = mix((complete ? 1 : 0) + 2 * static_cast<uint64_t>(clock), text);
  for (const Item& item : items) h = mix(mix(mix(h, reinterpret_cast<uintptr_t>(item.state)), item.reg), item.stack);
  const ConfigId known = interned_.find(h, [&](ConfigId id) {
    const Config& other = configs_[id];
    return other.complete == complete && other.clock == clock && other.text == text &&
           std::ranges::equal(other.span(), items);
  });
  if (known != interned_.kNone) return known;
  const ConfigId id = configs_.reserve_one();
  Config& config = configs_[id];
  config.items = item_storage_.keep(items);
  config.num_items = static_cast<uint32_t>(items.size());
  config.complete = complete;
  config.clock = clock;
  config.text = text;
  configs_.publish();
  interned_.add(h, id);
  return id;
}

Engine::Size Engine::size() {
  const std::lock_guard guard(lock_);
  return {configs_.size(), transitions_.size(), masks_.size(), memory_bytes()};
}

void Engine::allow_for_replay() {
  const size_t wanted = 2 * held_bytes();
  if (wanted > std::max(kMaxBudgetGrowth * initial_budget_bytes_, kMaxSmallBudget))
    throw LimitExceeded("grammar_memory", "the parse state of the output so far takes " +
                                              std::to_string(held_bytes() >> 20) +
                                              " MiB: it nests too deeply or is too ambiguous");
  size_t budget = budget_bytes_.load(std::memory_order_relaxed);
  while (budget < wanted && !budget_bytes_.compare_exchange_weak(budget, wanted, std::memory_order_relaxed)) {
  }
}

void Engine::account() {
  bytes_.store(stacks_.memory_bytes() + configs_.memory_bytes() + item_storage_.memory_bytes() +
                   interned_.memory_bytes() + mask_bytes_ + distinct_masks_.memory_bytes() + unknown_texts_bytes_ +
                   transitions_.memory_bytes() + searched_bytes_.load(std::memory_order_relaxed),
               std::memory_order_relaxed);
}

}  // namespace maskwright
