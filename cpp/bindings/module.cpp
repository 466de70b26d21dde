// The extension module maskwright._kernel.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>

#include "../kernel/errors.h"
#include "bindings.h"
#include "py_matcher.h"

namespace maskwright {

void raise_error(const char* class_name, const std::string& message, const char* hint) {
  nb::object type = nb::module_::import_("maskwright.errors").attr(class_name);
  nb::object error = hint ? type(message, nb::arg("hint") = hint) : type(message);
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

TokenId read_token_id(nb::handle value) {
  int overflow = 0;
  long long id = 0;
  if (PyLong_Check(value.ptr())) {
    id = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  } else {
    const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid()) throw nb::python_error();
    id = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  }
  return overflow != 0 || id < 0 || id > INT32_MAX ? -1 : static_cast<TokenId>(id);
}

namespace {

std::shared_ptr<TokenizerContext> make_context(const nb::list& token_bytes, const std::vector<int64_t>& special,
                                               const std::vector<int64_t>& stop, int64_t vocab_size, double& build_us) {
  std::vector<std::string_view> texts;
  texts.reserve(nb::len(token_bytes));
  for (nb::handle token : token_bytes) {
    char* data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(token.ptr(), &data, &size) != 0) throw nb::python_error();
    texts.emplace_back(data, static_cast<size_t>(size));
  }
  if (vocab_size < 0 || vocab_size > INT32_MAX || static_cast<size_t>(vocab_size) < texts.size())
    raise_error("TokenizerError", "vocab_size must be at least the number of tokens and fit an int32");
  const auto checked = [&](const std::vector<int64_t>& ids, const char* what) {
    std::vector<TokenId> out;
    for (const int64_t id : ids) {
      if (id < 0 || id >= vocab_size)
        raise_error("TokenizerError",
                    std::string(what) + " token " + std::to_string(id) + " is outside the vocabulary");
      out.push_back(static_cast<TokenId>(id));
    }
    return out;
  };
  std::vector<TokenId> special_ids = checked(special, "special"), stop_ids = checked(stop, "stop");
  auto context = std::make_shared<TokenizerContext>();
  const auto begin = std::chrono::steady_clock::now();
  {
    // The list keeps the texts alive.
    const nb::gil_scoped_release release;
    context->vocabulary =
        std::make_shared<const Vocabulary>(texts, special_ids, std::move(stop_ids), static_cast<uint32_t>(vocab_size));
  }
  build_us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  return context;
}

// What Python calls Vocabulary: the trie, and all rules ever linked against it.
struct PyVocabulary {
  std::shared_ptr<TokenizerContext> context;
  double build_us = 0;
};

}  // namespace

void bind_compile(nb::module_& m) {
  nb::class_<PyVocabulary>(m, "Vocabulary")
      .def(
          "__init__",
          [](PyVocabulary* self, const nb::typed<nb::list, nb::bytes>& token_bytes,
             const std::vector<int64_t>& special_token_ids, const std::vector<int64_t>& stop_token_ids,
             int64_t vocab_size) {
            double build_us = 0;
            auto context = make_context(token_bytes, special_token_ids, stop_token_ids, vocab_size, build_us);
            new (self) PyVocabulary{std::move(context), build_us};
          },
          nb::arg("token_bytes"), nb::arg("special_token_ids"), nb::arg("stop_token_ids"), nb::arg("vocab_size"))
      .def_ro("build_us", &PyVocabulary::build_us)
      .def_prop_ro("vocab_size", [](const PyVocabulary& v) { return v.context->vocabulary->vocab_size(); })
      .def_prop_ro("num_nodes", [](const PyVocabulary& v) { return v.context->vocabulary->num_nodes(); })
      .def_prop_ro("num_rule_groups", [](const PyVocabulary& v) { return v.context->rules.size(); })
      .def_prop_ro("memory_bytes", [](const PyVocabulary& v) { return v.context->vocabulary->memory_bytes(); });

  nb::class_<CompiledGrammar>(m, "CompiledGrammar")
      .def_prop_ro("memory_bytes", &CompiledGrammar::memory_bytes)
      .def_prop_ro("shared_memory_bytes", &CompiledGrammar::shared_memory_bytes)
      .def_prop_ro("num_flushes", &CompiledGrammar::num_flushes)
      .def_prop_ro("num_instances", &CompiledGrammar::num_instances)
      .def_prop_ro("num_configurations", [](CompiledGrammar& g) { return g.engine()->num_configs(); });

  nb::class_<CaptureProgram>(m, "CaptureProgram")
      .def(
          "__init__",
          [](CaptureProgram* self, const PyVocabulary& vocabulary,
             const nb::typed<nb::tuple, nb::object, nb::ellipsis>& rules, uint32_t root) {
            const GrammarIr ir = read_ir(rules, root, true);
            const nb::gil_scoped_release release;
            new (self) CaptureProgram{std::make_shared<const Program>(link(ir, vocabulary.context->rules))};
          },
          nb::arg("vocabulary"), nb::arg("rules"), nb::arg("root"));

  m.def(
      "compile",
      [](const PyVocabulary& vocabulary, const nb::typed<nb::tuple, nb::object, nb::ellipsis>& rules, uint32_t root,
         size_t memory_budget_bytes) {
        GrammarIr ir = read_ir(rules, root);
        // A token that the vocabulary does not have can never come.
        for (auto& ids : ir.token_sets)
          std::erase_if(ids, [&](TokenId id) {
            return id < 0 || static_cast<uint32_t>(id) >= vocabulary.context->vocabulary->vocab_size();
          });
        const nb::gil_scoped_release release;
        return std::make_shared<CompiledGrammar>(vocabulary.context, std::move(ir), memory_budget_bytes);
      },
      nb::arg("vocabulary"), nb::arg("rules"), nb::arg("root"), nb::arg("memory_budget_bytes"));
}

}  // namespace maskwright

NB_MODULE(_kernel, m) {
  namespace nb = nanobind;
  using namespace maskwright;
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const LimitExceeded& e) {
      const nb::object type = nb::module_::import_("maskwright.errors").attr("LimitError");
      const nb::object error = type(e.what(), nb::arg("limit") = e.limit);
      PyErr_SetObject(type.ptr(), error.ptr());
    } catch (const Unsatisfiable& e) {
      const nb::object type = nb::module_::import_("maskwright.errors").attr("UnsatisfiableError");
      PyErr_SetObject(type.ptr(), nb::object(type(e.what())).ptr());
    }
  });
  bind_compile(m);
  bind_matcher(m);
  bind_apply(m);
}
