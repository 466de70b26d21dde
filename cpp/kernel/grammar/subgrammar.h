// Grammars that stand in other grammars as leaves, and are read and linked once for each tokenizer.
//
// Python gives each a number that is never used again (src/maskwright/ir/subgrammars.py), so the rule store knows those
// that it has linked by that number alone: nothing in them is read, measured or compared. To whoever calls it, a linked
// subgrammar is one more rule of another component.
//
// What is linked lives as any group does (rule_store.h): while it is used, and after that while there is room. One that
// is gone is read and linked again.
// Tested by tests/kernel/test_linked_subgrammars.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "support/byte_set.h"

namespace maskwright {

class Rule;
class RuleGroup;
struct GrammarIr;

// A rule, and what keeps it and all that it calls alive.
struct LinkedRule {
  std::shared_ptr<RuleGroup> group;
  Rule* rule = nullptr;
};

// What is promised of a deferred subgrammar (deferred.h).
struct DeferredFacts {
  ByteSet first;                  // holds each byte that its strings begin with
  bool first_has_tokens = false;  // some may begin with a named token
  bool nullable = false;          // the empty string is one of them
  bool has_families = false;      // it may have parametric rules
  bool has_memory = false;        // it may remember text, in no list
  // To its end, as byte_distance.h finds them, or more. Nothing if that is not known.
  std::optional<uint32_t> num_bytes = std::nullopt;
};

struct Subgrammar {
  uint64_t key = 0;  // by which the rule store knows it
  // One of the three. With parametric rules inside it is the IR, as these are linked afresh now and then.
  LinkedRule linked = {};
  std::shared_ptr<const GrammarIr> ir = nullptr;
  std::optional<DeferredFacts> deferred = std::nullopt;  // it is read later; if it is linked, set with families only
  size_t num_nodes = 0;                                  // of the IR, with the subgrammars in it
};

}  // namespace maskwright
