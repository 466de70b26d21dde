#include "budget/text_measures.h"

#include <algorithm>

#include "recognizer/text_sets.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr uint32_t kLongText = 256;  // bytes: as many tokens will do, so that no text is gone through again and again

}  // namespace

TextMeasures::TextMeasures(const Vocabulary& vocabulary, Unit unit) : vocabulary_(vocabulary), unit_(unit) {
  for (int b = 0; b < 256; ++b) {
    const Vocabulary::Node& at = vocabulary.node(vocabulary.root_child(static_cast<uint8_t>(b)));
    has_all_bytes_ = has_all_bytes_ && vocabulary.root_child(static_cast<uint8_t>(b)) != Vocabulary::kRoot &&
                     at.token_begin < at.token_own_end;
  }
}

uint64_t TextMeasures::of(const TextView& texts, const DfaState& state, uint64_t reg) {
  switch (state.rule->memory().kind) {
    case MemoryRole::Kind::None:
    case MemoryRole::Kind::Multiple: break;
    case MemoryRole::Kind::Scope: return environment(texts, static_cast<CellId>(reg));
    case MemoryRole::Kind::Recall: return rest(texts, Recalled::of(reg).text, Recalled::of(reg).position);
    case MemoryRole::Kind::Distinct: return Chosen::of(reg).count;
    case MemoryRole::Kind::Remember:
    case MemoryRole::Kind::Element:
    case MemoryRole::Kind::Value: return 0;
  }
  return reg;
}

uint32_t TextMeasures::in_progress(const TextView& texts, CellId text) {
  return unit_ == Unit::Bytes || has_all_bytes_ ? texts.cell(text).size : length(texts, text);
}

uint32_t TextMeasures::length(const TextView& texts, CellId text) {
  const uint32_t size = texts.cell(text).size;
  if (unit_ == Unit::Bytes || (has_all_bytes_ && size > kLongText)) return size;
  return writing(texts, text).whole;
}

TextMeasures::Writing TextMeasures::writing(const TextView& texts, CellId text) {
  std::vector<CellId> behind;  // what is known
  Writing out{0, {}};
  for (CellId at = text; at != kNoCell; at = texts.cell(at).parent) {
    const auto it = at < kScratchCell ? writings_.find({texts.store(), at}) : writings_.end();
    if (it != writings_.end()) {
      out = it->second;
      break;
    }
    behind.push_back(at);
  }
  for (auto it = behind.rbegin(); it != behind.rend(); ++it) {
    write(out, static_cast<uint8_t>(texts.cell(*it).value));
    Work::spend(1 + out.begun.size());
  }
  if (text < kScratchCell && !behind.empty()) {
    writings_.emplace(StoredCell{texts.store(), text}, out);
    text_bytes_ += out.begun.size() * sizeof(Writing::Begun);
  }
  return out;
}

void TextMeasures::write(Writing& writing, uint8_t byte) const {
  if (writing.whole != kNever) writing.begun.push_back({Vocabulary::kRoot, writing.whole + 1});
  writing.whole = kNever;
  std::erase_if(writing.begun, [&](Writing::Begun& begun) {
    begun.node = vocabulary_.child(begun.node, byte);
    if (begun.node == Vocabulary::kRoot) return true;
    const Vocabulary::Node& at = vocabulary_.node(begun.node);
    if (at.token_begin < at.token_own_end) writing.whole = std::min(writing.whole, begun.tokens);
    return at.num_children == 0;
  });
}

uint32_t TextMeasures::rest(const TextView& texts, CellId text, uint32_t position) {
  const uint32_t size = texts.cell(text).size;
  if (position == 0) return length(texts, text);
  if (unit_ == Unit::Bytes || (has_all_bytes_ && size > kLongText)) return size - position;
  if (text >= kScratchCell) return tokens_of_rests(texts.text(text))[position];
  const StoredCell at{texts.store(), text};
  if (const auto it = rests_.find(at); it != rests_.end()) return it->second[position];
  std::vector<uint32_t> rests = tokens_of_rests(texts.text(text));
  text_bytes_ += rests.capacity() * sizeof(uint32_t);
  return rests_.emplace(at, std::move(rests)).first->second[position];
}

// In how few tokens the text can be written from each of its bytes on.
std::vector<uint32_t> TextMeasures::tokens_of_rests(std::string_view text) const {
  std::vector<uint32_t> out(text.size() + 1, kNever);
  out.back() = 0;
  size_t steps = text.size();
  for (size_t begin = text.size(); begin-- > 0;) {
    NodeId node = Vocabulary::kRoot;
    for (size_t end = begin; end < text.size(); ++end, ++steps) {
      node = vocabulary_.child(node, static_cast<uint8_t>(text[end]));
      if (node == Vocabulary::kRoot) break;
      const Vocabulary::Node& at = vocabulary_.node(node);
      if (at.token_begin < at.token_own_end && out[end + 1] != kNever)
        out[begin] = std::min(out[begin], out[end + 1] + 1);
    }
  }
  Work::spend(steps);
  return out;
}

CellId TextMeasures::environment(const TextView& texts, CellId id) {
  std::vector<CellId> open;
  const auto known = [&](CellId at) {
    return at < kScratchCell ? environments_.find({texts.store(), at}) : environments_.end();
  };
  CellId out = kNoCell;
  for (; id != kNoCell; id = texts.cell(id).parent) {
    if (const auto it = known(id); it != environments_.end()) {
      out = it->second;
      break;
    }
    open.push_back(id);
  }
  for (auto it = open.rbegin(); it != open.rend(); ++it) {
    const Cell at = texts.cell(*it);
    out = measured_.intern({out, length(texts, at.value), at.size, kNoCell, Cell::Kind::Environment});
    if (*it < kScratchCell) environments_.emplace(StoredCell{texts.store(), *it}, out);
  }
  return out;
}

uint64_t TextMeasures::with_text(uint64_t scope, uint8_t number, uint32_t length) {
  const auto find = [this](CellId id) -> const Cell& { return measured_.cell(id); };
  const CellId outside = outside_of(static_cast<CellId>(scope), number, find);
  return measured_.intern({outside, length, number, kNoCell, Cell::Kind::Environment});
}

uint32_t TextMeasures::length_in(uint64_t scope, uint8_t number) const {
  auto id = static_cast<CellId>(scope);
  while (id != kNoCell && measured_.cell(id).size < number) id = measured_.cell(id).parent;
  return id != kNoCell && measured_.cell(id).size == number ? measured_.cell(id).value : kNever;
}

size_t TextMeasures::memory_bytes() const {
  constexpr size_t kAnEntry = 64;  // of a hash table
  const size_t num_entries = environments_.size() + writings_.size() + rests_.size();
  return measured_.memory_bytes() + text_bytes_ + num_entries * kAnEntry;
}

}  // namespace maskwright
