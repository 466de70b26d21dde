// Where a JSON value in progress can become any of very many values, and in how few bytes.
//
//     inside a string or a name, {"a": "x      by 6 letters a-z, or 5 of both cases: 26^6 strings
//     in the digits of a number, [1, 2         by 8 digits: 10^8 numbers
//
// Such a place is a state that letters or digits leave as it is. Whatever else the value has, each of the texts that
// are put there makes it another one, but for as many as the object has members of such names: so of more than
// kMostElements texts one is left. That is not so of a member whose name must come again, as the last one counts; no
// JSON Schema asks for that. In an exponent, digits may change nothing, as 0e1 is 0e2; so where a rule reads
// exponents, digits count only in a state in which a point or an exponent may follow. Its callers are not looked at.
//
// Cost: a step for each letter; to see whether there are exponents, for each byte of each state, once for each rule.
// Tested by tests/exhaustive/test_value_budgets.py.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "rules/rule.h"
#include "support/byte_set.h"

namespace maskwright {

// More than any list of values has.
inline constexpr uint64_t kMostElements = uint64_t{1} << 24;
// Bytes that are assumed to make a value another one where it is not known where it can grow.
inline constexpr uint32_t kAssumedBytes = 256;

class GrowingPlaces {
 public:
  static constexpr uint32_t kNever = 0xFFFFFFFF;
  // `bytes`: those that are tokens.
  explicit GrowingPlaces(const ByteSet& bytes) : bytes_(bytes) {}

  // How many bytes, read in the state, are more texts than kMostElements; kNever where none are. Of a rule that counts,
  // if nothing limits it.
  uint32_t bytes_for_many(DfaState& state);
  size_t memory_bytes() const;

 private:
  uint32_t count_bytes(DfaState& state);
  bool reads_exponents(Rule& rule);

  const ByteSet bytes_;
  std::unordered_map<DfaState*, uint32_t> known_;
  std::unordered_map<Rule*, bool> reads_exponents_;
};

}  // namespace maskwright
