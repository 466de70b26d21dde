#include "program.h"

#include <algorithm>
#include <unordered_set>

#include "errors.h"
#include "family.h"
#include "linker.h"
#include "work.h"

namespace maskwright {
namespace {

// `group` and all groups that it leads to which `leads` does not leave out.
template <class Leads>
std::vector<RuleGroup*> reached(RuleGroup& group, Leads&& leads) {
  std::vector<RuleGroup*> out{&group};
  std::unordered_set<RuleGroup*> seen{&group};
  const auto reach = [&](const LinkedRule& link) {
    if (leads(*link.group) && seen.insert(link.group.get()).second) out.push_back(link.group.get());
  };
  for (size_t i = 0; i < out.size(); ++i) {
    for (const LinkedRule& link : out[i]->callees()) reach(link);
    if (const LinkedRule* content = out[i]->content()) reach(*content);
  }
  return out;
}

std::vector<Family*> families_of(RuleGroup& group) {
  std::vector<Family*> out;
  if (!group.leads_to_families()) return out;
  for (RuleGroup* each : reached(group, [](const RuleGroup& next) { return next.leads_to_families(); }))
    if (each->family()) out.push_back(each->family());
  return out;
}

}  // namespace

std::vector<RuleGroup*> Program::groups() const {
  return reached(*group, [](const RuleGroup&) { return true; });
}

std::vector<RuleGroup*> Program::deferred() const {
  std::vector<RuleGroup*> out = groups();
  std::erase_if(out, [](const RuleGroup* group) { return !group->deferred_key() || group->content(); });
  return out;
}

std::vector<Family*> Program::families() const {
  return families_of(*group);
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

bool is_retired(RuleGroup& group) {
  return std::ranges::any_of(families_of(group), &Family::is_retired);
}

Program link(const GrammarIr& ir, RuleStore& store) {
  const Work::Scope scope;
  auto [group, root] = Linker(ir, store).link(true);
  if (group->family()) root = instantiate(*root, 0);
  if (!root->productive() && !root->nullable()) throw Unsatisfiable("no output at all satisfies this structure");
  const bool has_budgets = group->has_budgets(), has_temperatures = group->has_temperatures();
  return {root, std::move(group), has_budgets, has_temperatures};
}

}  // namespace maskwright
