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
  switch (state.rule->memory().kind) {
    case MemoryRole::Kind::None:
    case MemoryRole::Kind::Multiple:
    case MemoryRole::Kind::Value: break;
    case MemoryRole::Kind::Scope:
    case MemoryRole::Kind::Remember: return copy(texts, static_cast<CellId>(reg));
    case MemoryRole::Kind::Recall:
      return Recalled{copy(texts, Recalled::of(reg).text), Recalled::of(reg).position}.reg();
    case MemoryRole::Kind::Distinct: return Chosen{Chosen::of(reg).count, copy(texts, Chosen::of(reg).set)}.reg();
    case MemoryRole::Kind::Element:
      return Spelled{copy(texts, Spelled::of(reg).avoided), copy(texts, Spelled::of(reg).text)}.reg();
  }
  return reg;
}

CellId TextCopies::copy(const TextView& texts, CellId root) {
  Known scratch;
  const auto copied = [&](CellId id) {
    if (id <= kLastUnknown) return id;  // the same in every store
    const Known& table = id < kScratchCell ? known_ : scratch;
    const auto it = table.find({id < kScratchCell ? texts.store() : nullptr, id});
    return it == table.end() ? kNotYet : it->second;
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
      (id < kScratchCell ? known_ : scratch)[{id < kScratchCell ? texts.store() : nullptr, id}] = into_.intern(copy);
    }
  }
}

}  // namespace maskwright
