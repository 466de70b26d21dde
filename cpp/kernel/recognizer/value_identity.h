// What a JSON text says, whatever its spelling: equal values have equal identities, different ones different ones.
//
//     { "b": 1.0, "a": "\u0078" }   and   {"a":"x","b":10e-1   →   {"a":"x","b":1e0}
//
// Members are sorted by name, and of several with one name the last counts, as for JSON.parse and json.loads. Strings
// are compared by their characters, numbers by their values. White space goes, and brackets that are open at the end
// are closed. Invariant: of a text that is not JSON the result is some text. No recursion.
//
// Cost: linear, but for objects whose members are not in order: these are written once more.
// Source: RFC 8785 orders members likewise. Tested by tests/exhaustive/test_distinct_values.py.
#pragma once

#include <string>
#include <string_view>

namespace maskwright {

// Throws LimitExceeded if an exponent has too many digits.
std::string identity_of(std::string_view json);

}  // namespace maskwright
