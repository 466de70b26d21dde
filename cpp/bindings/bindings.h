// Shared by the files of the extension module: how Python values reach the kernel.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <chrono>
#include <memory>
#include <thread>

#include "engine/compiled_grammar.h"
#include "engine/matcher.h"
#include "grammar/ir.h"
#include "interruption.h"
#include "support/fork_gate.h"

namespace maskwright {

namespace nb = nanobind;

// The tuples of src/maskwright/ir/parameters.py. Throws nb::type_error on anything else.
ValueFunction read_value(nb::handle value);
Condition read_condition(nb::handle condition);

// Raises the class of maskwright.errors with this message.
[[noreturn]] void raise_error(const char* class_name, const std::string& message, const char* hint = nullptr);

// Raises the ArgumentError that says what to pass for an argument of this name.
[[noreturn]] void raise_wrong_argument(const char* name, nb::handle value, const char* expected,
                                       const char* hint = nullptr);

// An argument that is an integer. One too large for int64 comes out as the largest. Raises ArgumentError if it is not
// an integer.
int64_t read_integer(const char* name, nb::handle value);
// An argument that is a number. Raises ArgumentError as well.
double read_number(const char* name, nb::handle value);

// An argument that takes floats: one-dimensional, float32, contiguous, on the CPU, a numpy array or a torch tensor.
// Held in place while this lives. Raises BitmaskError if it is something else, or has fewer elements.
class FloatRow {
 public:
  FloatRow(const char* name, nb::handle object, size_t size);
  ~FloatRow() { PyBuffer_Release(&view_); }
  FloatRow(const FloatRow&) = delete;
  FloatRow& operator=(const FloatRow&) = delete;
  float* data() const { return static_cast<float*>(view_.buf); }

 private:
  Py_buffer view_;
};

// A token id from any Python int; ids that no vocabulary can have come out as -1. Raises ArgumentError as well.
TokenId read_token_id(nb::handle value);

// Without the GIL. Work that may hold a lock of the kernel needs `Unlocked`.
class Released {
 public:
  Released() : state_((before_release(), PyEval_SaveThread())) {}
  ~Released() {
    take_gil();
    after_release();
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  // Where the interpreter is on its way out it ends threads that ask for the GIL, by unwinding their stacks, which C++
  // code cannot let pass. Such a thread lies still instead, until the process is gone.
  void take_gil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      while (true) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }
  PyThreadState* const state_;
};

// Lets other Python threads run. For what takes longer than letting go of the GIL and waiting for it again.
class Unlocked {
 public:
  Unlocked() = default;
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  const Released released_;
  const ForkGate gate_;  // left first, or a fork would wait for us, and we for the GIL
};

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
  // Raises BitmaskError if the rows from `index` on are not there.
  void check_rows(int64_t index, size_t count = 1) const;
  // The rows from `index` on, which are there; words beyond the vocabulary are zeroed.
  uint32_t* rows(int64_t index, size_t count, uint32_t num_words) const;
  int64_t num_rows() const { return num_rows_; }
  size_t words_per_row() const { return static_cast<size_t>(words_per_row_); }

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
void bind_batch(nb::module_& m);
void bind_apply(nb::module_& m);
void bind_content(nb::module_& m);
void bind_deferral(nb::module_& m);
void bind_turns(nb::module_& m);
void bind_untrack(nb::module_& m);
void bind_heap(nb::module_& m);

}  // namespace maskwright
