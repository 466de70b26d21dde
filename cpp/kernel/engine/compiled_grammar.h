// A grammar ready to match: its rules, and the engine that remembers what was seen. Shared by all matchers;
// thread-safe.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>

#include "engine/engine.h"
#include "linker/program.h"
#include "rules/instances/family.h"

namespace maskwright {

// What belongs to one tokenizer: its trie and all rules ever linked against it.
struct TokenizerContext {
  explicit TokenizerContext(std::shared_ptr<const Vocabulary> its_vocabulary)
      : vocabulary(std::move(its_vocabulary)), rules(vocabulary->vocab_size()) {}
  std::shared_ptr<const Vocabulary> vocabulary;
  RuleStore rules;
};

class CompiledGrammar {
 public:
  // `program`: the IR, linked.
  CompiledGrammar(std::shared_ptr<TokenizerContext> context, GrammarIr ir, Program program, size_t engine_budget_bytes)
      : context_(std::move(context)),
        program_(std::make_shared<const Program>(std::move(program))),
        engine_budget_bytes_(engine_budget_bytes),
        engine_(new_engine()) {
    if (program_->group->leads_to_families()) ir_ = std::make_unique<const GrammarIr>(std::move(ir));
  }

  // The engine to use from now on: a fresh one if the last is past its budget.
  std::shared_ptr<Engine> engine() {
    const std::lock_guard guard(lock_);
    if (engine_->past_budget()) {
      if (2 * program_->instance_bytes() > engine_budget_bytes_) link_afresh();
      engine_ = new_engine();
      num_flushes_.fetch_add(1, std::memory_order_relaxed);
    }
    return engine_;
  }
  const Vocabulary& vocabulary() const { return *context_->vocabulary; }
  const std::shared_ptr<const Vocabulary>& shared_vocabulary() const { return context_->vocabulary; }
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
  // What it holds without rules: its engine, and its source if it needs that.
  size_t own_bytes() {
    const std::lock_guard guard(lock_);
    return sizeof(*this) + (ir_ ? ir_->num_nodes() * kSourceBytesPerNode : 0) + engine_->memory_bytes();
  }
  // What it holds: its own, and of rules in common with others its part of them.
  size_t memory_bytes() {
    size_t bytes = own_bytes();
    const std::lock_guard guard(lock_);
    for (RuleGroup* group : program_->groups())
      bytes += group->approximate_bytes() / static_cast<size_t>(std::max(group->weak_from_this().use_count(), 1L));
    return bytes;
  }
  // Of the rules it uses, shared with other grammars.
  size_t shared_memory_bytes() {
    const auto program = this->program();
    size_t bytes = 0;
    for (RuleGroup* group : program->groups()) bytes += group->memory_bytes();
    return bytes;
  }
  // Of parametric rules, made so far.
  size_t num_instances() { return program()->num_instances(); }
  std::shared_ptr<const Program> program() {
    const std::lock_guard guard(lock_);
    return program_;
  }

 private:
  // Leaves behind the instances that have piled up: they go with the last engine that runs on them.
  void link_afresh() {
    for (Family* family : program_->families()) family->retire();
    program_ = std::make_shared<const Program>(link(*ir_, context_->rules));
  }
  std::shared_ptr<Engine> new_engine() const {
    return std::make_shared<Engine>(context_->vocabulary, program_, engine_budget_bytes_, counters_);
  }
  static constexpr size_t kSourceBytesPerNode = 128;
  std::shared_ptr<TokenizerContext> context_;
  std::shared_ptr<const Program> program_;
  std::unique_ptr<const GrammarIr> ir_;  // if it has parametric rules
  size_t engine_budget_bytes_;
  std::shared_ptr<MaskCounters> counters_ = std::make_shared<MaskCounters>();
  std::mutex lock_;
  std::shared_ptr<Engine> engine_;
  std::atomic<uint64_t> num_flushes_{0};
};

}  // namespace maskwright
