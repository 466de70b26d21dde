#include "budget/text_copies.h"

#include <vector>

#include "recognizer/text_sets.h"
#include "support/work.h"

namespace maskwright {

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
  const auto known = [&](CellId id) -> CellId* {
    Known& table = id < kScratchCell ? known_ : scratch;
    const auto it = table.find({id < kScratchCell ? texts.store() : nullptr, id});
    return it == table.end() ? nullptr : &it->second;
  };
  std::vector<CellId> open{root};
  while (true) {
    const CellId id = open.back();
    if (id <= kUnknownTexts) {  // the same in every store
      open.pop_back();
      if (open.empty()) return id;
      continue;
    }
    Work::spend(1);
    if (const CellId* copied = known(id)) {
      open.pop_back();
      if (open.empty()) return *copied;
      continue;
    }
    const Cell cell = texts.cell(id);
    const auto copied = [&](CellId part) { return part <= kUnknownTexts ? part : *known(part); };
    const auto is_copied = [&](CellId part) { return part <= kUnknownTexts || known(part); };
    if (!is_copied(cell.parent)) {
      open.push_back(cell.parent);
      continue;
    }
    if (cell.kind != Cell::Kind::Text && !is_copied(cell.value)) {
      open.push_back(cell.value);
      continue;
    }
    const auto find = [this](CellId other) -> const Cell& { return into_.cell(other); };
    const Cell copy = cell.kind == Cell::Kind::Text
                          ? longer(copied(cell.parent), static_cast<uint8_t>(cell.value), find)
                          : Cell{copied(cell.parent), copied(cell.value), cell.size, kNoCell, cell.kind};
    (id < kScratchCell ? known_ : scratch)[{id < kScratchCell ? texts.store() : nullptr, id}] = into_.intern(copy);
  }
}

}  // namespace maskwright
