// Takes what is kept for long off the list of the cyclic garbage collector, which would go through it again and again:
// a full collection over the tags of 4,096 tools, some twenty objects each, stopped a server for 100 ms.
//
// Only what cannot be in a cycle may go: tuples, dicts and objects of the given classes, whose authors see to that. All
// else is left as it is, and so is what it leads to. A dict comes back to the list when something is put in it. Objects
// that are off the list are freed by their reference counts as ever, and keep alive what they refer to.
#include <vector>

#include "bindings.h"

namespace maskwright {
namespace {

struct Walk {
  std::vector<PyTypeObject*> kinds;
  std::vector<PyObject*> pending;

  bool is_acyclic(PyObject* object) const {
    if (PyTuple_Check(object) || PyDict_CheckExact(object)) return true;
    for (PyTypeObject* kind : kinds)
      if (PyType_IsSubtype(Py_TYPE(object), kind)) return true;
    return false;
  }
  void meet(PyObject* object) {
    if (!PyType_IS_GC(Py_TYPE(object)) || !PyObject_GC_IsTracked(object) || !is_acyclic(object)) return;
    PyObject_GC_UnTrack(object);
    pending.push_back(object);
  }
};

int visit(PyObject* object, void* walk) {
  static_cast<Walk*>(walk)->meet(object);
  return 0;
}

void untrack(nb::handle root, const nb::tuple& kinds) {
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
}

}  // namespace

void bind_untrack(nb::module_& m) {
  m.def("untrack", &untrack, nb::arg("root").none(), nb::arg("kinds"),
        nb::sig("def untrack(root: object, kinds: tuple[type, ...]) -> None"),
        "Takes tuples, dicts and objects of these classes, down from a root, off the list of the garbage collector.");
}

}  // namespace maskwright
