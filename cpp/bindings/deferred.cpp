#include "deferred.h"

#include <vector>

#include "read_ir.h"
#include "rules/reached.h"

namespace maskwright {

namespace {

void supply_one(RuleGroup& deferred) {
  if (deferred.content()) return;  // somebody else was here
  const uint64_t key = *deferred.deferred_key();
  const nb::object grammar = nb::module_::import_("maskwright.ir.subgrammars").attr("deferred_grammar")(number_of(key));
  GrammarReader reader;
  const GrammarIr ir = reader.read(deferred.store(), nb::cast<nb::tuple>(grammar.attr("rules")),
                                   nb::cast<uint32_t>(grammar.attr("root")), has_captures(key));
  const Unlocked unlocked;
  const Program program = link(ir, deferred.store());
  DeferredGroup::supply(deferred, {program.group, program.root});
}

}  // namespace

void supply(RuleGroup& needed) {
  if (needed.is_missing()) return supply_one(needed);
  for (auto missing = missing_of(needed); !missing.empty(); missing = missing_of(needed))
    for (RuleGroup* deferred : missing) supply_one(*deferred);
}

void run_queue(FillQueue& queue, unsigned max_threads) {
  try {
    while (!queue.empty()) {
      std::vector<std::shared_ptr<RuleGroup>> needed;
      {
        const Unlocked unlocked;
        needed = queue.run(max_threads);
      }
      for (const auto& deferred : needed) supply(*deferred);
    }
  } catch (...) {
    queue.clear();
    throw;
  }
}

}  // namespace maskwright
