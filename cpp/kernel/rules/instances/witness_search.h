// Whether an instance of a parametric rule derives the empty string, and whether it derives any other.
//
// Both are least fixpoints over the instances that it calls, of which there may be far too many to look at all. So the
// search goes depth first for a witness: the first alternative whose guard holds, then what that calls, and so on. A
// yes is final wherever it is found and is remembered. A no needs all that the instance leads to; when the search has
// been everywhere and found nothing, everything still open is a no.
//
// Example: perm(0) of 60 letters asks perm({a}), that asks perm({a, b}), ...: 61 questions, each looked at twice. Then
// perm({c}) asks perm({a, c}), which asks perm({a, b, c}), which is known.
//
// The work of one search is bounded: past that a LimitExceeded says that the parameters take too many values.
// The caller holds the linking lock. Source: Dowling and Gallier 1984, done lazily.
// Tested by tests/exhaustive/test_parametric.py.
#pragma once

#include <unordered_map>
#include <vector>

#include "rules/instances/family.h"

namespace maskwright {

class WitnessSearch {
 public:
  // Whether an edge of a template's automaton can be passed silently, or by consuming something.
  static bool is_nullable(Instance& instance) { return WitnessSearch().decide({&instance, false}); }
  static bool is_productive(Instance& instance) { return WitnessSearch().decide({&instance, true}); }

 private:
  using Fact = Instance::Fact;
  struct Question {
    Instance* instance;
    bool productive;
    Fact& fact() const { return productive ? instance->productive : instance->nullable; }
    bool operator==(const Question&) const = default;
  };
  struct QuestionHash {
    size_t operator()(const Question& q) const { return mix(reinterpret_cast<uintptr_t>(q.instance), q.productive); }
  };
  bool decide(Question root);
  void search(Question root);
  void settle(Fact undecided);
  Fact answer(Question question);
  Fact find_silent_path(Instance& instance);
  Fact find_consuming_path(Instance& instance);
  // What a call is known to derive; otherwise what is to be asked first is noted.
  Fact ask(const Callee& callee, Instance& caller, bool productive);
  Fact look_up(Question question);

  std::vector<Question> path_;
  std::vector<Question> asked_;
  std::unordered_multimap<Question, Question, QuestionHash> waiting_;  // for the first to be a yes
  size_t work_ = 0;
  // What the answer at hand ran into: a question to ask first, and questions that are being asked already.
  Question next_{nullptr, false};
  std::vector<Question> pending_;
  std::vector<uint8_t> seen_;
  struct Step {
    uint32_t state;
    bool consumed;
    const NfaEdge* edge;
    bool second = false;  // a call looked at for its other way through
  };
  std::vector<Step> steps_;
};

}  // namespace maskwright
