#include "engine/capture_tracker.h"

#include <algorithm>
#include <atomic>
#include <queue>
#include <utility>

#include "grammar/capture_name.h"
#include "support/errors.h"

namespace maskwright {
namespace {

constexpr size_t kMaxReadings = 20'000;

uint64_t place(const DfaState* state, uint64_t reg, uint32_t stack) {
  return mix(mix(reinterpret_cast<uintptr_t>(state), reg), stack);
}

std::atomic<uint64_t> num_serials{0};

}  // namespace

CaptureTracker::CaptureTracker(std::shared_ptr<const Program> program, std::shared_ptr<const Vocabulary> vocabulary)
    : program_(std::move(program)), vocabulary_(std::move(vocabulary)) {
  Rule& root = *program_->root;
  Next first;
  first.is_complete = root.nullable();
  if (root.productive()) first.readings.push_back({root.start(), 0, kBottom, kNone});
  push_level(std::move(first));
}

void CaptureTracker::push_level(Next next) {
  levels_.push_back(
      {std::move(next.readings), next.complete, next.is_complete, events_.size(), text_.size(), ++num_serials});
}

void CaptureTracker::truncate(size_t num_entries) {
  if (num_entries < this->num_entries()) levels_.resize(num_entries + 1);
  events_.resize(levels_.back().num_events);
  text_.resize(levels_.back().num_bytes);
}

void CaptureTracker::read_bytes(std::string_view bytes) {
  Next next;
  const std::vector<Reading>* from = &levels_.back().readings;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    text_.push_back(c);
    if (DfaState* t = sole_move(*from, byte)) {
      const Reading at = from->front();
      next = Next{{{t, at.reg, at.stack, at.events}}};
      from = &next.readings;
      continue;
    }
    next = advance(*from, 1, [this, byte](const Reading& at, const auto& move, const auto& enter) {
      Rule& rule = *at.state->rule;
      if (!at.state->live.test(byte) && !rule.is_scope()) return;  // which may recall a text
      if (may_terminate(*at.state, at.reg) && rule.terminator() == byte) move(rule.end(), 0);
      if (!may_repeat(*at.state, at.reg)) return;
      if (rule.is_list() && !texts_.may_have_another(at.state, at.reg)) return;
      if (DfaState* t = rule.next(*at.state, byte)) {
        if (!rule.reads_text()) {
          if (const uint64_t reg = entering(*t, at.reg); may_complete(*t, reg)) move(t, reg);
        } else if (const auto after = texts_.after_byte(at.state, t, at.reg, byte)) {
          move(after->state, after->reg);
        }
      }
      for (CallEdge& edge : at.state->calls)
        if (edge.callee->first().test(byte)) enter(edge);
    });
    from = &next.readings;
  }
  push_level(std::move(next));
}

// A token is read by its text and, where the grammar names it, as such; both go on from the same place.
void CaptureTracker::read_token(TokenId token) {
  const std::vector<Reading> before = levels_.back().readings;
  const std::string_view bytes = vocabulary_->text(token);
  text_.append(bytes);
  Next named = advance(before, bytes.size(), [token](const Reading& at, const auto& move, const auto& enter) {
    Rule& rule = *at.state->rule;
    if (!may_repeat(*at.state, at.reg)) return;
    for (TokenEdge& edge : at.state->token_edges) {
      if (!rule.token_set(edge.argument).contains(token)) continue;
      DfaState* t = rule.target(*at.state, edge);
      move(t, entering(*t, at.reg));
    }
    for (CallEdge& edge : at.state->calls)
      if (edge.callee->first_has_tokens()) enter(edge);
  });
  if (bytes.empty()) return push_level(std::move(named));
  text_.resize(text_.size() - bytes.size());
  read_bytes(bytes);
  Level& level = levels_.back();
  if (named.readings.empty() && !named.is_complete) return;
  Next both;
  for (const Reading& reading : named.readings) add(both, reading);
  for (const Reading& reading : level.readings) add(both, reading);
  level.readings = std::move(both.readings);
  if (named.is_complete && (!level.is_complete || is_better(named.complete, level.complete)))
    level.complete = named.complete;
  level.is_complete = level.is_complete || named.is_complete;
}

// One step of every reading, over the last `length` bytes of the text. `scan` is told where a reading stands, and says
// where it moves and what it enters first.
template <class Scan>
CaptureTracker::Next CaptureTracker::advance(const std::vector<Reading>& from, size_t length, Scan&& scan) {
  Next next;
  const size_t after = text_.size(), before = after - length;
  Next opened;  // what is scanned, so that a rule that two readings call with one stack is scanned once
  for (const Reading& reading : from) add(opened, reading);
  std::vector<uint32_t> open;
  const auto open_from = [&](size_t first) {
    for (size_t i = opened.readings.size(); i-- > first;) open.push_back(static_cast<uint32_t>(i));
  };
  open_from(0);
  while (!open.empty()) {
    const Reading at = opened.readings[open.back()];
    open.pop_back();
    at.state->rule->link(*at.state);
    const size_t num_opened = opened.readings.size();
    scan(
        at, [&](DfaState* state, uint64_t reg) { add(next, {state, reg, at.stack, at.events}); },
        [&](CallEdge& edge) {
          const std::optional<uint64_t> reg = texts_.called_register(at.state, at.reg, edge, before);
          if (!reg) return;
          if (const size_t again = add(opened, called_by(at, edge, *reg, before)); again < num_opened)
            open.push_back(static_cast<uint32_t>(again));
        });
    open_from(num_opened);
    if (opened.readings.size() > kMaxReadings || next.readings.size() > kMaxReadings)
      throw LimitExceeded("capture_readings", "the output is too ambiguous for captures: it has more than " +
                                                  std::to_string(kMaxReadings) + " parses");
  }
  // Ends of rules lead on to their callers, which may end in turn. A stack is made after the one that it stands on: the
  // last made first, so that no better reading can take a place whose turn has come.
  std::priority_queue<std::pair<NodeId, size_t>> waiting;
  const auto wait = [&](size_t i) { waiting.emplace(next.readings[i].stack + 1, i); };  // kBottom comes last
  for (size_t i = 0; i < next.readings.size(); ++i) wait(i);
  while (!waiting.empty()) {
    const Reading at = next.readings[waiting.top().second];
    waiting.pop();
    if (!may_end(*at.state, at.reg) || !texts_.may_end(at.state, at.reg)) continue;
    if (at.stack == kBottom) {
      if (!next.is_complete || is_better(at.events, next.complete)) next.complete = at.events;
      next.is_complete = true;
      continue;
    }
    const Node frame = nodes_[at.stack];
    EventId events = at.events;
    if (frame.closes) {
      const size_t least = events_[events].position;  // what is inside it has ended there
      size_t closing = 0;
      for (const std::string& end : frame.closes->ends)
        if (end.size() > closing && end.size() <= after - least && text_.ends_with(end)) closing = end.size();
      events = add_event(events, frame.closes->name, after - closing, false);
    }
    const size_t num_readings = next.readings.size();
    if (const std::optional<uint64_t> reg = register_after(at, frame))
      if (add(next, {frame.target, *reg, frame.parent, events}) == num_readings) wait(num_readings);
  }
  std::erase_if(next.readings, [](const Reading& r) { return r.state->ends_only || !may_continue(*r.state, r.reg); });
  return next;
}

// The register of a caller to which a rule that has ended returns; none if it must not have ended so.
std::optional<uint64_t> CaptureTracker::register_after(const Reading& ended, const Node& caller) {
  const Rule& rule = *ended.state->rule;
  if (rule.is_value()) return texts_.after_value(std::string_view(text_).substr(ended.reg), caller.target, caller.reg);
  if (rule.remembers()) return texts_.after_text(ended.state, ended.reg, caller.target, caller.reg);
  return entering(*caller.target, caller.reg);
}

CaptureTracker::Reading CaptureTracker::called_by(const Reading& caller, CallEdge& edge, uint64_t reg,
                                                  size_t position) {
  DfaState* target = caller.state->rule->target(*caller.state, edge);
  Rule& callee = *edge.callee;
  const bool tail = target->ends_only && !target->counter_head && !callee.capture() && !callee.remembers() &&
                    !callee.is_value() && !caller.state->rule->is_value();
  Reading reading{callee.start(), reg, caller.stack, caller.events};
  const Definition* capture = callee.capture() ? definition_of(*callee.capture()) : nullptr;
  if (!tail) reading.stack = intern({target, caller.reg, caller.stack, capture, capturing(caller.stack)});
  if (capture) reading.events = add_event(caller.events, capture->name, position, true);
  return reading;
}

// The common case: one reading that stays within its rule, which cannot end there.
DfaState* CaptureTracker::sole_move(const std::vector<Reading>& from, uint8_t byte) {
  if (from.size() != 1) return nullptr;
  DfaState& state = *from.front().state;
  if (!state.calls.empty() || state.counter_head || state.bounded || state.rule->reads_text()) return nullptr;
  DfaState* t = state.rule->next(state, byte);
  return t && !t->final && !t->counter_head ? t : nullptr;
}

// Adds a reading, or lets it take the place of a worse one with the same future. Returns where it is if it was added or
// is the better one.
size_t CaptureTracker::add(Next& next, const Reading& reading) {
  std::vector<uint32_t>& known = next.by_place[place(reading.state, reading.reg, reading.stack)];
  for (const uint32_t i : known) {
    Reading& other = next.readings[i];
    if (other.state != reading.state || other.reg != reading.reg || other.stack != reading.stack) continue;
    if (!is_better(reading.events, other.events)) return kNone;
    other.events = reading.events;
    return i;
  }
  known.push_back(static_cast<uint32_t>(next.readings.size()));
  next.readings.push_back(reading);
  return next.readings.size() - 1;
}

// Compares two lists at the first event in which they differ, found from their ends: lists share their beginnings.
bool CaptureTracker::is_better(EventId a, EventId b) const {
  const auto length = [this](EventId id) { return id == kNone ? 0 : events_[id].length; };
  EventId first_a = kNone, first_b = kNone;
  while (a != b) {
    const uint32_t in_a = length(a), in_b = length(b);
    if (in_a >= in_b) {
      first_a = a;
      a = events_[a].previous;
    }
    if (in_b >= in_a) {
      first_b = b;
      b = events_[b].previous;
    }
  }
  if (first_a == first_b) return false;
  if (first_b == kNone) return events_[first_a].opens;  // what has not come yet will come later
  if (first_a == kNone) return !events_[first_b].opens;
  const Event &x = events_[first_a], &y = events_[first_b];
  if (x.opens != y.opens) return x.opens;
  if (x.position != y.position) return x.opens == (x.position < y.position);
  return *x.name < *y.name;
}

// Equal lists have one id, so that where two lists part is found by ids.
CaptureTracker::EventId CaptureTracker::add_event(EventId previous, const std::string* name, size_t position,
                                                  bool opens) {
  const Event event{previous, previous == kNone ? 1 : events_[previous].length + 1, name, position, opens};
  const auto [known, fresh] = event_ids_.try_emplace(event, static_cast<EventId>(events_.size()));
  if (!fresh && known->second < events_.size() && events_[known->second] == event) return known->second;
  known->second = static_cast<EventId>(events_.size());
  events_.push_back(event);
  return known->second;
}

CaptureTracker::NodeId CaptureTracker::intern(const Node& node) {
  const auto [it, fresh] = interned_.emplace(node, static_cast<NodeId>(nodes_.size()));
  if (fresh) nodes_.push_back(node);
  return it->second;
}

const CaptureTracker::Definition* CaptureTracker::definition_of(const std::string& spelled) {
  const auto [it, fresh] = definitions_.try_emplace(&spelled);
  if (fresh) {
    std::string name = spelled;
    it->second.ends = take_capture_ends(name);
    it->second.name = &*names_.insert(std::move(name)).first;
  }
  return &it->second;
}

CaptureTracker::NodeId CaptureTracker::capturing(NodeId stack) const {
  return stack == kBottom || nodes_[stack].closes ? stack : nodes_[stack].captured_in;
}

size_t CaptureTracker::known_end(const Definition& capture, size_t begin) const {
  const std::string_view text = std::string_view(text_).substr(begin);
  size_t held = 0;
  for (const std::string& end : capture.ends)
    for (size_t n = std::min(end.size(), text.size()); n > held; --n)
      if (text.ends_with(std::string_view(end).substr(0, n))) held = n;
  return text_.size() - held;
}

CaptureTracker::EventId CaptureTracker::common(EventId a, EventId b) const {
  const auto length = [this](EventId id) { return id == kNone ? 0 : events_[id].length; };
  while (a != b) {
    const uint32_t in_a = length(a), in_b = length(b);
    if (in_a >= in_b) a = events_[a].previous;
    if (in_b >= in_a) b = events_[b].previous;
  }
  return a;
}

size_t CaptureTracker::settled(bool over, size_t num_edges, std::vector<CaptureEdge>& edges) const {
  const Level& level = levels_.back();
  std::vector<Reading> readings;
  if (!over || !level.is_complete) readings = level.readings;
  if (level.is_complete) readings.push_back({nullptr, 0, kBottom, level.complete});
  if (readings.empty()) return 0;
  EventId shared = readings.front().events;
  for (const Reading& reading : readings) shared = common(shared, reading.events);
  size_t known = text_.size();
  for (const Reading& reading : readings) {
    if (EventId id = reading.events; id != shared) {
      while (events_[id].previous != shared) id = events_[id].previous;
      known = std::min(known, events_[id].position);
    } else if (const NodeId frame = capturing(reading.stack); frame != kBottom) {
      known = std::min(known, known_end(*nodes_[frame].closes, events_[shared].position));
    }
  }
  const size_t first = edges.size();
  for (EventId id = shared; id != kNone && events_[id].length > num_edges; id = events_[id].previous)
    edges.push_back({*events_[id].name, events_[id].position, events_[id].opens});
  std::reverse(edges.begin() + static_cast<std::ptrdiff_t>(first), edges.end());
  return known;
}

std::vector<Capture> CaptureTracker::captures(bool over) const {
  const Level& level = levels_.back();
  bool found = level.is_complete;
  Reading best{nullptr, 0, kBottom, level.complete};
  if (!over)
    for (const Reading& reading : level.readings) {
      if (!found || is_better(reading.events, best.events)) best = reading;
      found = true;
    }
  std::vector<const Event*> events;
  if (found)
    for (EventId id = best.events; id != kNone; id = events_[id].previous) events.push_back(&events_[id]);
  std::vector<Capture> out;
  std::vector<size_t> open;
  int64_t num_closed = 0;
  for (size_t i = events.size(); i-- > 0;) {
    if (events[i]->opens) {
      open.push_back(out.size());
      out.push_back({*events[i]->name, events[i]->position, text_.size(), Capture::kOpen});
    } else {
      out[open.back()].end = events[i]->position;
      out[open.back()].rank = num_closed++;
      open.pop_back();
    }
  }
  for (NodeId frame = capturing(best.stack); !open.empty(); frame = nodes_[frame].captured_in, open.pop_back())
    out[open.back()].end = known_end(*nodes_[frame].closes, events.front()->position);
  return out;
}

}  // namespace maskwright
