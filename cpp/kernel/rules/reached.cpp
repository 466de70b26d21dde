#include "rules/reached.h"

#include <algorithm>
#include <unordered_set>

#include "rules/instances/family.h"

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

}  // namespace

std::vector<RuleGroup*> groups_reached(RuleGroup& group) {
  return reached(group, [](const RuleGroup&) { return true; });
}

std::vector<Family*> families_reached(RuleGroup& group) {
  std::vector<Family*> out;
  if (!group.leads_to_families()) return out;
  for (RuleGroup* each : reached(group, [](const RuleGroup& next) { return next.leads_to_families(); }))
    if (each->family()) out.push_back(each->family());
  return out;
}

bool is_retired(RuleGroup& group) {
  return std::ranges::any_of(families_reached(group), &Family::is_retired);
}

}  // namespace maskwright
