#include "engine/read_texts.h"

#include <string>

#include "recognizer/value_identity.h"

namespace maskwright {

CellId ReadTexts::extend(CellId text, uint8_t byte) {
  return cells_.intern(longer(text, byte, [this](CellId id) -> const Cell& { return cell(id); }));
}

std::optional<ReadTexts::Place> ReadTexts::after_byte(DfaState* state, DfaState* target, uint64_t reg, uint8_t byte) {
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  const Rule& rule = *state->rule;
  if (rule.recalls()) {
    const Recalled at = Recalled::of(reg);
    if (byte_at(at.text, at.position, find) != byte) return std::nullopt;
    if (at.position + 1 == cell(at.text).size) return Place{target, 0};
    return Place{state, Recalled{at.text, at.position + 1}.reg()};
  }
  if (rule.is_element()) {
    const Spelled at = Spelled::of(reg);
    const auto avoided = avoided_behind(at.avoided, byte, *target, find);
    if (!avoided) return std::nullopt;
    return Place{target, Spelled{*avoided, extend(at.text, byte)}.reg()};
  }
  if (rule.remembers()) return Place{target, extend(static_cast<CellId>(reg), byte)};
  if (const auto after = maskwright::after_byte(*state, *target, byte, reg)) return Place{target, *after};
  return std::nullopt;
}

std::optional<uint64_t> ReadTexts::called_register(DfaState* state, uint64_t reg, const CallEdge& call,
                                                   size_t position) const {
  if (call.callee->is_value()) return position;
  if (call.callee->is_element()) return Spelled{Chosen::of(reg).set, kNoCell}.reg();
  if (!call.callee->recalls()) return call.reg;
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  const CellId text = text_in(static_cast<CellId>(reg), call.callee->memory().number, find);
  if (text == kNoCell || !state->rule->is_scope()) return std::nullopt;
  return Recalled{text, 0}.reg();
}

bool ReadTexts::may_end(DfaState* state, uint64_t reg) const {
  const Rule& rule = *state->rule;
  if (rule.is_list()) return Chosen::of(reg).count >= rule.memory().minimum;
  if (!rule.is_element()) return true;
  return !holds_end(Spelled::of(reg).avoided, [this](CellId id) -> const Cell& { return cell(id); });
}

bool ReadTexts::may_have_another(DfaState* state, uint64_t reg) const {
  const Chosen chosen = Chosen::of(reg);
  if (!state->final && state->rule->has_values()) return true;
  return chosen.set != kAllTexts && chosen.count < state->rule->memory().maximum;
}

uint64_t ReadTexts::after_text(DfaState* state, uint64_t reg, DfaState* caller, uint64_t caller_reg) {
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  const MemoryRole& role = state->rule->memory();
  if (role.kind == MemoryRole::Kind::Remember) {
    const CellId outside = outside_of(static_cast<CellId>(caller_reg), role.number, find);
    return cells_.intern({outside, static_cast<CellId>(reg), role.number, kNoCell, Cell::Kind::Environment});
  }
  CellId text = Spelled::of(reg).text;
  std::string bytes(cell(text).size, '\0');
  for (size_t i = bytes.size(); i-- > 0; text = cell(text).parent) bytes[i] = static_cast<char>(cell(text).value);
  const Chosen before = Chosen::of(caller_reg);
  const CellId set =
      with_text(*caller->rule, before.set, bytes, find, [this](const Cell& added) { return cells_.intern(added); });
  return Chosen{caller->rule->memory().counted(before.count + 1), set}.reg();
}

std::optional<uint64_t> ReadTexts::after_value(std::string_view value, DfaState* list, uint64_t reg) {
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  const Chosen before = Chosen::of(reg);
  const std::string identity = identity_of(value);
  if (holds_value(values_in(before.set, find), identity, find)) return std::nullopt;
  const CellId set = with_value(before.set, identity, find, [this](const Cell& added) { return cells_.intern(added); });
  return Chosen{list->rule->memory().counted(before.count + 1), set}.reg();
}

}  // namespace maskwright
