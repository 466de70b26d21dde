// From the tuples of src/maskwright/ir/ to the kernel's flat form. An object met twice becomes one node; no
// recursion. About 50 ns a node.
//
// A subgrammar is looked up by its number in the rule store, and read only if it is not linked there; a deferred one,
// when an output comes to it.
//
// Grammars of JSON Schemas all begin with the same dozen rules, the very same objects. Where two grammars in a row
// begin alike, what was read of that is kept, and shared by the next ones that begin so.
//
// What was read is taken off the list of the cyclic garbage collector. Expressions are tuples made from their parts,
// so no cycle goes through them, and a process that keeps a thousand grammars would have it look through half a
// million of them, again and again. (It does the same by itself, but only with plain tuples.)
#include "read_ir.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <bit>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "grammar/capture_name.h"
#include "grammar/loops.h"
#include "support/errors.h"

namespace maskwright {
namespace {

constexpr size_t kMaxBeginning = 64;  // rules
constexpr size_t kMaxChunkBytes = 1 << 30;
constexpr size_t kNodesBetweenTurns = 512;
constexpr int kMaxNesting = 64;  // subgrammars in subgrammars

// The nodes made from Python objects so far: a hash table with open addressing.
class NodeOfObject {
 public:
  const ExprId* find(const PyObject* object) const {
    const Slot& slot = slots_[place(object)];
    return slot.object ? &slot.node : nullptr;
  }
  void insert(const PyObject* object, ExprId node) {
    if (2 * ++used_ > slots_.size()) grow();
    slots_[place(object)] = {object, node};
  }

 private:
  struct Slot {
    const PyObject* object = nullptr;
    ExprId node = 0;
  };
  size_t place(const PyObject* object) const {
    const size_t mask = slots_.size() - 1;
    size_t s = mix(0, reinterpret_cast<uintptr_t>(object)) & mask;
    while (slots_[s].object && slots_[s].object != object) s = (s + 1) & mask;
    return s;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.object) slots_[place(slot.object)] = slot;
  }
  std::vector<Slot> slots_ = std::vector<Slot>(256);
  size_t used_ = 0;
};

// What was read so far: all of a grammar, or its first rules.
struct Read {
  GrammarIr ir;
  NodeOfObject node_of;
  std::vector<PyObject*> subgrammars;  // those of the IR, kept by what refers to them
};

class Reader {
 public:
  // `begun` outlives the reader.
  Reader(const Read* begun, size_t num_rules, uint32_t vocab_size, bool with_captures)
      : begun_(begun), num_rules_(num_rules), vocab_size_(vocab_size), with_captures_(with_captures) {
    if (!begun) return;
    ir_ = begun->ir;
    read_.subgrammars = begun->subgrammars;
  }
  const Read& done() const { return read_; }
  Read take() { return std::move(read_); }

  // A rule is (name, body).
  void read_rule(nb::handle rule) {
    ir_.rules.push_back(read(nb::borrow<nb::tuple>(rule)[1].ptr()));
    PyObject_GC_UnTrack(rule.ptr());
  }

 private:
  // An expression of which some operands are still to be read.
  struct Open {
    PyObject* object;
    Op op;
    Py_ssize_t next, end;  // fields
  };

  ExprId read(PyObject* root) {
    visit(root);
    while (!open_.empty()) {
      if (ir_.nodes.size() % kNodesBetweenTurns == 0) interrupt_checkpoint();
      Open& top = open_.back();
      if (top.next < top.end) {
        visit(field(top.object, top.next++));
        continue;
      }
      const Open done = top;
      open_.pop_back();
      finish(done);
    }
    const ExprId node = nodes_.back();
    nodes_.pop_back();
    return node;
  }

  static PyObject* field(PyObject* object, Py_ssize_t index) {
    PyObject* value = PyTuple_GetItem(object, index);
    if (!value) throw nb::python_error();
    return value;
  }

  static int64_t integer(PyObject* value) {
    int overflow = 0;
    const long long out = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) throw LimitExceeded("repetition_bound", "a repetition has a bound beyond 64 bits");
    if (out == -1 && PyErr_Occurred()) throw nb::python_error();
    return out;
  }

  // Leaves the object's node on nodes_, or the object on open_.
  void visit(PyObject* object) {
    const ExprId* known = node_of_.find(object);
    if (!known && begun_) known = begun_->node_of.find(object);
    if (known) {
      nodes_.push_back(*known);
      return;
    }
    if (!PyTuple_Check(object)) throw nb::type_error("an expression must be a maskwright Expr");
    const Py_ssize_t size = PyTuple_Size(object);
    if (size < 1) throw nb::type_error("an expression must be a maskwright Expr");
    const long op = PyLong_AsLong(PyTuple_GetItem(object, 0));
    if (op < 0 || op > static_cast<long>(Op::Value)) throw nb::type_error("an expression has an unknown op");
    switch (static_cast<Op>(op)) {
      case Op::Seq:
      case Op::Alt:
      case Op::And: open_.push_back({object, static_cast<Op>(op), 1, size}); break;
      case Op::Repeat:
      case Op::Not:
      case Op::Guard:
      case Op::Capture:
      case Op::Span:
      case Op::Scope:
      case Op::Remember:
      case Op::Multiple:
      case Op::Value:
        if (size < 2) throw nb::type_error("an expression has too few fields");
        open_.push_back({object, static_cast<Op>(op), 1, 2});
        break;
      case Op::Distinct:
        if (size < 5 || size % 2 == 0) throw nb::type_error("an expression has too few fields");
        open_.push_back({object, static_cast<Op>(op), 1, size - 2});
        break;
      default: add(object, leaf(object, static_cast<Op>(op)));
    }
  }

  void add(PyObject* object, const ExprNode& node) {
    ir_.nodes.push_back(node);
    set_node(object, static_cast<ExprId>(ir_.nodes.size() - 1));
  }

  void set_node(PyObject* object, ExprId node) {
    PyObject_GC_UnTrack(object);
    node_of_.insert(object, node);
    nodes_.push_back(node);
  }

  // Without those that the vocabulary does not have, which can never come.
  std::vector<TokenId> token_ids(PyObject* tuple) {
    std::vector<TokenId> ids;
    for (nb::handle id : nb::borrow<nb::tuple>(tuple)) ids.push_back(read_token_id(id));
    std::erase_if(ids, [&](TokenId id) { return id < 0 || static_cast<uint32_t>(id) >= vocab_size_; });
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  ExprNode leaf(PyObject* object, Op op) {
    ExprNode node{.op = op};
    switch (op) {
      case Op::Literal: {
        char* data;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(field(object, 1), &data, &size) != 0) throw nb::python_error();
        node.begin = static_cast<uint32_t>(ir_.bytes.size());
        ir_.bytes.append(data, static_cast<size_t>(size));
        node.end = static_cast<uint32_t>(ir_.bytes.size());
        if (size == 0) node.op = Op::Empty;
        break;
      }
      case Op::Set:
        node.begin = static_cast<uint32_t>(ir_.sets.size());
        ir_.sets.push_back(byte_set(field(object, 1)));
        if (ir_.sets.back().empty()) node.op = Op::Never;
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
      case Op::Tokens:
        node.begin = static_cast<uint32_t>(ir_.token_sets.size());
        ir_.token_sets.push_back({token_ids(field(object, 1)), field(object, 2) == Py_True});
        break;
      case Op::Recall: {
        ir_.nodes.push_back({.op = Op::Set, .begin = static_cast<uint32_t>(ir_.sets.size())});
        ir_.sets.push_back(~ByteSet());
        node.begin = static_cast<uint32_t>(ir_.nodes.size() - 1);
        node.end = text_number(field(object, 1));
        break;
      }
      case Op::Substrings:
        node.begin = static_cast<uint32_t>(ir_.chunk_lists.size());
        ir_.chunk_lists.push_back(chunk_list(field(object, 1)));
        break;
      case Op::Subgrammar: {
        const nb::handle subgrammar = field(object, 1);
        const auto number = nb::cast<uint64_t>(subgrammar.attr("number"));
        node.begin = static_cast<uint32_t>(ir_.subgrammars.size());
        ir_.subgrammars.push_back({.key = key_of(number, with_captures_)});
        read_.subgrammars.push_back(subgrammar.ptr());
        break;
      }
      default: break;
    }
    return node;
  }

  // Makes the node of an expression whose operands are the last of nodes_.
  void finish(const Open& open) {
    if (open.op == (with_captures_ ? Op::Span : Op::Capture)) {  // stands for what is in it
      const ExprId inner = nodes_.back();
      nodes_.pop_back();
      return set_node(open.object, inner);
    }
    ExprNode node{.op = open.op};
    const auto num_operands = static_cast<size_t>(open.end - 1);
    const auto operands = nodes_.end() - static_cast<std::ptrdiff_t>(num_operands);
    for (auto o = operands; o != nodes_.end(); ++o) node.depth = std::max(node.depth, ir_.nodes[*o].depth + 1);
    if (open.op == Op::Repeat || open.op == Op::Not || open.op == Op::Guard || open.op == Op::Capture ||
        open.op == Op::Span || open.op == Op::Scope || open.op == Op::Remember || open.op == Op::Multiple ||
        open.op == Op::Value) {
      node.begin = *operands;
    } else {
      node.begin = static_cast<uint32_t>(ir_.children.size());
      ir_.children.append(std::span(operands, nodes_.end()));
      node.end = static_cast<uint32_t>(ir_.children.size());
    }
    if (open.op == Op::Capture) {
      node.end = static_cast<uint32_t>(ir_.names.size());
      ir_.names.push_back(capture_name(open.object));
    }
    if (open.op == Op::Span) {
      node.end = static_cast<uint32_t>(ir_.spans.size());
      ir_.spans.push_back(span_rule(open.object));
    }
    if (open.op == Op::Remember) node.end = text_number(field(open.object, 2));
    if (open.op == Op::Value) node.end = field(open.object, 2) == Py_True;
    if (open.op == Op::Multiple) {
      node.minimum = integer(field(open.object, 2));
      node.maximum = integer(field(open.object, 3));
      if (node.minimum < 1 || node.minimum > kMaxModulus || node.maximum < 0 || node.maximum > kMaxScale)
        throw nb::type_error("numbers are multiples of what is impossible");
    }
    if (open.op == Op::Guard) {
      node.end = static_cast<uint32_t>(ir_.conditions.size());
      ir_.conditions.push_back(read_condition(field(open.object, 2)));
    }
    if (open.op == Op::Repeat || open.op == Op::Distinct) {
      node.minimum = integer(field(open.object, open.end));
      node.maximum = integer(field(open.object, open.end + 1));
      if (open.op == Op::Distinct && (node.minimum < 1 || node.maximum == 0))
        throw nb::type_error("a list of distinct elements has impossible bounds");
      if (node.minimum < 0 || node.maximum < kUnbounded || (node.maximum != kUnbounded && node.maximum < node.minimum))
        throw nb::type_error("a repetition has impossible bounds");
    }
    nodes_.erase(operands, nodes_.end());
    add(open.object, node);
  }

  static std::string capture_name(PyObject* capture) {
    auto name = nb::cast<std::string>(nb::handle(field(capture, 2)));
    for (nb::handle end : nb::borrow<nb::tuple>(field(capture, 3))) {
      const nb::bytes text = nb::cast<nb::bytes>(end);
      add_capture_end(name, {text.c_str(), text.size()});
    }
    return name;
  }

  static uint32_t text_number(PyObject* object) {
    const int64_t number = integer(object);
    if (number < 1 || number > kMaxTextNumber) throw nb::type_error("a remembered text has an impossible number");
    return static_cast<uint32_t>(number);
  }

  static SpanRule span_rule(PyObject* span) {
    SpanRule out;
    PyObject* const max_tokens = field(span, 2);
    PyObject* const temperature = field(span, 3);
    if (max_tokens != Py_None) {
      const int64_t count = integer(max_tokens);
      if (count < 1 || count > kMaxTokenBudget) throw nb::type_error("a span has an impossible budget of tokens");
      out.max_tokens = static_cast<uint32_t>(count);
    }
    if (temperature != Py_None) out.temperature = nb::cast<double>(nb::handle(temperature));
    return out;
  }

  static ChunkList chunk_list(PyObject* chunks) {
    if (!PyTuple_Check(chunks)) throw nb::type_error("chunks must be a tuple");
    ChunkList out;
    for (nb::handle chunk : nb::borrow<nb::tuple>(chunks)) {
      char* data;
      Py_ssize_t size;
      if (PyBytes_AsStringAndSize(chunk.ptr(), &data, &size) != 0) throw nb::python_error();
      if (size == 0) throw nb::type_error("a chunk is empty");
      out.bytes.append(data, static_cast<size_t>(size));
      if (out.bytes.size() > kMaxChunkBytes)
        throw LimitExceeded("grammar_size", "the text to take substrings of is too long");
      out.ends.push_back(static_cast<uint32_t>(out.bytes.size()));
    }
    if (out.ends.empty()) throw nb::type_error("there are no chunks");
    return out;
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

  Read read_;  // its node_of without what was begun with
  GrammarIr& ir_ = read_.ir;
  NodeOfObject& node_of_ = read_.node_of;
  const Read* begun_;
  size_t num_rules_;
  uint32_t vocab_size_;
  bool with_captures_;
  std::vector<Open> open_;
  std::vector<ExprId> nodes_;  // read, but not yet operands of a node
};

size_t num_common(const nb::tuple& rules, const std::vector<nb::object>& others) {
  const size_t limit = std::min(nb::len(rules), others.size());
  size_t n = 0;
  while (n < limit && PyTuple_GetItem(rules.ptr(), static_cast<Py_ssize_t>(n)) == others[n].ptr()) ++n;
  return n;
}

std::vector<nb::object> first_rules(const nb::tuple& rules, size_t count) {
  std::vector<nb::object> out;
  for (size_t i = 0; i < std::min(count, nb::len(rules)); ++i) out.emplace_back(rules[i]);
  return out;
}

}  // namespace

struct GrammarReader::Beginning {
  std::vector<nb::object> rules;
  Read read;
};

// One call of `read`: a grammar with all subgrammars in it that have to be read, each once.
struct GrammarReader::Session {
  RuleStore& store;
  const bool with_captures;
  std::unordered_map<uint64_t, std::shared_ptr<const GrammarIr>> subgrammars = {};
  int depth = 0;
};

GrammarIr GrammarReader::read(RuleStore& store, const nb::tuple& rules, uint32_t root, bool with_captures) {
  Session session{store, with_captures};
  return read_in(session, rules, root);
}

GrammarIr GrammarReader::read_in(Session& session, const nb::tuple& rules, uint32_t root) {
  const size_t num_rules = nb::len(rules);
  if (root >= num_rules) throw nb::type_error("the root names no rule");
  std::shared_ptr<const Beginning> begun;
  size_t num_alike = 0;
  if (!session.with_captures) begun = beginning_of(rules);
  if (!session.with_captures && !begun) {
    std::vector<nb::object> last = first_rules(rules, kMaxBeginning);  // the one before dies without the lock
    const std::lock_guard guard(lock_);
    num_alike = num_common(rules, last_);
    last_.swap(last);
  }
  Reader reader(begun ? &begun->read : nullptr, num_rules, session.store.vocab_size(), session.with_captures);
  for (size_t i = begun ? begun->rules.size() : 0; i < num_rules; ++i) {
    reader.read_rule(rules[i]);
    if (i + 1 == num_alike) keep({first_rules(rules, num_alike), reader.done()});
  }
  Read read = reader.take();
  read.ir.root = root;
  for (size_t i = 0; i < read.subgrammars.size(); ++i) look_up(session, read.ir.subgrammars[i], read.subgrammars[i]);
  uncount_loops(read.ir);
  return std::move(read.ir);
}

std::shared_ptr<const GrammarReader::Beginning> GrammarReader::beginning_of(const nb::tuple& rules) {
  const std::lock_guard guard(lock_);
  return known_ && num_common(rules, known_->rules) == known_->rules.size() ? known_ : nullptr;
}

// Finds a subgrammar, or reads it.
void GrammarReader::look_up(Session& session, Subgrammar& wanted, nb::handle subgrammar) {
  wanted = session.store.find(wanted.key);
  if (wanted.ir || wanted.deferred) wanted.linked = {};
  if (wanted.ir || wanted.deferred || wanted.linked.rule) return;
  if (const nb::object promised = subgrammar.attr("deferred"); !promised.is_none()) {
    const auto [beginnings, has_tokens, nullable, has_families, has_memory, num_bytes] =
        nb::cast<std::tuple<nb::bytes, bool, bool, bool, bool, int64_t>>(promised);
    DeferredFacts& facts = wanted.deferred.emplace();
    for (size_t i = 0; i < beginnings.size(); ++i) facts.first.set(static_cast<uint8_t>(beginnings.c_str()[i]));
    facts.first_has_tokens = has_tokens;
    facts.nullable = nullable;
    facts.has_families = has_families;
    facts.has_memory = has_memory;
    if (num_bytes >= 0) facts.num_bytes = static_cast<uint32_t>(std::min<int64_t>(num_bytes, INT32_MAX));
    wanted.num_nodes = 1;
    return;
  }
  std::shared_ptr<const GrammarIr>& read = session.subgrammars[wanted.key];
  if (!read) {
    if (++session.depth > kMaxNesting) throw LimitExceeded("subgrammar_depth", "subgrammars nest too deep");
    const nb::object ir = subgrammar.attr("ir");
    const auto rules = nb::cast<nb::tuple>(ir.attr("rules"));
    read = std::make_shared<const GrammarIr>(read_in(session, rules, nb::cast<uint32_t>(ir.attr("root"))));
    --session.depth;
  }
  wanted.ir = read;
  wanted.num_nodes = read->num_nodes();
}

void GrammarReader::keep(Beginning beginning) {
  GrammarIr& ir = beginning.read.ir;
  if (has_counted_loops(ir)) return;  // what is shared is not written anew (loops.h)
  ir.share();
  auto kept = std::make_shared<const Beginning>(std::move(beginning));
  const std::lock_guard guard(lock_);
  known_.swap(kept);
}

}  // namespace maskwright
