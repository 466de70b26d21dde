// The tokens that a configuration takes as such, whatever their text, grouped by the edges that take them.
//
// All tokens of a group lead to the same configuration, so one of them speaks for all.
// Tested by tests/exhaustive/test_token_budgets.py.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "recognizer/recognizer.h"

namespace maskwright {

// Groups of at least one token. Calls before the first byte are acyclic (rule.h), so this ends.
inline std::vector<std::vector<TokenId>> named_tokens(std::span<const Item> items) {
  std::vector<const std::vector<TokenId>*> sets;
  std::vector<DfaState*> states;
  const auto enter = [&](DfaState* state) {
    if (std::ranges::find(states, state) == states.end()) states.push_back(state);
  };
  for (const Item& item : items)
    if (may_repeat(*item.state, item.reg)) enter(item.state);
  for (size_t i = 0; i < states.size(); ++i) {
    DfaState& state = *states[i];
    state.rule->link(state);
    for (const TokenEdge& edge : state.token_edges) sets.push_back(&state.rule->token_set(edge.argument).ids);
    for (const CallEdge& call : state.calls)
      if (call.callee->first_has_tokens()) enter(call.callee->start());
  }
  if (sets.size() == 1 && !sets[0]->empty()) return {*sets[0]};
  std::map<TokenId, std::vector<size_t>> taken_by;
  for (size_t i = 0; i < sets.size(); ++i)
    for (const TokenId token : *sets[i]) taken_by[token].push_back(i);
  std::map<std::vector<size_t>, std::vector<TokenId>> groups;
  for (const auto& [token, edges] : taken_by) groups[edges].push_back(token);
  std::vector<std::vector<TokenId>> out;
  for (auto& [edges, tokens] : groups) out.push_back(std::move(tokens));
  return out;
}

}  // namespace maskwright
