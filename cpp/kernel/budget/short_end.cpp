#include "budget/short_end.h"

#include <algorithm>
#include <string_view>

#include "recognizer/named_tokens.h"

namespace maskwright {
namespace {

constexpr uint32_t kLastRank = 6;

constexpr std::array<uint8_t, 256> make_ranks() {
  constexpr std::array<std::string_view, kLastRank> groups = {"\"'}])>", "0123456789", "abcdefghijklmnopqrstuvwxyz",
                                                              ",;:.",    " \n",        "{[(<"};
  std::array<uint8_t, 256> out{};
  out.fill(kLastRank);
  for (uint8_t rank = 0; rank < kLastRank; ++rank)
    for (const char c : groups[rank]) out[static_cast<uint8_t>(c)] = rank;
  return out;
}

constexpr std::array<uint8_t, 256> make_order() {
  const std::array<uint8_t, 256> ranks = make_ranks();
  std::array<uint8_t, 256> out{};
  size_t size = 0;
  for (uint32_t rank = 0; rank <= kLastRank; ++rank)
    for (int b = 0; b < 256; ++b)
      if (ranks[static_cast<size_t>(b)] == rank) out[size++] = static_cast<uint8_t>(b);
  return out;
}

constexpr std::array<uint8_t, 256> kRanks = make_ranks(), kOrder = make_order();

}  // namespace

std::optional<std::vector<EndPiece>> ShortEnd::find(size_t most) {
  std::vector<EndPiece> out;
  for (size_t size = 0; !recognizer_.complete(); ++size) {
    const std::optional<Step> step = size < most ? best_step(distance()) : std::nullopt;
    if (!step || !take(*step)) return {};
    if (step->is_token) {
      out.push_back({{}, step->token});
      continue;
    }
    if (out.empty() || out.back().bytes.empty()) out.emplace_back();
    out.back().bytes.push_back(static_cast<char>(step->byte));
  }
  return out;
}

bool ShortEnd::take(const Step& step) {
  if (step.is_token) return recognizer_.push_token(step.token);
  ++uses_[step.byte];
  return recognizer_.push(step.byte);
}

// The first that comes nearer to the end; of steps that do not, the first in order.
std::optional<ShortEnd::Step> ShortEnd::best_step(uint32_t distance) {
  std::optional<Step> best;
  const auto look = [&](const Step& step) {
    const bool comes_nearer = this->distance() < distance;
    recognizer_.pop();
    if (!best || comes_nearer || step.order < best->order) best = step;
    return comes_nearer;
  };
  const ByteSet next = recognizer_.next_bytes();
  for (const uint8_t byte : kOrder) {
    if (!next.test(byte) || !recognizer_.push(byte)) continue;
    if (look({.order = kRanks[byte] + kLastRank * uses_[byte], .byte = byte})) return best;
  }
  for (const auto& group : named_tokens(recognizer_.items())) {
    if (!recognizer_.push_token(group[0])) continue;
    if (look({.order = UINT32_MAX, .is_token = true, .token = group[0]})) return best;
  }
  return best;
}

// The bytes to an end of the output; kNever if nothing is known of one.
uint32_t ShortEnd::distance() {
  if (recognizer_.complete()) return 0;
  uint32_t least = ByteDistances::kNever;
  for (const Item& item : recognizer_.items())
    distances_.for_each_way_down(
        TextView(recognizer_), item, recognizer_.frames(item.stack), 0,
        [&](StackId stack, uint32_t distance) { least = std::min(least, ByteDistances::sum(distance, below(stack))); });
  return least;
}

// The bytes from where what stands on the stack has ended.
uint32_t ShortEnd::below(StackId stack) {
  std::unordered_map<StackId, uint32_t> scratch;
  const auto find = [&](StackId id) -> const uint32_t* {
    const auto& known = id < kScratch ? below_ : scratch;
    const auto it = known.find(id);
    return it == known.end() ? nullptr : &it->second;
  };
  std::vector<StackId> open{stack};
  while (!open.empty()) {
    const StackId id = open.back();
    uint32_t least = ByteDistances::kNever;
    bool is_ready = true;
    for (const Frame& frame : recognizer_.frames(id)) {
      if (!frame.target) {
        least = 0;
      } else if (const uint32_t* parent = find(frame.parent)) {
        least = std::min(least, ByteDistances::sum(distances_.after_return(TextView(recognizer_), frame), *parent));
      } else {
        open.push_back(frame.parent);
        is_ready = false;
      }
    }
    if (!is_ready) continue;
    open.pop_back();
    (id < kScratch ? below_ : scratch)[id] = least;
  }
  return *find(stack);
}

}  // namespace maskwright
