// In how few tokens a rule can end, and where in a token.
//
// A rule may end between two tokens, or in the middle of one, whose rest then is the caller's. So what there is to know
// of a place (token_steps.h) is its *ends*: each entry at which the rule may leave what follows, and the fewest tokens
// up to there, the one in progress included. Tokens that were in progress at the beginning are not counted.
//
//     state inside a string:  between tokens after 1, inside tokens such as `x",` before the `,` after 1
//
// They follow from the steps of one token:
//
//     ends(place) = the ends of this token, and of each item behind it, one token later, the ends of its rule,
//                   followed by those of the callers begun within the token, down to the rule itself
//
// This is Dijkstra's algorithm with calls (Knuth 1977): ends are found in the order of their tokens, so the first way
// found to one is the shortest, and whoever waits for a place hears of each of its ends once. No place is looked at
// before somebody needs it, nor farther than somebody needs it: what takes more tokens stays put until more are asked
// for. What was found is never found again.
//
// A rule begun within that lies in at most N tokens drops the ends that take longer. Fewest tokens are best for each
// rule by itself and for all around it, so ends may be composed.
//
// A place is not looked at for fewer tokens than hold the bytes that it needs: "a"{1000000} does not end within three.
//
// Cost: a walk of the vocabulary for each place that lies within so many tokens, once.
// Tested by tests/exhaustive/test_token_budgets.py.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "budget/token_steps.h"

namespace maskwright {

inline constexpr uint32_t kAnyTokens = 0x7FFFFFFF;  // no bound

struct TokenEnd {
  EntryId at;
  uint32_t tokens;
};

// The fewest tokens to each entry.
class TokenEnds {
 public:
  void add(const TokenEnd& end);
  void keep_within(int64_t most);
  bool empty() const { return ends_.empty(); }
  const uint32_t* tokens_to(EntryId entry) const;
  auto begin() const { return ends_.begin(); }
  auto end() const { return ends_.end(); }

 private:
  std::vector<TokenEnd> ends_;
};

class TokenReach {
 public:
  TokenReach(const Vocabulary& vocabulary, ByteDistances& enough, ByteDistances& at_least)
      : longest_(std::max<uint32_t>(vocabulary.max_token_length(), 1)),
        at_least_(at_least),
        steps_(vocabulary, enough) {}

  // The ends of a place, of up to so many tokens, in their order; perhaps more than these.
  const std::vector<TokenEnd>& ends(const Place& place, uint32_t most);
  // As many tokens as any way out of the rule takes that ends between two, by what has been found so far: no search.
  uint32_t at_least(const Place& place);
  TokenSteps& steps() { return steps_; }
  size_t memory_bytes() const;

 private:
  struct Known;
  // What is to be done once all that takes fewer tokens is.
  struct Event {
    Known* known;
    StackId stack;  // what stood on it ends there; the root: the rule itself does
    EntryId at;     // kOpen: the place is to be looked at
  };
  struct Later {
    Event event;
    uint32_t tokens;
  };
  struct User {
    Known* known;
    StackId stack;
    uint32_t tokens;
  };
  struct Known {
    Known(const Place& at, uint32_t first) : place(at), first_end(first) {}
    uint32_t begun() const { return place.entry == kBetweenTokens ? 1 : 0; }
    const Place place;
    const uint32_t first_end;  // the tokens before which no way from here ends
    uint32_t most = 0;         // tokens up to which it is of use
    uint32_t solved = 0;       // tokens up to which all ends are known
    bool is_needed = false;
    std::vector<TokenEnd> ends;
    std::vector<User> users;
    std::vector<User> uses;    // the same the other way around
    std::vector<Later> later;  // of more tokens
  };
  struct Visit {
    const Known* known;
    StackId stack;
    uint64_t what;  // an entry at which what stood on the stack has ended, or the address of a place that it uses
    bool operator==(const Visit&) const = default;
  };
  struct VisitHash {
    size_t operator()(const Visit& v) const { return mix(mix(reinterpret_cast<uintptr_t>(v.known), v.stack), v.what); }
  };
  static constexpr EntryId kOpen = 0xFFFFFFFF;

  Known& at(const Place& place);
  uint32_t first_end(const Place& place);
  std::optional<uint32_t> of_use(const Known& user, StackId stack, uint32_t tokens) const;
  void need(Known& known, uint32_t most);
  void post(const Event& event, uint32_t tokens);
  void solve();
  void process(const Event& event, uint32_t tokens);
  void open(Known& known);
  void end_on(Known& known, StackId stack, EntryId entry, uint32_t tokens);
  void conclude(Known& known, EntryId entry, uint32_t tokens);
  void use(Known& user, const Place& place, StackId stack, uint32_t tokens);

  const uint32_t longest_;  // token, in bytes
  ByteDistances& at_least_;
  TokenSteps steps_;
  std::unordered_map<Place, std::unique_ptr<Known>, PlaceHash> known_;
  std::unordered_set<Visit, VisitHash> ended_, uses_;
  size_t unspent_ = 0;                              // steps taken where nothing may throw
  std::map<uint32_t, std::vector<Event>> waiting_;  // by tokens, which may be very many
};

}  // namespace maskwright
