#include "masks/distinct_mask.h"

#include <algorithm>
#include <unordered_map>

#include "masks/exits.h"
#include "masks/followed_exits.h"
#include "masks/trie_walk.h"

namespace maskwright {

// Where an item stands: in an element, or before one, if its list may have another one there.
struct DistinctMasks::Place {
  const Item* item;
  DfaState* element;          // the state of the element; nullptr if none begins there
  CellId avoided, text;       // what the element must not go on with, and what it has read
  std::vector<Frame> frames;  // where it returns to
  bool is_list() const { return item->state->rule->is_list(); }
  uint64_t element_register() const { return Spelled{avoided, text}.reg(); }
  // What is the same for all sets.
  Key key() const {
    Key key{item->state, frames};
    if (is_list()) key.second = {{nullptr, item->reg, item->stack}};
    for (Frame& frame : key.second) frame.reg = Chosen{Chosen::of(frame.reg).count, kUnknownTexts}.reg();
    return key;
  }
};

struct DistinctMasks::Kept {
  const StateMask* mask = nullptr;  // of the element
  bool is_endless = false;          // infinitely many elements can come of what has been read
  bool is_known = true;             // or else only a walk with the set tells what is allowed
  std::unique_ptr<ElementEndings> endings;
  std::vector<TokenId> tokens;  // that are allowed, whatever the element
  std::vector<Behind> behind;
  std::vector<Undecided> undecided;
  std::unique_ptr<const ConfigMask> shared;  // if nothing is in the way

  size_t memory_bytes() const {
    size_t bytes = sizeof(*this) + tokens.capacity() * sizeof(TokenId) + (endings ? endings->memory_bytes() : 0) +
                   (shared ? shared->memory_bytes() : 0);
    for (const Behind& at : behind) bytes += sizeof(at) + at.ranges.capacity() * sizeof(at.ranges[0]);
    for (const Undecided& at : undecided) bytes += sizeof(at) + at.ranges.capacity() * sizeof(at.ranges[0]);
    return bytes;
  }
};

struct DistinctMasks::InTheWay {
  std::vector<TokenId> tokens;  // that make the element one of those to avoid, or nothing else
  StateMask::Intervals exits;   // nodes behind ends at which it is one of them
  bool all_clear = true;        // they are empty, and what is undecided is clear
  bool refuses(NodeId exit_node) const {
    return exit_node != kNoExit && std::ranges::any_of(exits, [exit_node](const auto& interval) {
             return interval.first <= exit_node && exit_node < interval.second;
           });
  }
};

namespace {

// What walks report with a set of which nothing is known: up to where it decides.
class UpToDecisions {
 public:
  explicit UpToDecisions(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}
  static constexpr bool kSeesRefused = false;
  void allow(uint32_t begin, uint32_t end) {
    if (begin == end) return;
    if (!ranges.empty() && ranges.back().second == begin)
      ranges.back().second = end;
    else
      ranges.emplace_back(begin, end);
  }
  void allow_short(uint32_t begin, uint32_t end, uint32_t limit) {
    for (uint32_t p = begin; p < end; ++p)
      if (vocabulary_.token_chars(p) <= limit) allow(p, p + 1);
  }
  void exit(NodeId) {}
  void exit_range(const StateMask::ExitRange&) {}
  // Whether by the byte of the node an element may become one that the list has, or could become nothing else.
  bool skips(NodeId node, const Recognizer& recognizer) {
    std::string begun;
    size_t num_deciding = 0;
    for (const Item& item : recognizer.items()) {
      const DfaState* state = element_after(item, vocabulary_.byte(node));
      if (!state) continue;
      ++num_deciding;
      if (item.state->rule->is_element()) begun = recognizer.text_of(Spelled::of(item.reg).text);
      begun += static_cast<char>(vocabulary_.byte(node));
    }
    if (num_deciding == 0) return false;
    if (num_deciding > 1) begun.clear();
    undecided.push_back({exit_node, node, begun, {}});
    return true;
  }

  NodeId exit_node = DistinctMasks::kNoExit;  // behind which is walked
  DistinctMasks::Ranges ranges;
  std::vector<DistinctMasks::Undecided> undecided;

 private:
  // The state of an element that has begun or gone on by a byte, if its text or the set decides on it.
  DfaState* element_after(const Item& item, uint8_t byte) {
    Rule& rule = *item.state->rule;
    DfaState* state = nullptr;
    if (rule.is_element() && Spelled::of(item.reg).avoided == kUnknownTexts) {
      state = rule.next(*item.state, byte);
    } else if (rule.is_list() && Chosen::of(item.reg).set == kUnknownTexts) {
      rule.link(*item.state);
      for (const CallEdge& call : item.state->calls)
        if (call.callee->is_element()) state = call.callee->next(*call.callee->start(), byte);
    }
    return state && (state->final || !is_endless(*state)) ? state : nullptr;
  }
  bool is_endless(DfaState& state) {
    const auto [it, is_new] = endless_.try_emplace(&state, false);
    if (is_new) it->second = reads_endlessly(state);
    return it->second;
  }

  const Vocabulary& vocabulary_;
  std::unordered_map<DfaState*, bool> endless_;
};

// As follow_exits, but an exit's byte may itself begin an element: so that is looked at before it is pushed.
void follow_up_to_decisions(const Vocabulary& vocabulary, const StateMask& mask, Recognizer& recognizer,
                            UpToDecisions& sink, auto&& begin_exit, auto&& end_exit) {
  if (!mask.has_exits() || recognizer.items().empty()) return;
  for_each_exit(
      vocabulary, mask, recognizer.next_bytes(), [](uint8_t) { return true; },
      [&](NodeId node) {
        begin_exit(node);
        if (!sink.skips(node, recognizer) && recognizer.push(vocabulary.byte(node))) {
          walk(vocabulary, recognizer, node, sink);
          recognizer.pop();
        }
        end_exit(node);
      },
      [] {});
}

}  // namespace

DistinctMasks::DistinctMasks(const Vocabulary& vocabulary, const StackStore& store)
    : vocabulary_(vocabulary), store_(store) {}

DistinctMasks::~DistinctMasks() = default;

bool DistinctMasks::concerns(const Item& item) const {
  const Rule& rule = *item.state->rule;
  if (!rule.is_element()) return rule.is_list() && !rule.has_values();
  const std::span<const Frame> lists = store_.frames(item.stack);
  return !std::ranges::any_of(lists, [](const Frame& list) { return list.target && list.target->rule->has_values(); });
}

DistinctMasks::Place DistinctMasks::place_of(const Item& item) const {
  Place place{&item, nullptr, kNoTexts, kNoCell, {}};
  if (!place.is_list()) {
    const auto frames = store_.frames(item.stack);
    const Spelled at = Spelled::of(item.reg);
    place.element = item.state;
    place.avoided = at.avoided;
    place.text = at.text;
    place.frames.assign(frames.begin(), frames.end());
    return place;
  }
  item.state->rule->link(*item.state);
  for (CallEdge& call : item.state->calls) {
    if (!call.callee->is_element()) continue;
    place.element = call.callee->start();
    place.avoided = Chosen::of(item.reg).set;
    place.frames = {{item.state->rule->target(*item.state, call), item.reg, item.stack}};
  }
  return place;
}

const DistinctMasks::Kept& DistinctMasks::kept(const Place& place, Recognizer& recognizer) {
  Key key = place.key();
  {
    const std::lock_guard guard(lock_);
    if (const auto it = kept_.find(key); it != kept_.end()) return *it->second;
  }
  auto made = std::make_unique<Kept>();
  find(place, recognizer, *made);
  const std::lock_guard guard(lock_);
  const auto [it, is_new] = kept_.try_emplace(std::move(key), std::move(made));
  if (is_new) bytes_ += it->second->memory_bytes() + sizeof(Key) + it->first.second.capacity() * sizeof(Frame);
  return *it->second;
}

void DistinctMasks::find(const Place& place, Recognizer& recognizer, Kept& out) const {
  std::vector<Frame> frames = place.frames;
  for (Frame& frame : frames) frame.reg = Chosen{Chosen::of(frame.reg).count, kUnknownTexts}.reg();
  Item item = *place.item;
  out.is_endless = reads_endlessly(place.is_list() ? *item.state->rule->element()->start() : *item.state);
  if (place.is_list()) {
    item.reg = Chosen{Chosen::of(item.reg).count, kUnknownTexts}.reg();
    recognizer.reset(store_, {&item, 1}, false);
    if (!recognizer.may_have_another(item)) return;
    find_before_element(item, recognizer, out);
  }
  if (place.element) {
    out.mask = &state_mask(vocabulary_, *place.element, kNoCell);
    find_behind_element(frames, recognizer, out);
    std::vector<NodeId> exits;
    for (const Behind& at : out.behind)
      if (at.exit_node != kNoExit) exits.push_back(at.exit_node);
    for (const Undecided& at : out.undecided)
      if (at.exit_node != kNoExit) exits.push_back(at.exit_node);
    std::ranges::sort(exits);
    out.endings = std::make_unique<ElementEndings>(vocabulary_, *place.element, exits);
  }
  for (Undecided& at : out.undecided) {
    UpToDecisions sink(vocabulary_);
    if (!go_to(at, item, frames, Spelled{kUnknownTexts, kNoCell}.reg(), false, recognizer)) continue;
    walk(vocabulary_, recognizer, at.node, sink);
    at.ranges = std::move(sink.ranges);
    // If the new element ends as well, of few texts none may be left.
    if (!sink.undecided.empty() || frames.size() > 1 || !out.is_endless) at.begun.clear();
  }
  if (!out.is_known || std::ranges::any_of(out.undecided, [](const Undecided& at) { return at.begun.empty(); })) return;
  Collector sink(vocabulary_);
  std::deque<StateMask> made;
  report(place, out, {}, recognizer, made, sink);
  out.shared = as_config_mask(sink);
}

// What a list allows by bytes of its own, and by rules other than that of its elements.
void DistinctMasks::find_before_element(const Item& list, Recognizer& recognizer, Kept& out) const {
  DfaState& state = *list.state;
  out.is_known = state.token_edges.empty();
  UpToDecisions sink(vocabulary_);
  if (state.has_own_bytes)
    state.live.for_each([&](uint8_t byte) {
      const NodeId child = vocabulary_.root_child(byte);
      if (child == Vocabulary::kRoot || !recognizer.push_own(byte)) return;
      walk(vocabulary_, recognizer, child, sink);
      recognizer.pop();
    });
  for (CallEdge& call : state.calls) {
    if (call.callee->is_element()) continue;
    const StateMask& callee = state_mask(vocabulary_, *call.callee->start(), call.reg);
    out.is_known = out.is_known && !callee.bits() && !call.callee->reads_text();
    out.tokens.insert(out.tokens.end(), callee.sparse.begin(), callee.sparse.end());
    const Frame after{state.rule->target(state, call), list.reg, list.stack};
    recognizer.reset_after_return(store_, {&after, 1}, *call.callee);
    follow_up_to_decisions(vocabulary_, callee, recognizer, sink, [](NodeId) {}, [](NodeId) {});
  }
  out.behind.push_back({kNoExit, std::move(sink.ranges)});
  out.undecided = std::move(sink.undecided);
}

// The element is taken to have become some text that no list has.
void DistinctMasks::find_behind_element(const std::vector<Frame>& frames, Recognizer& recognizer, Kept& out) const {
  recognizer.reset_after_element(store_, frames, Spelled{kUnknownTexts, kNoCell}.reg(), {}, false);
  UpToDecisions sink(vocabulary_);
  follow_up_to_decisions(
      vocabulary_, *out.mask, recognizer, sink, [&](NodeId node) { sink.exit_node = node; },
      [&](NodeId node) {
        if (!sink.ranges.empty()) out.behind.push_back({node, std::exchange(sink.ranges, {})});
      });
  out.undecided.insert(out.undecided.end(), sink.undecided.begin(), sink.undecided.end());
}

// Reads a token's bytes up to an undecided place, its own included, from where the item stands.
bool DistinctMasks::go_to(const Undecided& at, const Item& item, std::span<const Frame> frames,
                          uint64_t element_register, bool checks, Recognizer& recognizer) const {
  std::string_view bytes = bytes_to(vocabulary_, at.node);
  if (at.exit_node == kNoExit) {
    recognizer.reset(store_, {&item, 1}, false);
  } else {
    const size_t read = vocabulary_.depth(at.exit_node) - 1;
    recognizer.reset_after_element(store_, frames, element_register, bytes.substr(0, read), checks);
    bytes.remove_prefix(read);
  }
  return std::ranges::all_of(bytes, [&](char c) { return recognizer.push(static_cast<uint8_t>(c)); });
}

bool DistinctMasks::has_elements_left(const Place& place, const Kept& kept, Recognizer& recognizer) const {
  if (!kept.is_known) return false;
  if (kept.is_endless) return true;
  recognizer.reset(store_, {place.item, 1}, false);
  if (place.is_list() && !recognizer.may_have_another(*place.item)) return false;
  return recognizer.stay_open(place.frames, place.element_register());
}

DistinctMasks::InTheWay DistinctMasks::in_the_way(const Place& place, const Kept& kept) const {
  InTheWay found;
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  const auto is_behind = [&](NodeId begin, NodeId end) {
    const auto within = [&](const auto& at) { return begin <= at.exit_node && at.exit_node < end; };
    return std::ranges::any_of(kept.behind, within) || std::ranges::any_of(kept.undecided, within);
  };
  if (place.element && place.avoided != kNoTexts)
    follow_set(
        vocabulary_, place.avoided, find,
        [&](NodeId parent, NodeId node) { return kept.endings->contains(vocabulary_, parent, node); },
        [&](NodeId node, CellId set) {
          const Vocabulary::Node& at = vocabulary_.node(node);
          if (set == kAllTexts)
            for (uint32_t p = at.token_begin; p < at.token_end; ++p)
              found.tokens.push_back(vocabulary_.sorted_token(p));
          const NodeId end = set == kAllTexts ? at.below_end : at.first_child + at.num_children;
          if (holds_end(set, find) && is_behind(at.first_child, end)) found.exits.emplace_back(at.first_child, end);
        });
  found.all_clear = found.tokens.empty() && found.exits.empty() &&
                    std::ranges::all_of(kept.undecided, [&](const Undecided& at) { return is_clear(at, place); });
  return found;
}

// Whether no text of the set, and not that which has just been read, begins as the new element does.
bool DistinctMasks::is_clear(const Undecided& at, const Place& place) const {
  if (at.begun.empty()) return false;
  const auto find = [this](CellId id) -> const Cell& { return cell(id); };
  CellId set = Chosen::of(at.exit_node == kNoExit ? place.item->reg : place.frames.front().reg).set;
  for (const char c : at.begun) set = below(set, static_cast<uint8_t>(c), find);
  if (set != kNoTexts) return false;
  if (at.exit_node == kNoExit) return true;
  const uint32_t size = cell(place.text).size;
  const std::string_view more = bytes_before(vocabulary_, at.exit_node);
  for (uint32_t i = 0; i < at.begun.size() && i < size + more.size(); ++i) {
    const uint8_t byte = i < size ? byte_at(place.text, i, find) : static_cast<uint8_t>(more[i - size]);
    if (byte != static_cast<uint8_t>(at.begun[i])) return true;
  }
  return at.begun.size() > size + more.size();
}

void DistinctMasks::report(const Place& place, const Kept& kept, const InTheWay& found, Recognizer& recognizer,
                           std::deque<StateMask>& made, Collector& sink) const {
  const auto take = [&](const Ranges& ranges) {
    for (const auto& [begin, end] : ranges) sink.allow(begin, end);
  };
  if (kept.mask)
    sink.allow_all(found.tokens.empty() ? *kept.mask : made.emplace_back(without(*kept.mask, found.tokens)));
  for (const TokenId token : kept.tokens) sink.allow_token(token);
  for (const Behind& at : kept.behind)
    if (!found.refuses(at.exit_node)) take(at.ranges);
  for (const Undecided& at : kept.undecided) {
    if (found.refuses(at.exit_node)) continue;
    if (found.all_clear || is_clear(at, place))
      take(at.ranges);
    else if (go_to(at, *place.item, place.frames, place.element_register(), true, recognizer))
      walk(vocabulary_, recognizer, at.node, sink);
  }
}

const ConfigMask* DistinctMasks::shared(const Item& item, Recognizer& recognizer) {
  const Place place = place_of(item);
  const Kept& at = kept(place, recognizer);
  if (!at.shared || !has_elements_left(place, at, recognizer) || !in_the_way(place, at).all_clear) return nullptr;
  return at.shared.get();
}

bool DistinctMasks::allow(const Item& item, Recognizer& recognizer, std::deque<StateMask>& made, Collector& sink) {
  const Place place = place_of(item);
  const Kept& at = kept(place, recognizer);
  if (!has_elements_left(place, at, recognizer)) return false;
  report(place, at, in_the_way(place, at), recognizer, made, sink);
  return true;
}

}  // namespace maskwright
