// The configurations of one compiled grammar, memoised: (configuration, token) -> configuration, configuration -> mask.
//
// Configurations are interned by content and get small ids; what is known about one is shared by all matchers, across
// steps, rollbacks and forks. Look-ups of what is known take no lock; everything else takes the engine's lock only to
// publish. An engine only grows. When it is past its budget the compiled grammar starts a new one and matchers replay
// their tokens into it (compiled_grammar.h), so a flush never changes an answer. Where answers rest on estimates,
// matchers stay to the end of their outputs.
//
// Where token budgets are open (budget.h), a configuration has a clock besides, and stacks with deadlines. Clocks are
// set so that the last item that must have ended has the deadline zero, or the last of those that one of their ways
// down the stack sets: with as many tokens left and equal stacks, a configuration is the same one. Its *core* is the
// same at no particular clock, its *plain* one has no deadlines; far from the end its mask is that of the plain one.
// Tested by tests/exhaustive, tests/contract.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "budget/budget.h"
#include "budget/short_end.h"
#include "budget/unknown_texts.h"
#include "engine/transition_table.h"
#include "linker/program.h"
#include "masks/distinct_mask.h"
#include "masks/masks.h"
#include "masks/value_mask.h"
#include "recognizer/recognizer.h"
#include "support/by_content.h"
#include "support/chunked_vector.h"
#include "support/errors.h"
#include "support/kept_arrays.h"
#include "support/optimisations.h"
#include "support/sharded_counter.h"

namespace maskwright {

// How often masks were asked for. Shared by all engines of a compiled grammar.
struct MaskCounters {
  ShardedCounter hits;    // known already
  ShardedCounter misses;  // computed
};

class Engine {
 public:
  Engine(std::shared_ptr<const Vocabulary> vocabulary, std::shared_ptr<const Program> program, size_t budget_bytes,
         std::shared_ptr<MaskCounters> counters);

  ConfigId initial() const { return 0; }
  // The same for an output of at most so many tokens. Throws Unsatisfiable if there is none, and says how many it
  // takes, or between which bounds that lies if it is not found soon. Throws LimitExceeded, with such bounds, if not
  // even that there is none is found out.
  // `by_bounds`: what fits is decided by bounds, if some output does by them (budget.h); otherwise it becomes false.
  // It becomes true if items may come in so many orders, or so many texts be remembered, that no search could end; and
  // with lists of distinct elements.
  ConfigId initial_within(uint32_t max_tokens, bool& by_bounds);
  // The configuration after a token by its text or its token edges, or kNoConfig.
  ConfigId step(ConfigId config, TokenId token);
  // The same if it was asked before; else kNoConfig.
  ConfigId known_step(ConfigId config, TokenId token) const { return transitions_.find(config, token); }
  // Whether the grammar names a token and takes it there, whatever its text. A set of all but some names none.
  bool names(ConfigId config, TokenId token);
  // The configuration after some bytes, or kNoConfig.
  ConfigId step_bytes(ConfigId config, std::string_view bytes);
  bool complete(ConfigId config) const { return configs_[config].complete; }
  const ConfigMask* known_mask(ConfigId config) const {
    return optimisations.config_memo ? configs_[config].mask.load(std::memory_order_acquire) : nullptr;
  }
  const ConfigMask& mask(ConfigId config);
  // Whether a step takes no search for what can end in time.
  bool steps_quickly(ConfigId config) const;
  // The bytes that every completion begins with. At most `limit`; whole or not, as they come.
  std::string forced_bytes(ConfigId config, size_t limit);
  // A short way to the end of the output, of at most so many bytes and named tokens, or nothing (short_end.h). Token
  // budgets have no say in it. Throws LimitExceeded.
  std::optional<std::vector<EndPiece>> short_end(ConfigId config, size_t most);
  // Whether any byte may come next. Needs no mask.
  bool bytes_may_follow(ConfigId config);

  // Of the innermost open rule that has a temperature, rules that may begin here included; where several readings are
  // open, the highest; negative if none has one.
  double temperature(ConfigId config) const;

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  // Without the rules. What is held against the budget are also the instances of parametric rules: they are let go of
  // with the engine.
  size_t memory_bytes() const { return bytes_.load(std::memory_order_relaxed); }
  size_t held_bytes() const { return memory_bytes() + program_->instance_bytes(); }
  // Asked at every token, so what the instances hold is added up only where what all rules grew by since could matter.
  bool past_budget() const {
    const size_t budget = budget_bytes_.load(std::memory_order_relaxed);
    const RuleGroup& root = *program_->group;
    if (!root.leads_to_families()) return memory_bytes() > budget;
    const size_t ever = root.store().bytes_ever();
    if (memory_bytes() + ever - bytes_of_others_.load(std::memory_order_relaxed) <= budget) return false;
    const size_t instance_bytes = program_->instance_bytes();
    bytes_of_others_.store(ever - instance_bytes, std::memory_order_relaxed);
    return memory_bytes() + instance_bytes > budget;
  }
  bool half_full() const { return 2 * held_bytes() > budget_bytes_.load(std::memory_order_relaxed); }
  // Raises the budget, up to a limit, where a replayed history alone fills much of it: flushing again at once would
  // gain nothing.
  void allow_for_replay();
  // Whether what may follow depends on what was asked before of this engine.
  bool rests_on_estimates(ConfigId config);
  uint32_t num_configs() const { return configs_.size(); }
  std::span<const Item> items(ConfigId config) const { return configs_[config].span(); }
  // The configuration in which the same outputs may follow, whatever token budgets say.
  ConfigId without_budgets(ConfigId config) const {
    const ConfigId plain = configs_[config].plain;
    return plain == kNoConfig ? config : plain;
  }
  struct Size {
    size_t configs, transitions, masks, bytes;
  };
  Size size();

 private:
  template <class Tokens>
  uint32_t least_over_start(Tokens&& tokens);
  uint32_t enough_tokens();
  Unsatisfiable too_few(uint32_t max_tokens);
  void refuse_budget(const std::string& limit, uint32_t max_tokens);
  struct Config {
    const Item* items = nullptr;
    uint32_t num_items = 0;
    bool complete = false;
    int64_t clock = 0;
    CellId text = kNoCell;      // of the values that items are in (recognizer.h)
    ConfigId core = kNoConfig;  // if budgets have a say in it; itself if it has no deadlines
    ConfigId plain = kNoConfig;
    // Of a core. What is promised of deferred subgrammars shows the last of them.
    std::atomic<int64_t> safe_clock{kUnknownClock}, far_clock{kUnknownClock}, promised_clock{kUnknownClock};
    std::atomic<const ConfigMask*> mask{nullptr};
    std::atomic<const LimitExceeded*> refusal{nullptr};  // instead of a mask
    std::span<const Item> span() const { return {items, num_items}; }
  };
  // Where a token leads.
  struct Landed {
    std::vector<Item> items;
    bool complete;
    CellId text = kNoCell;
  };
  const ConfigMask* shared_mask(Config& config, std::unique_ptr<const ConfigMask>& built);
  const ConfigMask* mask_among_values(Config& config, std::unique_ptr<const ConfigMask>& built);
  const BareMask& bare_mask(const Config& config);
  template <class Make>
  auto keeping_refusal(Config& config, Make&& make);
  std::unique_ptr<const ConfigMask> build_mask(Config& config, bool is_near);
  static constexpr int64_t kUnknownClock = INT64_MIN;
  ConfigId intern(std::vector<Item> items, bool complete, int64_t clock = 0, CellId text = kNoCell);
  static constexpr TokenId kNoToken = -1;
  ConfigId after_token(ConfigId config, TokenId token, std::string_view read, const Recognizer& recognizer,
                       Landed landed);
  ConfigId within_budgets(const Config& from, Landed landed, bool is_token, std::string_view read);
  ConfigId intern_at(Landed landed, int64_t clock);
  void relate(ConfigId id, ConfigId core, ConfigId plain);
  void drop_past_ways(std::vector<Item>& items, int64_t clock);
  void move_deadlines(std::vector<Item>& items, std::optional<int64_t> later);
  bool is_safe(const Config& config);
  bool is_far_by_promises(Config& core, int64_t clock);
  bool fits_by_promises(uint32_t max_tokens);
  int64_t more_than_promised();
  int64_t most_promised() const;
  bool is_whole();
  void need_whole();
  ConfigId without_texts(const Config& config);
  TokenBudgets& budgets();
  TokenBudgets& promised_budgets();
  bool has_endless_searches();
  void check_budgets_of_rules();
  void add_forced_bytes(const Config& at, size_t limit, std::string& out) const;
  void account();

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const Program> program_;
  std::mutex lock_;
  StackStore stacks_;
  DistinctMasks distinct_masks_{*vocabulary_, stacks_};
  std::unordered_map<ConfigId, std::unique_ptr<const BareMask>> bare_masks_;
  std::unordered_map<StackId, StackId> bare_stacks_;
  std::mutex unknown_texts_lock_;  // taken before any other
  UnknownTexts unknown_texts_{stacks_, vocabulary_->max_token_length()};
  size_t unknown_texts_bytes_ = 0;
  ChunkedVector<Config> configs_;
  std::once_flag has_budgets_;
  std::unique_ptr<TokenBudgets> budgets_;  // once asked for
  std::once_flag has_promised_budgets_, knows_missing_;
  std::unique_ptr<TokenBudgets> promised_budgets_;  // likewise
  std::vector<RuleGroup*> missing_;                 // deferred subgrammars, when they were first asked for
  std::atomic<bool> is_whole_{false};               // none of them is any more, as was seen before
  std::once_flag knows_texts_;
  bool has_many_texts_ = false;            // once asked for
  std::atomic<size_t> searched_bytes_{0};  // of theirs
  std::atomic<size_t> promised_bytes_{0};  // of those by promises
  KeptArrays<Item> item_storage_;
  std::vector<std::unique_ptr<const ConfigMask>> masks_;
  std::vector<std::unique_ptr<const LimitExceeded>> refusals_;
  ByContent<ConfigId> interned_;
  TransitionTable transitions_;
  const std::shared_ptr<MaskCounters> counters_;
  size_t mask_bytes_ = 0;
  std::atomic<size_t> bytes_{0};
  const size_t initial_budget_bytes_;
  std::atomic<size_t> budget_bytes_;
  mutable std::atomic<size_t> bytes_of_others_{0};  // of all that rules have ever taken, what our instances have not
};

}  // namespace maskwright
