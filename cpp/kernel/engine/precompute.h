// Masks before they are asked for: breadth first from a configuration, along the tokens that a model is likely to
// write.
//
//   Precomputation ahead(engine, engine->initial());
//   ahead.run([&] { return clock() > deadline; });
//
// What the engine lacks is computed in the order in which an output would come to it, so that a prompt can be read
// meanwhile; configurations with automaton states that none had before come first, since a state's mask is what is
// expensive and others have it for little. Where few tokens are allowed (keys, punctuation) all are followed but those
// that go on only as longer ones do; where many are (in strings and numbers) single bytes, one of those that lead to
// the same, since they show every way out of the state; what comes after a control character, a backslash or the
// beginning of a longer character comes last. It never changes an answer, and leaves half of the engine's memory to
// what is really written. Tested by tests/contract/test_precompute.py.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "engine/engine.h"

namespace maskwright {

class Precomputation {
 public:
  Precomputation(std::shared_ptr<Engine> engine, ConfigId from);
  // Goes on until `stop` or until it is done. `stop` is asked between masks, each of which takes some microseconds to
  // milliseconds.
  void run(const std::function<bool()>& stop);
  bool is_done() const { return new_.empty() && similar_.empty() && unlikely_.empty(); }  // nothing is left to do
  size_t num_masks() const { return num_masks_; }                                         // computed
  size_t num_configs() const { return num_configs_; }                                     // looked at

 private:
  struct Reached {
    ConfigId config;
    bool is_likely;
  };
  void add(Reached reached);
  std::vector<Reached> follow(Reached from, const ConfigMask& mask);

  std::shared_ptr<Engine> engine_;
  // Waiting: with states that no configuration had before, and others.
  std::deque<ConfigId> new_, similar_, unlikely_;
  std::unordered_set<ConfigId> seen_;
  std::unordered_set<const DfaState*> seen_states_;
  size_t num_masks_ = 0, num_configs_ = 0;
};

}  // namespace maskwright
