#include "budget/text_copies.h"

#include <vector>

#include "recognizer/text_sets.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr CellId kNotYet = 0xFFFFFFFF;

}  // namespace

uint64_t TextCopies::of(const TextView& texts, const DfaState& state, uint64_t reg) {
  if (texts.store() == &into_ && !texts.has_scratch()) return reg;
  const auto copied = [&](CellId id) { return copy(texts, id); };
  return with_cells(state.rule->memory().kind, reg, copied, copied);
}

CellId TextCopies::copy(const TextView& texts, CellId root) {
  Known scratch;
  const auto known = [&](CellId id) -> Known& { return id < kScratchCell ? known_ : scratch; };
  const auto key = [&](CellId id) { return From{id < kScratchCell ? texts.store() : nullptr, id}; };
  const auto copied = [&](CellId id) {
    if (id <= kLastUnknown) return id;  // the same in every store
    const auto it = known(id).find(key(id));
    return it == known(id).end() ? kNotYet : it->second;
  };
  const auto find = [this](CellId other) -> const Cell& { return into_.cell(other); };
  std::vector<CellId> open{root};
  while (true) {
    Work::spend(1);
    const CellId id = open.back();
    if (const CellId done = copied(id); done != kNotYet) {
      open.pop_back();
      if (open.empty()) return done;
      continue;
    }
    const Cell cell = texts.cell(id);
    const bool is_text = cell.kind == Cell::Kind::Text;
    const CellId parent = copied(cell.parent), value = is_text ? kNoCell : copied(cell.value);
    if (parent == kNotYet) {
      open.push_back(cell.parent);
    } else if (value == kNotYet) {
      open.push_back(cell.value);
    } else {
      const Cell copy = is_text ? longer(parent, static_cast<uint8_t>(cell.value), find)
                                : Cell{parent, value, cell.size, kNoCell, cell.kind};
      known(id)[key(id)] = into_.intern(copy);
    }
  }
}

}  // namespace maskwright
