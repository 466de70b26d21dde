// A place in content (content.cpp), from which it is read on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace maskwright {

// What comes next is told by a letter: s text, i and I integers, d float, N T F null and booleans; m, l, t mapping,
// list and tuple, with the number of their members or parts. Throws std::invalid_argument where no content goes on like
// that.
class ContentCursor {
 public:
  explicit ContentCursor(std::string_view bytes) : rest_(bytes) {}
  bool at_end() const { return rest_.empty(); }
  size_t num_bytes_left() const { return rest_.size(); }
  char kind() { return take(1)[0]; }
  // Of what a kind announced.
  size_t size() {
    size_t size = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      const auto byte = static_cast<uint8_t>(take(1)[0]);
      size |= size_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return size;
    }
    malformed();
  }
  std::string_view text() { return take(size()); }
  int64_t integer() { return number<int64_t>(); }
  double real() { return number<double>(); }
  // A text, its kind included.
  std::string_view whole_text() {
    if (kind() != 's') malformed();
    return text();
  }
  // Goes past a value with all its parts, and returns how many values these are together.
  size_t skip() {
    size_t count = 0;
    for (size_t open = 1; open > 0; --open, ++count) {
      switch (kind()) {
        case 's': text(); break;
        case 'I': whole_text(); break;
        case 'i': integer(); break;
        case 'd': real(); break;
        case 'm': open += 2 * num_parts(); break;
        case 'l':
        case 't': open += num_parts(); break;
        case 'N':
        case 'T':
        case 'F': break;
        default: malformed();
      }
    }
    return count;
  }
  // Of a mapping, list or tuple.
  size_t num_parts() {
    const size_t parts = size();
    if (parts > rest_.size()) malformed();
    return parts;
  }
  [[noreturn]] static void malformed() { throw std::invalid_argument("no data have this content"); }

 private:
  std::string_view take(size_t size) {
    if (size > rest_.size()) malformed();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  template <class Number>
  Number number() {
    Number out;
    std::memcpy(&out, take(sizeof out).data(), sizeof out);
    return out;
  }
  std::string_view rest_;
};

}  // namespace maskwright
