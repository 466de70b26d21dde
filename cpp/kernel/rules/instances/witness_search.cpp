#include "rules/instances/witness_search.h"

#include <string>

#include "support/errors.h"

namespace maskwright {
namespace {

constexpr size_t kMaxWork = 1'000'000;  // edges looked at in one search

}  // namespace

bool WitnessSearch::decide(Question root) {
  if (root.fact() == Fact::Unknown) {
    try {
      search(root);
    } catch (...) {
      settle(Fact::Unknown);
      throw;
    }
    settle(root.fact() == Fact::Yes ? Fact::Unknown : Fact::No);
  }
  return root.fact() == Fact::Yes;
}

void WitnessSearch::search(Question root) {
  const auto enter = [&](Question question) {
    question.fact() = Fact::Asked;
    asked_.push_back(question);
    path_.push_back(question);
  };
  enter(root);
  while (!path_.empty() && root.fact() == Fact::Asked) {
    const Question question = path_.back();
    if (question.fact() != Fact::Asked) {
      path_.pop_back();
      continue;
    }
    next_.instance = nullptr;
    pending_.clear();
    const Fact found = answer(question);
    if (work_ > kMaxWork)
      throw LimitExceeded("parametric_search",
                          "whether a rule with a parameter matches anything could not be decided within " +
                              std::to_string(kMaxWork) + " steps: its parameter has too many values");
    if (found == Fact::Unknown && next_.instance) {
      enter(next_);
      continue;
    }
    path_.pop_back();
    if (found == Fact::Unknown) {
      for (const Question& other : pending_) waiting_.emplace(other, question);
      continue;
    }
    question.fact() = found;
    if (found != Fact::Yes) continue;
    const auto [first, last] = waiting_.equal_range(question);
    for (auto it = first; it != last; ++it) path_.push_back(it->second);
    waiting_.erase(first, last);
  }
}

void WitnessSearch::settle(Fact undecided) {
  for (const Question& question : asked_)
    if (question.fact() == Fact::Asked) question.fact() = undecided;
}

// Unknown if it hangs on other questions: then there is a next one to ask, or all are pending.
Instance::Fact WitnessSearch::answer(Question question) {
  Instance& instance = *question.instance;
  if (instance.model->counts()) {
    ++work_;
    const Fact item = ask(instance.pattern().body.callees[0], instance, question.productive);
    return item == Fact::Asked ? Fact::Unknown : item;
  }
  return question.productive ? find_consuming_path(instance) : find_silent_path(instance);
}

Instance::Fact WitnessSearch::ask(const Callee& callee, Instance& caller, bool productive) {
  if (!callee.is_template()) return productive ? Fact::Yes : Fact::No;
  Rule& model = *callee.rule;
  const bool terminated = model.terminator() >= 0;
  if (model.counts()) {
    const bool none_needed = Count::of(callee.reg).needed == 0;
    if (!productive && (terminated || none_needed)) return terminated ? Fact::No : Fact::Yes;
    if (productive && terminated && none_needed) return Fact::Yes;
  }
  Instance& instance = caller.family().called(callee, caller.parameter);
  // A terminator can follow items that are empty.
  if (terminated)
    if (const Fact empty = look_up({&instance, false}); empty == Fact::Yes || empty == Fact::Unknown) return empty;
  return look_up({&instance, productive});
}

Instance::Fact WitnessSearch::look_up(Question question) {
  if (question.fact() == Fact::Unknown) next_ = question;
  if (question.fact() == Fact::Asked) pending_.push_back(question);
  return question.fact();
}

Instance::Fact WitnessSearch::find_silent_path(Instance& instance) {
  const Template& pattern = instance.pattern();
  const Nfa& nfa = pattern.silent;
  seen_.assign(nfa.num_states(), 0);
  std::vector<uint32_t> reached{kStart};
  seen_[kStart] = 1;
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i] == kFinal) return Fact::Yes;
    for (const NfaEdge* e = nfa.begin(reached[i]); e != nfa.end(reached[i]); ++e) {
      ++work_;
      if (seen_[e->target]) continue;
      if (e->kind == EdgeKind::Guard && !instance.holds(e->argument)) continue;
      if (e->kind == EdgeKind::Call) {
        const Fact fact = ask(pattern.body.callees[e->argument], instance, false);
        if (fact == Fact::Unknown) return Fact::Unknown;
        if (fact != Fact::Yes) continue;
      }
      seen_[e->target] = 1;
      reached.push_back(e->target);
    }
  }
  return pending_.empty() ? Fact::No : Fact::Unknown;
}

// Depth first, so that the first alternative is followed to its end before the second is looked at.
Instance::Fact WitnessSearch::find_consuming_path(Instance& instance) {
  const Template& pattern = instance.pattern();
  const Nfa& nfa = pattern.nfa;
  seen_.assign(2 * size_t{nfa.num_states()}, 0);
  steps_.clear();
  const auto enter = [&](uint32_t state, bool consumed) {
    uint8_t& seen = seen_[2 * size_t{state} + (consumed ? 1 : 0)];
    if (!seen) steps_.push_back({state, consumed, nfa.begin(state)});
    seen = 1;
  };
  enter(kStart, false);
  while (!steps_.empty()) {
    Step& step = steps_.back();
    if (step.state == kFinal && step.consumed) return Fact::Yes;
    if (step.edge == nfa.end(step.state)) {
      steps_.pop_back();
      continue;
    }
    ++work_;
    const NfaEdge& edge = *step.edge;
    const bool consumed = step.consumed;
    if (edge.kind != EdgeKind::Call) {
      ++step.edge;
      if (edge.kind != EdgeKind::Guard || instance.holds(edge.argument))
        enter(edge.target, consumed || edge.consumes());
      continue;
    }
    // Once something is consumed, the empty string will do as well, and is sooner decided.
    const Callee& callee = pattern.body.callees[edge.argument];
    if (consumed && callee.is_template() && callee.rule->group().family()->of(*callee.rule).progresses) {
      ++step.edge;
      enter(edge.target, true);
      continue;
    }
    const bool productive = consumed == step.second;
    if (step.second) ++step.edge;
    step.second = !step.second;
    const Fact fact = ask(callee, instance, productive);
    if (fact == Fact::Unknown) return Fact::Unknown;
    if (fact == Fact::Yes) enter(edge.target, consumed || productive);
  }
  return pending_.empty() ? Fact::No : Fact::Unknown;
}

}  // namespace maskwright
