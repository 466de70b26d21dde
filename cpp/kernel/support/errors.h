// What the kernel throws. The bindings map each to its Python exception; nothing else leaves the kernel.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace maskwright {

// How many tokens the shortest output has: this number at least, and at most that of those that are enough for one; 0
// where that is not known.
struct TokensNeeded {
  uint32_t at_least = 0;
  uint32_t enough = 0;
};

// A limit on size or work was reached; `limit` names it as maskwright.errors.LimitError does.
class LimitExceeded : public std::runtime_error {
 public:
  LimitExceeded(std::string limit_name, const std::string& message, TokensNeeded tokens_needed = {})
      : std::runtime_error(message), limit(std::move(limit_name)), needed(tokens_needed) {}
  std::string limit;
  TokensNeeded needed;  // if it is about a budget
};

// The root of the grammar derives no string at all, or none within a budget; `hint`, if there is one, is a way out.
class Unsatisfiable : public std::runtime_error {
 public:
  explicit Unsatisfiable(const std::string& message, std::string way_out = {}, TokensNeeded tokens_needed = {})
      : std::runtime_error(message), hint(std::move(way_out)), needed(tokens_needed) {}
  std::string hint;
  TokensNeeded needed;  // if it is about a budget
};

// The grammar is not one: its expressions do not fit together, or, of a file, its bytes are something else.
class MalformedGrammar : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The time that a caller gave was over; said by a return value, not by an error.
class OutOfTime : public std::runtime_error {
 public:
  OutOfTime() : std::runtime_error("out of time") {}
};

// The arrays of a draft do not describe one.
class InvalidDraft : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace maskwright
