// The extension module maskwright._kernel.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>

#include "deferred.h"
#include "grammar/read_grammar.h"
#include "py_matcher.h"
#include "read_ir.h"
#include "rotation.h"
#include "support/errors.h"
#include "support/optimisations.h"
#include "support/thread_pool.h"

namespace maskwright {

void raise_error(const char* class_name, const std::string& message, const char* hint) {
  nb::object type = nb::module_::import_("maskwright.errors").attr(class_name);
  nb::object error = hint ? type(message, nb::arg("hint") = hint) : type(message);
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

void raise_wrong_argument(const char* name, nb::handle value, const char* expected, const char* hint) {
  const nb::module_ errors = nb::module_::import_("maskwright.errors");
  const nb::object error = errors.attr("wrong_argument")(name, value, expected, hint ? nb::cast(hint) : nb::none());
  PyErr_SetObject(nb::object(error.attr("__class__")).ptr(), error.ptr());
  throw nb::python_error();
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
    if (static_cast<size_t>(size) >= kManyChars)
      raise_error("TokenizerError", "token " + std::to_string(texts.size()) + " has " + std::to_string(size) +
                                        " bytes: the limit is " + std::to_string(kManyChars - 1));
    texts.emplace_back(data, static_cast<size_t>(size));
  }
  if (vocab_size < 0 || vocab_size > INT32_MAX || static_cast<size_t>(vocab_size) < texts.size())
    raise_error("TokenizerError", "vocab_size must be >= the number of tokens and fit in an int32");
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
  std::shared_ptr<TokenizerContext> context;
  const auto begin = std::chrono::steady_clock::now();
  {
    // The list keeps the texts alive.
    const Unlocked unlocked;
    context = std::make_shared<TokenizerContext>(
        std::make_shared<const Vocabulary>(texts, special_ids, std::move(stop_ids), static_cast<uint32_t>(vocab_size)));
  }
  build_us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  return context;
}

// What Python calls Vocabulary: the trie, and all rules ever linked against it.
struct PyVocabulary {
  std::shared_ptr<TokenizerContext> context;
  double build_us = 0;
  mutable GrammarReader reader = {};

  GrammarIr read(const nb::tuple& rules, uint32_t root, bool with_captures) const {
    return reader.read(context->rules, rules, root, with_captures);
  }
};

// A grammar as bytes. `ids_of(names, id_ranges, negated)` says which tokens are meant, in ascending order.
GrammarIr read_bytes(const PyVocabulary& vocabulary, const nb::bytes& data, const nb::callable& ids_of) {
  const uint32_t vocab_size = vocabulary.context->vocabulary->vocab_size();
  GrammarFile file;
  {
    const Unlocked unlocked;
    file = read_grammar({data.c_str(), data.size()}, vocab_size, false);
  }
  for (const NamedTokens& each : file.named_tokens) {
    nb::list names;
    for (const std::string& name : each.names) names.append(nb::bytes(name.data(), name.size()));
    auto ids = nb::cast<std::vector<TokenId>>(ids_of(names, each.id_ranges, each.negated));
    for (const TokenId id : ids)
      if (id < 0 || static_cast<uint32_t>(id) >= vocab_size) throw nb::type_error("a token is not in the vocabulary");
    supply_tokens(file.ir, each, std::move(ids));
  }
  return std::move(file.ir);
}

// Whether a token begins with this text and goes on.
bool begins_longer_token(const PyVocabulary& self, const nb::bytes& text) {
  const Vocabulary& vocabulary = *self.context->vocabulary;
  NodeId at = Vocabulary::kRoot;
  for (size_t i = 0; i < text.size(); ++i) {
    at = vocabulary.child(at, static_cast<uint8_t>(text.c_str()[i]));
    if (at == Vocabulary::kRoot) return false;
  }
  return vocabulary.node(at).num_children > 0;
}

// The longest token that the text begins with, the lowest id of equal ones.
std::optional<TokenId> longest_token(const PyVocabulary& self, const nb::bytes& text) {
  const Vocabulary& vocabulary = *self.context->vocabulary;
  std::optional<TokenId> longest;
  NodeId at = Vocabulary::kRoot;
  for (size_t i = 0; i < text.size(); ++i) {
    at = vocabulary.child(at, static_cast<uint8_t>(text.c_str()[i]));
    if (at == Vocabulary::kRoot) break;
    const Vocabulary::Node& node = vocabulary.node(at);
    if (node.token_begin < node.token_own_end) longest = vocabulary.sorted_token(node.token_begin);
  }
  return longest;
}

using PyRules = nb::typed<nb::tuple, nb::object, nb::ellipsis>;

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
      .def("begins_longer_token", &begins_longer_token, nb::arg("text"))
      .def("longest_token", &longest_token, nb::arg("text"))
      .def_ro("build_us", &PyVocabulary::build_us)
      .def_prop_ro("vocab_size", [](const PyVocabulary& v) { return v.context->vocabulary->vocab_size(); })
      .def_prop_ro("num_nodes", [](const PyVocabulary& v) { return v.context->vocabulary->num_nodes(); })
      .def_prop_ro("num_rule_groups", [](const PyVocabulary& v) { return v.context->rules.size(); })
      .def(
          "keep_rules_within", [](PyVocabulary& v, size_t num_bytes) { v.context->rules.keep_within(num_bytes); },
          nb::arg("num_bytes"))
      .def_prop_ro("rule_memory_bytes", [](const PyVocabulary& v) { return v.context->rules.memory_bytes(); })
      .def_prop_ro("memory_bytes", [](const PyVocabulary& v) { return v.context->vocabulary->memory_bytes(); });

  nb::class_<CompiledGrammar>(m, "CompiledGrammar")
      .def_prop_ro("memory_bytes", &CompiledGrammar::memory_bytes)
      .def_prop_ro("own_bytes", &CompiledGrammar::own_bytes)
      .def_prop_ro("shared_memory_bytes", &CompiledGrammar::shared_memory_bytes)
      .def_prop_ro("num_flushes", &CompiledGrammar::num_flushes)
      .def_prop_ro("num_instances", &CompiledGrammar::num_instances)
      .def_prop_ro("num_mask_hits", &CompiledGrammar::num_mask_hits)
      .def_prop_ro("num_mask_misses", &CompiledGrammar::num_mask_misses)
      .def("size",
           [](CompiledGrammar& g) {
             const Engine::Size size = g.size();
             return std::tuple(size.configs, size.transitions, size.masks, size.bytes);
           })
      .def("precompute_masks", [](CompiledGrammar& g, double budget_us) {
        const auto engine = g.engine();
        return run_within(budget_us, *g.program(), Precomputation(engine, engine->initial()));
      });

  m.def(
      "set_optimisations",
      [](bool inlining, bool registers, bool subtree_skipping, bool state_masks, bool config_memo, bool sharing) {
        optimisations = {inlining, registers, subtree_skipping, state_masks, config_memo, sharing};
      },
      nb::kw_only(), nb::arg("inlining") = true, nb::arg("registers") = true, nb::arg("subtree_skipping") = true,
      nb::arg("state_masks") = true, nb::arg("config_memo") = true, nb::arg("sharing") = true,
      "Switches off what is False, for the whole process: to measure what each is worth "
      "(support/optimisations.h).");

  nb::class_<CaptureProgram>(m, "CaptureProgram")
      .def(
          "__init__",
          [](CaptureProgram* self, const PyVocabulary& vocabulary, const PyRules& rules, uint32_t root) {
            const GrammarIr ir = vocabulary.read(rules, root, true);
            const Unlocked unlocked;
            new (self) CaptureProgram{std::make_shared<const Program>(link(ir, vocabulary.context->rules))};
          },
          nb::arg("vocabulary"), nb::arg("rules"), nb::arg("root"));

  m.def(
      "compile",
      [](const PyVocabulary& vocabulary, const PyRules& rules, uint32_t root, size_t memory_budget_bytes) {
        GrammarIr ir = vocabulary.read(rules, root, false);
        Program program;
        {
          const Unlocked unlocked;
          rotation().leave();
          program = link(ir, vocabulary.context->rules);
        }
        if (program.has_budgets) supply(*program.group);
        const Unlocked unlocked;
        return std::make_shared<CompiledGrammar>(vocabulary.context, std::move(ir), std::move(program),
                                                 memory_budget_bytes);
      },
      nb::arg("vocabulary"), nb::arg("rules"), nb::arg("root"), nb::arg("memory_budget_bytes"));

  using PyIdsOf = nb::typed<nb::callable, std::vector<int64_t>(nb::typed<nb::list, nb::bytes>,
                                                               std::vector<std::pair<int64_t, int64_t>>, bool)>;
  m.def(
      "compile_bytes",
      [](const PyVocabulary& vocabulary, const nb::bytes& data, const PyIdsOf& ids_of, size_t memory_budget_bytes) {
        GrammarIr ir = read_bytes(vocabulary, data, ids_of);
        const Unlocked unlocked;
        rotation().leave();
        Program program = link(ir, vocabulary.context->rules);
        return std::make_shared<CompiledGrammar>(vocabulary.context, std::move(ir), std::move(program),
                                                 memory_budget_bytes);
      },
      nb::arg("vocabulary"), nb::arg("data"), nb::arg("ids_of"), nb::arg("memory_budget_bytes"));
}

namespace {

// As arguments of Python's exceptions.
nb::dict tokens_needed(const TokensNeeded& needed) {
  nb::dict out;
  if (needed.at_least > 0) out["least_tokens"] = needed.at_least;
  if (needed.enough > 0) out["enough_tokens"] = needed.enough;
  return out;
}

}  // namespace

}  // namespace maskwright

NB_MODULE(_kernel, m) {
  namespace nb = nanobind;
  using namespace maskwright;
#ifdef NDEBUG
  nb::set_leak_warnings(false);  // what a program keeps in caches and globals outlives the interpreter
#endif
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const LimitExceeded& e) {
      const nb::object type = nb::module_::import_("maskwright.errors").attr("LimitError");
      const nb::object error = type(e.what(), nb::arg("limit") = e.limit, **tokens_needed(e.needed));
      PyErr_SetObject(type.ptr(), error.ptr());
    } catch (const Unsatisfiable& e) {
      const nb::object type = nb::module_::import_("maskwright.errors").attr("UnsatisfiableError");
      const nb::object hint = e.hint.empty() ? nb::none() : nb::cast(e.hint);
      const nb::object error = type(e.what(), nb::arg("hint") = hint, **tokens_needed(e.needed));
      PyErr_SetObject(type.ptr(), error.ptr());
    } catch (const MalformedGrammar& e) {
      const nb::object type = nb::module_::import_("maskwright.errors").attr("GrammarError");
      PyErr_SetObject(type.ptr(), nb::object(type(e.what())).ptr());
    } catch (const InvalidDraft& e) {
      const nb::object type = nb::module_::import_("maskwright.errors").attr("MatcherError");
      PyErr_SetObject(type.ptr(), nb::object(type(e.what())).ptr());
    }
  });
  ForkGate::install();
  ThreadPool::prepare_for_fork();
  bind_compile(m);
  bind_matcher(m);
  bind_batch(m);
  bind_apply(m);
  bind_content(m);
  bind_deferral(m);
  bind_turns(m);
  bind_untrack(m);
  bind_heap(m);
}
