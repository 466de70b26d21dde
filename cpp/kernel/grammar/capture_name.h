// The name of a capture together with its ends, as one string, so that both are part of a rule's identity.
//
// The name, then each end behind its length in four bytes and a zero byte in front: names of captures hold no zero
// byte. Tested by tests/contract/test_captures.py.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace maskwright {

inline void add_capture_end(std::string& name, std::string_view end) {
  const auto size = static_cast<uint32_t>(end.size());
  name.push_back('\0');
  name.append(reinterpret_cast<const char*>(&size), sizeof size);
  name.append(end);
}

// Takes the ends off a name and returns them.
inline std::vector<std::string> take_capture_ends(std::string& name) {
  std::vector<std::string> ends;
  const size_t first = name.find('\0');
  for (size_t at = first; at < name.size();) {
    uint32_t size;
    std::memcpy(&size, name.data() + at + 1, sizeof size);
    ends.push_back(name.substr(at + 1 + sizeof size, size));
    at += 1 + sizeof size + size;
  }
  if (first != std::string::npos) name.resize(first);
  return ends;
}

}  // namespace maskwright
