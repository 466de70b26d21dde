// What the recogniser does with remembered texts: returns with them, lists of distinct elements, and values.
#include <algorithm>
#include <string>

#include "recognizer/recognizer.h"
#include "recognizer/value_identity.h"

namespace maskwright {

// As long as some item is in a value.
void Recognizer::keep_text() {
  Level& top = levels_.back();
  const auto is_inside = [this](const Item& item) { return item.state->rule->is_value() || in_value(item.stack); };
  if (std::none_of(items_.begin() + static_cast<std::ptrdiff_t>(top.items), items_.end(), is_inside))
    top.text = kNoCell;
}

void Recognizer::return_text(const Item& item) {
  const std::vector<Frame> frames(this->frames(item.stack).begin(), this->frames(item.stack).end());
  const MemoryRole& role = item.state->rule->memory();
  const Spelled at = Spelled::of(item.reg);
  if (role.kind == MemoryRole::Kind::Remember)
    remember(frames, role.number, static_cast<CellId>(item.reg));
  else if (!holds_end(at.avoided, [this](CellId id) -> const Cell& { return cell(id); }))
    add_to_lists(frames, at.text);
}

bool Recognizer::repeats_value(CellId set) const {
  if (!is_trie(set) || cell(set).kind != Cell::Kind::Grown || cell(set).size == 0) return false;
  const Cell grown = cell(set);
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  const CellId values = values_in(grown.parent, find);
  if (values == kNoTexts) return false;
  const std::string identity = identity_of(text_of(grown.value, grown.size - 1));
  spend(identity.size());
  return holds_value(values, identity, find);
}

// Of a list of values, which stands behind one or behind a separator: whether what closes the value may come.
bool Recognizer::may_close(const Item& list) {
  levels_.back().has_decided = true;
  return !repeats_value(Chosen::of(list.reg).set);
}

// Whether the lists have the value is asked at once if nothing of it can follow, as then no byte may lead here; else
// when it is closed, as most values end in many places first.
void Recognizer::return_value(const Item& item) {
  const std::vector<Frame> frames(this->frames(item.stack).begin(), this->frames(item.stack).end());
  const bool decides = item.state->ends_only;
  if (decides) levels_.back().has_decided = true;
  if (item.reg == kUnknownBegin) return return_unknown_value(frames);
  const CellId text = levels_.back().text;
  for (const Frame& frame : frames) {
    if (!frame.target) {  // which list it is in is not known
      levels_.back().complete = true;
      continue;
    }
    const Chosen before = Chosen::of(frame.reg);
    const CellId set = add_cell({before.set, text, static_cast<uint32_t>(item.reg) + 1, kNoCell, Cell::Kind::Grown});
    if (decides && repeats_value(set)) continue;
    add_item({frame.target, Chosen{frame.target->rule->memory().counted(before.count + 1), set}.reg(), frame.parent});
  }
}

void Recognizer::return_unknown_value(std::span<const Frame> frames) {
  for (const Frame& frame : frames) {
    if (!frame.target) {
      levels_.back().complete = true;
      continue;
    }
    const Chosen before = Chosen::of(frame.reg);
    const uint32_t count = frame.target->rule->memory().counted(before.count + 1);
    add_item({frame.target, Chosen{count, before.set}.reg(), frame.parent});
  }
}

// Returns to scopes with a text for their registers.
void Recognizer::remember(std::span<const Frame> frames, uint8_t number, CellId text) {
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  for (const Frame& frame : frames) {
    if (!frame.target) {  // whose scope is not known
      levels_.back().complete = true;
      continue;
    }
    const CellId outside = outside_of(static_cast<CellId>(frame.reg), number, find);
    const CellId inside = add_cell({outside, text, number, kNoCell, Cell::Kind::Environment});
    add_item({frame.target, inside, frame.parent});
  }
}

// Returns to lists with an element, which none of them has yet.
void Recognizer::add_to_lists(std::span<const Frame> frames, CellId text) {
  for (const Frame& frame : frames) {
    if (!frame.target) {  // which list it is in is not known
      levels_.back().complete = true;
      continue;
    }
    const Chosen before = Chosen::of(frame.reg);
    const CellId set =
        is_unknown(before.set) ? before.set : add_cell({before.set, text, 0, kNoCell, Cell::Kind::Grown});
    add_item({frame.target, Chosen{frame.target->rule->memory().counted(before.count + 1), set}.reg(), frame.parent});
  }
}

bool Recognizer::may_have_another(const Item& list) const {
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  const auto [count, set] = Chosen::of(list.reg);
  if (!list.state->final && list.state->rule->has_values()) return true;
  if (set == kAllTexts || count >= list.state->rule->memory().maximum) return false;
  if (list.state->rule->has_values()) return true;
  const Cell& last = cell(set);
  if (!is_trie(set) || last.kind != Cell::Kind::Grown) return true;
  const auto byte = [&](uint32_t i) { return byte_at(last.value, i, find); };
  return !would_hold_all(*list.state->rule->element(), last.parent, cell(last.value).size, byte, find);
}

bool Recognizer::stay_open(std::span<const Frame> lists, uint64_t reg) const {
  const std::string text = text_of(Spelled::of(reg).text);
  return std::ranges::all_of(lists, [&](const Frame& list) {
    return !list.target || stays_open(*list.target->rule->element(), Chosen::of(list.reg).set, text,
                                      [this](CellId id) -> const Cell& { return cell(id); });
  });
}

std::string Recognizer::text_of(CellId text, uint32_t begin) const {
  return TextView(*this).text(text, begin);
}

std::string TextView::text(CellId text, uint32_t begin) const {
  std::string out(cell(text).size - std::min(begin, cell(text).size), '\0');
  for (size_t i = out.size(); i-- > 0; text = cell(text).parent) out[i] = static_cast<char>(cell(text).value);
  return out;
}

// A set in the form in which what lies below a byte can be found.
CellId Recognizer::looked_into(CellId set, Rule& list) {
  if (!is_trie(set) || cell(set).kind != Cell::Kind::Grown) return set;
  const Cell grown = cell(set);
  if (is_unknown(grown.parent)) return grown.parent;
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  const auto add = [this](const Cell& cell) { return push_cell(cell); };
  const std::string text = text_of(grown.value, grown.size == 0 ? 0 : grown.size - 1);
  spend(text.size());
  if (grown.size > 0) return with_value(grown.parent, identity_of(text), find, add);
  return with_text(list, grown.parent, text, find, add);
}

ByteSet Recognizer::recalled_bytes(const Item& item) const {
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  ByteSet out;
  const auto add = [&](Recalled at) {
    if (at.text != kNoCell) out.set(byte_at(at.text, at.position, find));
  };
  if (item.state->rule->recalls()) add(Recalled::of(item.reg));
  if (item.state->rule->is_scope())
    for (const CallEdge& call : item.state->calls)
      if (call.callee->recalls()) add(Recalled::of(called_register(item, call)));
  return out;
}

}  // namespace maskwright
