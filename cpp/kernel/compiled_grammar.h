// A grammar ready to match: its rules, and the engine that remembers what was seen. Shared by all matchers;
// thread-safe.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>

#include "engine.h"
#include "program.h"

namespace maskwright {

// What belongs to one tokenizer: its trie and all rules ever linked against it.
struct TokenizerContext {
  std::shared_ptr<const Vocabulary> vocabulary;
  RuleStore rules;
};

class CompiledGrammar {
 public:
  CompiledGrammar(std::shared_ptr<TokenizerContext> context, const GrammarIr& ir, size_t engine_budget_bytes)
      : context_(std::move(context)),
        program_(link(ir, context_->rules)),
        source_bytes_(ir.nodes.size() * kSourceBytesPerNode),
        engine_budget_bytes_(engine_budget_bytes),
        engine_(new_engine()) {}

  // The engine to use from now on: a fresh one if the last is past its budget.
  std::shared_ptr<Engine> engine() {
    const std::lock_guard guard(lock_);
    if (engine_->past_budget()) {
      engine_ = new_engine();
      num_flushes_.fetch_add(1, std::memory_order_relaxed);
    }
    return engine_;
  }
  const Vocabulary& vocabulary() const { return *context_->vocabulary; }
  uint64_t num_flushes() const { return num_flushes_.load(std::memory_order_relaxed); }
  uint64_t num_mask_hits() const { return counters_->hits.value(); }
  uint64_t num_mask_misses() const { return counters_->misses.value(); }
  // What the present engine holds.
  Engine::Size size() {
    std::shared_ptr<Engine> engine;
    {
      const std::lock_guard guard(lock_);
      engine = engine_;
    }
    return engine->size();
  }
  // What it holds: its engine, its source, and of rules in common with others its part of them.
  size_t memory_bytes() {
    size_t bytes = sizeof(*this) + source_bytes_ + program_.groups.capacity() * sizeof(program_.groups[0]);
    for (const auto& group : program_.groups)
      bytes += group->approximate_bytes() / static_cast<size_t>(std::max(group.use_count(), 1L));
    const std::lock_guard guard(lock_);
    return bytes + engine_->memory_bytes();
  }
  // Of the rules it uses, shared with other grammars.
  size_t shared_memory_bytes() {
    size_t bytes = 0;
    for (const auto& group : program_.groups) bytes += group->memory_bytes();
    return bytes;
  }

 private:
  std::shared_ptr<Engine> new_engine() const {
    return std::make_shared<Engine>(context_->vocabulary, program_, engine_budget_bytes_, counters_);
  }
  static constexpr size_t kSourceBytesPerNode = 128;  // Python's, which lives as long
  std::shared_ptr<TokenizerContext> context_;
  Program program_;
  size_t source_bytes_;
  size_t engine_budget_bytes_;
  std::shared_ptr<MaskCounters> counters_ = std::make_shared<MaskCounters>();
  std::mutex lock_;
  std::shared_ptr<Engine> engine_;
  std::atomic<uint64_t> num_flushes_{0};
};

}  // namespace maskwright
