// The minimal deterministic automaton of a finite set of strings.
//
// Strings come sorted. The states along the last one are still open; when the next one branches off, those below the
// branch can change no more and are exchanged for an equal state made before, if there is one. So at no time there are
// more states than the minimal automaton has, plus one string.
//
//     "cats", "dogs"     →     0 -c-> 1 -a-> 2 -t-> 3 -s-> 4,     0 -d-> 5 -o-> 6 -g-> 3
//
// Linear in the total length of the strings. Source: Daciuk, Mihov, Watson and Watson 2000, algorithm 1.
// Tested by tests/kernel/test_link.py.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "support/ids.h"

namespace maskwright {

class LiteralDfa {
 public:
  struct Edge {
    uint8_t byte;
    uint32_t target;
    bool operator==(const Edge&) const = default;
  };
  // Precondition: sorted, without duplicates.
  explicit LiteralDfa(std::span<const std::string_view> strings);
  LiteralDfa(const LiteralDfa&) = delete;
  LiteralDfa& operator=(const LiteralDfa&) = delete;

  static constexpr uint32_t kRoot = 0;
  uint32_t num_states() const { return static_cast<uint32_t>(states_.size()); }
  bool final(uint32_t state) const { return states_[state].final; }
  std::span<const Edge> edges(uint32_t state) const {
    return std::span(edges_).subspan(states_[state].begin, states_[state].size);
  }

 private:
  struct State {
    uint32_t begin = 0, size = 0;  // its edges
    bool final = false;
  };
  // A state on the path of the last string.
  struct Open {
    std::vector<Edge> edges;
    bool final = false;
  };
  uint32_t close(Open& open);
  size_t place(std::span<const Edge> edges, bool final) const;
  void close_below(size_t depth);

  std::vector<State> states_;
  std::vector<Edge> edges_;
  std::vector<Open> path_;  // by depth; beyond depth_, kept for their storage
  size_t depth_ = 0;
  std::string_view last_;
  std::vector<uint32_t> known_;  // open addressing, by content
};

}  // namespace maskwright
