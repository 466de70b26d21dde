#include "recognizer/recognizer.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "recognizer/value_identity.h"
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

void Recognizer::reset_after_return(const StackStore& store, std::span<const Frame> frames, const Rule& rule) {
  reset(store, {}, false);
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

// As long as some item is in a value.
void Recognizer::keep_text() {
  Level& top = levels_.back();
  const auto is_inside = [this](const Item& item) { return item.state->rule->is_value() || in_value(item.stack); };
  if (std::none_of(items_.begin() + static_cast<std::ptrdiff_t>(top.items), items_.end(), is_inside))
    top.text = kNoCell;
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
  const CellId avoided = below(at.avoided, byte, [this](CellId id) -> const Cell& { return cell(id); });
  if (avoided != kAllTexts) add_item({&target, Spelled{avoided, extend(at.text, byte)}.reg(), item.stack});
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
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  const auto add = [this](const Cell& cell) { return push_cell(cell); };
  const std::string text = text_of(grown.value, grown.size == 0 ? 0 : grown.size - 1);
  spend(text.size());
  if (grown.size > 0) return with_value(grown.parent, identity_of(text), find, add);
  return with_text(list, grown.parent, text, find, add);
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

void Recognizer::return_text(const Item& item) {
  const std::vector<Frame> frames(this->frames(item.stack).begin(), this->frames(item.stack).end());
  const MemoryRole& role = item.state->rule->memory();
  const Spelled at = Spelled::of(item.reg);
  if (role.kind == MemoryRole::Kind::Remember)
    remember(frames, role.number, static_cast<CellId>(item.reg));
  else if (!holds_end(at.avoided, [this](CellId id) -> const Cell& { return cell(id); }))
    add_to_lists(frames, at.text);
}

// Whether the set is one to which a value was added last that it had before.
bool Recognizer::repeats_value(CellId set) {
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

// A scratch cell and what it refers to, in the store.
CellId import_cell(const Recognizer& recognizer, CellStore& store, CellId id, std::vector<CellId>& moved) {
  std::vector<CellId> open{id};
  const auto known = [&](CellId cell) { return cell < kScratchCell ? cell : moved[cell - kScratchCell]; };
  const auto is_known = [&](CellId cell) { return cell < kScratchCell || moved[cell - kScratchCell] != kScratchCell; };
  while (!is_known(id)) {
    const CellId at = open.back();
    Cell cell = recognizer.cell(at);
    if (!is_known(cell.parent)) {
      open.push_back(cell.parent);
    } else if (cell.kind != Cell::Kind::Text && !is_known(cell.value)) {
      open.push_back(cell.value);
    } else {
      open.pop_back();
      const auto find = [&](CellId other) -> const Cell& { return store.cell(other); };
      if (cell.kind != Cell::Kind::Text)
        cell = {known(cell.parent), known(cell.value), cell.size, kNoCell, cell.kind};
      else
        cell = longer(known(cell.parent), static_cast<uint8_t>(cell.value), find);
      moved[at - kScratchCell] = store.intern(cell);
    }
  }
  return known(id);
}

// Registers that hold cells, with the cells in the store.
class ImportedCells {
 public:
  ImportedCells(const Recognizer& recognizer, CellStore& store)
      : recognizer_(recognizer), store_(store), moved_(recognizer.num_scratch_cells(), kScratchCell) {}
  void move(const DfaState* state, uint64_t& reg) {
    if (moved_.empty() || !state) return;
    switch (state->rule->memory().kind) {
      case MemoryRole::Kind::None:
      case MemoryRole::Kind::Multiple:
      case MemoryRole::Kind::Value: return;
      case MemoryRole::Kind::Scope:
      case MemoryRole::Kind::Remember: reg = import_cell(recognizer_, store_, static_cast<CellId>(reg), moved_); return;
      case MemoryRole::Kind::Recall: {
        const Recalled at = Recalled::of(reg);
        reg = Recalled{import_cell(recognizer_, store_, at.text, moved_), at.position}.reg();
        return;
      }
      case MemoryRole::Kind::Element: {
        const Spelled at = Spelled::of(reg);
        reg = Spelled{import_cell(recognizer_, store_, at.avoided, moved_),
                      import_cell(recognizer_, store_, at.text, moved_)}
                  .reg();
        return;
      }
      case MemoryRole::Kind::Distinct: {
        const Chosen chosen = Chosen::of(reg);
        reg = Chosen{chosen.count, import_set(chosen.set, *state->rule)}.reg();
      }
    }
  }

  void move_text(CellId& text) {
    if (!moved_.empty()) text = import_cell(recognizer_, store_, text, moved_);
  }

 private:
  // In the form in which equal sets are equal numbers, unless a value was added last: more of it may come instead.
  CellId import_set(CellId set, Rule& list) {
    const Cell grown = recognizer_.cell(set);
    if (!is_trie(set) || grown.kind != Cell::Kind::Grown || grown.size > 0)
      return import_cell(recognizer_, store_, set, moved_);
    return with_text(
        list, import_cell(recognizer_, store_, grown.parent, moved_), recognizer_.text_of(grown.value),
        [this](CellId id) -> const Cell& { return store_.cell(id); },
        [this](const Cell& cell) { return store_.intern(cell); });
  }

  const Recognizer& recognizer_;
  CellStore& store_;
  std::vector<CellId> moved_;
};

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
