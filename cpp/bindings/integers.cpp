// Integers that come from Python in whatever holds them.
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "py_matcher.h"

namespace maskwright {
namespace {

// As a Python int; invalid, with Python's error set, if it is not one integer. numpy's arrays of one integer have no
// `__index__` if they have a dimension, unlike torch's: both are taken.
nb::object as_index(nb::handle value) {
  nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (index.is_valid() || !PyErr_ExceptionMatches(PyExc_TypeError) || PyType_Check(value.ptr())) return index;
  PyErr_Clear();
  index = nb::steal(PyObject_CallMethod(value.ptr(), "item", nullptr));
  if (!index.is_valid() && !PyErr_ExceptionMatches(PyExc_Exception)) return index;
  PyErr_Clear();
  if (index.is_valid() && PyLong_CheckExact(index.ptr())) return index;
  PyErr_SetNone(PyExc_TypeError);
  return {};
}

// None, with Python's error set, if it is not an integer. True and False are none: nobody means a token or a row by
// them.
std::optional<int64_t> integer(nb::handle value) {
  int overflow = 0;
  long long number;
  if (PyBool_Check(value.ptr())) {
    PyErr_SetNone(PyExc_TypeError);
    return std::nullopt;
  }
  if (PyLong_Check(value.ptr())) {
    number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  } else {
    const nb::object index = as_index(value);
    if (!index.is_valid()) return std::nullopt;
    number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  }
  return overflow == 0  ? number
         : overflow > 0 ? std::numeric_limits<int64_t>::max()
                        : std::numeric_limits<int64_t>::min();
}

// Where a Python call failed: lets errors pass that are not about types, such as those of a caller's own iterator.
[[noreturn]] void refuse_type(const std::string& name, nb::handle value, const char* expected) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  raise_wrong_argument(name.c_str(), value, expected);
}

// The same for an item. Of an array it is the array that has the wrong form: its rows are nothing that a caller made.
[[noreturn]] void refuse_item(const std::string& name, nb::handle given, nb::handle value) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  if (nb::hasattr(given, "shape")) raise_wrong_argument(name.c_str(), given, "a sequence of ints");
  raise_wrong_argument(("each of " + name).c_str(), value, "an int");
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

// The array of a tensor; the object itself if it is none, or one that lies elsewhere, which can be iterated over.
nb::object array_of(nb::handle given) {
  if (PyObject_CheckBuffer(given.ptr()) || !nb::hasattr(given, "numpy")) return nb::borrow(given);
  nb::object array = nb::steal(PyObject_CallMethod(given.ptr(), "numpy", nullptr));
  if (array.is_valid()) return array;
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();
  PyErr_Clear();
  return nb::borrow(given);
}

template <class Take>
void read_each(const char* name, nb::handle given, Take take) {
  const bool plain = PyList_Check(given.ptr()) || PyTuple_Check(given.ptr());
  const nb::object object = plain ? nb::borrow(given) : array_of(given);
  if (!plain && read_buffer(object, take)) return;
  const nb::object values = nb::steal(PyObject_GetIter(object.ptr()));
  if (!values.is_valid()) refuse_type(name, given, "a sequence of ints");
  while (true) {
    const nb::object value = nb::steal(PyIter_Next(values.ptr()));
    if (!value.is_valid()) break;
    const std::optional<int64_t> number = integer(value);
    if (!number) refuse_item(name, given, value);
    take(*number);
  }
  if (PyErr_Occurred()) throw nb::python_error();
}

}  // namespace

int64_t read_integer(const char* name, nb::handle value) {
  const std::optional<int64_t> number = integer(value);
  if (!number) refuse_type(name, value, "an int");
  return *number;
}

double read_number(const char* name, nb::handle value) {
  if (PyBool_Check(value.ptr())) raise_wrong_argument(name, value, "a number");
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && PyErr_Occurred()) refuse_type(name, value, "a number");
  return number;
}

TokenId as_token_id(int64_t number) {
  return number < 0 || number > INT32_MAX ? -1 : static_cast<TokenId>(number);
}

TokenId read_token_id(nb::handle value) {
  return as_token_id(read_integer("token_id", value));
}

void read_integers(const char* name, nb::handle object, std::vector<int64_t>& out) {
  out.clear();
  read_each(name, object, [&](int64_t number) { out.push_back(number); });
}

void read_token_ids(const char* name, nb::handle object, std::vector<TokenId>& out) {
  out.clear();
  read_each(name, object, [&](int64_t number) { out.push_back(as_token_id(number)); });
}

}  // namespace maskwright
