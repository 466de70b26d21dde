#include "masks/distinct_mask.h"

#include <algorithm>

#include "masks/collector.h"
#include "rules/rule.h"

namespace maskwright {

DistinctMask::DistinctMask(const Vocabulary& vocabulary, const StateMask& mask, const StackStore& store,
                           DfaState& state, CellId avoided)
    : vocabulary_(vocabulary), store_(store) {
  find_avoided(state, avoided);
  std::sort(tokens_.begin(), tokens_.end());
  for (const TokenId token : mask.sparse)
    if (!std::binary_search(tokens_.begin(), tokens_.end(), token)) mask_.sparse.push_back(token);
  if (!mask.bits()) return;
  mask_.base = mask.base ? mask.base : &mask;
  for (const TokenId token : tokens_)
    if (has_bit(*mask.bits(), token)) mask_.removed.push_back(token);
  mask_.removed.insert(mask_.removed.end(), mask.removed.begin(), mask.removed.end());
  std::sort(mask_.removed.begin(), mask_.removed.end());
  mask_.removed.erase(std::unique(mask_.removed.begin(), mask_.removed.end()), mask_.removed.end());
}

// The tokens by which an element that is in some state would become one of those to avoid, or could become no other.
void DistinctMask::find_avoided(DfaState& start, CellId avoided) {
  struct Place {
    NodeId node;
    DfaState* state;
    CellId avoided;
  };
  const auto cell = [this](CellId id) -> const Cell& { return store_.cells().cell(id); };
  std::vector<Place> open{{Vocabulary::kRoot, &start, avoided}};
  while (!open.empty()) {
    const Place at = open.back();
    open.pop_back();
    for (CellId set = at.avoided; set != kNoTexts; set = cell(set).parent) {
      if (cell(set).size == 0) continue;
      const auto byte = static_cast<uint8_t>(cell(set).size - 1);
      const NodeId child = vocabulary_.child(at.node, byte);
      if (child == 0) continue;
      const Vocabulary::Node& below = vocabulary_.node(child);
      if (cell(set).value != kAllTexts)
        open.push_back({child, at.state->rule->next(*at.state, byte), cell(set).value});
      else
        for (uint32_t p = below.token_begin; p < below.token_end; ++p) tokens_.push_back(vocabulary_.sorted_token(p));
    }
  }
}

}  // namespace maskwright
