// GrammarMatcher's native base. What is already known keeps the GIL, being shorter than letting go of it.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.h"
#include "py_matcher.h"

namespace maskwright {
namespace {

constexpr size_t kMaxForcedBytes = 4096;

std::vector<TokenId> read_token_ids(nb::handle ids) {
  std::vector<TokenId> out;
  for (nb::handle id : nb::borrow<nb::object>(ids)) out.push_back(read_token_id(id));
  return out;
}

bool fill(PyMatcher& self, nb::handle bitmask, int64_t index) {
  Matcher& matcher = self.matcher;
  const uint32_t num_words = matcher.grammar().vocabulary().num_words();
  Bitmask target;
  self.bitmasks.read(bitmask, num_words, target);
  uint32_t* row = target.row(index, num_words);
  uint32_t allowed;
  if (matcher.mask_is_known()) {
    allowed = matcher.fill(row);
  } else {
    const nb::gil_scoped_release release;
    allowed = matcher.fill(row);
  }
  return allowed < matcher.grammar().vocabulary().vocab_size();
}

// (name, bytes, whether it is closed), in the order in which they begin.
nb::typed<nb::list, nb::typed<nb::tuple, nb::str, nb::bytes, bool>> captures(PyMatcher& self,
                                                                             const CaptureProgram& program) {
  const Matcher& matcher = self.matcher;
  if (!self.captures)
    self.captures = std::make_unique<CaptureTracker>(program.program, matcher.grammar().context()->vocabulary);
  std::vector<Capture> found;
  {
    const nb::gil_scoped_release release;
    matcher.update(*self.captures);
    found = self.captures->captures(self.matcher.is_terminated());
  }
  const std::string& text = self.captures->text();
  nb::list out;
  for (const Capture& c : found)
    out.append(nb::make_tuple(c.name, nb::bytes(text.data() + c.begin, c.end - c.begin), c.closed));
  return nb::steal<nb::typed<nb::list, nb::typed<nb::tuple, nb::str, nb::bytes, bool>>>(out.release());
}

}  // namespace

void bind_matcher(nb::module_& m) {
  nb::class_<PyMatcher>(m, "Matcher")
      .def(
          "__init__",
          [](PyMatcher* self, std::shared_ptr<CompiledGrammar> grammar, const std::vector<int64_t>& stop_token_ids,
             bool terminate_without_stop_token) {
            std::vector<TokenId> stops;
            for (const int64_t id : stop_token_ids) {
              if (id < 0 || id >= static_cast<int64_t>(grammar->vocabulary().vocab_size()))
                raise_error("TokenizerError", "stop token " + std::to_string(id) + " is outside the vocabulary");
              stops.push_back(static_cast<TokenId>(id));
            }
            new (self) PyMatcher{Matcher(std::move(grammar), std::move(stops), terminate_without_stop_token), {}, {}};
          },
          nb::arg("grammar"), nb::arg("stop_token_ids"), nb::arg("terminate_without_stop_token"))
      .def("__init__",
           [](PyMatcher* self, const PyMatcher& other) {
             new (self) PyMatcher{other.matcher, {}, {}};
           })
      .def(
          "accept_token",
          [](PyMatcher& self, nb::handle token_id) { return self.matcher.accept(read_token_id(token_id)); },
          nb::arg("token_id"))
      .def(
          "accept_tokens",
          [](PyMatcher& self, nb::handle token_ids) {
            size_t count = 0;
            for (const TokenId id : read_token_ids(token_ids)) {
              if (!self.matcher.accept(id)) break;
              ++count;
            }
            return count;
          },
          nb::arg("token_ids"))
      .def(
          "validate_tokens",
          [](PyMatcher& self, nb::handle token_ids) {
            const auto ids = read_token_ids(token_ids);
            const nb::gil_scoped_release release;
            return self.matcher.validate(ids.data(), ids.size());
          },
          nb::arg("token_ids"))
      .def("accept_bytes",
           [](PyMatcher& self, const nb::bytes& data) {
             const std::string_view view(data.c_str(), data.size());
             const nb::gil_scoped_release release;
             return self.matcher.accept_bytes(view);
           })
      .def("fill_next_token_bitmask", &fill, nb::arg("bitmask"), nb::arg("index") = 0)
      .def("forced_bytes",
           [](PyMatcher& self) {
             std::string out;
             {
               const nb::gil_scoped_release release;
               out = self.matcher.forced_bytes(kMaxForcedBytes);
             }
             return nb::bytes(out.data(), out.size());
           })
      .def("rollback_tokens",
           [](PyMatcher& self, size_t count) {
             if (!self.matcher.rollback(count)) return false;
             if (self.captures) self.captures->truncate(self.matcher.num_accepted());
             return true;
           })
      .def("reset",
           [](PyMatcher& self) {
             self.matcher.reset();
             self.captures.reset();
           })
      .def("captures", &captures, nb::arg("program"))
      .def("is_completed", [](PyMatcher& self) { return self.matcher.is_completed(); })
      .def("is_terminated", [](PyMatcher& self) { return self.matcher.is_terminated(); })
      .def_prop_ro("num_accepted_tokens", [](PyMatcher& self) { return self.matcher.num_accepted(); })
      .def_prop_ro("stop_token_ids", [](PyMatcher& self) { return self.matcher.stop_tokens(); });

  m.def(
      "fill_batch",
      [](const nb::typed<nb::sequence, PyMatcher>& matchers, nb::handle bitmask, const std::vector<int64_t>& rows) {
        std::vector<nb::object> kept;
        std::vector<Matcher*> all;
        for (nb::handle h : matchers) {
          kept.push_back(nb::borrow(h));
          all.push_back(&nb::cast<PyMatcher&>(h).matcher);
        }
        if (all.size() != rows.size())
          raise_error("MatcherError",
                      std::to_string(rows.size()) + " rows were named for " + std::to_string(all.size()) + " matchers");
        if (all.empty()) return;
        uint32_t num_words = 0;
        for (const Matcher* matcher : all) num_words = std::max(num_words, matcher->grammar().vocabulary().num_words());
        BitmaskReader reader;
        Bitmask target;
        reader.read(bitmask, num_words, target);
        std::vector<uint32_t*> targets;
        for (size_t i = 0; i < all.size(); ++i)
          targets.push_back(target.row(rows[i], all[i]->grammar().vocabulary().num_words()));
        const nb::gil_scoped_release release;
        for (size_t i = 0; i < all.size(); ++i) all[i]->fill(targets[i]);
      },
      nb::arg("matchers"), nb::arg("bitmask"), nb::arg("rows"));
}

}  // namespace maskwright
