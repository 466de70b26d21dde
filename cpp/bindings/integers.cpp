// Integers that come from Python in whatever holds them.
#include <cstring>
#include <limits>

#include "py_matcher.h"

namespace maskwright {
namespace {

int64_t read_integer(nb::handle value) {
  int overflow = 0;
  long long number;
  if (PyLong_Check(value.ptr())) {
    number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  } else {
    const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid()) throw nb::python_error();
    number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  }
  return overflow == 0  ? number
         : overflow > 0 ? std::numeric_limits<int64_t>::max()
                        : std::numeric_limits<int64_t>::min();
}

template <class T, class Take>
void read_strided(const Py_buffer& view, Take& take) {
  const char* at = static_cast<const char*>(view.buf);
  for (Py_ssize_t i = 0; i < view.shape[0]; ++i, at += view.strides[0]) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    take(value);
  }
}

// Reads a one-dimensional buffer of int64 or int32. False, and nothing is read, for any other.
template <class Take>
bool read_buffer(nb::handle object, Take& take) {
  Py_buffer view;
  if (!PyObject_CheckBuffer(object.ptr())) return false;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool integers = view.ndim == 1 && view.format && std::strlen(view.format) == 1 &&
                        std::strchr("ilq", view.format[0]) && (view.itemsize == 4 || view.itemsize == 8);
  if (integers && view.itemsize == 8) read_strided<int64_t>(view, take);
  if (integers && view.itemsize == 4) read_strided<int32_t>(view, take);
  PyBuffer_Release(&view);
  return integers;
}

template <class Take>
void read_each(nb::handle given, Take take) {
  nb::object object = nb::borrow(given);
  const bool plain = PyList_Check(given.ptr()) || PyTuple_Check(given.ptr());
  if (!plain && !PyObject_CheckBuffer(given.ptr()) && nb::hasattr(given, "numpy")) object = given.attr("numpy")();
  if (!plain && read_buffer(object, take)) return;
  for (nb::handle value : object) take(read_integer(value));
}

}  // namespace

TokenId as_token_id(int64_t number) {
  return number < 0 || number > INT32_MAX ? -1 : static_cast<TokenId>(number);
}

TokenId read_token_id(nb::handle value) {
  return as_token_id(read_integer(value));
}

void read_integers(nb::handle object, std::vector<int64_t>& out) {
  out.clear();
  read_each(object, [&](int64_t number) { out.push_back(number); });
}

void read_token_ids(nb::handle object, std::vector<TokenId>& out) {
  out.clear();
  read_each(object, [&](int64_t number) { out.push_back(as_token_id(number)); });
}

}  // namespace maskwright
