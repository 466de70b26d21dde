#include "grammar/blueprint.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace maskwright {
namespace {

constexpr uint8_t kUnit = 0x40, kParametricUnit = 0x41, kCapture = 0x42, kCallees = 0x43, kSpan = 0x44,
                  kMemory = 0x45;  // beside the ops

// Reads the text back, from its front.
class BlueprintReader {
 public:
  explicit BlueprintReader(std::string_view text) : text_(text) {}

  Blueprint read() {
    ir_.nodes.reserve(text_.size() / 4);
    ir_.children.reserve(text_.size() / 4);
    while (at_ < text_.size()) {
      const auto tag = static_cast<uint8_t>(text_[at_++]);
      if (tag == kCallees) break;  // the group has them as pointers
      switch (tag) {
        case kCapture: capture_ = bytes(number()); break;
        case kSpan:
          span_.emplace().max_tokens = index();
          span_->temperature = std::bit_cast<double>(number());
          break;
        case kMemory:
          memory_.kind = static_cast<MemoryRole::Kind>(number());
          memory_.number = static_cast<uint8_t>(number());
          memory_.minimum = index();
          memory_.maximum = index();
          break;
        case kUnit:
        case kParametricUnit: read_unit(tag == kParametricUnit); break;
        default: read_node(static_cast<Op>(tag));
      }
    }
    return std::move(out_);
  }

 private:
  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(text_[at_++]);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
  }

  uint32_t index() { return static_cast<uint32_t>(number()); }

  std::string_view bytes(size_t size) {
    at_ += size;
    return text_.substr(at_ - size, size);
  }

  void read_unit(bool parametric) {
    const auto kind = static_cast<BlueprintUnit::Kind>(text_[at_++]);
    const ExprId root = index();
    const int terminator = static_cast<int>(index()) - 1;
    out_.units.push_back({kind, root, terminator, parametric, std::exchange(capture_, {}), std::exchange(span_, {}),
                          std::exchange(memory_, {})});
  }

  void read_node(Op op) {
    ExprNode node{.op = op};
    switch (op) {
      case Op::Literal: read_literal(node); break;
      case Op::Set:
        node.begin = static_cast<uint32_t>(ir_.sets.size());
        std::memcpy(&ir_.sets.emplace_back(), bytes(sizeof(ByteSet)).data(), sizeof(ByteSet));
        break;
      case Op::Tokens: read_tokens(node); break;
      case Op::Substrings: read_chunks(node); break;
      case Op::Seq:
      case Op::Alt:
      case Op::And: read_operands(node); break;
      case Op::Repeat:
      case Op::Not:
      case Op::Multiple: read_operand(node); break;
      case Op::Ref: node.begin = index(); break;
      case Op::Call: read_call(node); break;
      case Op::Guard: read_guard(node); break;
      case Op::Empty:
      case Op::Never:
      case Op::Capture:
      case Op::Subgrammar:
      case Op::Span:
      case Op::Scope:
      case Op::Value:
      case Op::Remember:
      case Op::Recall:
      case Op::Distinct: break;
    }
    if (op == Op::Multiple) {
      node.minimum = static_cast<int64_t>(number());
      node.maximum = static_cast<int64_t>(number());
    }
    if (op == Op::Repeat || op == Op::Ref || op == Op::Call) {
      node.minimum = static_cast<int64_t>(number());
      node.maximum = static_cast<int64_t>(number()) - 1;
    }
    ir_.nodes.push_back(node);
  }

  void deepen(ExprNode& node, ExprId child) { node.depth = std::max(node.depth, ir_.nodes[child].depth + 1); }

  void read_operand(ExprNode& node) {
    node.begin = index();
    deepen(node, node.begin);
  }

  void read_operands(ExprNode& node) {
    const size_t size = number();
    node.begin = static_cast<uint32_t>(ir_.children.size());
    for (size_t i = 0; i < size; ++i) {
      ir_.children.push_back(index());
      deepen(node, ir_.children.back());
    }
    node.end = static_cast<uint32_t>(ir_.children.size());
  }

  void read_literal(ExprNode& node) {
    node.begin = static_cast<uint32_t>(ir_.bytes.size());
    ir_.bytes += bytes(number());
    node.end = static_cast<uint32_t>(ir_.bytes.size());
  }

  void read_tokens(ExprNode& node) {
    node.begin = static_cast<uint32_t>(ir_.token_sets.size());
    TokenSet& set = ir_.token_sets.emplace_back();
    set.by_exclusion = number() != 0;
    set.ids.resize(number());
    for (TokenId& id : set.ids) id = static_cast<TokenId>(number());
  }

  void read_chunks(ExprNode& node) {
    node.begin = static_cast<uint32_t>(ir_.chunk_lists.size());
    ChunkList& chunks = ir_.chunk_lists.emplace_back();
    chunks.ends.resize(number());
    uint32_t end = 0;
    for (uint32_t& chunk_end : chunks.ends) chunk_end = end += index();
    chunks.bytes = bytes(end);
  }

  void read_call(ExprNode& node) {
    node.begin = index();
    node.end = static_cast<uint32_t>(ir_.values.size());
    ValueFunction& value = ir_.values.emplace_back(number());
    for (ValueStep& step : value) {
      step.kind = static_cast<ValueStep::Kind>(number());
      step.a = number();
      step.b = number();
    }
  }

  void read_guard(ExprNode& node) {
    read_operand(node);
    node.end = static_cast<uint32_t>(ir_.conditions.size());
    Condition& condition = ir_.conditions.emplace_back();
    condition.entry = index();
    condition.tests.resize(number());
    for (Condition::Test& test : condition.tests) {
      test.first = static_cast<uint8_t>(number());
      test.last = static_cast<uint8_t>(number());
      test.counts = number() != 0;
      test.minimum = number();
      test.maximum = number();
      test.if_true = index();
      test.if_false = index();
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
  Blueprint out_;
  GrammarIr& ir_ = out_.ir;
  std::optional<std::string> capture_;  // of the unit that follows, as are the next two
  std::optional<SpanRule> span_;
  MemoryRole memory_;
};

}  // namespace

void BlueprintWriter::clear() {
  text_.clear();
  num_nodes_ = 0;
}

// Seven bits a byte, the last one without the high bit.
void BlueprintWriter::number(uint64_t value) {
  for (; value >= 0x80; value >>= 7) text_.push_back(static_cast<char>(value | 0x80));
  text_.push_back(static_cast<char>(value));
}

ExprId BlueprintWriter::begin(Op op) {
  text_.push_back(static_cast<char>(op));
  return num_nodes_++;
}

ExprId BlueprintWriter::leaf(Op op) {
  return begin(op);
}

ExprId BlueprintWriter::literal(std::string_view bytes) {
  const ExprId id = begin(Op::Literal);
  number(bytes.size());
  text_.append(bytes);
  return id;
}

ExprId BlueprintWriter::set(const ByteSet& set) {
  const ExprId id = begin(Op::Set);
  text_.append(reinterpret_cast<const char*>(&set), sizeof set);
  return id;
}

ExprId BlueprintWriter::tokens(const TokenSet& set) {
  const ExprId id = begin(Op::Tokens);
  number(set.by_exclusion);
  number(set.ids.size());
  for (const TokenId token : set.ids) number(static_cast<uint64_t>(token));
  return id;
}

ExprId BlueprintWriter::substrings(const ChunkList& chunks) {
  const ExprId id = begin(Op::Substrings);
  number(chunks.size());
  for (size_t i = 0; i < chunks.size(); ++i) number(chunks[i].size());
  text_ += chunks.bytes;
  return id;
}

ExprId BlueprintWriter::many(Op op, std::span<const ExprId> operands) {
  const ExprId id = begin(op);
  number(operands.size());
  for (const ExprId operand : operands) number(operand);
  return id;
}

ExprId BlueprintWriter::repeat(ExprId item, int64_t minimum, int64_t maximum) {
  const ExprId id = begin(Op::Repeat);
  number(item);
  number(static_cast<uint64_t>(minimum));
  number(static_cast<uint64_t>(maximum + 1));  // unbounded: 0
  return id;
}

ExprId BlueprintWriter::negation(ExprId operand) {
  const ExprId id = begin(Op::Not);
  number(operand);
  return id;
}

ExprId BlueprintWriter::call(uint32_t target, int64_t minimum, int64_t maximum) {
  const ExprId id = begin(Op::Ref);
  number(target);
  number(static_cast<uint64_t>(minimum));
  number(static_cast<uint64_t>(maximum + 1));
  return id;
}

ExprId BlueprintWriter::call(uint32_t target, const ValueFunction& value, int64_t minimum, int64_t maximum) {
  const ExprId id = begin(Op::Call);
  number(target);
  number(value.size());
  for (const ValueStep& step : value) {
    number(static_cast<uint64_t>(step.kind));
    number(step.a);
    number(step.b);
  }
  number(static_cast<uint64_t>(minimum));
  number(static_cast<uint64_t>(maximum + 1));
  return id;
}

ExprId BlueprintWriter::guard(ExprId operand, const Condition& condition) {
  const ExprId id = begin(Op::Guard);
  number(operand);
  number(condition.entry);
  number(condition.tests.size());
  for (const Condition::Test& test : condition.tests)
    for (const uint64_t part : {uint64_t{test.first}, uint64_t{test.last}, uint64_t{test.counts}, test.minimum,
                                test.maximum, uint64_t{test.if_true}, uint64_t{test.if_false}})
      number(part);
  return id;
}

ExprId BlueprintWriter::multiple(ExprId operand, int64_t modulus, int64_t scale) {
  const ExprId id = begin(Op::Multiple);
  number(operand);
  number(static_cast<uint64_t>(modulus));
  number(static_cast<uint64_t>(scale));
  return id;
}

void BlueprintWriter::unit(const BlueprintUnit& unit) {
  if (unit.capture) {
    text_.push_back(static_cast<char>(kCapture));
    number(unit.capture->size());
    text_ += *unit.capture;
  }
  if (unit.span) {
    text_.push_back(static_cast<char>(kSpan));
    number(unit.span->max_tokens);
    number(std::bit_cast<uint64_t>(unit.span->temperature));
  }
  if (unit.memory.kind != MemoryRole::Kind::None) {
    text_.push_back(static_cast<char>(kMemory));
    number(static_cast<uint64_t>(unit.memory.kind));
    number(unit.memory.number);
    number(unit.memory.minimum);
    number(unit.memory.maximum);
  }
  text_.push_back(static_cast<char>(unit.parametric ? kParametricUnit : kUnit));
  text_.push_back(static_cast<char>(unit.kind));
  number(unit.root);
  number(static_cast<uint64_t>(int64_t{unit.terminator} + 1));
}

void BlueprintWriter::callee(uint64_t group, uint32_t rule, uint64_t parameter) {
  text_.push_back(static_cast<char>(kCallees));
  number(group);
  number(rule);
  number(parameter);
}

bool Blueprint::is_parametric() const {
  return std::ranges::any_of(units, &BlueprintUnit::parametric);
}

Blueprint Blueprint::read(std::string_view text) {
  return BlueprintReader(text).read();
}

}  // namespace maskwright
