#include "linker/program.h"

#include <algorithm>

#include "linker/linker.h"
#include "rules/instances/family.h"
#include "rules/reached.h"
#include "support/errors.h"
#include "support/work.h"

namespace maskwright {

std::vector<RuleGroup*> Program::groups() const {
  return groups_reached(*group);
}

std::vector<RuleGroup*> Program::deferred() const {
  return missing_of(*group);
}

std::vector<Family*> Program::families() const {
  return families_reached(*group);
}

size_t Program::instance_bytes() const {
  size_t bytes = 0;
  for (const Family* family : families()) bytes += family->instance_bytes();
  return bytes;
}

size_t Program::num_instances() const {
  size_t count = 0;
  for (const Family* family : families()) count += family->num_linked();
  return count;
}

Program link(const GrammarIr& ir, RuleStore& store) {
  const Work::Scope scope;
  auto [group, root] = Linker(ir, store).link(true);
  if (group->family()) root = instantiate(*root, 0);
  if (!root->productive() && !root->nullable()) throw Unsatisfiable("no output at all satisfies this structure");
  const bool has_budgets = group->has_budgets(), has_temperatures = group->has_temperatures();
  const bool has_memory = group->has_memory(), has_values = group->has_values();
  return {root, std::move(group), has_budgets, has_memory, has_values, has_temperatures};
}

}  // namespace maskwright
