#include "rules/reached.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "rules/instances/family.h"

namespace maskwright {
namespace {

constexpr uint32_t kBitsOfParameter = 64;

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

std::vector<RuleGroup*> leading_to_families(RuleGroup& group) {
  if (!group.leads_to_families()) return {};
  return reached(group, [](const RuleGroup& next) { return next.leads_to_families(); });
}

}  // namespace

std::vector<RuleGroup*> groups_reached(RuleGroup& group) {
  return reached(group, [](const RuleGroup&) { return true; });
}

std::vector<RuleGroup*> missing_of(RuleGroup& group) {
  std::vector<RuleGroup*> out = groups_reached(group);
  std::erase_if(out, [](const RuleGroup* each) { return !each->is_missing(); });
  return out;
}

std::vector<Family*> families_reached(RuleGroup& group) {
  std::vector<Family*> out;
  for (RuleGroup* each : leading_to_families(group))
    if (each->family()) out.push_back(each->family());
  return out;
}

// Callees were made first, but for what was deferred.
uint32_t most_bits_moved(RuleGroup& group) {
  std::vector<RuleGroup*> groups = leading_to_families(group);
  std::ranges::sort(groups, {}, &RuleGroup::id);
  std::unordered_map<const RuleGroup*, uint32_t> most;
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (RuleGroup* each : groups) {
      uint32_t below = 0;
      for (const LinkedRule& link : each->callees()) below = std::max(below, most[link.group.get()]);
      if (const LinkedRule* content = each->content()) below = std::max(below, most[content->group.get()]);
      const uint32_t own = each->family() ? each->family()->num_bits_moved() : 0;
      const uint32_t bits = std::min(below + own, kBitsOfParameter);  // as what was deferred may lead back
      has_grown = has_grown || bits > most[each];
      most[each] = bits;
    }
  }
  return most[&group];
}

bool is_retired(RuleGroup& group) {
  return std::ranges::any_of(families_reached(group), &Family::is_retired);
}

}  // namespace maskwright
