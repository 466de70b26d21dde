#include "budget/strides.h"

#include <algorithm>

#include "masks/token_walk.h"

namespace maskwright {

class Strides::Sink {
 public:
  Sink(const Recognizer& recognizer, const DfaState* head, uint32_t needed)
      : recognizer_(recognizer), head_(head), needed_(needed) {}
  CharClasses steady_classes() const { return 0; }
  void token(uint32_t, uint32_t) {
    for (const Item& item : recognizer_.items())
      if (item.state == head_ && item.stack == kRootStack)
        most_ = std::max(most_, needed_ - Count::of(item.reg).needed);
  }
  void steady(uint32_t, uint32_t) {}
  void exit(NodeId) {}
  void steady_exits(NodeId, bool) {}
  uint32_t most() const { return most_; }

 private:
  const Recognizer& recognizer_;
  const DfaState* const head_;
  const uint32_t needed_;
  uint32_t most_ = 0;
};

uint32_t Strides::of(Rule& rule) {
  if (const auto it = known_.find(&rule); it != known_.end()) return it->second;
  const uint32_t needed = vocabulary_.max_token_length() + 1;
  const Item item{rule.head(), Count{needed, Count::kUnlimited}.reg(), kRootStack};
  recognizer_.reset(stacks_, {&item, 1}, false);
  Sink sink(recognizer_, rule.head(), needed);
  walk_tokens(vocabulary_, recognizer_, Vocabulary::kRoot, 0, sink);
  return known_[&rule] = sink.most();
}

}  // namespace maskwright
