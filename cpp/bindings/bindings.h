// Shared by the files of the extension module: how Python values reach the kernel.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>

#include "../kernel/compiled_grammar.h"
#include "../kernel/ir.h"
#include "../kernel/matcher.h"

namespace maskwright {

namespace nb = nanobind;

// Reads rules given as the tuples of src/maskwright/ir.py. Throws nb::type_error on anything else. Captures are seen
// through unless they are asked for.
GrammarIr read_ir(const nb::tuple& rules, uint32_t root, bool with_captures = false);

// The tuples of src/maskwright/parameters.py. Throws nb::type_error on anything else.
ValueFunction read_value(nb::handle value);
Condition read_condition(nb::handle condition);

// Raises the class of maskwright.errors with this message.
[[noreturn]] void raise_error(const char* class_name, const std::string& message, const char* hint = nullptr);

// A token id from any Python int; ids that no vocabulary can have come out as -1. Throws nb::type_error if it is no
// int.
TokenId read_token_id(nb::handle value);

// A bitmask given as a numpy array or a CPU torch tensor, held in place while this lives. Needs the GIL to be
// destroyed.
class Bitmask {
 public:
  Bitmask() = default;
  Bitmask(const Bitmask&) = delete;
  Bitmask& operator=(const Bitmask&) = delete;
  ~Bitmask() {
    if (held_) PyBuffer_Release(&view_);
  }
  // The row at `index`; words beyond the vocabulary are zeroed. Raises BitmaskError if there is no such row.
  uint32_t* row(int64_t index, uint32_t num_words) const;

 private:
  friend class BitmaskReader;
  uint32_t* words_ = nullptr;
  int64_t num_rows_ = 0;
  int64_t words_per_row_ = 0;
  Py_buffer view_;
  bool held_ = false;
};

// Checks a bitmask's form once and remembers it, so that the next call with the same object costs little.
class BitmaskReader {
 public:
  // Raises BitmaskError if the object cannot hold masks of `num_words` words.
  void read(nb::handle object, uint32_t num_words, Bitmask& out);

 private:
  void read_array(nb::handle object, Bitmask& out);
  void read_tensor(nb::handle object, Bitmask& out);
  nb::object tensor_;
  uint32_t* tensor_words_ = nullptr;
  int64_t tensor_rows_ = 0;
  int64_t tensor_words_per_row_ = 0;
};

void bind_compile(nb::module_& m);
void bind_matcher(nb::module_& m);
void bind_apply(nb::module_& m);

}  // namespace maskwright
