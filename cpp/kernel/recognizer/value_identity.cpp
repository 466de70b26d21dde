#include "recognizer/value_identity.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/errors.h"
#include "support/work.h"

namespace maskwright {
namespace {

constexpr size_t kMaxExponentDigits = 15;  // with as many digits before it as memory holds, it stays within 64 bits
constexpr size_t kBytesPerStep = 64;       // copied

bool is_digit(char c) {
  return '0' <= c && c <= '9';
}

bool is_in_number(char c) {
  return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return 'a' <= lower && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool is_high_surrogate(int unit) {
  return 0xD800 <= unit && unit <= 0xDBFF;
}

bool is_low_surrogate(int unit) {
  return 0xDC00 <= unit && unit <= 0xDFFF;
}

class IdentityWriter {
 public:
  explicit IdentityWriter(std::string_view json) : json_(json) {}

  std::string write() {
    while (at_ < json_.size()) write_next();
    while (!open_.empty()) close();
    return std::move(out_);
  }

 private:
  struct Member {
    size_t begin, name_end, end;  // in what is written
  };
  struct Container {
    size_t begin;
    bool is_object;
    bool expects_name;
    std::vector<Member> members;
  };

  void write_next() {
    const char c = json_[at_];
    if (c == '"') return write_string();
    if (c == '-' || is_digit(c)) return write_number();
    ++at_;
    switch (c) {
      case '{':
      case '[':
        open_.push_back({out_.size(), c == '{', c == '{', {}});
        out_ += c;
        return;
      case '}':
      case ']':
        if (!open_.empty()) close();
        return;
      case ',': return write_comma();
      case ' ':
      case '\t':
      case '\n':
      case '\r': return;
      default: out_ += c;
    }
  }

  void write_comma() {
    if (!open_.empty()) end_member();
    out_ += ',';
    if (!open_.empty()) open_.back().expects_name = open_.back().is_object;
  }

  void end_member() {
    std::vector<Member>& members = open_.back().members;
    if (!members.empty()) members.back().end = out_.size();
  }

  void close() {
    end_member();
    Container& container = open_.back();
    put_in_order(container);
    out_ += container.is_object ? '}' : ']';
    open_.pop_back();
  }

  std::string_view name(const Member& member) const {
    return std::string_view(out_).substr(member.begin, member.name_end - member.begin);
  }

  void put_in_order(Container& container) {
    std::vector<Member>& members = container.members;
    Work::spend(members.size());
    const auto is_before = [this](const Member& a, const Member& b) { return name(a) < name(b); };
    const auto stands_wrong = [&](const Member& a, const Member& b) { return !is_before(a, b); };
    if (std::adjacent_find(members.begin(), members.end(), stands_wrong) == members.end()) return;
    std::stable_sort(members.begin(), members.end(), is_before);
    Work::spend((out_.size() - container.begin) / kBytesPerStep);
    std::string ordered;
    for (size_t m = 0; m < members.size(); ++m) {
      if (m + 1 < members.size() && name(members[m]) == name(members[m + 1])) continue;
      if (!ordered.empty()) ordered += ',';
      ordered.append(out_, members[m].begin, members[m].end - members[m].begin);
    }
    out_.replace(container.begin + 1, std::string::npos, ordered);
  }

  void write_string() {
    const bool is_name = !open_.empty() && open_.back().expects_name;
    const size_t begin = out_.size();
    out_ += json_[at_++];
    while (at_ < json_.size() && json_[at_] != '"') write_character();
    if (at_ < json_.size()) ++at_;
    out_ += '"';
    if (!is_name) return;
    open_.back().members.push_back({begin, out_.size(), out_.size()});
    open_.back().expects_name = false;
  }

  void write_character() {
    const char c = json_[at_++];
    if (c != '\\' || at_ == json_.size()) {
      out_ += c;
      return;
    }
    switch (const char letter = json_[at_++]) {
      case 'b': out_ += '\b'; return;
      case 'f': out_ += '\f'; return;
      case 'n': out_ += '\n'; return;
      case 'r': out_ += '\r'; return;
      case 't': out_ += '\t'; return;
      case 'u': return write_code_unit();
      case '/': out_ += '/'; return;
      default: (out_ += '\\') += letter;  // a quote or a backslash, which are written so only
    }
  }

  // The number that follows `\u`, or -1.
  int code_unit_at(size_t position) const {
    int unit = 0;
    for (size_t i = position; i < position + 4; ++i) {
      const int digit = i < json_.size() ? hex_digit(json_[i]) : -1;
      if (digit < 0) return -1;
      unit = unit << 4 | digit;
    }
    return unit;
  }

  void write_code_unit() {
    const int unit = code_unit_at(at_);
    if (unit < 0) {
      out_ += "\\u";
      return;
    }
    at_ += 4;
    if (is_high_surrogate(unit) && json_.substr(at_, 2) == "\\u")
      if (const int low = code_unit_at(at_ + 2); is_low_surrogate(low)) {
        at_ += 6;
        return write_character_of(0x10000 + ((unit - 0xD800) << 10 | (low - 0xDC00)));
      }
    if (unit == '"' || unit == '\\')
      (out_ += '\\') += static_cast<char>(unit);
    else
      write_character_of(unit);
  }

  // As UTF-8; half of a pair in the same way, as nothing else is written so.
  void write_character_of(int point) {
    const auto add = [this](int byte) { out_ += static_cast<char>(byte); };
    if (point < 0x80) return add(point);
    if (point < 0x800) {
      add(0xC0 | point >> 6);
    } else {
      if (point < 0x10000) {
        add(0xE0 | point >> 12);
      } else {
        add(0xF0 | point >> 18);
        add(0x80 | (point >> 12 & 0x3F));
      }
      add(0x80 | (point >> 6 & 0x3F));
    }
    add(0x80 | (point & 0x3F));
  }

  // Its digits without zeros around them, and the power of ten by which they are multiplied.
  void write_number() {
    const bool is_negative = json_[at_] == '-';
    if (is_negative) ++at_;
    std::string digits;
    int64_t exponent = 0;
    bool is_behind_point = false;
    for (; at_ < json_.size() && is_in_number(json_[at_]); ++at_) {
      const char c = json_[at_];
      if (c == 'e' || c == 'E') {
        exponent += read_exponent();
        break;
      }
      if (c == '.') {
        is_behind_point = true;
      } else if (is_digit(c)) {
        if (!digits.empty() || c != '0') digits += c;
        exponent -= is_behind_point;
      }
    }
    while (digits.ends_with('0')) {
      digits.pop_back();
      ++exponent;
    }
    if (digits.empty()) {
      out_ += '0';
      return;
    }
    if (is_negative) out_ += '-';
    ((out_ += digits) += 'e') += std::to_string(exponent);
  }

  // What follows the letter.
  int64_t read_exponent() {
    ++at_;
    const bool is_negative = at_ < json_.size() && json_[at_] == '-';
    size_t num_digits = 0;
    int64_t value = 0;
    for (; at_ < json_.size() && is_in_number(json_[at_]); ++at_) {
      if (!is_digit(json_[at_]) || (value == 0 && json_[at_] == '0')) continue;
      if (++num_digits > kMaxExponentDigits)
        throw LimitExceeded("remembered_text", "a number among items that must differ has an exponent of more than " +
                                                   std::to_string(kMaxExponentDigits) + " digits");
      value = 10 * value + (json_[at_] - '0');
    }
    return is_negative ? -value : value;
  }

  std::string_view json_;
  size_t at_ = 0;
  std::string out_;
  std::vector<Container> open_;
};

}  // namespace

std::string identity_of(std::string_view json) {
  Work::spend(json.size() / kBytesPerStep + 1);
  return IdentityWriter(json).write();
}

}  // namespace maskwright
