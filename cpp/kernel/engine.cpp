#include "engine.h"

#include <algorithm>
#include <string>

#include "errors.h"
#include "work.h"

namespace maskwright {
namespace {

constexpr size_t kMaxBudgetGrowth = 16;
constexpr size_t kMaxSmallBudget = size_t{256} << 20;  // a small budget may grow to this all the same
constexpr size_t kMaxForcedWork = 20'000;              // items looked at in one search for forced bytes

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
  if (root.productive()) items.push_back({root.start(), 0, kRootStack});
  intern(std::move(items), root.nullable());
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
  const auto take = [&] {
    items.insert(items.end(), recognizer.items().begin(), recognizer.items().end());
    complete = complete || recognizer.complete();
    alive = true;
  };
  recognizer.reset(stacks_, from.span(), from.complete);
  // Token edges first: their scratch stacks then stay in place below those of the text.
  const bool by_token = recognizer.push_token(token);
  if (by_token) take();
  const std::string_view text = vocabulary_->text(token);
  ConfigId next = kNoConfig;
  if (!by_token) {
    bool whole = !text.empty();
    for (size_t i = 0; whole && i < text.size(); ++i) whole = recognizer.push(static_cast<uint8_t>(text[i]));
    if (whole) take();
    if (alive) next = keep(recognizer, std::move(items), complete);
  } else {
    // Both readings of the token live on. Keep the first, then join the second.
    const ConfigId first = keep(recognizer, std::move(items), complete);
    const ConfigId second = text.empty() ? kNoConfig : step_bytes(config, text);
    if (second == kNoConfig) {
      next = first;
    } else {
      std::vector<Item> both(configs_[first].span().begin(), configs_[first].span().end());
      both.insert(both.end(), configs_[second].span().begin(), configs_[second].span().end());
      std::sort(both.begin(), both.end());
      both.erase(std::unique(both.begin(), both.end()), both.end());
      const std::lock_guard guard(lock_);
      next = intern(std::move(both), configs_[first].complete || configs_[second].complete);
    }
  }
  if (next == kNoConfig) return kNoConfig;
  const std::lock_guard guard(lock_);
  transitions_.insert(config, token, next);
  account();
  return next;
}

ConfigId Engine::step_bytes(ConfigId config, std::string_view bytes) {
  thread_local Recognizer recognizer;
  constexpr size_t kBlock = 1024;  // scratch stacks are imported now and then, so that long texts need little memory
  while (!bytes.empty()) {
    const std::string_view block = bytes.substr(0, kBlock);
    bytes.remove_prefix(block.size());
    const Work::Scope scope;
    const Config& from = configs_[config];
    recognizer.reset(stacks_, from.span(), from.complete);
    for (const char c : block)
      if (!recognizer.push(static_cast<uint8_t>(c))) return kNoConfig;
    config = keep(recognizer, {recognizer.items().begin(), recognizer.items().end()}, recognizer.complete());
  }
  return config;
}

const ConfigMask& Engine::mask(ConfigId config) {
  if (const ConfigMask* known = known_mask(config)) {
    counters_->hits.add();
    return *known;
  }
  counters_->misses.add();
  Config& at = configs_[config];
  if (const LimitExceeded* refusal = at.refusal.load(std::memory_order_acquire)) throw *refusal;
  auto built = build_mask(at);
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

// What was given up is not begun again: the next time it would end elsewhere, with what is known by then.
std::unique_ptr<const ConfigMask> Engine::build_mask(Config& config) {
  const Work::Scope scope;
  try {
    return config_mask(*vocabulary_, stacks_, config.span(), {});
  } catch (const LimitExceeded& error) {
    const std::lock_guard guard(lock_);
    refusals_.push_back(std::make_unique<const LimitExceeded>(error));
    config.refusal.store(refusals_.back().get(), std::memory_order_release);
    throw;
  }
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

void Engine::add_forced_bytes(const Config& at, size_t limit, std::string& out) const {
  Recognizer recognizer;
  recognizer.reset(stacks_, at.span(), at.complete);
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

ConfigId Engine::keep(const Recognizer& recognizer, std::vector<Item> items, bool complete) {
  const std::lock_guard guard(lock_);
  import_stacks(recognizer, items);
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  const ConfigId id = intern(std::move(items), complete);
  account();
  return id;
}

// Moves the scratch stacks that the items need into the store. A scratch node points to older nodes only.
void Engine::import_stacks(const Recognizer& recognizer, std::vector<Item>& items) {
  StackId top = 0;
  for (const Item& item : items)
    if (item.stack >= kScratch) top = std::max(top, item.stack - kScratch + 1);
  if (top == 0) return;
  std::vector<StackId> moved(top, 0);
  std::vector<bool> needed(top);
  for (const Item& item : items)
    if (item.stack >= kScratch) needed[item.stack - kScratch] = true;
  for (StackId s = top; s-- > 0;) {
    if (!needed[s]) continue;
    for (const Frame& frame : recognizer.frames(kScratch + s))
      if (frame.parent >= kScratch) needed[frame.parent - kScratch] = true;
  }
  std::vector<Frame> frames;
  for (StackId s = 0; s < top; ++s) {
    if (!needed[s]) continue;
    const auto scratch = recognizer.frames(kScratch + s);
    frames.assign(scratch.begin(), scratch.end());
    for (Frame& frame : frames)
      if (frame.parent >= kScratch) frame.parent = moved[frame.parent - kScratch];
    std::sort(frames.begin(), frames.end());
    frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
    moved[s] = stacks_.intern(frames);
  }
  for (Item& item : items)
    if (item.stack >= kScratch) item.stack = moved[item.stack - kScratch];
}

// Precondition: items sorted, without duplicates, stacks in the store. The lock is held.
ConfigId Engine::intern(std::vector<Item> items, bool complete) {
  uint64_t h = complete ? 1 : 0;
  for (const Item& item : items) h = mix(mix(mix(h, reinterpret_cast<uintptr_t>(item.state)), item.reg), item.stack);
  const auto [first, last] = interned_.equal_range(h);
  for (auto it = first; it != last; ++it) {
    const Config& other = configs_[it->second];
    if (other.complete == complete && std::ranges::equal(other.span(), items)) return it->second;
  }
  const ConfigId id = configs_.reserve_one();
  item_storage_.push_back(std::make_unique<Item[]>(items.size()));
  std::ranges::copy(items, item_storage_.back().get());
  Config& config = configs_[id];
  config.items = item_storage_.back().get();
  config.num_items = static_cast<uint32_t>(items.size());
  config.complete = complete;
  configs_.publish();
  interned_.emplace(h, id);
  item_bytes_ += items.size() * sizeof(Item) + 64;
  return id;
}

Engine::Size Engine::size() {
  const std::lock_guard guard(lock_);
  return {configs_.size(), transitions_.size(), masks_.size(), memory_bytes()};
}

void Engine::allow_for_replay() {
  const size_t wanted = 2 * held_bytes();
  if (wanted > std::max(kMaxBudgetGrowth * initial_budget_bytes_, kMaxSmallBudget))
    throw LimitExceeded("grammar_memory", "the output so far alone needs " + std::to_string(held_bytes() >> 20) +
                                              " MiB of parse state: it nests too deep or is too ambiguous");
  size_t budget = budget_bytes_.load(std::memory_order_relaxed);
  while (budget < wanted && !budget_bytes_.compare_exchange_weak(budget, wanted, std::memory_order_relaxed)) {
  }
}

void Engine::account() {
  bytes_.store(
      stacks_.memory_bytes() + configs_.memory_bytes() + item_bytes_ + mask_bytes_ + transitions_.memory_bytes(),
      std::memory_order_relaxed);
}

}  // namespace maskwright
