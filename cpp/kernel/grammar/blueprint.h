// The structure of one rule group, written as bytes: what the group is found by, and what it is built from.
//
// A blueprint lists the units of one strongly connected component and the expressions below them, children first,
// numbered in the order in which a walk from the units meets them. A reference names a member of the component by its
// index, or another group's rule by its place in the list of callees, whose ids end the text. Equal texts therefore
// mean equal automata, in whatever grammars they occur.
//
//     root ::= "a" root | digit     →     literal "a" · call 0 · seq 0 1 · call 1 · alt 2 3 · unit expression 4 · (7,
//     0)
//
// Where a unit is parametric, all units of the component become templates (family.h). In it, calls of templates say
// what they pass; elsewhere, the callee is the template's instance for a parameter, which is part of its name.
//
// What a unit captures is part of the text, so that a rule that captures is never one that does not; and so is what is
// said of it as a span, and what it has to do with remembered text.
//
// About three bytes a node. Tested by tests/exhaustive (several grammars on one tokenizer).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/ir.h"

namespace maskwright {

// Something that becomes a rule.
struct BlueprintUnit {
  enum class Kind : uint8_t {
    Expression,  // the root's strings
    Counter,     // repetitions of what the root, a reference, calls
    Product,     // the root is an And of references, and of Nots of such, to regular rules
    Derivative,  // the root is any other And or Not, or an operand that is too large to be spelled out
    Multiple     // the root is a Multiple of a reference
  } kind;
  ExprId root;
  int terminator = -1;      // of a counter: the byte after the last item, if it belongs to the rule
  bool parametric = false;  // it depends on a parameter
  std::optional<std::string> capture = std::nullopt;  // the name of what it matches
  std::optional<SpanRule> span = std::nullopt;
  MemoryRole memory = {};
};

// As read back. In `ir`, the `begin` of a Ref, or of a Call, which passes a value to a template, is a member or, from
// units.size() on, a callee; minimum and maximum are the bounds with which it is called, if it counts. No repetition is
// counted but below a Derivative.
struct Blueprint {
  GrammarIr ir;
  std::vector<BlueprintUnit> units;

  bool is_parametric() const;

  static Blueprint read(std::string_view text);
};

class BlueprintWriter {
 public:
  void clear();
  // Each returns the number of the new node.
  ExprId leaf(Op op);
  ExprId literal(std::string_view bytes);
  ExprId set(const ByteSet& set);
  ExprId tokens(const TokenSet& set);
  ExprId substrings(const ChunkList& chunks);
  ExprId many(Op op, std::span<const ExprId> operands);
  ExprId repeat(ExprId item, int64_t minimum, int64_t maximum);
  ExprId negation(ExprId operand);
  ExprId call(uint32_t target, int64_t minimum = 0, int64_t maximum = 0);
  ExprId call(uint32_t target, const ValueFunction& value, int64_t minimum, int64_t maximum);
  ExprId guard(ExprId operand, const Condition& condition);
  ExprId multiple(ExprId operand, int64_t modulus, int64_t scale);

  void unit(const BlueprintUnit& unit);
  // `parameter`: of an instance.
  void callee(uint64_t group, uint32_t rule, uint64_t parameter = 0);
  const std::string& text() const { return text_; }

 private:
  void number(uint64_t value);
  ExprId begin(Op op);
  std::string text_;
  ExprId num_nodes_ = 0;
};

}  // namespace maskwright
