// Numbers that are multiples of another one: the remainder of the digits read so far is in the register.
//
// Example: multiples of 0.07 between 0 and 99, an expression for the numbers between these and 7 in units of 10**-2:
// after "1.2" the digits are 12, and the remainder is 5. One more digit makes 50 + d, which only 6 brings to 0; the end
// would leave 5 * 10. So of the digits 6 may come, and nothing else.
//
// A node is a state of the operand's automaton and how many digits have come after the point. Digits change the
// remainder, the point begins to count places, and a sign leaves both as they are; nothing else may come, and after the
// last place that matters only zeros. What a node can still read, its *endings*, are ranges: so many more digits that
// make a number from `low` on, `size` of them. Whether some ending brings a remainder to 0 is one division for each.
// Where some range holds as many numbers as the modulus is large, every remainder has an ending. From everywhere else
// only few digits may come, as bounds are near, and all their ranges are listed; so this is exact, and no dead end is
// entered. Where there are too many ranges, as where a number
// may not end in 7, a LimitExceeded says so.
//
// Cost: built once, a few µs a node; then a few ns a byte. Tested by tests/exhaustive/test_multiples.py.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "support/byte_set.h"

namespace maskwright {

class Rule;
struct DfaState;

class Multiples {
 public:
  // The numbers that `operand` matches, as multiples of `modulus` in units of 10**-scale. The operand is started, if it
  // matches anything, and does not count.
  Multiples(Rule& operand, uint64_t modulus, uint32_t scale);

  static constexpr uint32_t kStartNode = 0;
  // Where a byte leads; nothing if nowhere.
  std::optional<uint32_t> next(uint32_t node, uint8_t byte) const;
  uint64_t after(uint32_t node, uint8_t byte, uint64_t remainder) const;
  // Whether the number may end there, if its remainder lets it; whether that does.
  bool may_end(uint32_t node) const { return nodes_[node].is_end; }
  bool ends(uint32_t node, uint64_t remainder) const { return remainder % moduli_[place_of(node)] == 0; }
  // How many bytes are left to the nearest end; nothing if none can be reached.
  std::optional<uint32_t> bytes_to_end(uint32_t node, uint64_t remainder) const;
  bool may_complete(uint32_t node, uint64_t remainder) const {
    return nodes_[node].is_free || bytes_to_end(node, remainder).has_value();
  }
  const ByteSet& live(uint32_t node) const { return nodes_[node].live; }
  uint32_t class_of(uint8_t byte) const { return class_of_[byte]; }
  uint32_t num_classes() const { return num_classes_; }
  size_t memory_bytes() const;

 private:
  static constexpr uint32_t kBeforePoint = 0xFFFFFFFF;
  struct Edge {
    uint8_t byte;
    bool counts;  // a digit that changes the remainder
    uint32_t target;
  };
  // Numbers of so many digits that end so many places after the point.
  struct Ending {
    uint32_t bytes, digits, place;
    uint64_t low, size;      // modulo the place's modulus; at most that
    bool is_first, is_last;  // it has the least number of so many digits; the greatest
    bool operator==(const Ending&) const = default;
  };
  struct Node {
    DfaState* state;
    uint32_t place;
    bool is_end = false;
    bool is_free = false;  // every remainder has an ending
    ByteSet live = {};
    std::vector<Edge> edges = {};      // by byte
    std::vector<Ending> endings = {};  // the shortest first
  };
  uint32_t place_of(uint32_t node) const { return nodes_[node].place == kBeforePoint ? 0 : nodes_[node].place; }
  void find_nodes();
  void find_classes();
  void find_endings();
  void add_endings(uint32_t node, uint32_t bytes, std::vector<Ending>& out) const;
  Ending before(const Edge& edge, Ending ending) const;
  bool keep(uint32_t node, const std::vector<Ending>& found);

  Rule& operand_;
  uint32_t scale_;
  std::vector<uint64_t> moduli_;  // by place: of what the digits so far must be multiples if they end there
  std::vector<Node> nodes_;
  size_t num_endings_ = 0;
  std::array<uint8_t, 256> class_of_ = {};
  uint32_t num_classes_ = 1;
};

}  // namespace maskwright
