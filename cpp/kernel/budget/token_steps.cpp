#include "budget/token_steps.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <set>

#include "masks/collector.h"
#include "masks/exits.h"
#include "masks/token_walk.h"
#include "recognizer/imported_stacks.h"
#include "support/work.h"

namespace maskwright {
namespace {

// Measured: tables, and what is found twice.
constexpr size_t kStepsAPlace = 90, kStepsALanding = 12, kStepsAPart = 4, kStepsANewPart = 30;

uint64_t hash_exits(const StateMask& exits) {
  uint64_t h = exits.exit_ranges.size();
  for (const NodeId node : exits.exit_nodes) h = mix(h, node);
  for (const auto& range : exits.exit_ranges) h = mix(mix(h, range.begin), range.end);
  return h;
}

// The byte groups follow from the nodes.
bool same_exits(const StateMask& a, const StateMask& b) {
  return a.exit_nodes == b.exit_nodes && a.exit_ranges == b.exit_ranges;
}

bool is_within(const StateMask& exits, const StateMask& of) {
  const auto has_range = [&](const auto& range) {
    return std::ranges::find(of.exit_ranges, range) != of.exit_ranges.end();
  };
  if (exits.exit_nodes.size() > of.exit_nodes.size() || !std::ranges::all_of(exits.exit_ranges, has_range))
    return false;
  uint32_t begin = 0, begin_of = 0;
  auto group_of = of.exit_groups.begin();
  for (const auto& [byte, end] : exits.exit_groups) {
    for (; group_of != of.exit_groups.end() && group_of->byte < byte; ++group_of) begin_of = group_of->end;
    if (group_of == of.exit_groups.end() || group_of->byte != byte) return false;
    const auto nodes = exits.exit_nodes.begin(), nodes_of = of.exit_nodes.begin();
    if (!std::includes(nodes_of + begin_of, nodes_of + group_of->end, nodes + begin, nodes + end)) return false;
    begin = end;
  }
  return true;
}

}  // namespace

// Keeps what walks from a place report.
class TokenSteps::Sink {
 public:
  explicit Sink(TokenSteps& owner) : owner_(owner), exits_(owner.vocabulary_) {}
  CharClasses steady_classes() const { return maskwright::steady_classes(owner_.recognizer_); }
  void token(uint32_t, uint32_t) { land(); }
  void steady(uint32_t, uint32_t) { land(); }
  void exit(NodeId node) { exits_.exit(node); }
  void steady_exits(NodeId node, bool raw) {
    if (!owner_.recognizer_.complete()) return;
    const Vocabulary::Node& at = owner_.vocabulary_.node(node);
    exits_.exit_range({at.first_child, at.below_end, 0, kManyChars, raw});
  }
  void land() {
    const Recognizer& recognizer = owner_.recognizer_;
    found_.ends_behind = found_.ends_behind || recognizer.complete();
    const auto items = recognizer.items();
    if (items.size() == 1 && last_ == items.front()) return;  // nearly all tokens of a loop
    landed_.assign(items.begin(), items.end());
    CellId no_text = kNoCell;  // budgets are not kept where text is remembered
    import_stacks(recognizer, owner_.stacks_, landed_, no_text);
    for (const Item& item : landed_) add(item);
    last_.reset();
    const bool is_kept = items.size() == 1 && items.front().stack < kScratch && recognizer.num_scratch_cells() == 0;
    if (is_kept) last_ = items.front();
  }
  void add(const Part& part) {
    for (const Item& item : part.items) add(item);
    exits_.exit_all(part.exits);
    found_.ends_behind = found_.ends_behind || part.ends_behind;
  }
  Part finish() {
    exits_.store_exits(found_.exits);
    owner_.make_alike(found_.exits);
    return std::move(found_);
  }

 private:
  void add(const Item& item) {
    if (seen_.insert(item).second) found_.items.push_back(item);
  }
  TokenSteps& owner_;
  ExitCollector exits_;
  Part found_;
  std::vector<Item> landed_;
  std::set<Item> seen_;
  std::optional<Item> last_;  // that was alone, on a stack that is kept
};

const TokenSteps::Steps& TokenSteps::from(const Place& place) {
  std::unique_ptr<Steps>& known = steps_[place];
  if (known) return *known;
  place.state->rule->link(*place.state);
  const auto alike = nearest_alike(place);
  auto steps = std::make_unique<Steps>(alike ? moved(from(*alike), *alike, place) : walked(place));
  add_calls(place, *steps);
  Work::spend(kStepsAPlace + kStepsALanding * (steps->landings.size() + steps->ends.size()));
  bytes_held_ += sizeof(Steps) + steps->landings.capacity() * sizeof(Landing) + steps->calls.capacity() * sizeof(Call) +
                 steps->ends.capacity() * sizeof(EntryId);
  known = std::move(steps);
  return *known;
}

// But the calls.
TokenSteps::Steps TokenSteps::walked(const Place& place) {
  Steps steps;
  Sink sink(*this);
  walk(place, sink);
  Part found = sink.finish();
  for (const Item& item : found.items) steps.landings.push_back({item, bytes_down(item)});
  if (found.ends_behind) steps.ends.push_back(kBetweenTokens);
  if (found.exits.has_exits()) steps.ends.push_back(intern(std::move(found.exits)));
  return steps;
}

// The place as near to the end as can be whose steps are the same but for the items still needed.
std::optional<Place> TokenSteps::nearest_alike(const Place& place) const {
  const uint32_t enough = vocabulary_.max_token_length() + 1;  // items: no token takes as many
  if (!place.state->rule->counts() || place.state->bounded || Count::of(place.reg).needed <= enough) return {};
  return Place{place.state, Count{enough, Count::kUnlimited}.reg(), place.entry};
}

namespace {

// The register that goes on from `to` as `reg` does from `from`.
uint64_t moved_register(uint64_t reg, uint64_t from, uint64_t to) {
  const uint32_t items = Count::of(from).needed - Count::of(reg).needed;
  const Count count = Count::of(to);
  const uint32_t remaining = count.remaining == Count::kUnlimited ? count.remaining : count.remaining - items;
  return Count{count.needed - items, remaining}.reg();
}

}  // namespace

TokenSteps::Steps TokenSteps::moved(const Steps& steps, const Place& from, const Place& to) {
  Steps out;
  std::unordered_map<StackId, StackId> known{{kRootStack, kRootStack}};
  for (Landing landing : steps.landings) {
    if (landing.item.stack == kRootStack)
      landing.item.reg = moved_register(landing.item.reg, from.reg, to.reg);
    else
      landing.item.stack = moved_stack(landing.item.stack, from, to, known);
    landing.bytes = bytes_down(landing.item);
    out.landings.push_back(landing);
  }
  assert(steps.ends.empty());
  return out;
}

// Frames on the unknown stack are those of the place's rule.
StackId TokenSteps::moved_stack(StackId id, const Place& from, const Place& to,
                                std::unordered_map<StackId, StackId>& known) {
  std::vector<StackId> open{id};
  while (!open.empty()) {
    const StackId at = open.back();
    const std::vector<Frame> frames(stacks_.frames(at).begin(), stacks_.frames(at).end());
    const size_t before = open.size();
    for (const Frame& frame : frames)
      if (!known.contains(frame.parent)) open.push_back(frame.parent);
    if (open.size() > before) continue;
    open.pop_back();
    std::vector<Frame> out = frames;
    for (Frame& frame : out) {
      if (frame.parent == kRootStack) frame.reg = moved_register(frame.reg, from.reg, to.reg);
      frame.parent = known[frame.parent];
    }
    std::sort(out.begin(), out.end());
    known[at] = stacks_.intern(out, stacks_.mark(at));
  }
  return known[id];
}

void TokenSteps::add_calls(const Place& place, Steps& steps) {
  if (!may_repeat(*place.state, place.reg)) return;
  for (CallEdge& call : place.state->calls) {
    const auto reg = called_register(place, call);
    if (!reg) continue;
    StackMark mark;
    if (const auto& span = call.callee->span()) {
      mark.rule = call.callee;
      if (span->max_tokens > 0) mark.deadline = span->max_tokens;
    }
    const Frame frame{place.state->rule->target(*place.state, call), place.reg, kRootStack};
    steps.calls.push_back({call.callee->start(), *reg, stacks_.intern({frame}, mark)});
  }
}

// None if it recalls a text that is not there.
std::optional<uint64_t> TokenSteps::called_register(const Place& caller, const CallEdge& call) const {
  if (!call.callee->recalls()) return call.reg;
  const auto find = [this](CellId id) -> const Cell& { return stacks_.cells().cell(id); };
  const CellId text = text_in(static_cast<CellId>(caller.reg), call.callee->memory().number, find);
  return text == kNoCell ? std::nullopt : std::optional(Recalled{text, 0}.reg());
}

StackId TokenSteps::above(const TextView& texts, const Frame& frame) {
  return stacks_.intern({{frame.target, copies_.of(texts, *frame.target, frame.reg), kRootStack}});
}

// By the state's own bytes and tokens.
void TokenSteps::walk(const Place& place, Sink& sink) {
  const Item item{place.state, place.reg, place.above};
  recognizer_.reset(stacks_, {&item, 1}, place.above == kRootStack && may_end(*place.state, place.reg));
  if (place.entry == kBetweenTokens) return walk_new_token(place, sink);
  for_each_exit(
      vocabulary_, *entries_[place.entry], recognizer_.next_bytes(),
      [&](uint8_t byte) { return recognizer_.push_own(byte); },
      [&](NodeId node) { walk_tokens_at(vocabulary_, recognizer_, node, sink); }, [&] { recognizer_.pop(); });
}

void TokenSteps::walk_new_token(const Place& place, Sink& sink) {
  for (const TokenEdge& edge : place.state->token_edges) {  // all tokens of an edge lead to the same
    const auto& tokens = place.state->rule->token_set(edge.argument).ids;
    if (tokens.empty() || !recognizer_.push_token(tokens.front())) continue;
    sink.land();
    recognizer_.pop();
  }
  recognizer_.next_bytes().for_each([&](uint8_t byte) {
    const NodeId node = vocabulary_.root_child(byte);
    if (node == Vocabulary::kRoot || !recognizer_.push_own(byte)) return;
    const Item* item = recognizer_.sole_item();
    const bool is_like_any = item && item->stack == kRootStack && recognizer_.num_scratch_cells() == 0 &&
                             recognizer_.complete() == may_end(*item->state, item->reg);
    if (is_like_any && vocabulary_.node(node).num_children > 0)  // else the node itself is all there is
      sink.add(part(node));
    else
      walk_tokens_at(vocabulary_, recognizer_, node, sink);
    recognizer_.pop();
  });
}

// The same, where only one item stands there.
const TokenSteps::Part& TokenSteps::part(NodeId node) {
  const Item item = *recognizer_.sole_item();
  Work::spend(kStepsAPart);
  std::unique_ptr<Part>& known = parts_[{item.state, item.reg, node}];
  if (known) return *known;
  Work::spend(kStepsANewPart);
  Sink sink(*this);
  walk_tokens_at(vocabulary_, recognizer_, node, sink);
  known = std::make_unique<Part>(sink.finish());
  bytes_held_ += sizeof(Part) + known->items.capacity() * sizeof(Item) + known->exits.memory_bytes();
  return *known;
}

EntryId TokenSteps::narrowed(EntryId entry, DfaState& state) {
  if (entry == kBetweenTokens || state.rule->is_scope()) return entry;  // which may recall a text
  const auto [it, fresh] = narrowed_.try_emplace({&state, 0, entry}, kNowhere);
  if (!fresh) return it->second;
  const StateMask& whole = *entries_[entry];
  StateMask out;
  for_each_listed_exit(
      whole, {}, state.live,
      [&](uint8_t byte) {
        out.exit_groups.push_back({byte, 0});
        return true;
      },
      [&](NodeId node) { out.exit_nodes.push_back(node); },
      [&] { out.exit_groups.back().end = static_cast<uint32_t>(out.exit_nodes.size()); });
  out.exit_ranges = whole.exit_ranges;
  return it->second = out.has_exits() ? intern(std::move(out)) : kNowhere;
}

bool TokenSteps::covers(EntryId entry, EntryId other) {
  if (entry == other) return true;
  if (entry == kBetweenTokens || other == kBetweenTokens) return false;
  const auto [it, fresh] = covers_.try_emplace(uint64_t{entry} << 32 | other, false);
  if (fresh) it->second = is_within(*entries_[other], *entries_[entry]);
  return it->second;
}

// Of nodes that are alike, one is kept.
void TokenSteps::make_alike(StateMask& exits) {
  StateMask out;
  uint32_t begin = 0;
  for (const auto& [byte, end] : exits.exit_groups) {
    const auto first = static_cast<std::ptrdiff_t>(out.exit_nodes.size());
    for (uint32_t i = begin; i < end; ++i) out.exit_nodes.push_back(alike_.standing_for(exits.exit_nodes[i]));
    std::sort(out.exit_nodes.begin() + first, out.exit_nodes.end());
    out.exit_nodes.erase(std::unique(out.exit_nodes.begin() + first, out.exit_nodes.end()), out.exit_nodes.end());
    out.exit_groups.push_back({byte, static_cast<uint32_t>(out.exit_nodes.size())});
    begin = end;
  }
  exits.exit_nodes = std::move(out.exit_nodes);
  exits.exit_groups = std::move(out.exit_groups);
}

EntryId TokenSteps::intern(StateMask exits) {
  const uint64_t hash = hash_exits(exits);
  const EntryId known = interned_.find(hash, [&](EntryId id) { return same_exits(*entries_[id], exits); });
  if (known != interned_.kNone) return known;
  bytes_held_ += exits.memory_bytes();
  entries_.push_back(std::make_unique<StateMask>(std::move(exits)));
  const auto id = static_cast<EntryId>(entries_.size() - 1);
  interned_.add(hash, id);
  return id;
}

// The bytes from an item down to the unknown stack, at most; none if a rule begun within the token needs more than it
// has left.
uint32_t TokenSteps::bytes_down(const Item& item) {
  std::map<StackId, uint32_t, std::greater<>> open;
  const TextView texts(stacks_);
  bytes_.for_each_way_down(texts, item, stacks_.frames(item.stack), 0, [&](StackId stack, uint32_t bytes) {
    uint32_t& there = open[stack];
    there = std::max(there, bytes);
  });
  while (open.begin()->first != kRootStack) {
    const auto [stack, bytes] = *open.begin();
    open.erase(open.begin());
    const int64_t deadline = stacks_.mark(stack).deadline;
    const bool in_time = deadline == kNoDeadline || bytes < deadline;
    for (const Frame& frame : stacks_.frames(stack)) {
      const uint32_t rest = frame.target ? bytes_.after_return(texts, frame) : 0;
      uint32_t& below = open[frame.parent];
      below = std::max(below, in_time ? ByteDistances::sum(bytes, rest) : ByteDistances::kNever);
    }
  }
  return open.begin()->second;
}

size_t TokenSteps::memory_bytes() const {
  constexpr size_t kAnEntry = 64;  // of a hash table
  const size_t num_entries =
      alike_.num_known() + narrowed_.size() + covers_.size() + steps_.size() + parts_.size() + copies_.size();
  return bytes_held_ + stacks_.memory_bytes() + num_entries * kAnEntry;
}

}  // namespace maskwright
