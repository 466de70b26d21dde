// From the tuples of src/maskwright/ir/parameters.py to the kernel's values and conditions. What was read is taken off
// the list of the cyclic garbage collector, as expressions are (read_ir.cpp).
#include "bindings.h"
#include "support/errors.h"

namespace maskwright {
namespace {

constexpr int kMaxConditionDepth = 64;

[[noreturn]] void refuse(const char* what) {
  throw nb::type_error(what);
}

uint64_t word(PyObject* value) {
  const unsigned long long out = PyLong_AsUnsignedLongLong(value);
  if (out == ~0ULL && PyErr_Occurred()) throw nb::python_error();
  return out;
}

// A tuple's fields as words; all of them must be numbers.
std::vector<uint64_t> words(nb::handle tuple, size_t count) {
  if (!PyTuple_Check(tuple.ptr()) || nb::len(tuple) != count) refuse("a step or a test has the wrong number of fields");
  std::vector<uint64_t> out;
  for (nb::handle field : nb::borrow<nb::tuple>(tuple)) out.push_back(word(field.ptr()));
  return out;
}

void check_bits(uint64_t first, uint64_t last) {
  if (first >= last || last > 64) refuse("a range of bits must lie within the 64 of a parameter");
}

// Appends the tests of a condition, the last first, and returns where it begins.
uint32_t add_tests(nb::handle condition, uint32_t if_true, uint32_t if_false, int depth, Condition& out) {
  if (!PyTuple_Check(condition.ptr()) || nb::len(condition) < 1) refuse("a condition must be a tuple");
  if (depth > kMaxConditionDepth)
    throw LimitExceeded("condition_depth", "a condition nests deeper than " + std::to_string(kMaxConditionDepth));
  const auto parts = nb::borrow<nb::tuple>(condition);
  const uint64_t op = word(parts[0].ptr());
  if (op > 3) refuse("a condition has an unknown op");
  PyObject_GC_UnTrack(condition.ptr());
  if (op < 2) {
    const std::vector<uint64_t> test = words(condition, 5);
    check_bits(test[1], test[2]);
    out.tests.push_back(
        {static_cast<uint8_t>(test[1]), static_cast<uint8_t>(test[2]), op == 1, test[3], test[4], if_true, if_false});
    return static_cast<uint32_t>(out.tests.size() - 1);
  }
  const bool all = op == 2;
  uint32_t entry = all ? if_true : if_false;
  for (size_t i = nb::len(parts); i-- > 1;)
    entry = all ? add_tests(parts[i], entry, if_false, depth + 1, out)
                : add_tests(parts[i], if_true, entry, depth + 1, out);
  return entry;
}

}  // namespace

ValueFunction read_value(nb::handle value) {
  if (!PyTuple_Check(value.ptr())) refuse("a value must be a tuple of steps");
  ValueFunction out;
  for (nb::handle step : nb::borrow<nb::tuple>(value)) {
    const std::vector<uint64_t> fields = words(step, 3);
    if (fields[0] > 2) refuse("a value has an unknown step");
    const auto kind = static_cast<ValueStep::Kind>(fields[0]);
    if (kind != ValueStep::Kind::Mask) check_bits(fields[1], fields[2]);
    out.push_back({kind, fields[1], fields[2]});
    PyObject_GC_UnTrack(step.ptr());
  }
  PyObject_GC_UnTrack(value.ptr());
  return out;
}

Condition read_condition(nb::handle condition) {
  Condition out;
  out.entry = add_tests(condition, Condition::kTrue, Condition::kFalse, 0, out);
  return out;
}

}  // namespace maskwright
