#include "engine/engine.h"

#include <algorithm>
#include <set>
#include <string>

#include "recognizer/imported_stacks.h"
#include "support/errors.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr size_t kMaxBudgetGrowth = 16;
constexpr size_t kMaxSmallBudget = size_t{256} << 20;  // a small budget may grow to this all the same
constexpr size_t kMaxForcedWork = 20'000;              // items looked at in one search for forced bytes

}  // namespace

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
  intern_at({std::move(items), root.nullable()}, 0);
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
  return after_token(config, token, text, recognizer, {std::move(items), complete, text_read});
}

bool Engine::names(ConfigId config, TokenId token) {
  const Work::Scope scope;
  thread_local Recognizer recognizer;
  const Config& from = configs_[config];
  recognizer.reset(stacks_, from.span(), from.complete, from.clock, from.text);
  if (!recognizer.push_token(token, true)) return false;
  if (from.core == kNoConfig) return true;
  std::vector<Item> items(recognizer.items().begin(), recognizer.items().end());
  return after_token(config, kNoToken, {}, recognizer, {std::move(items), recognizer.complete()}) != kNoConfig;
}

// Keeps where a token leads. `read`: its text. The stacks made last are still the recogniser's.
ConfigId Engine::after_token(ConfigId config, TokenId token, std::string_view read, const Recognizer& recognizer,
                             Landed landed) {
  auto& [items, complete, text] = landed;
  std::unique_lock guard(lock_);
  import_stacks(recognizer, stacks_, items, text);
  ConfigId next;
  if (configs_[config].core != kNoConfig) {
    guard.unlock();
    next = within_budgets(configs_[config], std::move(landed), token != kNoToken, read);
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
  const std::string_view all = bytes;
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
    if (bytes.empty()) return after_token(config, kNoToken, all, recognizer, {std::move(items), complete, text});
    const std::lock_guard guard(lock_);
    import_stacks(recognizer, stacks_, items, text);
    account();
  }
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
    return is_near ? budgets().mask(config.span(), config.complete, config.clock, config.text)
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
                   transitions_.memory_bytes() + searched_bytes_.load(std::memory_order_relaxed) +
                   promised_bytes_.load(std::memory_order_relaxed),
               std::memory_order_relaxed);
}

}  // namespace maskwright
