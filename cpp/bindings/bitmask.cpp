// Access to bitmasks: numpy arrays through the buffer protocol, torch tensors by their address.
#include <nanobind/stl/string.h>

#include <cstring>

#include "bindings.h"

namespace maskwright {
namespace {

constexpr const char* kHint = "create it with maskwright.allocate_token_bitmask(batch_size, vocab_size)";
constexpr const char* kRowsHint =
    "rows count from 0; a sequence needs a row, and one more for each token of its draft: "
    "allocate_token_bitmask(num_rows, vocab_size)";

[[noreturn]] void refuse(const std::string& what) {
  raise_error("BitmaskError", what, kHint);
}

}  // namespace

void BitmaskReader::read(nb::handle object, uint32_t num_words, Bitmask& out) {
  if (PyObject_CheckBuffer(object.ptr()))
    read_array(object, out);
  else
    read_tensor(object, out);
  if (out.words_per_row_ < static_cast<int64_t>(num_words))
    refuse("a row of the bitmask has " + std::to_string(out.words_per_row_) +
           (out.words_per_row_ == 1 ? " word" : " words") + " of 32 tokens, but the vocabulary needs " +
           std::to_string(num_words));
}

void BitmaskReader::read_array(nb::handle object, Bitmask& out) {
  Py_buffer& view = out.view_;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_CONTIG | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    refuse("the bitmask must be writable and C-contiguous");
  }
  out.held_ = true;
  const bool int32 =
      view.itemsize == 4 && view.format && (std::strcmp(view.format, "i") == 0 || std::strcmp(view.format, "l") == 0);
  if (!int32) {
    const bool has_dtype = nb::hasattr(object, "dtype");
    refuse("the bitmask must have dtype int32" +
           (has_dtype ? ", not " + nb::cast<std::string>(nb::str(nb::object(object.attr("dtype")))) : ""));
  }
  if (view.ndim != 1 && view.ndim != 2)
    refuse("the bitmask must have one or two dimensions, not " + std::to_string(view.ndim));
  out.words_ = static_cast<uint32_t*>(view.buf);
  out.num_rows_ = view.ndim == 2 ? view.shape[0] : 1;
  out.words_per_row_ = view.shape[view.ndim - 1];
}

void BitmaskReader::read_tensor(nb::handle object, Bitmask& out) {
  if (!nb::hasattr(object, "data_ptr"))
    refuse("the bitmask must be a numpy array or a torch tensor, not " +
           nb::cast<std::string>(nb::str(nb::object(object.type().attr("__name__")))));
  auto* const words = reinterpret_cast<uint32_t*>(nb::cast<uintptr_t>(object.attr("data_ptr")()));
  if (!tensor_.is(object) || words != tensor_words_) {
    if (nb::cast<std::string>(nb::str(nb::object(object.attr("dtype")))) != "torch.int32")
      refuse("the bitmask must have dtype torch.int32");
    if (nb::cast<std::string>(nb::str(nb::object(object.attr("device").attr("type")))) != "cpu")
      refuse("the bitmask must be on the CPU; fill it there, then copy it to the device");
    if (!nb::cast<bool>(object.attr("is_contiguous")())) refuse("the bitmask must be C-contiguous");
    const nb::object shape = object.attr("shape");
    const size_t ndim = nb::len(shape);
    if (ndim != 1 && ndim != 2) refuse("the bitmask must have one or two dimensions, not " + std::to_string(ndim));
    tensor_words_ = words;
    tensor_rows_ = ndim == 2 ? nb::cast<int64_t>(shape[0]) : 1;
    tensor_words_per_row_ = nb::cast<int64_t>(shape[ndim - 1]);
    tensor_ = nb::borrow(object);
  }
  out.words_ = tensor_words_;
  out.num_rows_ = tensor_rows_;
  out.words_per_row_ = tensor_words_per_row_;
}

FloatRow::FloatRow(const char* name, nb::handle object, size_t size) {
  const auto refuse_form = [&](const std::string& what) {
    raise_error("BitmaskError", std::string(name) +
                                    " must be a one-dimensional float32 array or CPU tensor of at least " +
                                    std::to_string(size) + " elements: " + what);
  };
  nb::object array = nb::borrow(object);
  if (!PyObject_CheckBuffer(object.ptr())) {
    if (!nb::hasattr(object, "numpy")) refuse_form("it is something else");
    array = nb::steal(PyObject_CallMethod(object.ptr(), "numpy", nullptr));
    if (!array.is_valid()) {
      PyErr_Clear();
      refuse_form("it is not on the CPU, or needs a gradient");
    }
  }
  if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_CONTIG | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    refuse_form("it is read-only or not contiguous");
  }
  const bool fits = view_.ndim == 1 && static_cast<size_t>(view_.shape[0]) >= size;
  if (fits && view_.itemsize == 4 && view_.format && std::strcmp(view_.format, "f") == 0) return;
  PyBuffer_Release(&view_);
  refuse_form(fits ? "it has another dtype" : "it has another shape");
}

void Bitmask::check_rows(int64_t index, size_t count) const {
  const std::string rows = std::to_string(num_rows_) + (num_rows_ == 1 ? " row" : " rows");
  if (index < 0 || index >= num_rows_)
    raise_error("BitmaskError", "there is no row " + std::to_string(index) + " in the bitmask, which has " + rows,
                kRowsHint);
  if (count > static_cast<size_t>(num_rows_ - index))
    raise_error("BitmaskError",
                std::to_string(count) + " rows from row " + std::to_string(index) +
                    " on are needed, but the bitmask has " + rows,
                kRowsHint);
}

uint32_t* Bitmask::rows(int64_t index, size_t count, uint32_t num_words) const {
  uint32_t* const begin = words_ + index * words_per_row_;
  const size_t padding = words_per_row() - num_words;
  for (size_t i = 0; i < count && padding > 0; ++i)
    std::memset(begin + i * words_per_row() + num_words, 0, padding * sizeof(uint32_t));
  return begin;
}

}  // namespace maskwright
