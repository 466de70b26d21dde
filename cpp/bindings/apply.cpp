// Applying bitmasks to logits, by addresses and strides that src/maskwright/bitmask/buffers.py has checked.
#include "masks/apply.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "bindings.h"

namespace maskwright {
namespace {

// A call that takes less than about 50 us keeps the GIL: asking for it again can take as long as another thread's turn.
constexpr int64_t kBytesWithoutGil = int64_t{1} << 20;

void apply_mask(uintptr_t logits, int type, int64_t row_bytes, int64_t num_columns, uintptr_t bitmask,
                int64_t bitmask_row_bytes, int64_t num_words, int64_t num_rows,
                const std::optional<std::vector<int64_t>>& rows, unsigned max_threads, unsigned max_simd_bytes) {
  const LogitRows target{reinterpret_cast<char*>(logits), static_cast<LogitType>(type), row_bytes, num_columns};
  const MaskRows source{reinterpret_cast<const char*>(bitmask), bitmask_row_bytes, num_words};
  const size_t count = rows ? rows->size() : static_cast<size_t>(num_rows);
  std::optional<Unlocked> unlocked;
  if (static_cast<int64_t>(count) * num_columns * bytes_of(target.type) >= kBytesWithoutGil) unlocked.emplace();
  apply_masks(target, source, rows ? rows->data() : nullptr, count, max_threads, max_simd_bytes);
}

// Where the elements of a numpy array begin, read-only ones too. The array keeps them there.
uintptr_t address_of(nb::handle array) {
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_STRIDES) != 0) nb::raise_python_error();
  const auto address = reinterpret_cast<uintptr_t>(view.buf);
  PyBuffer_Release(&view);
  return address;
}

}  // namespace

void bind_apply(nb::module_& m) {
  m.def("apply_mask", &apply_mask, nb::arg("logits"), nb::arg("type"), nb::arg("row_bytes"), nb::arg("num_columns"),
        nb::arg("bitmask"), nb::arg("bitmask_row_bytes"), nb::arg("num_words"), nb::arg("num_rows"),
        nb::arg("rows") = nb::none(), nb::arg("max_threads") = std::numeric_limits<unsigned>::max(),
        nb::arg("max_simd_bytes") = 32);
  m.def("address_of", &address_of, nb::arg("array"));
  m.def("simd_bytes", &simd_bytes, "The widest vectors that `apply_mask` uses on this processor, in bytes.");
}

}  // namespace maskwright
