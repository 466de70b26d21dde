#include "budget/many_texts.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

namespace maskwright {
namespace {

constexpr size_t kFewTokens = 16;  // from one state
constexpr size_t kFewNodes = 256, kFewStates = 256;

// Tokens that lie in the text from a state on; those behind them are added to `states`.
size_t tokens_from(const Vocabulary& vocabulary, DfaState& from, std::vector<DfaState*>& behind) {
  std::vector<std::pair<NodeId, DfaState*>> open{{Vocabulary::kRoot, &from}};
  size_t found = 0;
  for (size_t nodes = 0; !open.empty(); ++nodes) {
    if (nodes > kFewNodes || found > kFewTokens) return kFewTokens + 1;
    const NodeId node = open.back().first;
    DfaState* const state = open.back().second;
    open.pop_back();
    state->live.for_each([&](uint8_t byte) {
      const NodeId child = vocabulary.child(node, byte);
      DfaState* target = child == Vocabulary::kRoot ? nullptr : state->rule->next(*state, byte);
      if (!target) return;
      const Vocabulary::Node& at = vocabulary.node(child);
      if (at.token_begin < at.token_own_end) {
        ++found;
        behind.push_back(target);
      }
      if (at.num_children > 0) open.emplace_back(child, target);
    });
  }
  return found;
}

}  // namespace

bool has_many_texts(const Vocabulary& vocabulary, Rule& rule) {
  std::vector<DfaState*> states{rule.start()};
  std::unordered_set<DfaState*> met{rule.start()};
  for (size_t i = 0; i < states.size(); ++i) {
    std::vector<DfaState*> behind;
    if (tokens_from(vocabulary, *states[i], behind) > kFewTokens || states.size() > kFewStates) return true;
    for (DfaState* state : behind)
      if (met.insert(state).second) states.push_back(state);
  }
  return false;
}

bool remember_many_texts(const Vocabulary& vocabulary, std::span<RuleGroup* const> groups) {
  return std::ranges::any_of(groups, [&](RuleGroup* group) {
    for (uint32_t i = 0; group->has_memory() && i < group->num_rules(); ++i)
      if (group->rule(i).remembers() && has_many_texts(vocabulary, group->rule(i))) return true;
    return false;
  });
}

}  // namespace maskwright
