// Masks of automaton states and of configurations, from walks of the vocabulary trie.
//
// state_mask(q): the trie is walked from q with the callers unknown. What q calls at the token's first byte is not
// walked again: the callee's own start mask is taken over, and its exits go on in the state that follows the call.
// config_mask(items): the union of the items' state masks, and of their exits followed into the known stack.
// State masks belong to the rule's group, so that every grammar on the tokenizer shares them.
// Tested by tests/exhaustive.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recognizer/recognizer.h"
#include "rules/state_mask.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

class Collector;
class DistinctMasks;

inline constexpr size_t kMaxCallees = 24;  // that may begin at one place, beyond which one joint walk is cheaper
inline constexpr size_t kMaxItems = 16;    // whose returns share what they do, which only a joint walk sees

struct ConfigMask {
  const uint32_t* shared_dense = nullptr;  // a state mask's bits, or nullptr
  std::vector<uint32_t> own_dense;         // bits of its own, or empty
  std::vector<TokenId> removed;            // tokens to take out of shared bits; more are left than removed
  std::vector<TokenId> sparse;             // tokens to add to whichever of them there is, each once
  uint32_t num_allowed = 0;                // with neither, exactly sparse.size()

  // Writes num_words words.
  void write(uint32_t* out, uint32_t num_words) const;
  bool allows(TokenId token) const;
  const uint32_t* dense() const { return shared_dense ? shared_dense : own_dense.empty() ? nullptr : own_dense.data(); }
  size_t memory_bytes() const {
    return sizeof(*this) + (own_dense.capacity() + removed.capacity() + sparse.capacity()) * 4;
  }
};

// Returns the state's mask, computed on first use. Thread-safe.
const StateMask& state_mask(const Vocabulary& vocabulary, DfaState& state, uint64_t reg);

// Whether some token may be taken as such.
bool may_read_tokens(std::span<const Item> items);

// What walks have reported, as a mask.
std::unique_ptr<ConfigMask> as_config_mask(Collector& sink);

// `distinct` knows what lists whose elements all differ allow.
std::unique_ptr<ConfigMask> config_mask(const Vocabulary& vocabulary, const StackStore& store, DistinctMasks& distinct,
                                        std::span<const Item> items);

}  // namespace maskwright
