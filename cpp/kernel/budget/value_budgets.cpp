#include "budget/value_budgets.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "support/work.h"

namespace maskwright {
namespace {

constexpr std::string_view kGrowing = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr size_t kLongestWord = 26;  // 2^26 words of two letters
constexpr int kMostDetours = 2;
constexpr int kFewChoices = 128;  // of the next byte: where there are more, a longer token is as good as a byte
constexpr int kAllChoices = 256;
constexpr size_t kStepsADistance = 20;
constexpr size_t kBytesAnEntry = 64;  // of a hash table

bool is_token(const Vocabulary& vocabulary, NodeId node) {
  const Vocabulary::Node& at = vocabulary.node(node);
  return node != Vocabulary::kRoot && at.token_begin < at.token_own_end;
}

int64_t sum(uint32_t bytes, int64_t clock) {
  return bytes == ByteDistances::kNever || clock >= ValueBudgets::kNever ? ValueBudgets::kNever : clock + bytes;
}

// Whether that is where a value is closed that its list has.
bool is_stuck(const Recognizer& view, const DfaState& state, uint64_t reg) {
  return state.rule->has_values() && !state.final && view.repeats_value(Chosen::of(reg).set);
}

// The same of white space, which may stand before what closes a value, or in the value. Of a list whose values are not
// known, it may be so wherever the value may go on.
bool is_stuck(const Recognizer& view, std::span<const Frame> frames, const Frame& frame) {
  const DfaState& target = *frame.target;
  const CellId set = Chosen::of(frame.reg).set;
  if (!target.rule->has_values() || target.final) return false;
  if (is_trie(set) || set == kNoTexts) return is_stuck(view, target, frame.reg);
  return std::ranges::any_of(frames, [](const Frame& other) { return other.target && other.target->rule->is_value(); });
}

}  // namespace

int64_t ValueBudgets::below(const Recognizer& view, const Below& at) {
  if (const auto it = below_.find(at); it != below_.end()) return it->second;
  Known scratch;
  const auto find = [&](const Below& key) -> const int64_t* {
    const Known& known = key.stack < kScratch ? below_ : scratch;
    const auto it = known.find(key);
    return it == known.end() ? nullptr : &it->second;
  };
  const TextView texts(view);
  std::vector<Below> open{at};
  while (!open.empty()) {
    const Below key = open.back();
    int64_t least = kNever;
    bool is_ready = true;
    const auto go_on = [&](uint32_t bytes, const Below& next) {
      if (bytes == ByteDistances::kNever) return;
      if (const int64_t* rest = find(next)) {
        least = std::min(least, sum(bytes, *rest));
      } else {
        open.push_back(next);
        is_ready = false;
      }
    };
    for (const Frame& frame : view.frames(key.stack)) {
      Work::spend(1);
      if (!frame.target) {
        if (!key.differs) least = std::min<int64_t>(least, 0);
        continue;
      }
      if (is_stuck(view, view.frames(key.stack), frame)) continue;
      const bool is_first = key.after_value && Chosen::of(frame.reg).set == kNoTexts;
      if (key.differs && key.after_value && !is_first) continue;  // it should have differed by then
      const bool differs = key.differs && (!key.after_value || view.in_value(frame.parent));
      const bool is_value = frame.target->rule->is_value();
      go_on(bytes_.after_return(texts, frame, key.after_value), {frame.parent, is_value, differs});
      if (differs) go_on(bytes_.after_return(texts, frame, key.after_value, true), {frame.parent, is_value, false});
    }
    if (!is_ready) continue;
    open.pop_back();
    const int64_t deadline = view.mark(key.stack).deadline;
    if (deadline != kNoDeadline && least < kNever) least = std::max(least, -deadline);
    (key.stack < kScratch ? below_ : scratch)[key] = least;
  }
  return *find(at);
}

int64_t ValueBudgets::needed(const Recognizer& view, const Item& item) {
  if (is_stuck(view, *item.state, item.reg)) return kNever;
  const bool is_value = item.state->rule->is_value();
  const TextView texts(view);
  int64_t least = kNever;
  bytes_.for_each_way_down(texts, item, view.frames(item.stack), 0, [&](StackId stack, uint32_t bytes) {
    least = std::min(least, sum(bytes, below(view, {stack, is_value, is_value || view.in_value(stack)})));
  });
  if (!is_value && !view.in_value(item.stack)) return least;
  bytes_.for_each_differing_way_down(texts, item, view.frames(item.stack), [&](StackId stack, uint32_t bytes) {
    least = std::min(least, sum(bytes, below(view, {stack, is_value, false})));
  });
  return least == kNever ? sum(kAssumedBytes, nearest(view, item)) : least;
}

// The same if all values in progress differ already.
int64_t ValueBudgets::nearest(const Recognizer& view, const Item& item) {
  if (is_stuck(view, *item.state, item.reg)) return kNever;
  int64_t least = kNever;
  bytes_.for_each_way_down(TextView(view), item, view.frames(item.stack), 0, [&](StackId stack, uint32_t bytes) {
    least = std::min(least, sum(bytes, below(view, {stack, item.state->rule->is_value(), false})));
  });
  return least;
}

template <class Distance>
int64_t ValueBudgets::least(const Recognizer& recognizer, Distance&& distance) {
  int64_t least = recognizer.complete() ? 0 : kNever;
  for (const Item& item : recognizer.items()) least = std::min<int64_t>(least, distance(item));
  Work::spend(kStepsADistance * recognizer.items().size());
  return least;
}

int64_t ValueBudgets::needed(const Recognizer& recognizer) {
  return least(recognizer, [&](const Item& item) { return needed(recognizer, item); });
}

int64_t ValueBudgets::nearest(const Recognizer& recognizer) {
  return least(recognizer, [&](const Item& item) { return nearest(recognizer, item); });
}

std::optional<std::string> ValueBudgets::sure_token(Recognizer& recognizer, int64_t clock) {
  if (recognizer.complete() || needed(recognizer) < clock) return {};
  if (auto token = first_of_way(recognizer, clock)) return token;
  for (size_t length = 1; length <= kLongestWord && static_cast<int64_t>(length) < clock; ++length)
    if (auto token = first_of_word(recognizer, length, clock)) return token;
  for (int detours = 1; detours <= kMostDetours; ++detours)
    if (auto token = first_of_detour(recognizer, clock, detours)) return token;
  return {};
}

// The same of a way on which so many bytes are put in, wherever that is, each going on to what is nearest.
std::optional<std::string> ValueBudgets::first_of_detour(Recognizer& recognizer, int64_t clock, int detours) {
  if (detours == 0) return first_of_way(recognizer, clock);
  if (clock <= 0) return {};
  const int64_t distance = nearest(recognizer);
  if (distance > clock) return {};
  const auto leads_on = [&](const std::string& token, int more) {
    size_t num_pushed = 0;
    while (num_pushed < token.size() && recognizer.push(static_cast<uint8_t>(token[num_pushed]))) ++num_pushed;
    const bool leads = num_pushed == token.size() &&
                       (needed(recognizer) < clock || first_of_detour(recognizer, clock - 1, more).has_value());
    recognizer.pop(num_pushed);
    return leads;
  };
  for (int b = 0; b < 256; ++b) {
    const auto byte = static_cast<uint8_t>(b);
    const std::string token(1, static_cast<char>(byte));
    if (is_token(vocabulary_, vocabulary_.root_child(byte)) && leads_on(token, detours - 1)) return token;
  }
  const auto token = nearer_token(recognizer, distance);
  return token && leads_on(*token, detours) ? token : std::nullopt;
}

// The first token of a way that comes nearer to an end by each token, up to where bounds suffice.
std::optional<std::string> ValueBudgets::first_of_way(Recognizer& recognizer, int64_t clock) {
  std::optional<std::string> first;
  size_t num_pushed = 0;
  bool is_there = false;
  for (; !is_there && clock > 0; --clock) {
    const int64_t distance = nearest(recognizer);
    const auto token = distance <= clock ? nearer_token(recognizer, distance) : std::nullopt;
    if (!token) break;
    if (!first) first = token;
    for (const char c : *token) recognizer.push(static_cast<uint8_t>(c));
    num_pushed += token->size();
    is_there = needed(recognizer) < clock;
  }
  recognizer.pop(num_pushed);
  return is_there ? first : std::nullopt;
}

std::optional<std::string> ValueBudgets::nearer_token(Recognizer& recognizer, int64_t distance) {
  for (int b = 0; b < 256; ++b) {
    const auto byte = static_cast<uint8_t>(b);
    if (!is_token(vocabulary_, vocabulary_.root_child(byte)) || !recognizer.push(byte)) continue;
    const bool is_nearer = nearest(recognizer) < distance;
    recognizer.pop();
    if (is_nearer) return std::string(1, static_cast<char>(byte));
  }
  if (auto token = nearer_token(recognizer, distance, kFewChoices)) return token;
  return nearer_token(recognizer, distance, kAllChoices);
}

// The same by tokens of several bytes, as far as not more bytes than so many may come next.
std::optional<std::string> ValueBudgets::nearer_token(Recognizer& recognizer, int64_t distance, int most_choices) {
  std::string text;
  std::vector<std::pair<NodeId, int>> open{{Vocabulary::kRoot, 0}};  // and the next byte to try
  const auto may_go_on = [&] { return static_cast<int>(recognizer.next_bytes().count()) <= most_choices; };
  if (!may_go_on()) return {};
  while (!open.empty()) {
    auto& [node, next] = open.back();
    const int b = next++;
    if (b == 256) {
      open.pop_back();
      if (!text.empty()) {
        text.pop_back();
        recognizer.pop();
      }
      continue;
    }
    const auto byte = static_cast<uint8_t>(b);
    const NodeId child = vocabulary_.child(node, byte);
    if (child == Vocabulary::kRoot || !recognizer.push(byte)) continue;
    text.push_back(static_cast<char>(byte));
    if (text.size() > 1 && is_token(vocabulary_, child) && nearest(recognizer) < distance) {
      recognizer.pop(text.size());
      return text;
    }
    if (vocabulary_.node(child).num_children > 0 && may_go_on()) {
      open.emplace_back(child, 0);
    } else {
      text.pop_back();
      recognizer.pop();
    }
  }
  return {};
}

// The first letter of a word of this length behind which a way leads on, put in where the value can grow.
std::optional<std::string> ValueBudgets::first_of_word(Recognizer& recognizer, size_t length, int64_t clock) {
  const int64_t before = needed(recognizer);
  const int64_t on = clock - static_cast<int64_t>(length);  // behind the word
  std::string word;
  std::vector<size_t> next{0};  // letters to try, at each place
  while (!next.empty()) {
    const size_t i = next.back()++;
    if (i == kGrowing.size()) {
      next.pop_back();
      if (!word.empty()) {
        word.pop_back();
        recognizer.pop();
      }
      continue;
    }
    const auto byte = static_cast<uint8_t>(kGrowing[i]);
    if (!is_token(vocabulary_, vocabulary_.root_child(byte)) || !recognizer.push(byte)) continue;
    word.push_back(kGrowing[i]);
    const int64_t there = needed(recognizer);
    const bool grows = there <= before;
    if (grows && word.size() < length) {
      next.push_back(0);
      continue;
    }
    if (grows && (there <= on || first_of_way(recognizer, on))) {
      recognizer.pop(word.size());
      return word.substr(0, 1);
    }
    word.pop_back();
    recognizer.pop();
  }
  return {};
}

size_t ValueBudgets::memory_bytes() const {
  return below_.size() * kBytesAnEntry;
}

}  // namespace maskwright
