#include "recognizer/imported_stacks.h"

#include <algorithm>

namespace maskwright {
namespace {

// Registers that hold cells, with the cells in the store.
class ImportedCells {
 public:
  ImportedCells(const Recognizer& recognizer, CellStore& store)
      : recognizer_(recognizer), store_(store), moved_(recognizer.num_scratch_cells(), kScratchCell) {}
  void move(const DfaState* state, uint64_t& reg) {
    if (moved_.empty() || !state) return;
    reg = with_cells(
        state->rule->memory().kind, reg, [this](CellId id) { return import_cell(id); },
        [&](CellId set) { return import_set(set, *state->rule); });
  }

  void move_text(CellId& text) {
    if (!moved_.empty()) text = import_cell(text);
  }

 private:
  // A scratch cell and what it refers to, in the store.
  CellId import_cell(CellId id) {
    std::vector<CellId> open{id};
    while (!is_known(id)) {
      const CellId at = open.back();
      Cell cell = recognizer_.cell(at);
      if (!is_known(cell.parent)) {
        open.push_back(cell.parent);
      } else if (cell.kind != Cell::Kind::Text && !is_known(cell.value)) {
        open.push_back(cell.value);
      } else {
        open.pop_back();
        const auto find = [this](CellId other) -> const Cell& { return store_.cell(other); };
        if (cell.kind != Cell::Kind::Text)
          cell = {known(cell.parent), known(cell.value), cell.size, kNoCell, cell.kind};
        else
          cell = longer(known(cell.parent), static_cast<uint8_t>(cell.value), find);
        moved_[at - kScratchCell] = store_.intern(cell);
      }
    }
    return known(id);
  }
  // In the form in which equal sets are equal numbers, unless a value was added last: more of it may come instead.
  CellId import_set(CellId set, Rule& list) {
    const Cell grown = recognizer_.cell(set);
    if (!is_trie(set) || grown.kind != Cell::Kind::Grown || grown.size > 0) return import_cell(set);
    return with_text(
        list, import_cell(grown.parent), recognizer_.text_of(grown.value),
        [this](CellId id) -> const Cell& { return store_.cell(id); },
        [this](const Cell& cell) { return store_.intern(cell); });
  }

  bool is_known(CellId cell) const { return cell < kScratchCell || moved_[cell - kScratchCell] != kScratchCell; }
  CellId known(CellId cell) const { return cell < kScratchCell ? cell : moved_[cell - kScratchCell]; }

  const Recognizer& recognizer_;
  CellStore& store_;
  std::vector<CellId> moved_;  // by scratch cell; kScratchCell: not yet
};

}  // namespace

// A scratch node points to older nodes only.
void import_stacks(const Recognizer& recognizer, StackStore& store, std::vector<Item>& items, CellId& text) {
  ImportedCells cells(recognizer, store.cells());
  cells.move_text(text);
  for (Item& item : items) cells.move(item.state, item.reg);
  StackId top = 0;
  for (const Item& item : items)
    if (item.stack >= kScratch) top = std::max(top, item.stack - kScratch + 1);
  if (top == 0) return;
  std::vector<StackId> moved(top, 0);
  std::vector<bool> needed(top);
  for (const Item& item : items)
    if (item.stack >= kScratch) needed[item.stack - kScratch] = true;
  for (StackId s = top; s-- > 0;) {
    if (!needed[s]) continue;
    for (const Frame& frame : recognizer.frames(kScratch + s))
      if (frame.parent >= kScratch) needed[frame.parent - kScratch] = true;
  }
  std::vector<Frame> frames;
  for (StackId s = 0; s < top; ++s) {
    if (!needed[s]) continue;
    const auto scratch = recognizer.frames(kScratch + s);
    frames.assign(scratch.begin(), scratch.end());
    for (Frame& frame : frames) {
      cells.move(frame.target, frame.reg);
      if (frame.parent >= kScratch) frame.parent = moved[frame.parent - kScratch];
    }
    std::sort(frames.begin(), frames.end());
    frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
    moved[s] = store.intern(frames, recognizer.mark(kScratch + s));
  }
  for (Item& item : items)
    if (item.stack >= kScratch) item.stack = moved[item.stack - kScratch];
}

}  // namespace maskwright
