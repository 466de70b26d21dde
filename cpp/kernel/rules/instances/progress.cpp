#include "rules/instances/progress.h"

#include <algorithm>
#include <bit>

namespace maskwright {
namespace {

constexpr size_t kMaxWays = 512;  // through one template
constexpr size_t kMaxSteps = 20'000;
constexpr size_t kMaxDepth = 3;  // calls with the same parameter that are looked into
constexpr size_t kMaxRounds = 128;

using Test = Condition::Test;

// What is known of a parameter: single bits, and between which bounds numbers and counts in ranges of bits lie.
class Knowledge {
 public:
  uint64_t known = 0, value = 0;

  // Whether the test holds, fails, or may do either. From a contradiction everything follows.
  enum class Answer { No, Yes, Maybe };
  Answer ask(const Test& test) const {
    uint64_t low, high;
    bounds(test, low, high);
    if (low > high) return Answer::Yes;
    if (high < test.minimum || low > test.maximum) return Answer::No;
    return test.minimum <= low && high <= test.maximum ? Answer::Yes : Answer::Maybe;
  }
  // Takes the test to hold. False if that contradicts what is known.
  bool learn(const Test& test) {
    uint64_t low, high;
    bounds(test, low, high);
    low = std::max(low, test.minimum);
    high = std::min(high, test.maximum);
    if (low > high) return false;
    Fact& fact = fact_of(test);
    fact.low = low;
    fact.high = high;
    const uint64_t most = test.counts ? test.last - test.first : ones(test.last - test.first);
    const bool all = low == most, none = high == 0;
    if (all || none) {
      known |= ones(test.last - test.first) << test.first;
      value = all ? value | ones(test.last - test.first) << test.first
                  : value & ~(ones(test.last - test.first) << test.first);
    } else if (!test.counts && low == high) {
      known |= ones(test.last - test.first) << test.first;
      value = (value & ~(ones(test.last - test.first) << test.first)) | low << test.first;
    }
    return true;
  }

 private:
  struct Fact {
    uint8_t first, last;
    bool counts;
    uint64_t low, high;
  };
  Fact& fact_of(const Test& test) {
    for (Fact& fact : facts_)
      if (fact.first == test.first && fact.last == test.last && fact.counts == test.counts) return fact;
    return facts_.emplace_back(Fact{test.first, test.last, test.counts, 0, ~uint64_t{0}});
  }
  void bounds(const Test& test, uint64_t& low, uint64_t& high) const {
    const uint64_t fixed = bits_of(known, test.first, test.last);
    const uint64_t set = bits_of(value, test.first, test.last) & fixed;
    const uint64_t open = ones(test.last - test.first) & ~fixed;
    low = test.counts ? static_cast<uint64_t>(std::popcount(set)) : set;
    high = test.counts ? low + static_cast<uint64_t>(std::popcount(open)) : set | open;
    for (const Fact& fact : facts_)
      if (fact.first == test.first && fact.last == test.last && fact.counts == test.counts) {
        low = std::max(low, fact.low);
        high = std::min(high, fact.high);
      }
  }
  std::vector<Fact> facts_;
};

// Tests that must all hold.
using Way = std::vector<Test>;

class ProgressProof {
 public:
  ProgressProof(const RuleGroup& group, const std::vector<Template>& templates)
      : group_(group), family_(*group.family()), templates_(templates), holds_(templates.size(), true) {}

  // Starts from all templates and takes out those that do not follow from the rest.
  std::vector<bool> run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t m = 0; m < templates_.size(); ++m) {
        if (!holds_[m] || always_open(templates_[m])) continue;
        holds_[m] = false;
        changed = true;
      }
    }
    return holds_;
  }

 private:
  bool always_open(const Template& pattern) {
    if (pattern.body.rule->counts()) return false;
    steps_ = 0;
    const std::vector<Way> ways = ways_through(pattern);
    return steps_ <= kMaxSteps && ways.size() <= kMaxWays && no_escape(ways);
  }

  // A place on a way: in a template, and where to go on after those that were called with the same parameter.
  struct Return {
    const Template* pattern;
    uint32_t state;
  };
  struct Open {
    const Template* pattern;
    uint32_t state;
    std::vector<Return> returns = {};
    Way tests = {};
    size_t length = 0;
  };

  std::vector<Way> ways_through(const Template& pattern) {
    std::vector<Way> ways;
    std::vector<Open> open{{&pattern, kStart}};
    while (!open.empty() && ways.size() <= kMaxWays && ++steps_ <= kMaxSteps) {
      const Open at = std::move(open.back());
      open.pop_back();
      if (at.state == kFinal) {
        if (at.returns.empty()) {
          ways.push_back(at.tests);
        } else {
          Open back{at.returns.back().pattern, at.returns.back().state, at.returns, at.tests, at.length + 1};
          back.returns.pop_back();
          open.push_back(std::move(back));
        }
        continue;
      }
      const Nfa& nfa = at.pattern->nfa;
      if (at.length > nfa.num_states()) continue;
      for (const NfaEdge* e = nfa.begin(at.state); e != nfa.end(at.state); ++e) {
        Open next{at.pattern, e->target, at.returns, at.tests, at.length + 1};
        if (e->kind == EdgeKind::Guard && !add_tests(e->argument, next.tests)) continue;
        if (e->kind == EdgeKind::Call && !enter_call(at.pattern->body.callees[e->argument], next)) continue;
        open.push_back(std::move(next));
      }
    }
    return ways;
  }

  // Conditions with alternatives are left to the search.
  bool add_tests(uint32_t condition, Way& tests) const {
    const Condition& all = family_.condition(condition);
    for (uint32_t at = all.entry; at != Condition::kTrue; at = all.tests[at].if_true) {
      if (at == Condition::kFalse || all.tests[at].if_false != Condition::kFalse) return false;
      tests.push_back(all.tests[at]);
    }
    return true;
  }

  bool enter_call(const Callee& callee, Open& next) const {
    if (!callee.is_template()) return true;
    if (&callee.rule->group() != &group_ || callee.rule->counts()) return false;
    const uint32_t index = callee.rule->index();
    const ValueFunction& value = family_.value(callee.value);
    if (value.empty()) {
      if (next.returns.size() >= kMaxDepth) return false;
      next.returns.push_back({next.pattern, next.state});
      next.pattern = &templates_[index];
      next.state = kStart;
      return true;
    }
    return holds_[index] && increases(value, next.tests);
  }

  // Whether a greater parameter is passed wherever the tests hold.
  static bool increases(const ValueFunction& value, const Way& tests) {
    for (const ValueStep& step : value)
      if (step.kind == ValueStep::Kind::Decrement ||
          (step.kind == ValueStep::Kind::Mask && (step.a | step.b) != ~uint64_t{0}))
        return false;
    Knowledge knowledge;
    for (const Test& test : tests)
      if (!knowledge.learn(test)) return true;  // a way that is never open
    const ValueStep& first = value.front();
    if (first.kind == ValueStep::Kind::Mask) return (first.b & knowledge.known & ~knowledge.value) != 0;
    const auto from = static_cast<uint8_t>(first.a), to = static_cast<uint8_t>(first.b);
    const Test below{from, to, false, 0, ones(to - from) - 1, 0, 0};
    return knowledge.ask(below) == Knowledge::Answer::Yes;
  }

  // Whether supposing that every way is closed leads to a contradiction.
  static bool no_escape(const std::vector<Way>& ways) {
    Knowledge knowledge;
    for (size_t round = 0; round < kMaxRounds; ++round) {
      bool learnt = false;
      for (const Way& way : ways) {
        const Test* only = nullptr;
        size_t open = 0;
        bool closed = false;
        for (const Test& test : way) {
          const Knowledge::Answer answer = knowledge.ask(test);
          closed = closed || answer == Knowledge::Answer::No;
          if (answer == Knowledge::Answer::Maybe) {
            only = &test;
            ++open;
          }
        }
        if (closed || open > 1) continue;
        if (open == 0) return true;
        // The one test left must fail. Of a range with values on both sides nothing follows.
        Test opposite = *only;
        const uint64_t most = only->counts ? only->last - only->first : ones(only->last - only->first);
        if (only->minimum == 0) {
          opposite.minimum = only->maximum + 1;
          opposite.maximum = most;
        } else if (only->maximum == most) {
          opposite.minimum = 0;
          opposite.maximum = only->minimum - 1;
        } else {
          continue;
        }
        if (!knowledge.learn(opposite)) return true;
        learnt = true;
      }
      if (!learnt) return false;
    }
    return false;
  }

  const RuleGroup& group_;
  const Family& family_;
  const std::vector<Template>& templates_;
  std::vector<bool> holds_;
  size_t steps_ = 0;
};

}  // namespace

void find_progress(const RuleGroup& group, std::vector<Template>& templates) {
  const std::vector<bool> progresses = ProgressProof(group, templates).run();
  for (size_t t = 0; t < templates.size(); ++t) templates[t].progresses = progresses[t];
}

}  // namespace maskwright
