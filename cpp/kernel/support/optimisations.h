// The optimisations that can be switched off, to measure what each is worth (benchmarks/ablation.py).
//
// Masks are the same with and without them: tests/kernel/test_optimisations.py. They hold for the whole process, and
// are set while no other thread uses the kernel; grammars linked before keep the rules that they have.
#pragma once

namespace maskwright {

struct Optimisations {
  bool inlining = true;          // small rules, and rules called from one place, become part of their callers
  bool registers = true;         // long repetitions count instead of being spelled out
  bool subtree_skipping = true;  // looping states take subtrees of the vocabulary whole
  bool state_masks = true;  // masks of states are kept, and what lies behind their exits is walked for; else all is
  bool config_memo = true;  // masks and successors of configurations are kept
  bool sharing = true;      // grammars on one tokenizer share rules of the same structure
};

inline Optimisations optimisations;

}  // namespace maskwright
