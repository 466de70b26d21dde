// Whether so many texts may be remembered that no search could go through them.
//
// A token that allows an output to end in time is found by bounds or by a search (budget.h). What recalls a text needs
// as many tokens as that text, so a search looks at every text by itself: at two quotes, at some fences of backticks,
// but not at the fifty thousand names that a token can begin.
//
//     [a-z]+ with tokens `a`, `b`, `ab`: few        with Llama-3's vocabulary: many        ['"]: few
//
// Cost: as many nodes of the trie as are few. Tested by tests/exhaustive/test_remembered_budgets.py.
#pragma once

#include <span>

#include "rules/rule.h"
#include "vocabulary/vocabulary.h"

namespace maskwright {

// Whether more than a few tokens lie in a text that the rule remembers, from some state on.
bool has_many_texts(const Vocabulary& vocabulary, Rule& rule);

// The same of any rule in these groups.
bool remember_many_texts(const Vocabulary& vocabulary, std::span<RuleGroup* const> groups);

}  // namespace maskwright
