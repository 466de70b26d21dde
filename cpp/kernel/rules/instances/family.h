// Rules with a parameter: the templates of one component, and their instances, made one at a time as they are needed.
//
// A component that holds a parametric rule is drafted, but its drafts stay templates: automata with guards, "go on if
// this holds for the parameter", and with calls that say how the callee's parameter comes from the caller's. The
// instance of a template for one parameter is an ordinary rule of the group: guards decided, calls of what derives
// nothing removed.
//
// Example: perm::_ ::= "" %if is_ones([0:2]) | "a" perm::set_bit(0) %if bit_clear(0) | "b" perm::set_bit(1) %if ...
// has 4 instances for 2 letters and 2^60 for 60, of which an output of 60 letters needs 61: what a state calls is
// linked when a byte is to be read there (Rule::link).
//
// What does not depend on the parameter is done once: parts of a body that mention it nowhere are rules of their own
// if they are of any size ("outlined"), with automata and masks that all instances share.
//
// Rules of the component that have no parameter have one instance, for zero.
// Tested by tests/exhaustive/test_parametric.py.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "automata/nfa.h"
#include "grammar/parameter.h"
#include "rules/building/group_drafts.h"
#include "rules/rule.h"

namespace maskwright {

// A draft with guards and calls that pass values. Calls of other rules are live, with empty moves beside them where
// these match the empty string; what calls of templates derive hangs on the parameter.
struct Template {
  RuleDraft body;
  Nfa nfa;
  Nfa silent;  // the ways through it on which nothing may be consumed
  bool parametric;
  bool progresses = false;  // it derives something, if only the empty string, for every parameter
};

// A template with its parameter. What is known of it is guarded by the store's linking lock.
struct Instance {
  enum class Fact : uint8_t { Unknown, Asked, No, Yes };  // Asked: only while a WitnessSearch runs
  Rule* model;
  uint64_t parameter;
  Fact nullable = Fact::Unknown;    // it matches the empty string
  Fact productive = Fact::Unknown;  // it matches some other string
  Rule* rule = nullptr;             // once linked

  Family& family() const { return *model->group().family(); }
  const Template& pattern() const;
  bool holds(uint32_t condition) const;
};

class Family {
 public:
  explicit Family(RuleGroup& group) : group_(group) {}

  // While the component is drafted.
  uint32_t add_value(const ValueFunction& value);
  uint32_t add_condition(const Condition& condition);
  void add(RuleDraft draft, bool parametric);
  void finish();  // once all members are there

  const Template& of(const Rule& model) const { return templates_[model.index()]; }
  const ValueFunction& value(uint32_t index) const { return values_[index]; }
  const Condition& condition(uint32_t index) const { return conditions_[index]; }
  // How many bits of the parameter some call sets or clears, whatever they were: parameters are as many as their sets.
  uint32_t num_bits_moved() const { return num_bits_moved_; }

  // From here on under the linking lock.
  Instance& instance(Rule& model, uint64_t parameter);
  // What a call of a template means where the caller is an instance of this family for the parameter.
  Instance& called(const Callee& callee, uint64_t parameter) const;
  void keep(std::unique_ptr<Rule> rule);

  // Instances only ever grow in number. A family that has grown too large is retired: who links its grammar from then
  // on gets a fresh one, and this one goes with its last user. Any thread may ask, without a lock.
  size_t num_linked() const { return num_linked_.load(std::memory_order_relaxed); }
  size_t instance_bytes() const { return group_.approximate_bytes() - template_bytes_; }
  void retire() { retired_.store(true, std::memory_order_relaxed); }
  bool is_retired() const { return retired_.load(std::memory_order_relaxed); }
  // With the group's lock held.
  size_t memory_bytes();

 private:
  struct Key {
    uint32_t index;
    uint64_t parameter;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const { return mix(k.index, k.parameter); }
  };
  RuleGroup& group_;
  std::vector<Template> templates_;
  std::vector<ValueFunction> values_;
  std::vector<Condition> conditions_;
  uint32_t num_bits_moved_ = 0;
  size_t template_bytes_ = 0;  // of the group without instances
  std::unordered_map<Key, Instance, KeyHash> instances_;
  std::deque<std::unique_ptr<Rule>> linked_;
  std::atomic<size_t> num_linked_{0};
  std::atomic<bool> retired_{false};
};

inline const Template& Instance::pattern() const {
  return family().of(*model);
}
inline bool Instance::holds(uint32_t condition) const {
  return family().condition(condition).holds(parameter);
}

// The rule of an instance, linked if it is not yet. Thread-safe; the lock of a group that calls it may be held.
Rule* link(Instance& instance);
Rule* instantiate(Rule& model, uint64_t parameter);

}  // namespace maskwright
