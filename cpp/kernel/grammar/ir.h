// The flat form of a GrammarIR, as the bindings read it from Python's tuples (src/maskwright/ir/ops.py lists the ops).
//
// Nodes are numbered children first, and a Python object seen twice becomes one node, so the form is a DAG. It lives
// only while a grammar is compiled.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "grammar/parameter.h"
#include "grammar/subgrammar.h"
#include "grammar/substring_automaton.h"
#include "support/byte_set.h"
#include "support/continued.h"
#include "support/ids.h"

namespace maskwright {

enum class Op : uint8_t {
  Empty,
  Never,
  Literal,
  Set,
  Seq,
  Alt,
  Repeat,
  Ref,
  Tokens,
  And,
  Not,
  Guard,
  Call,
  Capture,
  Subgrammar,
  Span,
  Substrings,
  Scope,
  Remember,
  Recall,
  Distinct,
  Multiple,
  Value
};

inline constexpr int64_t kUnbounded = -1;
inline constexpr int64_t kMaxTextNumber = 250;                   // of a remembered text
inline constexpr int64_t kMaxModulus = 100'000'000'000'000'000;  // of numbers that are multiples
inline constexpr int64_t kMaxScale = 100;                        // digits after their point
inline constexpr int64_t kMaxTokenBudget = 1'000'000'000;

// What is said of a stretch of the output: where it lies in tokens, and how they are sampled.
struct SpanRule {
  uint32_t max_tokens = 0;  // it lies in at most so many tokens; 0: in any number
  double temperature = -1;  // negative: none of its own
  bool operator==(const SpanRule&) const = default;
};

// What a rule has to do with what was read before: with remembered text (recognizer/remembered.h), or with a number.
struct MemoryRole {
  enum class Kind : uint8_t {
    None,
    Scope,     // its register is an environment: what was remembered in it so far
    Remember,  // what it matches is remembered under the number by the scope that calls it
    Recall,    // it matches the text that its caller remembers under the number
    Distinct,  // its register is a set of texts, and how many these are: what its elements or values were so far
    Element,   // what it matches is none of the set of the rule that calls it, and is added to that
    Multiple,  // its register is the remainder of the number that it has read (rules/multiples.h)
    Value      // the same of a JSON value, whatever its spelling; its register tells where its text begins
  } kind = Kind::None;
  uint8_t number = 0;            // of the text; Distinct, Element: kOfKinds or 0
  uint32_t minimum = 0;          // Distinct: of elements
  uint32_t maximum = kAnyCount;  // at least 1
  static constexpr uint32_t kAnyCount = 0xFFFFFFFF;
  static constexpr uint8_t kOfKinds = 1;  // a list of values and elements by any number of automata
  // A number of elements, as far as it matters.
  uint32_t counted(uint32_t count) const { return std::min(count, maximum == kAnyCount ? minimum : maximum); }
  bool operator==(const MemoryRole&) const = default;
};

// Tokens that are taken as such, whatever their text.
struct TokenSet {
  std::vector<TokenId> ids;  // ascending
  bool by_exclusion;  // all but some: none of them is named, so a matcher's stop tokens are not meant (matcher.h)
  bool contains(TokenId token) const { return std::binary_search(ids.begin(), ids.end(), token); }
  bool operator==(const TokenSet&) const = default;
};

struct ExprNode {
  Op op;
  // Literal: bytes [begin, end). Seq, Alt, And: children [begin, end). Repeat, Not: begin = the operand.
  // Set, Tokens: begin = index into sets, token_sets. Ref: begin = rule index. Guard: begin = the operand,
  // end = index into conditions. Call: begin = rule index, end = index into values. Capture: begin = the operand,
  // end = index into names; left out where captures are not asked for. Subgrammar: begin = index into subgrammars.
  // Span: begin = the operand, end = index into spans; left out where captures are. Substrings: begin = index into
  // chunk_lists. Scope: begin = the operand. Remember: begin = the operand, end = the number of the text. Recall:
  // begin = a set of all bytes, which stand for those of the text, end = its number. Distinct: children [begin, end):
  // what an element is, what stands between two, then values that elements may be too, each with what follows it.
  // Multiple: begin = the operand, minimum = what its numbers are multiples of, in units of 10**-maximum. Value:
  // begin = the operand, which is none of the values before it in the scope, end = whether it has one text for each.
  uint32_t begin = 0;
  uint32_t end = 0;
  int64_t minimum = 0;  // Repeat, Distinct, Multiple
  int64_t maximum = 0;
  uint32_t depth = 1;  // nesting of the expression below this node
};

struct GrammarIr {
  Continued<ExprNode> nodes;
  Continued<ExprId> children;
  std::string bytes;
  Continued<ByteSet> sets;
  std::vector<TokenSet> token_sets;
  std::vector<Condition> conditions;
  std::vector<ValueFunction> values;
  std::vector<std::string> names;
  std::vector<Subgrammar> subgrammars;
  std::vector<SpanRule> spans;
  std::vector<ChunkList> chunk_lists;
  std::vector<ExprId> rules;
  uint32_t root = 0;

  // What it has so far is what many grammars begin with: copies share it.
  void share() {
    nodes.share();
    children.share();
    sets.share();
  }
  // With those of all subgrammars, each as often as it stands there.
  size_t num_nodes() const {
    constexpr size_t kMost = SIZE_MAX / 1024;  // so that bytes can be counted too
    size_t total = nodes.size();
    for (const Subgrammar& each : subgrammars) total = std::min(kMost, total + each.num_nodes);
    return total;
  }
};

}  // namespace maskwright
