// Access to bitmask and logits buffers: numpy arrays through the buffer protocol, torch tensors by their address.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "../kernel/apply.h"
#include "bindings.h"

namespace maskwright {
namespace {

constexpr const char* kHint = "make it with maskwright.allocate_token_bitmask(batch_size, vocab_size)";

[[noreturn]] void refuse(const std::string& what) {
  raise_error("BitmaskError", what, kHint);
}

void check_words(const Bitmask& bitmask, uint32_t num_words) {
  if (bitmask.words_per_row < static_cast<int64_t>(num_words))
    refuse("the bitmask has " + std::to_string(bitmask.words_per_row) + " words a row, the vocabulary needs " +
           std::to_string(num_words));
}

}  // namespace

Bitmask BitmaskReader::read(nb::handle object, uint32_t num_words) {
  Bitmask out;
  if (PyObject_CheckBuffer(object.ptr())) {
    Py_buffer view;
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_CONTIG | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      refuse("the bitmask must be writable and C-contiguous");
    }
    const bool int32 =
        view.itemsize == 4 && view.format && (std::strcmp(view.format, "i") == 0 || std::strcmp(view.format, "l") == 0);
    const int ndim = view.ndim;
    out.words = static_cast<uint32_t*>(view.buf);
    if (ndim >= 1) out.words_per_row = view.shape[ndim - 1];
    if (ndim == 2)
      out.num_rows = view.shape[0];
    else if (ndim == 1)
      out.num_rows = 1;
    PyBuffer_Release(&view);
    if (!int32) refuse("the bitmask must have dtype int32");
    if (ndim != 1 && ndim != 2) refuse("the bitmask must have one or two dimensions, not " + std::to_string(ndim));
  } else {
    out = read_tensor(object);
  }
  check_words(out, num_words);
  return out;
}

Bitmask BitmaskReader::read_tensor(nb::handle object) {
  if (!nb::hasattr(object, "data_ptr"))
    refuse("the bitmask must be a numpy array or a torch tensor, not " +
           nb::cast<std::string>(nb::str(nb::object(object.type().attr("__name__")))));
  auto* const words = reinterpret_cast<uint32_t*>(nb::cast<uintptr_t>(object.attr("data_ptr")()));
  if (tensor_.is(object) && words == known_.words) return known_;
  if (nb::cast<std::string>(nb::str(nb::object(object.attr("dtype")))) != "torch.int32")
    refuse("the bitmask must have dtype torch.int32");
  if (nb::cast<std::string>(nb::str(nb::object(object.attr("device").attr("type")))) != "cpu")
    refuse("the bitmask must be on the CPU; fill it there, then copy it to the device");
  if (!nb::cast<bool>(object.attr("is_contiguous")())) refuse("the bitmask must be contiguous");
  const nb::object shape = object.attr("shape");
  const size_t ndim = nb::len(shape);
  if (ndim != 1 && ndim != 2) refuse("the bitmask must have one or two dimensions, not " + std::to_string(ndim));
  known_.words = words;
  known_.num_rows = ndim == 2 ? nb::cast<int64_t>(shape[0]) : 1;
  known_.words_per_row = nb::cast<int64_t>(shape[ndim - 1]);
  tensor_ = nb::borrow(object);
  return known_;
}

uint32_t* bitmask_row(const Bitmask& bitmask, int64_t index, uint32_t num_words) {
  if (index < 0 || index >= bitmask.num_rows)
    raise_error("BitmaskError", "row " + std::to_string(index) + " is outside the bitmask's " +
                                    std::to_string(bitmask.num_rows) + " rows");
  uint32_t* row = bitmask.words + index * bitmask.words_per_row;
  if (bitmask.words_per_row > num_words)
    std::memset(row + num_words, 0, static_cast<size_t>(bitmask.words_per_row - num_words) * sizeof(uint32_t));
  return row;
}

void bind_apply(nb::module_& m) {
  // Addresses and strides come from maskwright.bitmask, which has checked them.
  m.def(
      "apply_mask",
      [](uintptr_t logits, int type, int64_t row_bytes, int64_t vocab_size, uintptr_t bitmask, int64_t words_per_row,
         const std::vector<std::pair<int64_t, int64_t>>& rows) {
        const nb::gil_scoped_release release;
        for (const auto& [logits_row, mask_row] : rows)
          apply_mask(reinterpret_cast<char*>(logits) + logits_row * row_bytes, static_cast<LogitType>(type), vocab_size,
                     reinterpret_cast<const uint32_t*>(bitmask) + mask_row * words_per_row, words_per_row);
      },
      nb::arg("logits"), nb::arg("type"), nb::arg("row_bytes"), nb::arg("vocab_size"), nb::arg("bitmask"),
      nb::arg("words_per_row"), nb::arg("rows"));
}

}  // namespace maskwright
