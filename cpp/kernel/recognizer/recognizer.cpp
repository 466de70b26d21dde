#include "recognizer/recognizer.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "rules/text_lengths.h"
#include "support/errors.h"

namespace maskwright {
namespace {

constexpr size_t kLinearItems = 16;
constexpr size_t kFewItems = 4;  // whose stacks may be used again
constexpr size_t kMaxItems = 1'000'000;
constexpr uint32_t kFreeSlot = 0xFFFFFFFF;

uint64_t hash_item(const Item& item) {
  return mix(mix(reinterpret_cast<uintptr_t>(item.state), item.reg), item.stack);
}

// Takes out, from `begin` on, what differs from another in what was counted alone, and is covered by that.
template <class Counting, class State>
void drop_covered(std::vector<Counting>& all, size_t begin, State Counting::* state, StackId Counting::* stack) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto order = [&](const Counting& c) {  // within a group, fewest needed first, of these most remaining
    const Count count = Count::of(c.reg);
    return std::tuple(c.*state, c.*stack, count.needed, ~count.remaining);
  };
  std::sort(first, all.end(), [&](const Counting& a, const Counting& b) { return order(a) < order(b); });
  auto kept = first;
  for (auto it = first; it != all.end(); ++it) {
    const bool is_covered = kept != first && (*it).*state == kept[-1].*state && (*it).*stack == kept[-1].*stack &&
                            (*it).*state && ((*it).*state)->rule->counts() &&
                            Count::of(kept[-1].reg).covers(Count::of(it->reg));
    if (!is_covered) *kept++ = *it;
  }
  all.erase(kept, all.end());
  std::sort(first, all.end());
}

}  // namespace

bool StackSet::insert(StackId stack) {
  if (slots_.empty()) {
    if (std::find(stacks_.begin(), stacks_.end(), stack) != stacks_.end()) return false;
    stacks_.push_back(stack);
    if (stacks_.size() <= kLinear) return true;
  } else {
    size_t s = mix(0, stack) & (slots_.size() - 1);
    for (; slots_[s] != kFree; s = (s + 1) & (slots_.size() - 1))
      if (slots_[s] == stack) return false;
    slots_[s] = stack;
    stacks_.push_back(stack);
    if (2 * stacks_.size() <= slots_.size()) return true;
  }
  slots_.assign(std::bit_ceil(8 * stacks_.size()), kFree);
  for (const StackId known : stacks_) insert_slot(known);
  return true;
}

// Precondition: the stack has no slot, and one is free.
void StackSet::insert_slot(StackId stack) {
  size_t s = mix(0, stack) & (slots_.size() - 1);
  while (slots_[s] != kFree) s = (s + 1) & (slots_.size() - 1);
  slots_[s] = stack;
}

void Recognizer::reset(const StackStore& store, std::span<const Item> items, bool complete, int64_t clock,
                       CellId text) {
  store_ = &store;
  clock_ = clock;
  frames_.clear();
  nodes_.clear();
  cells_.clear();
  items_.assign(items.begin(), items.end());
  levels_.assign(1, {0, 0, 0, 0, complete, false, text});
  unspent_ = 0;
}

void Recognizer::reset_after_return(const StackStore& store, std::span<const Frame> frames, const Rule& rule,
                                    int64_t clock) {
  reset(store, {}, false, clock);
  levels_.clear();
  begin_level();
  if (rule.is_value())
    return_unknown_value(frames);
  else
    for (const Frame& frame : frames) return_to(frame);
  if (!end_level()) levels_.push_back({0, 0, 0, 0, false});
}

void Recognizer::reset_after_text(const StackStore& store, std::span<const Frame> frames, uint8_t number, CellId text,
                                  std::string_view more) {
  reset(store, {}, false);
  for (const char byte : more) text = extend(text, static_cast<uint8_t>(byte));
  levels_.clear();
  begin_level();
  remember(frames, number, text);
  if (!end_level()) levels_.push_back({0, 0, 0, 0, false});
}

void Recognizer::reset_after_element(const StackStore& store, std::span<const Frame> frames, uint64_t reg,
                                     std::string_view more, bool checks) {
  reset(store, {}, false);
  auto [avoided, text] = Spelled::of(reg);
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  for (const char c : more) {
    const auto byte = static_cast<uint8_t>(c);
    avoided = below(avoided, byte, find);
    text = extend(text, byte);
  }
  levels_.clear();
  begin_level();
  if (!checks || !holds_end(avoided, find)) add_to_lists(frames, text);
  if (!end_level()) levels_.push_back({0, 0, 0, 0, false});
}

void Recognizer::begin_level() {
  const bool has_decided = !levels_.empty() && levels_.back().has_decided;
  text_before_ = levels_.empty() ? kNoCell : levels_.back().text;
  byte_ = -1;
  levels_.push_back({items_.size(), frames_.size(), nodes_.size(), static_cast<uint32_t>(cells_.size()), false,
                     has_decided, text_before_});
  num_pending_ = 0;
  may_cover_ = false;
  returned_.clear();
  slots_.clear();
}

// Returns from what ends, and drops the level again if nothing is left.
bool Recognizer::end_level() {
  complete_returns();
  Level& top = levels_.back();
  const auto begin = items_.begin() + static_cast<std::ptrdiff_t>(top.items);
  items_.erase(
      std::remove_if(begin, items_.end(),
                     [](const Item& item) { return item.state->ends_only || !may_continue(*item.state, item.reg); }),
      items_.end());
  if (may_cover_) drop_covered(items_, top.items, &Item::state, &Item::stack);
  if (items_.size() == top.items && !top.complete) {
    pop();
    return false;
  }
  if (top.text != kNoCell) keep_text();
  return true;
}

// Takes another byte into the text, or the first one.
void Recognizer::read_into_text(uint8_t byte) {
  byte_ = byte;
  if (text_before_ != kNoCell) levels_.back().text = extend(text_before_, byte);
}

bool Recognizer::push_any(uint8_t byte) {
  const size_t begin = levels_.back().items, end = items_.size();
  spend(end - begin);
  begin_level();
  read_into_text(byte);
  for (size_t i = begin; i < end; ++i) scan(Item(items_[i]), byte);
  run_calls([&](const Item& item) { scan(item, byte); });
  return end_level();
}

bool Recognizer::push_own(uint8_t byte) {
  const size_t begin = levels_.back().items, end = items_.size();
  begin_level();
  read_into_text(byte);
  for (size_t i = begin; i < end; ++i) scan_own(Item(items_[i]), byte);
  return end_level();
}

bool Recognizer::push_token(TokenId token, bool only_named) {
  const size_t begin = levels_.back().items, end = items_.size();
  begin_level();
  for (size_t i = begin; i < end; ++i) scan_token(Item(items_[i]), token, only_named);
  run_calls([&](const Item& item) { scan_token(item, token, only_named); });
  return end_level();
}

void Recognizer::scan(const Item& item, uint8_t byte) {
  DfaState& state = *item.state;
  state.rule->link(state);
  if (!state.live.test(byte) && !state.rule->is_scope()) return;  // which may recall a text
  scan_own(item, byte);
  if (!may_repeat(state, item.reg)) return;
  if (!state.rule->is_list()) return scan_calls(item, byte);
  if (may_have_another(item)) scan_calls_of_list(item, byte);
}

// Elements have to do with the set as it is then. A value that was added last stays apart until it has been closed.
void Recognizer::scan_calls_of_list(const Item& list, uint8_t byte) {
  const Chosen chosen = Chosen::of(list.reg);
  const Item looked{list.state, Chosen{chosen.count, looked_into(chosen.set, *list.state->rule)}.reg(), list.stack};
  if (!list.state->rule->has_values()) return scan_calls(looked, byte);
  for (CallEdge& call : list.state->calls) {
    if (!call.callee->first().test(byte)) continue;
    add_call(call.callee->is_element() || call.callee->is_value() ? looked : list, call);
  }
}

void Recognizer::scan_calls(const Item& item, uint8_t byte) {
  for (CallEdge& call : item.state->calls)
    if (call.callee->first().test(byte)) add_call(item, call);
}

void Recognizer::scan_own(const Item& item, uint8_t byte) {
  Rule& rule = *item.state->rule;
  if (rule.recalls()) return scan_recalled(item, byte);
  if (may_terminate(*item.state, item.reg) && rule.terminator() == byte) add_item({rule.end(), 0, item.stack});
  if (!may_repeat(*item.state, item.reg)) return;
  if (rule.is_list() && !may_have_another(item)) return;
  DfaState* t = rule.next(*item.state, byte);
  if (!t) return;
  if (rule.is_element()) return scan_element(item, *t, byte);
  if (!item.state->final && rule.has_values() && !may_close(item)) return;
  if (rule.remembers()) return add_item({t, extend(static_cast<CellId>(item.reg), byte), item.stack});
  if (const auto reg = after_byte(*item.state, *t, byte, item.reg)) add_item({t, *reg, item.stack});
}

void Recognizer::scan_element(const Item& item, DfaState& target, uint8_t byte) {
  const Spelled at = Spelled::of(item.reg);
  if (target.rule->is_of_kinds() && (target.final || !reads_plenty(target))) levels_.back().has_decided = true;
  const auto avoided = avoided_behind(at.avoided, byte, target, [this](CellId id) -> const Cell& { return cell(id); });
  if (avoided) add_item({&target, Spelled{*avoided, extend(at.text, byte)}.reg(), item.stack});
}

// The automaton takes any byte and then ends; the text says which, and how often it begins again.
void Recognizer::scan_recalled(const Item& item, uint8_t byte) {
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  const Recalled at = Recalled::of(item.reg);
  if (byte_at(at.text, at.position, find) != byte) return;
  if (at.position + 1 < cell(at.text).size)
    add_item({item.state, Recalled{at.text, at.position + 1}.reg(), item.stack});
  else
    add_item({item.state->rule->next(*item.state, byte), 0, item.stack});
}

// Of the level's cells, one that is equal, or a new one.
CellId Recognizer::add_cell(const Cell& cell) {
  const size_t begin = levels_.back().cells;
  spend(cells_.size() - begin);
  const auto it = std::find(cells_.begin() + static_cast<std::ptrdiff_t>(begin), cells_.end(), cell);
  return it == cells_.end() ? push_cell(cell) : kScratchCell + static_cast<CellId>(it - cells_.begin());
}

CellId Recognizer::push_cell(const Cell& cell) {
  cells_.push_back(cell);
  return kScratchCell + static_cast<CellId>(cells_.size() - 1);
}

CellId Recognizer::extend(CellId text, uint8_t byte) {
  return add_cell(longer(text, byte, [this](CellId id) -> const Cell& { return cell(id); }));
}

uint64_t Recognizer::called_register(const Item& caller, const CallEdge& call) const {
  if (call.callee->is_element()) return Spelled{Chosen::of(caller.reg).set, kNoCell}.reg();
  if (call.callee->is_value()) return cell(text_before_).size;
  if (!call.callee->recalls()) return call.reg;
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  return Recalled{text_in(static_cast<CellId>(caller.reg), call.callee->memory().number, find), 0}.reg();
}

void Recognizer::scan_token(const Item& item, TokenId token, bool only_named) {
  DfaState& state = *item.state;
  state.rule->link(state);
  if (!may_repeat(state, item.reg)) return;
  for (TokenEdge& edge : state.token_edges) {
    const TokenSet& set = state.rule->token_set(edge.argument);
    if (!set.contains(token) || (only_named && set.by_exclusion)) continue;
    DfaState* t = state.rule->target(state, edge);
    add_item({t, entering(*t, item.reg), item.stack});
  }
  for (CallEdge& call : state.calls)
    if (call.callee->first_has_tokens()) add_call(item, call);
}

void Recognizer::add_call(const Item& caller, CallEdge& call) {
  const uint64_t reg = called_register(caller, call);
  if (call.callee->recalls() && Recalled::of(reg).text == kNoCell) return;
  if (call.callee->is_value() && levels_.back().text == kNoCell && byte_ >= 0)
    levels_.back().text = extend(kNoCell, static_cast<uint8_t>(byte_));
  size_t i = 0;
  while (i < num_pending_ && (pending_[i].callee != call.callee || pending_[i].reg != reg)) ++i;
  spend(i / 8);
  const bool fresh = i == num_pending_;
  if (fresh) {
    if (num_pending_ == pending_.size()) pending_.emplace_back();
    ++num_pending_;
    pending_[i].callee = call.callee;
    pending_[i].reg = reg;
    pending_[i].has_sole = false;
    pending_[i].frames.clear();
  }
  Pending& pending = pending_[i];
  DfaState* target = caller.state->rule->target(*caller.state, call);
  const Frame frame{target, caller.reg, caller.stack};
  const bool tail = target->ends_only && !target->counter_head && !call.callee->remembers() &&
                    !call.callee->is_value() && !caller.state->rule->is_value();
  if (tail && fresh && !call.callee->span()) {
    pending.sole = frame;
    pending.has_sole = true;
    return;
  }
  if (pending.has_sole) {
    add_tail_frames(pending, pending.sole);
    pending.has_sole = false;
  }
  if (tail)
    add_tail_frames(pending, frame);
  else
    pending.frames.push_back(frame);
}

// What a frame does that only returns again: what the frames below it do, unless these have a mark.
void Recognizer::add_tail_frames(Pending& pending, const Frame& frame) {
  if (mark(frame.parent)) {
    pending.frames.push_back(frame);
    return;
  }
  const auto below = frames(frame.parent);
  pending.frames.insert(pending.frames.end(), below.begin(), below.end());
}

// Starts the rules called, those that may call others of them first.
template <class Scan>
void Recognizer::run_calls(Scan&& scan) {
  while (num_pending_ > 0) {
    size_t best = 0;
    for (size_t i = 1; i < num_pending_; ++i)
      if (pending_[i].callee->rank() > pending_[best].callee->rank()) best = i;
    std::swap(pending_[best], pending_[num_pending_ - 1]);
    Pending& pending = pending_[--num_pending_];
    spend(num_pending_ / 8 + pending.frames.size() + 1);
    StackId stack = pending.sole.parent;
    if (!pending.has_sole) {
      auto& frames = pending.frames;
      if (frames.size() > 1) {
        std::sort(frames.begin(), frames.end());
        frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
        if (std::ranges::any_of(frames, [](const Frame& f) { return f.target && f.target->rule->counts(); }))
          drop_covered(frames, 0, &Frame::target, &Frame::parent);
      }
      StackMark mark;
      if (const auto& span = pending.callee->span()) {
        mark.rule = pending.callee;
        if (span->max_tokens > 0) mark.deadline = int64_t{span->max_tokens} - clock_;
      }
      stack = stack_of(frames, mark);
    }
    scan(Item{pending.callee->start(), pending.reg, stack});
  }
}

// A node with these frames: one that an item of the last level stands on, or a new one.
StackId Recognizer::stack_of(std::span<const Frame> frames, const StackMark& mark) {
  const size_t end = levels_.back().items;
  const size_t begin =
      std::max(levels_.size() > 1 ? levels_[levels_.size() - 2].items : 0, end - std::min(end, kFewItems));
  for (size_t i = begin; i < end; ++i)
    if (const StackId stack = items_[i].stack;
        std::ranges::equal(this->frames(stack), frames) && this->mark(stack) == mark)
      return stack;
  const auto is_in_value = [this](const Frame& frame) {
    return frame.target && (frame.target->rule->is_value() || in_value(frame.parent));
  };
  nodes_.push_back({static_cast<uint32_t>(frames_.size()), static_cast<uint32_t>(frames.size()), mark,
                    std::ranges::any_of(frames, is_in_value)});
  frames_.insert(frames_.end(), frames.begin(), frames.end());
  return kScratch + static_cast<StackId>(nodes_.size() - 1);
}

void Recognizer::add_item(const Item& item) {
  const size_t begin = levels_.back().items;
  const size_t count = items_.size() - begin;
  if (count >= kMaxItems)
    throw LimitExceeded("parse_items", "the grammar is too ambiguous: the output so far has more than " +
                                           std::to_string(kMaxItems) + " parses at once");
  if (count <= kLinearItems) {
    for (size_t i = begin; i < items_.size(); ++i) {
      const Item& other = items_[i];
      if (other.state != item.state || other.stack != item.stack) continue;
      if (other.reg == item.reg || (item.state->rule->counts() && Count::of(other.reg).covers(Count::of(item.reg))))
        return;
      may_cover_ = true;
    }
    items_.push_back(item);
    return;
  }
  may_cover_ = may_cover_ || item.state->rule->counts();
  if (slots_.size() < 2 * (count + 1)) {
    slots_.assign(std::bit_ceil(8 * count), kFreeSlot);
    for (size_t i = begin; i < items_.size(); ++i) {
      size_t s = hash_item(items_[i]) & (slots_.size() - 1);
      while (slots_[s] != kFreeSlot) s = (s + 1) & (slots_.size() - 1);
      slots_[s] = static_cast<uint32_t>(i);
    }
  }
  size_t s = hash_item(item) & (slots_.size() - 1);
  for (; slots_[s] != kFreeSlot; s = (s + 1) & (slots_.size() - 1))
    if (items_[slots_[s]] == item) return;
  slots_[s] = static_cast<uint32_t>(items_.size());
  items_.push_back(item);
}

void Recognizer::return_from(StackId stack) {
  if (!returned_.insert(stack)) return;
  const int64_t deadline = mark(stack).deadline;
  if (deadline != kNoDeadline && clock_ + deadline < 1) return;
  const size_t size = frames(stack).size();
  spend(size);
  for (size_t i = 0; i < size; ++i) return_to(Frame(frames(stack)[i]));
}

void Recognizer::return_to(const Frame& frame) {
  if (frame.target)
    add_item({frame.target, entering(*frame.target, frame.reg), frame.parent});
  else
    levels_.back().complete = true;
}

void Recognizer::complete_returns() {
  for (size_t i = levels_.back().items; i < items_.size(); ++i) {
    const Item item = items_[i];
    if (!may_end(*item.state, item.reg)) continue;
    const MemoryRole& role = item.state->rule->memory();
    if (item.state->rule->remembers())
      return_text(item);
    else if (item.state->rule->is_value())
      return_value(item);
    else if (role.kind != MemoryRole::Kind::Distinct || Chosen::of(item.reg).count >= role.minimum)
      return_from(item.stack);
  }
}

ByteSet next_bytes(std::span<const Item> items) {
  ByteSet out;
  for (const Item& item : items) {
    if (!may_continue(*item.state, item.reg)) continue;
    item.state->rule->link(*item.state);
    out |= item.state->live;
  }
  return out;
}

ByteSet Recognizer::next_bytes() const {
  ByteSet out = maskwright::next_bytes(items());
  for (const Item& item : items())
    if (item.state->rule->is_scope()) out |= recalled_bytes(item);
  // A rule that recalls takes any byte itself.
  if (const Item* sole = sole_item(); sole && sole->state->rule->recalls()) return recalled_bytes(*sole);
  return out;
}

}  // namespace maskwright
