// Regular expressions with intersection, complement and counted repetition, matched by Brzozowski derivatives.
//
// A term is a node of a hash-consed store; the derivative of a term by a byte is again a term, so the terms reached are
// the states of a lazily built deterministic automaton:  d_a(~("ab" | "c"))  =  ~"b".  Smart constructors keep terms
// canonical (flat sorted alternatives and conjunctions, `never` and `all` absorbed), which keeps their number finite; a
// count stays symbolic, so `{0,100000}` costs one term a step and nothing before.
//
// A term with `&` or `~` inside may denote no string; `is_live` searches its derivatives for a nullable one, those that
// seem nearest to one first (best_first.h).
// Not thread-safe: the owning rule locks.
// Source: Brzozowski 1964; Owens, Reppy and Turon 2009.
// Tested by tests/exhaustive.
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/ir.h"
#include "support/by_content.h"
#include "support/byte_set.h"
#include "support/ids.h"

namespace maskwright {

using TermId = uint32_t;

class DerivativeAutomaton {
 public:
  // Precondition: no Ref and no Tokens below `root`. Throws LimitExceeded if the expression nests too deep.
  DerivativeAutomaton(const GrammarIr& ir, ExprId root);

  // The automaton of one of another's terms.
  DerivativeAutomaton(const DerivativeAutomaton& other, TermId start) : DerivativeAutomaton(other) { start_ = start; }

  TermId start() const { return start_; }
  bool nullable(TermId term) const { return terms_[term].nullable; }
  // The term after one byte; kNever if no string follows. Throws LimitExceeded after too much work.
  TermId next(TermId term, uint8_t byte);
  bool is_live(TermId term);
  // How many bytes a string of the term seems to need.
  uint32_t guess(TermId term) const { return nearest_[term]; }
  // Whether any string but the empty one matches.
  bool has_nonempty_string();
  // A superset of the bytes on which `next` is live.
  ByteSet first(TermId term) const;
  bool never(TermId term) const { return term == kNever; }
  // Whether the term is an ordinary expression that loops: other automata end in the same ones, such as "any string".
  bool is_common_tail(TermId term) const { return terms_[term].loops && !terms_[term].boolean; }
  // The term's structure; equal strings mean equal languages.
  std::string serialise(TermId term) const;
  uint32_t class_of(uint8_t byte) const { return class_of_[byte]; }
  uint32_t num_classes() const { return num_classes_; }
  size_t memory_bytes() const;

  static constexpr TermId kNever = 0, kEmpty = 1, kAll = 2;

 private:
  struct Term {
    Op op;
    bool nullable;
    bool boolean;           // an And or a Not somewhere inside
    bool loops = false;     // an unbounded repetition somewhere inside
    uint32_t a = 0, b = 0;  // Seq: head, tail. Repeat, Not: operand a. Alt, And: operands_[a, b). Set: sets_[a].
                            // Literal: bytes_[a, b)
    int64_t minimum = 0, maximum = 0;
    bool operator==(const Term&) const = default;
  };
  enum class Life : uint8_t { Unknown, Live, Dead };

  TermId intern(const Term& term);
  uint32_t guess(const Term& term) const;
  TermId make_set(const ByteSet& set);
  TermId make_literal(uint32_t begin, uint32_t end);
  TermId make_seq(TermId head, TermId tail);
  TermId make_repeat(TermId item, int64_t minimum, int64_t maximum);
  TermId make_not(TermId operand);
  TermId make_many(Op op, const std::vector<TermId>& operands);
  bool contains(TermId a, TermId b, int& left) const;
  void drop_contained(std::vector<TermId>& alternatives) const;
  TermId convert(const GrammarIr& ir, ExprId root);
  void build_classes();
  TermId derive(TermId term, uint8_t byte, int depth);
  TermId derive_part(TermId term, uint8_t byte, int depth);
  TermId step(TermId term, uint32_t byte_class, int depth = 0);

  std::vector<Term> terms_;
  std::vector<TermId> operands_;
  std::vector<ByteSet> sets_;
  std::string bytes_;
  ByContent<TermId> interned_;
  std::vector<Life> life_;
  std::vector<uint32_t> nearest_;          // how many bytes a string of the term seems to need
  std::vector<std::vector<TermId>> rows_;  // [term][class], kUnknown until derived
  uint8_t class_of_[256] = {};
  uint32_t num_classes_ = 1;
  uint8_t class_byte_[256] = {};   // a byte of each class
  std::vector<uint32_t> by_size_;  // the classes, largest first: a search for any string succeeds soonest there
  TermId start_ = kNever;
};

}  // namespace maskwright
