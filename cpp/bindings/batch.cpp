// BatchGrammarMatcher's native base: one crossing from Python for many sequences.
//
// What takes look-ups only is done at once, on the calling thread, with the GIL held: it is shorter than waking another
// thread or waiting for the GIL. The rest is gathered and done without the GIL by the kernel's threads.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "deferred.h"
#include "docs.h"
#include "engine/draft.h"
#include "py_matcher.h"
#include "support/available_cpus.h"
#include "support/errors.h"
#include "support/thread_pool.h"

namespace maskwright {
namespace {

struct PyBatch {
  nb::tuple matchers;  // keeps alive what `all` points to
  std::vector<PyMatcher*> all;
  unsigned max_threads;
  BitmaskReader bitmasks;
  std::atomic<bool> in_use{false};
  // Used again by each call.
  std::vector<int64_t> numbers;
  std::vector<int64_t> row_begins;
  std::vector<std::pair<int64_t, int64_t>> row_ranges;
  std::vector<std::vector<TokenId>> token_lists;
  std::vector<size_t> counts;
  std::vector<size_t> unfinished;
  std::vector<std::shared_ptr<RuleGroup>> needed;
  std::vector<std::exception_ptr> errors;
  std::vector<Draft> drafts;
  FillQueue queue;

  size_t size() const { return all.size(); }
  Matcher& matcher(size_t i) const { return all[i]->matcher; }
};

// Holds the batch and all its matchers for one call.
class BatchInUse {
 public:
  explicit BatchInUse(PyBatch& batch) : batch_(batch), in_use_(batch.in_use, "batch") {
    for (; num_held_ < batch.size(); ++num_held_)
      if (batch.all[num_held_]->in_use.exchange(true, std::memory_order_acquire)) {
        release();
        raise_error("MatcherError",
                    "the matcher of sequence " + std::to_string(num_held_) + " is in use by another thread");
      }
  }
  ~BatchInUse() { release(); }
  BatchInUse(const BatchInUse&) = delete;
  BatchInUse& operator=(const BatchInUse&) = delete;

 private:
  void release() {
    for (size_t i = 0; i < num_held_; ++i) batch_.all[i]->in_use.store(false, std::memory_order_release);
  }
  PyBatch& batch_;
  const InUse in_use_;
  size_t num_held_ = 0;
};

void make(PyBatch* self, const nb::typed<nb::tuple, PyMatcher, nb::ellipsis>& matchers, unsigned max_threads) {
  std::vector<PyMatcher*> all;
  for (nb::handle matcher : matchers) {
    if (!nb::isinstance<PyMatcher>(matcher)) raise_wrong_argument("each of matchers", matcher, "a GrammarMatcher");
    all.push_back(&nb::cast<PyMatcher&>(matcher));
  }
  std::vector<PyMatcher*> sorted(all);
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    raise_error("MatcherError", "a matcher is in the batch more than once",
                "use fork(): each sequence needs its own matcher");
  new (self) PyBatch{matchers, std::move(all), max_threads, {}};
}

void check_count(const PyBatch& self, size_t count, const char* what) {
  if (count != self.size())
    raise_error("MatcherError", "expected " + std::to_string(self.size()) + " " + what +
                                    ", one for each matcher, but got " + std::to_string(count));
}

void read_token_lists(PyBatch& self, const char* name, nb::handle lists) {
  self.token_lists.resize(self.size());
  size_t count = 0;
  const nb::object each = nb::steal(PyObject_GetIter(lists.ptr()));
  if (!each.is_valid()) {
    PyErr_Clear();
    raise_wrong_argument(name, lists, "a list of token ids per matcher");
  }
  while (const nb::object list = nb::steal(PyIter_Next(each.ptr()))) {
    if (count < self.size()) read_token_ids((std::string("each of ") + name).c_str(), list, self.token_lists[count]);
    ++count;
  }
  if (PyErr_Occurred()) throw nb::python_error();
  check_count(self, count, "lists of tokens");
}

// Does work(i, quick_only) for every sequence: first on the calling thread, quickly, and where that returns false the
// rest on the threads, without the GIL; where that comes to a deferred subgrammar, the rest once more. Afterwards the
// first error is thrown, after `undo`.
template <class Work, class Undo>
void for_each_sequence(PyBatch& self, Work&& work, Undo&& undo) {
  self.errors.assign(self.size(), nullptr);
  self.needed.assign(self.size(), nullptr);
  self.unfinished.clear();
  const auto guarded = [&](size_t i, bool quick_only) {
    try {
      return work(i, quick_only);
    } catch (GrammarNeeded& e) {
      self.needed[i] = std::move(e.group);
      return false;
    } catch (...) {
      self.errors[i] = std::current_exception();
      return true;
    }
  };
  for (size_t i = 0; i < self.size(); ++i)
    if (!guarded(i, true)) self.unfinished.push_back(i);
  while (!self.unfinished.empty()) {
    for (const size_t i : self.unfinished) {
      const auto deferred = std::exchange(self.needed[i], nullptr);
      try {
        if (deferred) supply(*deferred);
      } catch (...) {
        self.errors[i] = std::current_exception();
      }
    }
    std::erase_if(self.unfinished, [&](size_t i) { return self.errors[i] != nullptr; });
    {
      const Unlocked unlocked;
      ThreadPool::shared().run(self.unfinished.size(), self.max_threads,
                               [&](size_t k) { guarded(self.unfinished[k], false); });
    }
    std::erase_if(self.unfinished, [&](size_t i) { return !self.needed[i]; });
  }
  for (size_t i = 0; i < self.size(); ++i) {
    if (!self.errors[i]) continue;
    undo();
    try {
      std::rethrow_exception(self.errors[i]);
    } catch (const LimitExceeded& e) {
      throw LimitExceeded(e.limit, "sequence " + std::to_string(i) + ": " + e.what());
    }
  }
}

// Accepts self.token_lists and leaves in self.counts how many of each were accepted.
void accept_lists(PyBatch& self) {
  self.counts.assign(self.size(), 0);
  const auto accept = [&](size_t i, bool quick_only) {
    Matcher& matcher = self.matcher(i);
    for (size_t& n = self.counts[i]; n < self.token_lists[i].size(); ++n) {
      if (quick_only && !matcher.accepts_quickly(self.token_lists[i][n])) return false;
      if (!matcher.accept(self.token_lists[i][n])) break;
    }
    return true;
  };
  for_each_sequence(self, accept, [&] {
    for (size_t i = 0; i < self.size(); ++i) self.matcher(i).rollback(self.counts[i]);
  });
}

std::vector<bool> accept_token(PyBatch& self, nb::handle token_ids) {
  const BatchInUse in_use(self);
  read_integers("token_ids", token_ids, self.numbers);
  check_count(self, self.numbers.size(), "tokens");
  self.token_lists.resize(self.size());
  for (size_t i = 0; i < self.size(); ++i) self.token_lists[i].assign(1, as_token_id(self.numbers[i]));
  accept_lists(self);
  return {self.counts.begin(), self.counts.end()};
}

std::vector<size_t> accept_tokens(PyBatch& self, nb::handle token_lists) {
  const BatchInUse in_use(self);
  read_token_lists(self, "token_ids", token_lists);
  accept_lists(self);
  return self.counts;
}

std::vector<bool> accept_texts(PyBatch& self, const std::vector<nb::bytes>& texts) {
  check_count(self, texts.size(), "texts");
  const BatchInUse in_use(self);
  std::vector<std::string_view> views;
  for (const nb::bytes& text : texts) views.emplace_back(text.c_str(), text.size());
  std::vector<size_t> lengths;
  for (size_t i = 0; i < self.size(); ++i) lengths.push_back(self.matcher(i).num_accepted());
  self.counts.assign(self.size(), 0);
  const auto accept = [&](size_t i, bool quick_only) {
    if (!quick_only) self.counts[i] = self.matcher(i).accept_bytes(views[i]);
    return !quick_only;
  };
  for_each_sequence(self, accept, [&] {
    for (size_t i = 0; i < self.size(); ++i) self.matcher(i).rollback(self.matcher(i).num_accepted() - lengths[i]);
  });
  return {self.counts.begin(), self.counts.end()};
}

// Follows self.token_lists from where the matchers stand.
void follow_lists(PyBatch& self) {
  self.drafts.resize(self.size());
  for (size_t i = 0; i < self.size(); ++i) self.drafts[i].set_line(self.token_lists[i]);
  const auto follow = [&](size_t i, bool quick_only) { return self.drafts[i].follow(self.matcher(i), quick_only); };
  for_each_sequence(self, follow, [] {});
}

std::vector<size_t> num_accepted_of_drafts(const PyBatch& self) {
  std::vector<size_t> out;
  for (size_t i = 0; i < self.size(); ++i) out.push_back(self.drafts[i].num_living() - 1);
  return out;
}

std::vector<size_t> validate_tokens(PyBatch& self, nb::handle token_lists) {
  const BatchInUse in_use(self);
  read_token_lists(self, "token_ids", token_lists);
  follow_lists(self);
  return num_accepted_of_drafts(self);
}

// Reads where each sequence's rows begin, by default one after the other, and checks that they are there and that no
// two sequences share one. `count(i)` rows belong to sequence i.
template <class Count>
void read_rows(PyBatch& self, nb::handle indices, const Bitmask& target, Count&& count) {
  if (indices.is_none()) {
    self.row_begins.clear();
    int64_t next = 0;
    for (size_t i = 0; i < self.size(); next += static_cast<int64_t>(count(i++))) self.row_begins.push_back(next);
  } else {
    read_integers("indices", indices, self.row_begins);
    check_count(self, self.row_begins.size(), "rows");
  }
  self.row_ranges.clear();
  for (size_t i = 0; i < self.size(); ++i) {
    target.check_rows(self.row_begins[i], count(i));
    self.row_ranges.emplace_back(self.row_begins[i], self.row_begins[i] + static_cast<int64_t>(count(i)));
  }
  if (indices.is_none()) return;
  std::sort(self.row_ranges.begin(), self.row_ranges.end());
  for (size_t i = 1; i < self.size(); ++i)
    if (self.row_ranges[i].first < self.row_ranges[i - 1].second)
      raise_error(
          "BitmaskError", "row " + std::to_string(self.row_ranges[i].first) + " is assigned to two sequences",
          "each entry of indices is where the rows of a sequence begin: one, and one for each token of its draft");
}

void read_bitmask(PyBatch& self, nb::handle bitmask, Bitmask& target) {
  uint32_t num_words = 0;
  for (const PyMatcher* matcher : self.all) num_words = std::max(num_words, matcher->matcher.num_words());
  self.bitmasks.read(bitmask, num_words, target);
}

bool fill(PyBatch& self, nb::handle bitmask, nb::handle indices) {
  const BatchInUse in_use(self);
  Bitmask target;
  read_bitmask(self, bitmask, target);
  read_rows(self, indices, target, [](size_t) { return size_t{1}; });
  self.queue.clear();
  for (size_t i = 0; i < self.size(); ++i) {
    Matcher& matcher = self.matcher(i);
    self.queue.add(matcher, target.rows(self.row_begins[i], 1, matcher.num_words()), i);
  }
  run_queue(self.queue, self.max_threads);
  return self.queue.restricts();
}

std::vector<size_t> fill_draft_bitmask(PyBatch& self, nb::handle draft_tokens, nb::handle bitmask, nb::handle indices) {
  const BatchInUse in_use(self);
  read_token_lists(self, "draft_tokens", draft_tokens);
  Bitmask target;
  read_bitmask(self, bitmask, target);
  read_rows(self, indices, target, [&](size_t i) { return self.token_lists[i].size() + 1; });
  follow_lists(self);
  self.queue.clear();
  for (size_t i = 0; i < self.size(); ++i) {
    Matcher& matcher = self.matcher(i);
    uint32_t* rows = target.rows(self.row_begins[i], self.drafts[i].num_nodes(), matcher.num_words());
    self.drafts[i].add_rows(matcher, rows, target.words_per_row(), i, self.queue);
  }
  run_queue(self.queue, self.max_threads);
  return num_accepted_of_drafts(self);
}

void rollback(PyBatch& self, nb::handle counts) {
  const BatchInUse in_use(self);
  if (PyLong_Check(counts.ptr()))
    self.numbers.assign(self.size(), read_integer("num_tokens", counts));
  else
    read_integers("num_tokens", counts, self.numbers);
  check_count(self, self.numbers.size(), "counts");
  for (size_t i = 0; i < self.size(); ++i) {
    const size_t accepted = self.matcher(i).num_accepted();
    if (self.numbers[i] < 0 || static_cast<uint64_t>(self.numbers[i]) > accepted)
      raise_error("MatcherError", "sequence " + std::to_string(i) + ": cannot roll back " +
                                      std::to_string(self.numbers[i]) + " tokens: " + std::to_string(accepted) +
                                      " were accepted");
  }
  for (size_t i = 0; i < self.size(); ++i) self.matcher(i).rollback(static_cast<size_t>(self.numbers[i]));
}

template <bool (Matcher::*Is)() const>
std::vector<bool> which(PyBatch& self) {
  const BatchInUse in_use(self);
  std::vector<bool> out;
  for (size_t i = 0; i < self.size(); ++i) out.push_back((self.matcher(i).*Is)());
  return out;
}

void reset(PyBatch& self) {
  const BatchInUse in_use(self);
  for (PyMatcher* each : self.all) reset_held(*each);
}

std::vector<std::optional<double>> temperature(PyBatch& self) {
  const BatchInUse in_use(self);
  std::vector<std::optional<double>> out;
  for (PyMatcher* each : self.all)
    out.push_back(with_deferred([&] {
      const Unlocked unlocked;
      return each->matcher.temperature();
    }));
  return out;
}

// A matcher may hold its batch, so the garbage collector has to see what the batch holds.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<PyBatch>(self)->matchers.ptr());
  return 0;
}

int clear(PyObject* self) {
  PyBatch& batch = *nb::inst_ptr<PyBatch>(self);
  batch.all.clear();
  batch.matchers = nb::tuple();
  return 0;
}

PyType_Slot slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {0, nullptr}};

}  // namespace

void bind_batch(nb::module_& m) {
  using namespace docs::batch;
  m.def("available_cpus", &available_cpus, nb::arg("file_root"));
  m.def("accept_texts", &accept_texts, nb::arg("batch"), nb::arg("texts"));  // for `BatchGrammarMatcher.accept_string`
  nb::class_<PyBatch>(m, "BatchMatcher", nb::type_slots(slots))
      .def("__init__", &make, nb::arg("matchers"), nb::arg("max_threads"))
      .def("fill_next_token_bitmask", &fill, nb::arg("bitmask").none(), nb::arg("indices").none() = nb::none(),
           nb::sig("def fill_next_token_bitmask(self, bitmask: typing.Any, "
                   "indices: typing.Iterable[typing.SupportsIndex] | None = None) -> bool"),
           kFillNextTokenBitmask)
      .def("fill_draft_bitmask", &fill_draft_bitmask, nb::arg("draft_tokens").none(), nb::arg("bitmask").none(),
           nb::arg("indices").none() = nb::none(),
           nb::sig("def fill_draft_bitmask(self, draft_tokens: typing.Iterable[typing.Iterable[typing.SupportsIndex]], "
                   "bitmask: typing.Any, indices: typing.Iterable[typing.SupportsIndex] | None = None) -> list[int]"),
           kFillDraftBitmask)
      .def("accept_token", &accept_token, nb::arg("token_ids").none(),
           nb::sig("def accept_token(self, token_ids: typing.Iterable[typing.SupportsIndex]) -> list[bool]"),
           kAcceptToken)
      .def("accept_tokens", &accept_tokens, nb::arg("token_ids").none(),
           nb::sig("def accept_tokens(self, token_ids: typing.Iterable[typing.Iterable[typing.SupportsIndex]]) -> "
                   "list[int]"),
           kAcceptTokens)
      .def("validate_tokens", &validate_tokens, nb::arg("token_ids").none(),
           nb::sig("def validate_tokens(self, token_ids: typing.Iterable[typing.Iterable[typing.SupportsIndex]]) -> "
                   "list[int]"),
           kValidateTokens)
      .def("rollback", &rollback, nb::arg("num_tokens").none() = 1,
           nb::sig("def rollback(self, num_tokens: int | typing.Iterable[typing.SupportsIndex] = 1) -> None"),
           kRollback)
      .def("reset", &reset, kReset)
      .def("is_completed", &which<&Matcher::is_completed>, kIsCompleted)
      .def("is_terminated", &which<&Matcher::is_terminated>, kIsTerminated)
      .def("temperature", &temperature, kTemperature);
}

}  // namespace maskwright
