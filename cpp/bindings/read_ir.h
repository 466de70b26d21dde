// Reads grammars from Python (read_ir.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "bindings.h"

namespace maskwright {

// What the rule store knows a subgrammar by: its number in Python, and whether it was read with its captures, which
// makes it another one.
inline uint64_t key_of(uint64_t number, bool with_captures) {
  return 2 * number + (with_captures ? 1 : 0);
}
inline uint64_t number_of(uint64_t key) {
  return key / 2;
}
inline bool has_captures(uint64_t key) {
  return key % 2 == 1;
}

// Reads the grammars of one tokenizer, and remembers what they begin with. To be used and destroyed with the GIL.
class GrammarReader {
 public:
  // Reads rules given as the tuples of src/maskwright/ir/. Throws nb::type_error on anything else. Captures are seen
  // through unless they are asked for; subgrammars that the tokenizer's rule store knows are not read.
  GrammarIr read(RuleStore& store, const nb::tuple& rules, uint32_t root, bool with_captures);

 private:
  struct Beginning;
  struct Session;
  GrammarIr read_in(Session& session, const nb::tuple& rules, uint32_t root);
  // What is known of the first rules, if the rules begin so.
  std::shared_ptr<const Beginning> beginning_of(const nb::tuple& rules);
  void look_up(Session& session, Subgrammar& wanted, nb::handle subgrammar);
  void keep(Beginning beginning);
  std::mutex lock_;
  std::shared_ptr<const Beginning> known_;
  std::vector<nb::object> last_;  // the first rules of an earlier grammar, which keeps them the objects they are
};

}  // namespace maskwright
