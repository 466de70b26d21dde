// Makes the rule of an instance, and with it the rules that it can call before its first byte.
//
// The template's draft is copied with guards decided, calls of instances that derive nothing removed, and empty moves
// beside calls of those that can be empty; the rest is what GroupBuilder does for any component. Calls further on stay
// calls of instances: they are linked when a state that makes them is.
//
// Linked together are an instance and those that it calls before any byte, as left recursion, FIRST and rank depend on
// them. A rule that calls itself so with ever another parameter is refused by a limit.
// The caller holds the linking lock. Cost: a few tens of ns an edge of the template.
// Tested by tests/exhaustive/test_parametric.py.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "family.h"

namespace maskwright {

class InstanceLinker {
 public:
  explicit InstanceLinker(Instance& root) : root_(root), builder_(root.model->group()) {}
  Rule* link();

 private:
  Rule* add(Instance& instance);
  void draft(size_t index);
  void decide_calls(Instance& instance, Rule& rule);
  void link_left_calls(size_t index);

  Instance& root_;
  GroupBuilder builder_;
  std::vector<Instance*> batch_;
  std::vector<std::unique_ptr<Rule>> rules_;
  std::unordered_map<Instance*, Rule*> in_batch_;
  std::vector<uint8_t> passable_;  // by callee: bit 0 productive, bit 1 nullable
  size_t num_edges_ = 0;
};

}  // namespace maskwright
