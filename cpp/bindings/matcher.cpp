// GrammarMatcher's native base. What is already known keeps the GIL, being shorter than letting go of it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>

#include "deferred.h"
#include "docs.h"
#include "engine/draft.h"
#include "py_matcher.h"
#include "support/thread_pool.h"

namespace maskwright {
namespace {

constexpr size_t kMaxForcedBytes = 4096;
constexpr double kManySeconds = 1e6;
constexpr size_t kLongText = 16'384;  // bytes, to read which once more for each deferred subgrammar would take longer

// Kept by the thread, so that a matcher stays small.
struct Scratch {
  Draft draft;
  FillQueue queue;
  std::vector<TokenId> tokens;
  std::vector<int64_t> first_child, next_sibling, tree_tokens;
};

void make(PyMatcher* self, std::shared_ptr<CompiledGrammar> grammar, const std::vector<int64_t>& stop_token_ids,
          bool terminate_without_stop_token, uint32_t max_tokens, bool by_bounds, double default_temperature) {
  std::vector<TokenId> stops;
  for (const int64_t id : stop_token_ids) {
    if (id < 0 || id >= static_cast<int64_t>(grammar->vocabulary().vocab_size()))
      raise_error("TokenizerError", "stop token " + std::to_string(id) + " is outside the vocabulary");
    stops.push_back(static_cast<TokenId>(id));
  }
  const auto build = [&] {
    new (self) PyMatcher{
        Matcher(grammar, stops, terminate_without_stop_token, {max_tokens, by_bounds}, default_temperature), {}, {}};
  };
  if (max_tokens == 0) return build();
  with_deferred([&] {
    const Unlocked unlocked;  // whether any output fits may take a search
    build();
  });
}

void make_fork(PyMatcher* self, PyMatcher& other) {
  const InUse in_use(other);
  new (self) PyMatcher{other.matcher, {}, {}};
}

bool accept(PyMatcher& self, TokenId token) {
  return with_deferred([&] {
    if (self.matcher.accepts_quickly(token)) return self.matcher.accept(token);
    const Unlocked unlocked;
    return self.matcher.accept(token);
  });
}

size_t accept_tokens(PyMatcher& self, nb::handle token_ids) {
  Borrowed<Scratch> use;
  read_token_ids("token_ids", token_ids, use->tokens);
  const InUse in_use(self);
  size_t count = 0;
  try {
    while (count < use->tokens.size() && accept(self, use->tokens[count])) ++count;
  } catch (...) {
    self.matcher.rollback(count);
    throw;
  }
  return count;
}

bool accept_bytes(PyMatcher& self, nb::handle given) {
  if (!PyBytes_Check(given.ptr())) raise_wrong_argument("data", given, "bytes", "accept_string accepts a str");
  const auto data = nb::borrow<nb::bytes>(given);
  const std::string_view view(data.c_str(), data.size());
  const InUse in_use(self);
  if (view.size() > kLongText) supply(*self.matcher.program()->group);
  return with_deferred([&] {
    const Unlocked unlocked;
    return self.matcher.accept_bytes(view);
  });
}

void follow(PyMatcher& self, Draft& draft, Deadline deadline = std::nullopt) {
  with_deferred([&] {
    if (draft.follow(self.matcher, true, deadline)) return;
    const Unlocked unlocked;
    draft.follow(self.matcher, false, deadline);
  });
}

size_t validate_tokens(PyMatcher& self, nb::handle token_ids) {
  Borrowed<Scratch> use;
  read_token_ids("token_ids", token_ids, use->tokens);
  const InUse in_use(self);
  use->draft.set_line(use->tokens);
  follow(self, use->draft);
  return use->draft.num_living() - 1;
}

bool fill(PyMatcher& self, nb::handle bitmask, nb::handle row_index) {
  const int64_t index = read_integer("index", row_index);
  Matcher& matcher = self.matcher;
  const InUse in_use(self);
  Bitmask target;
  self.bitmasks.read(bitmask, matcher.num_words(), target);
  target.check_rows(index);
  uint32_t* row = target.rows(index, 1, matcher.num_words());
  const uint32_t allowed = with_deferred([&] {
    if (matcher.mask_is_known()) return matcher.fill(row);
    const Unlocked unlocked;
    return matcher.fill(row);
  });
  return allowed < matcher.grammar().vocabulary().vocab_size();
}

void read_rows(PyMatcher& self, nb::handle bitmask, int64_t index, size_t count, Bitmask& target) {
  self.bitmasks.read(bitmask, self.matcher.num_words(), target);
  target.check_rows(index, count);
}

void clear_rows(PyMatcher& self, const Bitmask& target, size_t count) {
  uint32_t* rows = target.rows(0, count, self.matcher.num_words());
  for (size_t i = 0; i < count; ++i) std::fill_n(rows + i * target.words_per_row(), self.matcher.num_words(), 0);
}

// None for a number of seconds that is not positive.
Deadline deadline_after(double seconds) {
  using std::chrono::steady_clock;
  if (!(seconds > 0)) return std::nullopt;
  const std::chrono::duration<double> least(std::min(seconds, kManySeconds));
  return steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(least);
}

// The temperature at each node, -1 for none and where a node does not live.
void write_temperatures(PyMatcher& self, const Draft& draft, bool followed, float* out) {
  std::fill_n(out, draft.num_nodes(), -1.0f);
  if (!followed) return;
  with_deferred([&] {
    const Unlocked unlocked;
    for (size_t i = 0; i < draft.num_nodes(); ++i)
      out[i] = static_cast<float>(draft.temperature(self.matcher, i).value_or(-1));
  });
}

// Fills the rows of a draft, from row `index` on, and says how many of its nodes live.
size_t fill_draft(PyMatcher& self, Scratch& use, const Bitmask& target, int64_t index,
                  Deadline deadline = std::nullopt) {
  follow(self, use.draft, deadline);
  use.queue.clear(deadline);
  use.draft.add_rows(self.matcher, target.rows(index, use.draft.num_nodes(), self.matcher.num_words()),
                     target.words_per_row(), 0, use.queue);
  run_queue(use.queue, ThreadPool::shared().size());
  return use.draft.num_living();
}

size_t fill_draft_bitmask(PyMatcher& self, nb::handle draft_tokens, nb::handle bitmask, nb::handle row_index) {
  const int64_t index = read_integer("index", row_index);
  Borrowed<Scratch> use;
  read_token_ids("draft_tokens", draft_tokens, use->tokens);
  const InUse in_use(self);
  use->draft.set_line(use->tokens);
  Bitmask target;
  read_rows(self, bitmask, index, use->draft.num_nodes(), target);
  return fill_draft(self, *use, target, index) - 1;
}

size_t traverse_draft_tree(PyMatcher& self, nb::handle retrieve_next_token, nb::handle retrieve_next_sibling,
                           nb::handle draft_tokens, nb::handle bitmask, nb::handle time_threshold,
                           nb::handle temperatures) {
  const Deadline deadline = deadline_after(read_number("time_threshold", time_threshold));
  Borrowed<Scratch> use;
  read_integers("retrieve_next_token", retrieve_next_token, use->first_child);
  read_integers("retrieve_next_sibling", retrieve_next_sibling, use->next_sibling);
  read_integers("draft_tokens", draft_tokens, use->tree_tokens);
  const InUse in_use(self);
  use->draft.set_tree(use->first_child, use->next_sibling, use->tree_tokens);
  Draft& draft = use->draft;
  Bitmask target;
  read_rows(self, bitmask, 0, draft.num_nodes(), target);
  std::optional<FloatRow> row;
  if (!temperatures.is_none()) row.emplace("temperatures", temperatures, draft.num_nodes());
  size_t num_living = 0;
  try {
    num_living = fill_draft(self, *use, target, 0, deadline);
  } catch (const OutOfTime&) {
    clear_rows(self, target, draft.num_nodes());
  }
  if (row) write_temperatures(self, draft, num_living > 0, row->data());
  return num_living;
}

// (name, bytes, where they begin, how many were closed before or -1 if it is open), in the order in which they begin.
using CaptureList = nb::typed<nb::list, nb::typed<nb::tuple, nb::str, nb::bytes, size_t, int64_t>>;

// Reads what was accepted since the last time. Precondition: the matcher is in use by the caller, without the GIL.
void update_captures(PyMatcher& self, const CaptureProgram& program) {
  if (!self.captures)
    self.captures = std::make_unique<CaptureTracker>(program.program, self.matcher.grammar().shared_vocabulary());
  self.matcher.update(*self.captures);
}

CaptureList captures(PyMatcher& self, const CaptureProgram& program) {
  const InUse in_use(self);
  const std::vector<Capture> found = with_deferred([&] {
    const Unlocked unlocked;
    update_captures(self, program);
    return self.captures->captures(self.matcher.is_terminated());
  });
  const std::string& text = self.captures->text();
  nb::list out;
  for (const Capture& c : found)
    out.append(nb::make_tuple(c.name, nb::bytes(text.data() + c.begin, c.end - c.begin), c.begin, c.rank));
  return nb::steal<CaptureList>(out.release());
}

// The edges of captures past the first `num_edges` that are settled, as (name, position, whether it opens); the bytes
// past the first `num_bytes` that are; and what tells this history from any other.
using SettledCaptures = nb::typed<nb::tuple, nb::typed<nb::list, nb::typed<nb::tuple, nb::str, size_t, bool>>,
                                  nb::bytes, nb::typed<nb::tuple, size_t, uint64_t>>;

SettledCaptures settled_captures(PyMatcher& self, const CaptureProgram& program, size_t num_edges, size_t num_bytes) {
  const InUse in_use(self);
  std::vector<CaptureEdge> edges;
  const size_t known = with_deferred([&] {
    const Unlocked unlocked;
    update_captures(self, program);
    return self.captures->settled(self.matcher.is_terminated(), num_edges, edges);
  });
  nb::list out;
  for (const CaptureEdge& edge : edges) out.append(nb::make_tuple(edge.name, edge.position, edge.opens));
  const size_t first = std::min(num_bytes, known);
  const size_t entries = self.captures->num_entries();
  return nb::steal<SettledCaptures>(nb::make_tuple(std::move(out),
                                                   nb::bytes(self.captures->text().data() + first, known - first),
                                                   nb::make_tuple(entries, self.captures->serial(entries)))
                                        .release());
}

// What was accepted, in order: token ids, and texts that were accepted as such.
nb::list history(PyMatcher& self) {
  const InUse in_use(self);
  nb::list out;
  self.matcher.replay([&](TokenId token) { out.append(token); },
                      [&](const std::string& bytes) { out.append(nb::bytes(bytes.data(), bytes.size())); });
  return out;
}

nb::object short_end(PyMatcher& self, nb::handle most) {
  const int64_t limit = std::max<int64_t>(read_integer("most", most), 0);
  const InUse in_use(self);
  const auto pieces = with_deferred([&] {
    const Unlocked unlocked;
    return self.matcher.short_end(static_cast<size_t>(limit));
  });
  if (!pieces) return nb::none();
  nb::list out;
  for (const EndPiece& piece : *pieces)
    piece.bytes.empty() ? out.append(piece.token) : out.append(nb::bytes(piece.bytes.data(), piece.bytes.size()));
  return out;
}

// Whether the history still begins with this one.
bool has_history(PyMatcher& self, size_t num_entries, uint64_t serial) {
  const InUse in_use(self);
  return self.captures && self.captures->serial(num_entries) == serial;
}

// What is accepted after a rollback may be different.
void rollback(PyMatcher& self, nb::handle num_tokens) {
  const int64_t count = read_integer("num_tokens", num_tokens);
  const InUse in_use(self);
  if (count < 0 || !self.matcher.rollback(static_cast<size_t>(count)))
    raise_error("MatcherError",
                "cannot roll back " + std::to_string(count) +
                    " tokens: " + std::to_string(self.matcher.num_accepted()) + " were accepted",
                "rollback counts tokens since the matcher was made or reset");
  if (self.captures) self.captures->truncate(self.matcher.num_accepted());
}

template <auto Method>
auto when_free(PyMatcher& self) {
  const InUse in_use(self);
  return (self.matcher.*Method)();
}

// For what looks at the mask.
template <auto Method>
auto with_mask(PyMatcher& self) {
  const InUse in_use(self);
  return with_deferred([&] {
    if (self.matcher.mask_is_known()) return (self.matcher.*Method)();
    const Unlocked unlocked;
    return (self.matcher.*Method)();
  });
}

// What the package asks of a matcher, and no user: functions of the module, so that `GrammarMatcher` does not have
// them.
void bind_functions(nb::module_& m) {
  m.def("short_end", &short_end, nb::arg("matcher"), nb::arg("most"),
        nb::sig("def short_end(matcher: Matcher, most: int) -> list[int | bytes] | None"));
  m.def(
      "precompute_masks",
      [](PyMatcher& self, double budget_us) {
        const InUse in_use(self);
        return run_within(budget_us, *self.matcher.program(), self.matcher.precomputation());
      },
      nb::arg("matcher"), nb::arg("budget_us"));
  m.def("captures", &captures, nb::arg("matcher"), nb::arg("program"));
  m.def("settled_captures", &settled_captures, nb::arg("matcher"), nb::arg("program"), nb::arg("num_edges"),
        nb::arg("num_bytes"));
  m.def("has_history", &has_history, nb::arg("matcher"), nb::arg("num_entries"), nb::arg("serial"));
}

}  // namespace

void reset_held(PyMatcher& self) {
  self.captures.reset();
  if (self.matcher.here_is_known()) return self.matcher.reset();
  const Unlocked unlocked;  // the old engine may go
  self.matcher.reset();
}

void bind_matcher(nb::module_& m) {
  using namespace docs::matcher;
  nb::class_<PyMatcher>(m, "Matcher")
      .def("__init__", &make, nb::arg("grammar"), nb::arg("stop_token_ids"), nb::arg("terminate_without_stop_token"),
           nb::arg("max_tokens") = 0, nb::arg("by_bounds") = false, nb::arg("default_temperature") = -1.0)
      .def("__init__", &make_fork)
      .def(
          "accept_token",
          [](PyMatcher& self, nb::handle token_id) {
            const TokenId id = read_token_id(token_id);
            const InUse in_use(self);
            return accept(self, id);
          },
          nb::arg("token_id").none(), nb::sig("def accept_token(self, token_id: typing.SupportsIndex) -> bool"),
          kAcceptToken)
      .def("accept_tokens", &accept_tokens, nb::arg("token_ids").none(),
           nb::sig("def accept_tokens(self, token_ids: typing.Iterable[typing.SupportsIndex]) -> int"), kAcceptTokens)
      .def("validate_tokens", &validate_tokens, nb::arg("token_ids").none(),
           nb::sig("def validate_tokens(self, token_ids: typing.Iterable[typing.SupportsIndex]) -> int"),
           kValidateTokens)
      .def("accept_bytes", &accept_bytes, nb::arg("data").none(),
           nb::sig("def accept_bytes(self, data: bytes) -> bool"), kAcceptBytes)
      .def("fill_next_token_bitmask", &fill, nb::arg("bitmask").none(), nb::arg("index").none() = 0,
           nb::sig("def fill_next_token_bitmask(self, bitmask: typing.Any, index: int = 0) -> bool"),
           kFillNextTokenBitmask)
      .def("fill_draft_bitmask", &fill_draft_bitmask, nb::arg("draft_tokens").none(), nb::arg("bitmask").none(),
           nb::arg("index").none() = 0,
           nb::sig("def fill_draft_bitmask(self, draft_tokens: typing.Iterable[typing.SupportsIndex], "
                   "bitmask: typing.Any, index: int = 0) -> int"),
           kFillDraftBitmask)
      .def(
          "mask_is_known",
          [](PyMatcher& self) {
            const InUse in_use(self);
            return self.matcher.mask_is_known();
          },
          kMaskIsKnown)
      .def("traverse_draft_tree", &traverse_draft_tree, nb::arg("retrieve_next_token").none(),
           nb::arg("retrieve_next_sibling").none(), nb::arg("draft_tokens").none(), nb::arg("bitmask").none(),
           nb::arg("time_threshold").none() = -1.0, nb::arg("temperatures").none() = nb::none(),
           nb::sig("def traverse_draft_tree(self, retrieve_next_token: typing.Iterable[typing.SupportsIndex], "
                   "retrieve_next_sibling: typing.Iterable[typing.SupportsIndex], "
                   "draft_tokens: typing.Iterable[typing.SupportsIndex], bitmask: typing.Any, "
                   "time_threshold: float = -1.0, temperatures: typing.Any | None = None) -> int"),
           kTraverseDraftTree)
      .def(
          "temperature",
          [](PyMatcher& self) {
            const InUse in_use(self);
            return with_deferred([&] {
              if (self.matcher.here_is_known()) return self.matcher.temperature();
              const Unlocked unlocked;
              return self.matcher.temperature();
            });
          },
          kTemperature)
      .def("forced_token", &with_mask<&Matcher::forced_token>, kForcedToken)
      .def("text_may_follow", &with_mask<&Matcher::text_may_follow>, kTextMayFollow)
      .def(
          "forced_bytes",
          [](PyMatcher& self) {
            const InUse in_use(self);
            const std::string out = with_deferred([&] {
              const Unlocked unlocked;
              return self.matcher.forced_bytes(kMaxForcedBytes);
            });
            return nb::bytes(out.data(), out.size());
          },
          kForcedBytes)
      .def("history", &history, nb::sig("def history(self) -> list[int | bytes]"), kHistory)
      .def("rollback", &rollback, nb::arg("num_tokens").none() = 1,
           nb::sig("def rollback(self, num_tokens: typing.SupportsIndex = 1) -> None"), kRollback)
      .def(
          "reset",
          [](PyMatcher& self) {
            const InUse in_use(self);
            reset_held(self);
          },
          kReset)
      .def("is_completed", &when_free<&Matcher::is_completed>, kIsCompleted)
      .def("is_terminated", &when_free<&Matcher::is_terminated>, kIsTerminated)
      .def_prop_ro("num_accepted_tokens", &when_free<&Matcher::num_accepted>, kNumAcceptedTokens)
      .def_prop_ro("configuration_id", &when_free<&Matcher::configuration_id>, kConfigurationId)
      .def_prop_ro("stop_token_ids", [](PyMatcher& self) { return self.matcher.stop_tokens(); }, kStopTokenIds);
  bind_functions(m);
}

}  // namespace maskwright
