// Makes the rule of an instance, and with it the rules that it can call before its first byte.
//
// The template's draft is copied with guards decided, calls of instances that derive nothing removed, and empty moves
// beside calls of those that can be empty; the rest is done to it as to any draft (group_drafts.h). Calls further on
// stay calls of instances: they are linked when a state that makes them is.
//
// Linked together are an instance and those that it calls before any byte, as left recursion, FIRST and rank depend on
// them. A rule that calls itself so with ever another parameter is refused by a limit.
// The caller holds the linking lock. Cost: a few tens of ns an edge of the template.
// Tested by tests/exhaustive/test_parametric.py.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "rules/building/group_drafts.h"
#include "rules/instances/family.h"

namespace maskwright {

class InstanceLinker : GroupDrafts {
 public:
  explicit InstanceLinker(Instance& root) : root_(root) {}
  Rule* link();

 private:
  // A call of the template, for the instance at hand.
  struct Call {
    Callee callee;
    bool decided = false, productive = false, nullable = false;
  };
  Rule* add(Instance& instance);
  void draft(size_t index);
  void decide_calls(const Instance& instance);
  void decide(Call& call, const Instance& caller);
  Rule* known_rule(const Instance& instance) const;
  void link_left_calls(size_t index);
  void describe();

  Instance& root_;
  std::vector<Instance*> batch_;  // the members', in the same order
  std::vector<std::unique_ptr<Rule>> rules_;
  std::unordered_map<const Instance*, Rule*> in_batch_;
  std::vector<Call> calls_;  // of the template that is being drafted, as it numbers them
  size_t num_edges_ = 0;
};

}  // namespace maskwright
