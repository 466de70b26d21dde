#include "grammar/read_grammar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "grammar/capture_name.h"
#include "grammar/loops.h"
#include "support/errors.h"

namespace maskwright {
namespace {

constexpr std::string_view kMagic = "\x89MWG";
constexpr uint8_t kVersion = 4;
constexpr size_t kHeaderBytes = 9;
constexpr size_t kMaxBytes = size_t{256} << 20;
constexpr uint64_t kMaxNodes = 4'000'000;
constexpr int kMaxConditionDepth = 64;
// In all token sets together; a name is looked for among all tokens, and a range takes some room itself.
constexpr uint64_t kMaxTokensSeen = 64'000'000;
constexpr uint64_t kRangeCost = 64;

[[noreturn]] void refuse(const char* what) {
  throw MalformedGrammar(std::string("the saved grammar is damaged: ") + what);
}

// Of one byte, and of that byte with zeros behind it.
constexpr auto kCrcTables = [] {
  std::array<std::array<uint32_t, 256>, 8> out{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    out[0][byte] = crc;
  }
  for (size_t zeros = 1; zeros < out.size(); ++zeros)
    for (size_t byte = 0; byte < 256; ++byte)
      out[zeros][byte] = out[zeros - 1][byte] >> 8 ^ out[0][out[zeros - 1][byte] & 0xFF];
  return out;
}();

// Eight bytes at a time: a grammar's checksum would else take as long as reading it.
uint32_t crc32(std::string_view data) {
  uint32_t crc = ~0u;
  for (; data.size() >= 8; data.remove_prefix(8)) {
    uint32_t next = 0;
    for (size_t i = 0; i < 8; ++i) {
      const uint32_t before = i < 4 ? crc >> (8 * i) & 0xFF : 0;
      next ^= kCrcTables[7 - i][before ^ static_cast<uint8_t>(data[i])];
    }
    crc = next;
  }
  for (const char c : data) crc = crc >> 8 ^ kCrcTables[0][(crc ^ static_cast<uint8_t>(c)) & 0xFF];
  return ~crc;
}

// Checks the header and returns the body.
std::string_view body_of(std::string_view data) {
  if (data.size() < kHeaderBytes || data.substr(0, kMagic.size()) != kMagic)
    throw MalformedGrammar("the bytes are not a saved grammar: they do not begin with 89 4D 57 47");
  const auto version = static_cast<uint8_t>(data[kMagic.size()]);
  if (version != kVersion)
    throw MalformedGrammar("the saved grammar has version " + std::to_string(version) + "; this kernel reads version " +
                           std::to_string(kVersion));
  if (data.size() > kMaxBytes) throw LimitExceeded("grammar_size", "the saved grammar has more than 256 MiB");
  uint32_t expected = 0;
  for (int i = 3; i >= 0; --i) expected = expected << 8 | static_cast<uint8_t>(data[kMagic.size() + 1 + i]);
  data.remove_prefix(kHeaderBytes);
  if (crc32(data) != expected) refuse("its checksum does not match");
  return data;
}

// How many bytes the character at the beginning has, or 0 if it is not well-formed. Surrogates count as characters:
// names may come from JSON texts that have one alone.
size_t character_length(std::string_view text) {
  const auto byte = [text](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0}; };
  const uint8_t lead = byte(0), second = byte(1);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xC2 && lead <= 0xDF ? 2 : lead >= 0xE0 && lead <= 0xEF ? 3 : 4;
  if (length == 4 && (lead < 0xF0 || lead > 0xF4)) return 0;
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  return length;
}

class Input {
 public:
  explicit Input(std::string_view data) : data_(data) {}
  bool is_empty() const { return data_.empty(); }

  uint8_t byte() {
    if (data_.empty()) refuse("it ends too early");
    const auto out = static_cast<uint8_t>(data_.front());
    data_.remove_prefix(1);
    return out;
  }
  bool flag() {
    const uint8_t value = byte();
    if (value > 1) refuse("a flag is neither 0 nor 1");
    return value == 1;
  }
  uint64_t number() {
    uint64_t out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t next = byte();
      if (shift == 63 && next > 1) break;
      out |= uint64_t{next & 0x7Fu} << shift;
      if (next < 0x80) return out;
    }
    refuse("a number has more than 64 bits");
  }
  uint32_t number_below(uint64_t end, const char* what) {
    const uint64_t out = number();
    if (out >= end) refuse(what);
    return static_cast<uint32_t>(out);
  }
  // How many items follow, each of which takes at least one byte.
  size_t count() {
    const uint64_t out = number();
    if (out > data_.size()) refuse("it ends too early");
    return static_cast<size_t>(out);
  }
  std::string_view string() { return bytes(count()); }
  std::string_view name() {
    const std::string_view out = string();
    for (std::string_view rest = out; !rest.empty();) {
      const size_t length = character_length(rest);
      if (length == 0) refuse("a name is not UTF-8");
      rest.remove_prefix(length);
    }
    return out;
  }
  std::string_view bytes(size_t size) {
    if (size > data_.size()) refuse("it ends too early");
    const std::string_view out = data_.substr(0, size);
    data_.remove_prefix(size);
    return out;
  }

 private:
  std::string_view data_;
};

void check_bits(uint64_t first, uint64_t last) {
  if (first >= last || last > 64) refuse("a range of bits does not lie within 64");
}

// A test, or several of which all or any must hold.
struct SpelledTest {
  uint64_t op;
  uint64_t fields[4];
  std::vector<SpelledTest> parts;
};

SpelledTest read_test(Input& in, int depth) {
  if (depth > kMaxConditionDepth)
    throw LimitExceeded("condition_depth", "a condition nests deeper than " + std::to_string(kMaxConditionDepth));
  SpelledTest out{in.number(), {}, {}};
  if (out.op > 3) refuse("a condition has an unknown op");
  if (out.op < 2) {
    for (uint64_t& field : out.fields) field = in.number();
    check_bits(out.fields[0], out.fields[1]);
    return out;
  }
  const size_t count = in.count();
  for (size_t i = 0; i < count; ++i) out.parts.push_back(read_test(in, depth + 1));
  return out;
}

// Appends the tests of a condition, the last first, and returns where it begins.
uint32_t add_test(const SpelledTest& test, uint32_t if_true, uint32_t if_false, Condition& out) {
  if (test.op < 2) {
    out.tests.push_back({static_cast<uint8_t>(test.fields[0]), static_cast<uint8_t>(test.fields[1]), test.op == 1,
                         test.fields[2], test.fields[3], if_true, if_false});
    return static_cast<uint32_t>(out.tests.size() - 1);
  }
  const bool all = test.op == 2;
  uint32_t entry = all ? if_true : if_false;
  for (size_t i = test.parts.size(); i-- > 0;)
    entry = all ? add_test(test.parts[i], entry, if_false, out) : add_test(test.parts[i], if_true, entry, out);
  return entry;
}

Condition read_condition(Input& in) {
  Condition out;
  out.entry = add_test(read_test(in, 0), Condition::kTrue, Condition::kFalse, out);
  return out;
}

ValueFunction read_value(Input& in) {
  ValueFunction out;
  const size_t count = in.count();
  for (size_t i = 0; i < count; ++i) {
    const auto kind = static_cast<ValueStep::Kind>(in.number_below(3, "a value has an unknown step"));
    const uint64_t a = in.number(), b = in.number();
    if (kind != ValueStep::Kind::Mask) check_bits(a, b);
    out.push_back({kind, a, b});
  }
  return out;
}

class GrammarBytes {
 public:
  GrammarBytes(std::string_view data, uint32_t vocab_size, bool with_captures)
      : in_(body_of(data)), vocab_size_(vocab_size), with_captures_(with_captures) {}

  GrammarFile read() {
    in_.string();  // the notes
    const uint64_t num_nodes = in_.number();
    if (num_nodes > kMaxNodes)
      throw LimitExceeded("grammar_size", "the grammar has more than " + std::to_string(kMaxNodes) + " expressions");
    for (uint64_t i = 0; i < num_nodes; ++i) read_node();
    const size_t num_rules = in_.count();
    if (largest_rule_ >= num_rules && names_rules_) refuse("a reference names no rule");
    for (size_t i = 0; i < num_rules; ++i) ir_.rules.push_back(read_place());
    ir_.root = in_.number_below(num_rules, "the root names no rule");
    const size_t num_token_sets = in_.count();
    for (size_t i = 0; i < num_token_sets; ++i) read_named_tokens();
    if (!in_.is_empty()) refuse("something follows its end");
    uncount_loops(ir_);
    return {std::move(ir_), std::move(named_tokens_)};
  }

 private:
  struct Place {
    ExprId node;
    bool regular;  // without what operands of intersections and complements must not have
  };

  ExprId read_place() { return places_[in_.number_below(places_.size(), "a rule has no expression")].node; }
  const Place& operand() {
    const uint64_t back = in_.number();
    if (back == 0 || back > places_.size()) refuse("an operand is not there");
    return places_[places_.size() - back];
  }
  void add(const ExprNode& node, bool regular) {
    ir_.nodes.push_back(node);
    places_.push_back({static_cast<ExprId>(ir_.nodes.size() - 1), regular});
  }
  uint32_t depth_above(ExprId node) const { return ir_.nodes[node].depth + 1; }
  template <class Values>
  static uint32_t last_of(const Values& values) {
    return static_cast<uint32_t>(values.size() - 1);
  }

  void read_node() {
    const uint8_t number = in_.byte();
    if (number > static_cast<uint8_t>(Op::Value)) refuse("an expression has an unknown op");
    const auto op = static_cast<Op>(number);
    ExprNode node{.op = op};
    switch (op) {
      case Op::Empty:
      case Op::Never: return add(node, true);
      case Op::Literal: return read_literal(node);
      case Op::Set: return read_set(node);
      case Op::Seq:
      case Op::Alt:
      case Op::And: return read_many(node);
      case Op::Repeat:
      case Op::Not:
      case Op::Guard:
      case Op::Capture:
      case Op::Span:
      case Op::Scope:
      case Op::Remember:
      case Op::Multiple:
      case Op::Value: return read_one(node);
      case Op::Recall: return read_recall(node);
      case Op::Distinct: return read_distinct(node);
      case Op::Ref:
      case Op::Call: return read_call(node);
      case Op::Tokens: return read_tokens(node);
      case Op::Subgrammar: refuse("it refers to a grammar outside of it");
      case Op::Substrings: return read_substrings(node);
    }
  }

  void read_literal(ExprNode node) {
    const std::string_view text = in_.string();
    node.begin = static_cast<uint32_t>(ir_.bytes.size());
    ir_.bytes.append(text);
    node.end = static_cast<uint32_t>(ir_.bytes.size());
    if (text.empty()) node.op = Op::Empty;
    add(node, true);
  }

  void read_set(ExprNode node) {
    ByteSet set;
    for (int w = 0; w < 4; ++w)
      for (int shift = 0; shift < 64; shift += 8) set.word(w) |= uint64_t{in_.byte()} << shift;
    if (set.empty()) node.op = Op::Never;
    ir_.sets.push_back(set);
    node.begin = last_of(ir_.sets);
    add(node, true);
  }

  void read_many(ExprNode node) {
    const size_t count = in_.count();
    if (count < 2) refuse("an expression has too few operands");
    bool regular = true;
    node.begin = static_cast<uint32_t>(ir_.children.size());
    for (size_t i = 0; i < count; ++i) {
      const Place part = operand();
      regular &= part.regular;
      node.depth = std::max(node.depth, depth_above(part.node));
      ir_.children.push_back(part.node);
    }
    node.end = static_cast<uint32_t>(ir_.children.size());
    if (node.op == Op::And && !regular) refuse("an operand of an intersection is not regular");
    add(node, regular);
  }

  void read_one(ExprNode node) {
    const Place inner = operand();
    node.begin = inner.node;
    node.depth = depth_above(inner.node);
    bool regular = inner.regular, left_out = false;
    switch (node.op) {
      case Op::Not:
        if (!regular) refuse("the operand of a complement is not regular");
        break;
      case Op::Repeat: read_bounds(node); break;
      case Op::Guard:
        regular = false;
        ir_.conditions.push_back(read_condition(in_));
        node.end = last_of(ir_.conditions);
        break;
      case Op::Capture:
        regular = false;
        left_out = !with_captures_;
        read_capture(node);
        break;
      case Op::Scope: regular = false; break;
      case Op::Value:
        node.end = in_.byte();
        if (node.end > 1 || (node.end == 1 && !regular)) refuse("a value with one text is not regular");
        regular = false;
        break;
      case Op::Remember:
        if (!regular) refuse("what is remembered is not regular");
        regular = false;
        node.end = read_text_number();
        break;
      case Op::Multiple:
        if (!regular) refuse("numbers that are multiples are not regular");
        regular = false;
        read_multiple(node);
        break;
      default:
        regular = false;
        left_out = with_captures_;
        read_span(node);
    }
    if (left_out) return places_.push_back({inner.node, regular});
    add(node, regular);
  }

  uint32_t read_text_number() {
    const uint64_t number = in_.number();
    if (number < 1 || number > kMaxTextNumber) refuse("a remembered text has an impossible number");
    return static_cast<uint32_t>(number);
  }

  void read_multiple(ExprNode& node) {
    const uint64_t modulus = in_.number(), scale = in_.number();
    if (modulus < 1 || modulus > uint64_t{kMaxModulus} || scale > uint64_t{kMaxScale})
      refuse("numbers are multiples of what is impossible");
    node.minimum = static_cast<int64_t>(modulus);
    node.maximum = static_cast<int64_t>(scale);
  }

  void read_recall(ExprNode node) {
    ir_.sets.push_back(~ByteSet());
    ir_.nodes.push_back({.op = Op::Set, .begin = last_of(ir_.sets)});
    node.begin = static_cast<uint32_t>(ir_.nodes.size() - 1);
    node.end = read_text_number();
    add(node, false);
  }

  void read_distinct(ExprNode node) {
    const size_t count = in_.count();
    if (count < 2 || count % 2 != 0) refuse("a list of distinct elements has an impossible number of operands");
    std::vector<ExprId> operands;
    for (size_t i = 0; i < count; ++i) {
      const Place each = operand();
      if (i == 0 && !each.regular) refuse("a distinct element is not regular");
      operands.push_back(each.node);
      node.depth = std::max(node.depth, depth_above(each.node));
    }
    node.begin = static_cast<uint32_t>(ir_.children.size());
    ir_.children.append(operands);
    node.end = static_cast<uint32_t>(ir_.children.size());
    read_bounds(node);
    if (node.minimum < 1 || node.maximum == 0) refuse("a list of distinct elements has impossible bounds");
    add(node, false);
  }

  void read_bounds(ExprNode& node) {
    constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
    const uint64_t minimum = in_.number(), maximum = in_.number();  // the latter one more, 0 for any number
    if (minimum > kMost || maximum > kMost)
      throw LimitExceeded("repetition_bound", "a repetition has a bound beyond 64 bits");
    node.minimum = static_cast<int64_t>(minimum);
    node.maximum = static_cast<int64_t>(maximum) - 1;
    if (node.maximum != kUnbounded && node.maximum < node.minimum) refuse("a repetition has impossible bounds");
  }

  void read_capture(ExprNode& node) {
    std::string name(in_.name());
    if (name.find('\0') != std::string::npos) refuse("the name of a capture holds a zero byte");
    const size_t num_ends = in_.count();
    for (size_t i = 0; i < num_ends; ++i) add_capture_end(name, in_.string());
    ir_.names.push_back(std::move(name));
    node.end = last_of(ir_.names);
  }

  void read_span(ExprNode& node) {
    const uint64_t max_tokens = in_.number();
    if (max_tokens > static_cast<uint64_t>(kMaxTokenBudget)) refuse("a span has an impossible budget of tokens");
    SpanRule rule{.max_tokens = static_cast<uint32_t>(max_tokens)};
    std::memcpy(&rule.temperature, in_.bytes(sizeof rule.temperature).data(), sizeof rule.temperature);
    if (!std::isfinite(rule.temperature)) refuse("a temperature is not finite");
    ir_.spans.push_back(rule);
    node.end = last_of(ir_.spans);
  }

  void read_call(ExprNode node) {
    node.begin = in_.number_below(kMaxNodes, "a reference names no rule");
    names_rules_ = true;
    largest_rule_ = std::max<size_t>(largest_rule_, node.begin);
    if (node.op == Op::Call) {
      ir_.values.push_back(read_value(in_));
      node.end = last_of(ir_.values);
    }
    add(node, false);
  }

  void read_tokens(ExprNode node) {
    TokenSet set{.ids = {}, .by_exclusion = in_.flag()};
    const size_t count = in_.count();
    uint64_t id = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t step = in_.number();
      if (i > 0 && step == 0) refuse("token ids do not ascend");
      if (step > INT32_MAX || (id += step) > INT32_MAX) refuse("a token id does not fit in an int32");
      if (id < vocab_size_) set.ids.push_back(static_cast<TokenId>(id));
    }
    ir_.token_sets.push_back(std::move(set));
    node.begin = last_of(ir_.token_sets);
    add(node, false);
  }

  void read_substrings(ExprNode node) {
    ChunkList list;
    const size_t count = in_.count();
    if (count == 0) refuse("there are no chunks");
    for (size_t i = 0; i < count; ++i) {
      const std::string_view chunk = in_.string();
      if (chunk.empty()) refuse("a chunk is empty");
      list.bytes.append(chunk);
      list.ends.push_back(static_cast<uint32_t>(list.bytes.size()));
    }
    ir_.chunk_lists.push_back(std::move(list));
    node.begin = last_of(ir_.chunk_lists);
    add(node, false);
  }

  void read_named_tokens() {
    NamedTokens out{.rule = in_.number_below(ir_.rules.size(), "a token set stands for no rule"),
                    .negated = in_.flag(),
                    .names = {},
                    .id_ranges = {}};
    spend(vocab_size_);
    const size_t num_names = in_.count();
    for (size_t i = 0; i < num_names; ++i) {
      spend(vocab_size_);
      out.names.emplace_back(in_.name());
    }
    const size_t num_ranges = in_.count();
    for (size_t i = 0; i < num_ranges; ++i) {
      const uint64_t first = in_.number(), last = in_.number();
      if (first > last) refuse("a range of token ids ends before it begins");
      if (last > INT32_MAX) refuse("a token id does not fit in an int32");
      spend(last - first + kRangeCost);
      out.id_ranges.emplace_back(static_cast<TokenId>(first), static_cast<TokenId>(last));
    }
    named_tokens_.push_back(std::move(out));
  }

  void spend(uint64_t tokens) {
    if ((spent_ += tokens) > kMaxTokensSeen) throw LimitExceeded("grammar_size", "the token sets are too large");
  }

  Input in_;
  const uint32_t vocab_size_;
  const bool with_captures_;
  GrammarIr ir_;
  std::vector<NamedTokens> named_tokens_;
  std::vector<Place> places_;
  size_t largest_rule_ = 0;
  bool names_rules_ = false;
  uint64_t spent_ = 0;  // on token sets
};

}  // namespace

GrammarFile read_grammar(std::string_view data, uint32_t vocab_size, bool with_captures) {
  return GrammarBytes(data, vocab_size, with_captures).read();
}

void supply_tokens(GrammarIr& ir, const NamedTokens& named, std::vector<TokenId> ids) {
  ExprNode node{.op = ids.empty() ? Op::Never : Op::Tokens};
  ir.token_sets.push_back({std::move(ids), named.negated});
  node.begin = static_cast<uint32_t>(ir.token_sets.size() - 1);
  ir.nodes.push_back(node);
  ir.rules[named.rule] = static_cast<ExprId>(ir.nodes.size() - 1);
}

}  // namespace maskwright
