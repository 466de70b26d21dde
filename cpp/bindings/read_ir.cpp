// From the tuples of src/maskwright/ir.py to the kernel's flat form. An object met twice becomes one node; no
// recursion.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <unordered_map>

#include "../kernel/errors.h"
#include "bindings.h"

namespace maskwright {
namespace {

class Reader {
 public:
  Reader(GrammarIr& ir, size_t num_rules, bool with_captures)
      : ir_(ir), num_rules_(num_rules), with_captures_(with_captures) {}

  ExprId read(nb::handle root) {
    open_.push_back({root.ptr(), false});
    while (!open_.empty()) {
      const auto [object, children_done] = open_.back();
      if (!children_done && done_.contains(object)) {
        open_.pop_back();
        continue;
      }
      if (!PyTuple_Check(object) || PyTuple_Size(object) < 1)
        throw nb::type_error("an expression must be a maskwright Expr");
      const long op = PyLong_AsLong(PyTuple_GetItem(object, 0));
      if (op < 0 || op > static_cast<long>(Op::Capture)) throw nb::type_error("an expression has an unknown op");
      if (children_done || !open_children(object, static_cast<Op>(op))) {
        open_.pop_back();
        done_[object] = add(object, static_cast<Op>(op));
      }
    }
    return done_.at(root.ptr());
  }

 private:
  struct Open {
    PyObject* object;
    bool children_done;
  };

  // Returns false if there is nothing to wait for.
  bool open_children(PyObject* object, Op op) {
    Py_ssize_t end = 1;
    if (op == Op::Seq || op == Op::Alt || op == Op::And)
      end = PyTuple_Size(object);
    else if (op == Op::Repeat || op == Op::Not || op == Op::Guard || op == Op::Capture)
      end = 2;
    if (end > PyTuple_Size(object)) throw nb::type_error("an expression has too few fields");
    open_.back().children_done = true;
    const size_t before = open_.size();
    for (Py_ssize_t i = end; i-- > 1;)
      if (PyObject* child = PyTuple_GetItem(object, i); !done_.contains(child)) open_.push_back({child, false});
    return open_.size() > before;
  }

  PyObject* field(PyObject* object, Py_ssize_t index) {
    PyObject* value = PyTuple_GetItem(object, index);
    if (!value) throw nb::python_error();
    return value;
  }

  int64_t integer(PyObject* value) {
    int overflow = 0;
    const long long out = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) throw LimitExceeded("repetition_bound", "a repetition has a bound beyond 64 bits");
    if (out == -1 && PyErr_Occurred()) throw nb::python_error();
    return out;
  }

  ExprId add(PyObject* object, Op op) {
    if (op == Op::Capture && !with_captures_) return done_.at(field(object, 1));
    ExprNode node{.op = op};
    switch (op) {
      case Op::Empty:
      case Op::Never: break;
      case Op::Literal: {
        char* data;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(field(object, 1), &data, &size) != 0) throw nb::python_error();
        node.begin = static_cast<uint32_t>(ir_.bytes.size());
        ir_.bytes.append(data, static_cast<size_t>(size));
        node.end = static_cast<uint32_t>(ir_.bytes.size());
        break;
      }
      case Op::Set:
        node.begin = static_cast<uint32_t>(ir_.sets.size());
        ir_.sets.push_back(byte_set(field(object, 1)));
        break;
      case Op::Seq:
      case Op::Alt:
      case Op::And: {
        node.begin = static_cast<uint32_t>(ir_.children.size());
        for (Py_ssize_t i = 1; i < PyTuple_Size(object); ++i) ir_.children.push_back(done_.at(field(object, i)));
        node.end = static_cast<uint32_t>(ir_.children.size());
        for (uint32_t c = node.begin; c < node.end; ++c)
          node.depth = std::max(node.depth, ir_.nodes[ir_.children[c]].depth + 1);
        break;
      }
      case Op::Repeat:
        node.minimum = integer(field(object, 2));
        node.maximum = integer(field(object, 3));
        if (node.minimum < 0 || node.maximum < kUnbounded ||
            (node.maximum != kUnbounded && node.maximum < node.minimum))
          throw nb::type_error("a repetition has impossible bounds");
        [[fallthrough]];
      case Op::Not:
        node.begin = done_.at(field(object, 1));
        node.depth = ir_.nodes[node.begin].depth + 1;
        break;
      case Op::Call:
        node.end = static_cast<uint32_t>(ir_.values.size());
        ir_.values.push_back(read_value(field(object, 2)));
        [[fallthrough]];
      case Op::Ref: {
        const int64_t rule = integer(field(object, 1));
        if (rule < 0 || static_cast<size_t>(rule) >= num_rules_) throw nb::type_error("a reference names no rule");
        node.begin = static_cast<uint32_t>(rule);
        break;
      }
      case Op::Guard:
        node.begin = done_.at(field(object, 1));
        node.depth = ir_.nodes[node.begin].depth + 1;
        node.end = static_cast<uint32_t>(ir_.conditions.size());
        ir_.conditions.push_back(read_condition(field(object, 2)));
        break;
      case Op::Capture:
        node.begin = done_.at(field(object, 1));
        node.depth = ir_.nodes[node.begin].depth + 1;
        node.end = static_cast<uint32_t>(ir_.names.size());
        ir_.names.push_back(nb::cast<std::string>(nb::handle(field(object, 2))));
        break;
      case Op::Tokens: {
        std::vector<TokenId> ids;
        for (nb::handle id : nb::borrow<nb::tuple>(field(object, 1))) ids.push_back(read_token_id(id));
        std::sort(ids.begin(), ids.end());
        node.begin = static_cast<uint32_t>(ir_.token_sets.size());
        ir_.token_sets.push_back(std::move(ids));
        break;
      }
    }
    ir_.nodes.push_back(node);
    return static_cast<ExprId>(ir_.nodes.size() - 1);
  }

  static ByteSet byte_set(PyObject* value) {
    ByteSet out;
    nb::object rest = nb::borrow(value);
    const nb::object shift = nb::int_(64);
    for (int w = 0; w < 4; ++w) {
      out.word(w) = PyLong_AsUnsignedLongLongMask(rest.ptr());
      if (PyErr_Occurred()) throw nb::python_error();
      if (w < 3) rest = nb::steal(PyNumber_Rshift(rest.ptr(), shift.ptr()));
    }
    return out;
  }

  GrammarIr& ir_;
  size_t num_rules_;
  bool with_captures_;
  std::vector<Open> open_;
  std::unordered_map<PyObject*, ExprId> done_;
};

}  // namespace

GrammarIr read_ir(const nb::tuple& rules, uint32_t root, bool with_captures) {
  GrammarIr ir;
  if (root >= nb::len(rules)) throw nb::type_error("the root names no rule");
  Reader reader(ir, nb::len(rules), with_captures);
  // A rule is (name, body).
  for (nb::handle rule : rules) ir.rules.push_back(reader.read(nb::borrow<nb::tuple>(rule)[1]));
  ir.root = root;
  return ir;
}

}  // namespace maskwright
