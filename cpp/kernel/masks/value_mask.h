// Masks in grammars with lists of values that must differ whatever their spelling (recognizer.h), shared by all texts.
//
// What such a list has decides only where a value is closed. So the mask of a configuration is that of its *bare* one,
// in which texts and values are not known and every value is new, without the tokens that close a value which a list
// has. For each bare configuration the tokens are kept in which some value is closed; they alone are tried with the
// values. So it is with elements of several kinds (Rule::is_of_kinds), and the tokens in which one may end, or go on to
// no more texts than a set can hold.
//
//     [{"a": 1}, {"a": 1    kept: all that may follow, and of it `}`, `},`, `}]`, ... as undecided
//
// Cost: to try the undecided tokens, a step for each byte that a token does not have in common with the one before it;
// and a value's identity (value_identity.h) for each place where one is closed. Tested by
// tests/exhaustive/test_distinct_values.py.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "masks/masks.h"
#include "recognizer/recognizer.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

// The mask of a bare configuration, and which of its tokens close a value.
struct BareMask {
  std::unique_ptr<const ConfigMask> mask;
  std::vector<TokenId> undecided;  // by their texts
  size_t memory_bytes() const { return sizeof(*this) + mask->memory_bytes() + undecided.capacity() * sizeof(TokenId); }
};

// An item without what it has to do with values; `moved` knows the stacks that were asked for. The lock of the store's
// owner is held.
Item bare(const Item& item, StackStore& store, std::unordered_map<StackId, StackId>& moved);

std::vector<TokenId> tokens_closing_values(const Vocabulary& vocabulary, const StackStore& store,
                                           std::span<const Item> items);

// Those of a bare mask's undecided tokens that the recogniser does not accept where it stands.
std::vector<TokenId> refused_tokens(const Vocabulary& vocabulary, Recognizer& recognizer, const BareMask& bare);

std::unique_ptr<const ConfigMask> without(const ConfigMask& mask, const std::vector<TokenId>& refused,
                                          uint32_t num_words);

}  // namespace maskwright
