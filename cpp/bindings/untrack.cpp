// Takes what is kept for long off the list of the cyclic garbage collector, which would go through it again and again:
// a full collection over the tags of 4,096 tools, some twenty objects each, stopped a server for 100 ms.
//
// Only what cannot be in a cycle may go: tuples, dicts, frozen sets and objects of the given classes, whose authors see
// to that. All else is left as it is, and so is what it leads to. A dict comes back to the list when something is put
// in it. Objects that are off the list are freed by their reference counts as ever, and keep alive what they refer to.
//
// What is off the list already is known and kept by others, so what a walk meets is what its root adds to memory:
// caches keep within bytes by that. Sizes are about those of CPython's objects.
#include <unordered_set>
#include <vector>

#include "bindings.h"

namespace maskwright {
namespace {

constexpr std::size_t kTextBytes = 48;  // and its characters
constexpr std::size_t kTupleBytes = 40;
constexpr std::size_t kMembersBytes = 80;  // of a dict or a set
constexpr std::size_t kMemberBytes = 32;
constexpr std::size_t kInstanceBytes = 96;

struct Walk {
  std::vector<PyTypeObject*> kinds;
  std::vector<PyObject*> pending;
  std::unordered_set<PyObject*> texts;
  std::size_t num_bytes = 0;

  bool is_acyclic(PyObject* object) const {
    if (PyTuple_Check(object) || PyDict_CheckExact(object) || PyFrozenSet_CheckExact(object)) return true;
    for (PyTypeObject* kind : kinds)
      if (PyType_IsSubtype(Py_TYPE(object), kind)) return true;
    return false;
  }
  void meet(PyObject* object) {
    if (PyUnicode_Check(object) || PyBytes_Check(object)) {
      if (texts.insert(object).second) num_bytes += bytes_of_text(object);
      return;
    }
    if (!PyType_IS_GC(Py_TYPE(object)) || !PyObject_GC_IsTracked(object) || !is_acyclic(object)) return;
    PyObject_GC_UnTrack(object);
    pending.push_back(object);
    num_bytes += bytes_of(object);
  }
  static std::size_t bytes_of_text(PyObject* text) {
    const Py_ssize_t length = PyBytes_Check(text) ? PyBytes_Size(text) : PyUnicode_GetLength(text);
    return kTextBytes + static_cast<std::size_t>(length);
  }
  static std::size_t bytes_of(PyObject* object) {
    if (PyTuple_Check(object)) return kTupleBytes + sizeof(void*) * static_cast<std::size_t>(PyTuple_Size(object));
    if (PyDict_CheckExact(object)) return kMembersBytes + kMemberBytes * static_cast<std::size_t>(PyDict_Size(object));
    if (PyFrozenSet_CheckExact(object))
      return kMembersBytes + kMemberBytes * static_cast<std::size_t>(PySet_Size(object));
    return kInstanceBytes;
  }
};

int visit(PyObject* object, void* walk) {
  static_cast<Walk*>(walk)->meet(object);
  return 0;
}

std::size_t untrack(nb::handle root, const nb::tuple& kinds) {
  Walk walk;
  for (nb::handle kind : kinds) {
    if (!PyType_Check(kind.ptr())) throw nb::type_error("kinds must be classes");
    walk.kinds.push_back(reinterpret_cast<PyTypeObject*>(kind.ptr()));
  }
  walk.meet(root.ptr());
  while (!walk.pending.empty()) {
    PyObject* const object = walk.pending.back();
    walk.pending.pop_back();
    const auto traverse = reinterpret_cast<traverseproc>(PyType_GetSlot(Py_TYPE(object), Py_tp_traverse));
    if (traverse) traverse(object, visit, &walk);
  }
  return walk.num_bytes;
}

}  // namespace

void bind_untrack(nb::module_& m) {
  m.def(
      "untrack", &untrack, nb::arg("root").none(), nb::arg("kinds"),
      nb::sig("def untrack(root: object, kinds: tuple[type, ...]) -> int"),
      "Takes tuples, dicts, frozen sets and objects of these classes off the list of the garbage collector, down from\n"
      "a root. Returns about how many bytes they have, and the texts in them.");
}

}  // namespace maskwright
