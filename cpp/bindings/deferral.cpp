// Schemas whose compilation can be deferred: src/maskwright/frontends/json_schema/normalise/deferral.py says what that
// means and what it is for. Here is the scan of a schema's content (content.cpp), at a tenth of its cost in Python.
//
// Each schema object is gone through once to find its keywords, and once more for each object around it, past which it
// is skipped. A schema for which that takes too many steps cannot be deferred.
// Tested by tests/frontends/json_schema/normalise/test_schema_deferral.py.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings.h"
#include "content_cursor.h"

namespace maskwright {
namespace {

constexpr size_t kMostSchemas = 2'000;
constexpr size_t kMostSteps = 1'000'000;
constexpr double kMost = 9007199254740991;  // of numbers: doubles hold all integers so far
constexpr double kMostLength = 1e9;         // of strings: the kernel counts so far
constexpr double kMostItems = 1'000;
constexpr double kShortEnough = 64;    // each format has strings of so many characters, and of one or more
constexpr double kLongBound = 65'536;  // of a string's length
constexpr size_t kMostDefinitions = 500;

// At most so many bytes are a short value, in JSON without white space.
constexpr double kBytesOfLiteral = 5, kBytesOfFreeValue = 4, kBytesOfBoundedNumber = 40;
constexpr double kBytesOfFormat = 2 * kShortEnough;
constexpr double kBytesOfCharacter = 12;  // at most, as two escapes
constexpr double kBytesOfMember = 6;      // beside its name and value: quotes, a colon, a comma, and spaces
constexpr double kBytesNotKnown = 1e18;
constexpr double kMostBytes = 1e6;  // of what counts as short

enum Keyword : uint8_t {
  kType,
  kEnum,
  kConst,
  kFormat,
  kPattern,
  kMinLength,
  kMaxLength,
  kMinimum,
  kMaximum,
  kExclusiveMinimum,
  kExclusiveMaximum,
  kMinItems,
  kMaxItems,
  kItems,
  kProperties,
  kRequired,
  kAdditionalProperties,
  kAnyOf,
  kOneOf,
  kAllOf,
  kRef,
  kDefs,
  kDefinitions,
  kSchemaUri,
  kNumKeywords,
};
constexpr std::array<std::string_view, kNumKeywords> kKeywords{"type",
                                                               "enum",
                                                               "const",
                                                               "format",
                                                               "pattern",
                                                               "minLength",
                                                               "maxLength",
                                                               "minimum",
                                                               "maximum",
                                                               "exclusiveMinimum",
                                                               "exclusiveMaximum",
                                                               "minItems",
                                                               "maxItems",
                                                               "items",
                                                               "properties",
                                                               "required",
                                                               "additionalProperties",
                                                               "anyOf",
                                                               "oneOf",
                                                               "allOf",
                                                               "$ref",
                                                               "$defs",
                                                               "definitions",
                                                               "$schema"};
constexpr std::array<std::string_view, 8> kAnnotations{"title",    "description", "default",  "examples",
                                                       "$comment", "deprecated",  "readOnly", "writeOnly"};
constexpr std::array<std::string_view, 5> kDrafts{"draft-04", "draft-06", "draft-07", "2019-09", "2020-12"};

using KeywordSet = uint32_t;
constexpr KeywordSet set_of(std::initializer_list<Keyword> keywords) {
  KeywordSet out = 0;
  for (const Keyword each : keywords) out |= KeywordSet{1} << each;
  return out;
}

// A type, the keywords that a schema of it may have, and the kinds of its values in `enum` and `const`.
struct Type {
  std::string_view name;
  KeywordSet keywords;
  std::string_view kinds;
};
constexpr KeywordSet kListed = set_of({kType, kEnum, kConst});
constexpr KeywordSet kBounds = set_of({kMinimum, kMaximum, kExclusiveMinimum, kExclusiveMaximum});
constexpr std::array<Type, 7> kTypes{{
    {"null", kListed, "N"},
    {"boolean", kListed, "TF"},
    {"string", kListed | set_of({kFormat, kPattern, kMinLength, kMaxLength}), "s"},
    {"integer", kListed | kBounds | set_of({kFormat}), "i"},
    {"number", kListed | kBounds | set_of({kFormat}), "i"},
    {"array", set_of({kType, kItems, kMinItems, kMaxItems}), ""},
    {"object", set_of({kType, kProperties, kRequired, kAdditionalProperties}), ""},
}};

const Type* type_named(std::string_view name) {
  const auto* const it = std::ranges::find(kTypes, name, &Type::name);
  return it == kTypes.end() ? nullptr : it;
}

// Names that no argument in Python can have.
constexpr std::array<std::string_view, 35> kPythonKeywords{
    "False",  "None",     "True", "and",    "as",   "assert", "async",  "await",   "break", "class",  "continue", "def",
    "del",    "elif",     "else", "except", "for",  "from",   "global", "finally", "if",    "import", "in",       "is",
    "lambda", "nonlocal", "not",  "or",     "pass", "raise",  "return", "try",     "while", "with",   "yield"};

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); }) &&
         std::ranges::find(kPythonKeywords, name) == kPythonKeywords.end();
}

// One that every style can write.
bool is_plain_name(std::string_view name) {
  return !name.empty() && std::ranges::none_of(name, [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '<' || c == '>' || c == '"';
  });
}

// Bytes in which a value can be written, and the values and members in it, each of which a style may put between marks.
struct Size {
  double bytes = 0, marks = 0;
  void add(const Size& other, double times) {
    bytes += times * other.bytes;
    marks += times * other.marks;
  }
};

// Which definitions lead to which, and how large each is: a schema is finite if none leads to itself.
class Definitions {
  struct Reference {
    uint32_t from, to;
    double times;  // as often as that is written at most
  };
  std::span<const Reference> references_of(uint32_t caller) const {
    return std::ranges::equal_range(references_, caller, {}, &Reference::from);
  }

 public:
  static constexpr uint32_t kRoot = 0;

  // The number of a definition with this pointer, from 1 on.
  uint32_t add(std::string_view folder, std::string_view name) {
    names_.emplace(std::string(folder).append(name), ++num_);
    sizes_.emplace_back();
    return num_;
  }
  size_t size() const { return num_; }

  bool refer(uint32_t from, std::string_view reference, double times) {
    const auto it = names_.find(std::string(reference));
    if (it == names_.end()) return false;
    references_.push_back({from, it->second, times});
    return true;
  }
  void grow(uint32_t definition, const Size& by, double times) { sizes_[definition].add(by, times); }

  // That of the root; nothing if it is not finite.
  std::optional<Size> size_of_root() {
    std::vector<uint32_t> num_callers(num_ + 1);
    for (const Reference& each : references_) ++num_callers[each.to];
    std::vector<uint32_t> done;
    for (uint32_t i = 0; i <= num_; ++i)
      if (num_callers[i] == 0) done.push_back(i);
    std::ranges::sort(references_, {}, &Reference::from);
    for (size_t i = 0; i < done.size(); ++i)
      for (const Reference& each : references_of(done[i]))
        if (--num_callers[each.to] == 0) done.push_back(each.to);
    if (done.size() != num_ + 1) return std::nullopt;
    for (const uint32_t caller : std::views::reverse(done))
      for (const Reference& each : references_of(caller)) sizes_[caller].add(sizes_[each.to], each.times);
    return sizes_[kRoot];
  }

 private:
  std::unordered_map<std::string, uint32_t> names_;
  std::vector<Reference> references_;
  std::vector<Size> sizes_{Size{}};  // without what they refer to, before all is known
  uint32_t num_ = 0;
};

// What the scan shows of a schema that can be deferred; deferral.py says what each means.
struct Deferral {
  bool has_required = false;
  bool has_members = false;
  bool has_long_strings = false;
  bool has_free_values = false;
  bool has_free_objects = false;
  bool has_formats = false;
  bool has_unknown_formats = false;
  bool names_arguments = true;
  Size size = {};
};

class SchemaScan {
 public:
  // `formats`: the names of those that are known. `length_of_match`: of a plain string that a pattern matches, or -1.
  // `is_ignored`: whether a keyword says nothing of values, and is not reported either.
  SchemaScan(nb::handle formats, nb::handle length_of_match, nb::handle is_ignored)
      : formats_(formats), length_of_match_(length_of_match), is_ignored_(is_ignored) {}

  std::optional<Deferral> look(std::string_view content) {
    open_.push_back({ContentCursor(content), Definitions::kRoot});
    for (size_t i = 0; i < open_.size(); ++i) {
      if (open_.size() > kMostSchemas) return std::nullopt;
      const Open next = open_[i];
      if (!(i == 0 ? admits_root(next.schema) : admits(next))) return std::nullopt;
    }
    const auto size = definitions_.size_of_root();
    if (!size) return std::nullopt;
    seen_.size = *size;
    return seen_;
  }

 private:
  // What a schema object says.
  struct Said {
    KeywordSet keywords = 0;
    std::array<std::optional<ContentCursor>, kNumKeywords> values;
    bool has(Keyword keyword) const { return values[keyword].has_value(); }
    bool has_any(KeywordSet set) const { return (keywords & set) != 0; }
    bool has_only(KeywordSet set) const { return (keywords & ~set) == 0; }
  };
  // A schema to be looked at, the definition that it is in, and how often a short value of that has one of its values.
  struct Open {
    ContentCursor schema;
    uint32_t within;
    bool is_definition = false;
    double times = 1;
  };

  bool admits_root(ContentCursor schema) {
    Said said;
    if (schema.kind() != 'm' || !read(schema, said)) return false;
    if (said.has(kSchemaUri) && !is_known_draft(*said.values[kSchemaUri])) return false;
    for (const auto& [keyword, folder] : {std::pair(kDefs, "#/$defs/"), std::pair(kDefinitions, "#/definitions/")})
      if (said.has(keyword) && !define(*said.values[keyword], folder)) return false;
    said.keywords &= ~set_of({kSchemaUri, kDefs, kDefinitions});
    if (!said.has(kType)) return false;
    ContentCursor type = *said.values[kType];
    if (type.kind() != 's' || type.text() != "object") return false;
    seen_.has_required = says_required(said);
    if (!typed(said, "object")) return false;
    seen_.names_arguments = std::ranges::all_of(names_, is_identifier);
    seen_.has_members = !names_.empty() || !is_closed(said);
    return true;
  }

  bool define(ContentCursor schemas, std::string_view folder) {
    if (schemas.kind() != 'm') return false;
    for (size_t members = schemas.num_parts(); members > 0; --members) {
      const std::string_view name = schemas.whole_text();
      const auto is_bare = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
      };
      if (name.empty() || !std::ranges::all_of(name, is_bare) || definitions_.size() >= kMostDefinitions) return false;
      if (!open(schemas, {.schema = schemas, .within = definitions_.add(folder, name), .is_definition = true}))
        return false;
    }
    return true;
  }

  // Of which the values of definitions are told at once, so that references do not follow each other in place.
  bool admits(const Open& it) {
    within_ = it.within;
    times_ = it.times;
    ContentCursor schema = it.schema;
    const char kind = schema.kind();
    Said said;
    if (kind == 'T' && !it.is_definition) {
      write(kBytesOfFreeValue);
      return seen_.has_free_values = true;
    }
    if (kind != 'm' || !read(schema, said)) return false;
    if (!said.has(kType)) return (!it.is_definition || said.has_any(kListed)) && untyped(said);
    ContentCursor type = *said.values[kType];
    switch (type.kind()) {
      case 's': return typed(said, type.text());
      case 'l': return of_types(said, type);
      default: return false;
    }
  }

  // Finds the keywords of a mapping that begins there. False if there are others, or one of a later draft, or if it
  // took too long.
  bool read(ContentCursor& schema, Said& said) {
    for (size_t members = schema.num_parts(); members > 0; --members) {
      const std::string_view key = schema.whole_text();
      const auto* const known = std::ranges::find(kKeywords, key);
      if (known != kKeywords.end()) {
        const auto keyword = static_cast<Keyword>(known - kKeywords.begin());
        said.keywords |= set_of({keyword});
        said.values[keyword] = schema;
      } else if (std::ranges::find(kAnnotations, key) == kAnnotations.end() &&
                 !nb::cast<bool>(is_ignored_(string_of(key)))) {
        return false;
      }
      if (!pass(schema)) return false;
    }
    return !(is_draft_4_ && said.has(kConst));
  }

  // Goes past a value. False if it took too long.
  bool pass(ContentCursor& at) {
    num_steps_ += 1 + at.skip();
    return num_steps_ <= kMostSteps;
  }

  // Keeps a schema to be looked at, and goes past it.
  bool open(ContentCursor& at, const Open& schema) {
    open_.push_back(schema);
    return pass(at) && open_.size() <= kMostSchemas;
  }
  bool open(ContentCursor& at, double times = 1) {
    return open(at, {.schema = at, .within = within_, .times = times_ * times});
  }

  // What is looked at may take so many bytes more, beside what is still to be looked at.
  void write(double bytes) { definitions_.grow(within_, {.bytes = bytes, .marks = 1}, times_); }

  static bool says_required(const Said& said) {
    if (!said.has(kRequired)) return false;
    ContentCursor required = *said.values[kRequired];
    return required.kind() == 'l' && required.num_parts() > 0;
  }

  static bool is_closed(const Said& said) {
    if (!said.has(kAdditionalProperties)) return false;
    ContentCursor others = *said.values[kAdditionalProperties];
    return others.kind() == 'F';
  }

  bool is_known_draft(ContentCursor uri) {
    if (uri.kind() != 's') return false;
    const std::string_view text = uri.text();
    is_draft_4_ = text.find("draft-04") != text.npos;
    return std::ranges::any_of(kDrafts, [&](std::string_view draft) { return text.find(draft) != text.npos; });
  }

  bool untyped(const Said& said) {
    if (said.keywords == set_of({kEnum})) return is_list_of(*said.values[kEnum], "siTFN");
    if (said.keywords == set_of({kConst})) return is_one_of(*said.values[kConst], "siTFN");
    if (said.keywords == set_of({kAnyOf})) return alternatives(*said.values[kAnyOf], false);
    if (said.keywords == set_of({kOneOf})) return alternatives(*said.values[kOneOf], true);
    if (said.keywords == set_of({kAllOf})) return same_as_one(*said.values[kAllOf]);
    if (said.keywords == set_of({kRef})) return refers(*said.values[kRef]);
    seen_.has_free_values = true;
    write(kBytesOfFreeValue);
    return said.keywords == 0;
  }

  bool refers(ContentCursor reference) {
    return reference.kind() == 's' && definitions_.refer(within_, reference.text(), times_);
  }

  // As authors put annotations beside a reference where they do not count.
  bool same_as_one(ContentCursor schemas) {
    if (schemas.kind() != 'l' || schemas.num_parts() != 1 || schemas.kind() != 'm') return false;
    Said said;
    return read(schemas, said) && said.keywords == set_of({kRef}) && refers(*said.values[kRef]);
  }

  // Of which none is a list of alternatives itself; if only one may hold, they have different types.
  bool alternatives(ContentCursor schemas, bool exclusive) {
    if (schemas.kind() != 'l') return false;
    size_t count = schemas.num_parts();
    if (count == 0) return false;
    std::vector<std::string_view> types;
    for (; count > 0; --count) {
      ContentCursor inner = schemas;
      Said said;
      const bool is_object = inner.kind() == 'm';
      if (is_object && (!read(inner, said) || said.has_any(set_of({kAnyOf, kOneOf, kAllOf})))) return false;
      if (exclusive) {
        if (!said.has(kType)) return false;
        ContentCursor type = *said.values[kType];
        if (type.kind() != 's') return false;
        const std::string_view name = type.text();
        types.push_back(name == "integer" ? "number" : name);
        if (std::ranges::count(types, types.back()) > 1) return false;
      }
      if (!open(schemas)) return false;
    }
    return true;
  }

  // Values of one of several types: what is said of each holds of its own.
  bool of_types(const Said& said, ContentCursor names) {
    size_t count = names.num_parts();
    if (count == 0) return false;
    KeywordSet known = 0;
    std::string kinds;
    std::vector<const Type*> types;
    for (; count > 0; --count) {
      const Type* const type = names.kind() == 's' ? type_named(names.text()) : nullptr;
      if (!type || std::ranges::find(types, type) != types.end()) return false;
      types.push_back(type);
      known |= type->keywords;
      kinds += type->kinds;
    }
    if (!said.has_only(known)) return false;
    if (said.has_any(set_of({kEnum, kConst}))) return is_listed(said, kinds);
    return std::ranges::all_of(types, [&](const Type* type) { return typed_alone(said, type->name); });
  }

  bool typed(const Said& said, std::string_view name) {
    const Type* const type = type_named(name);
    if (!type || !said.has_only(type->keywords)) return false;
    return said.has_any(set_of({kEnum, kConst})) ? is_listed(said, type->kinds) : typed_alone(said, name);
  }

  // By `enum` or `const` and nothing but its type.
  bool is_listed(const Said& said, std::string_view kinds) {
    if (said.keywords == set_of({kType, kEnum})) return is_list_of(*said.values[kEnum], kinds);
    return said.keywords == set_of({kType, kConst}) && is_one_of(*said.values[kConst], kinds);
  }

  // What is said of values of one type, whatever is said of others.
  bool typed_alone(const Said& said, std::string_view name) {
    switch (name[0]) {
      case 's': return string(said);
      case 'i': return number(said, false);
      case 'a': return array(said);
      case 'o': return object(said);
      default: break;
    }
    if (name == "number") return number(said, true);
    write(kBytesOfLiteral);
    return true;
  }

  bool number(const Said& said, bool may_be_real) {
    write(said.has_any(kBounds | set_of({kFormat})) ? kBytesOfBoundedNumber : kBytesOfLiteral);
    const bool is_exclusive = said.has_any(set_of({kExclusiveMinimum, kExclusiveMaximum}));
    if (is_exclusive && is_draft_4_) return false;
    const auto limits = may_be_real ? std::nullopt : limits_of_format(said);
    if (said.has(kFormat) && !limits && !is_known_format(said) && !takes_unknown_format()) return false;
    const auto low = bound(said, {kMinimum, kExclusiveMinimum}, -kMost, may_be_real);
    const auto high = bound(said, {kMaximum, kExclusiveMaximum}, kMost, may_be_real);
    if (!low || !high || low->first < -kMost || high->second > kMost) return false;
    const double least = limits ? std::max(low->second, limits->first) : low->second;
    const double most = limits ? std::min(high->first, limits->second) : high->first;
    return least + (is_exclusive ? 2 : 0) <= most;
  }

  // The least and the greatest integer of a format such as int32; formats.py has these formats, too.
  std::optional<std::pair<double, double>> limits_of_format(const Said& said) {
    if (!said.has(kFormat)) return std::nullopt;
    ContentCursor value = *said.values[kFormat];
    if (value.kind() != 's') return std::nullopt;
    const std::string_view name = value.text();
    for (const int bits : {8, 16, 32, 64}) {
      const std::string with_sign = "int" + std::to_string(bits);
      if (name != with_sign && name != "u" + with_sign) continue;
      seen_.has_formats = true;
      const double half = std::exp2(bits - 1);
      return name == with_sign ? std::pair(-half, half - 1) : std::pair(0.0, 2 * half - 1);
    }
    return std::nullopt;
  }

  bool string(const Said& said) {
    const auto low = bound(said, {kMinLength}, 0, false), high = bound(said, {kMaxLength}, kMostLength, false);
    if (!low || !high || low->first < 0 || low->second > high->first || high->second > kMostLength) return false;
    seen_.has_long_strings =
        seen_.has_long_strings || low->second > kLongBound || (said.has(kMaxLength) && high->second > kLongBound);
    if (!said.has(kPattern)) write(low->second + (said.has(kFormat) ? kBytesOfFormat : kBytesOfLiteral));
    if (!said.has_any(set_of({kFormat, kPattern}))) return true;
    if (said.has(kPattern)) {
      ContentCursor pattern = *said.values[kPattern];
      if (said.has(kFormat) || pattern.kind() != 's' || (said.has(kMaxLength) && high->second > kLongBound))
        return false;
      const auto length = nb::cast<double>(length_of_match_(string_of(pattern.text())));
      const bool is_searched = said.has(kMinLength) && !said.has(kMaxLength);
      write(is_searched ? kBytesNotKnown
                        : kBytesOfFormat + kBytesOfCharacter * (said.has(kMaxLength) ? high->second : length));
      return low->second <= length && length <= high->first;
    }
    if (!is_known_format(said)) return takes_unknown_format();
    return low->second <= 1 && high->first >= kShortEnough;
  }

  bool is_known_format(const Said& said) {
    seen_.has_formats = true;
    ContentCursor name = *said.values[kFormat];
    return name.kind() == 's' && is_among(name.text(), formats_);
  }

  // It says nothing and is reported, by a pointer that has to be found again: not through a reference.
  bool takes_unknown_format() {
    seen_.has_unknown_formats = true;
    return within_ == Definitions::kRoot;
  }

  static nb::object string_of(std::string_view text) {
    nb::object string =
        nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass"));
    if (!string.is_valid()) throw nb::python_error();
    return string;
  }

  static bool is_among(std::string_view name, nb::handle known) {
    return nb::cast<bool>(known.attr("__contains__")(string_of(name)));
  }

  bool array(const Said& said) {
    const auto low = bound(said, {kMinItems}, 0, false), high = bound(said, {kMaxItems}, kMostItems, false);
    if (!low || !high || low->first < 0 || low->second > high->first || high->second > kMostItems) return false;
    write(kBytesOfLiteral + low->second * kBytesOfMember);
    if (!said.has(kItems)) {
      definitions_.grow(within_, {.bytes = kBytesOfFreeValue, .marks = 1}, times_ * low->second);
      return seen_.has_free_values = true;
    }
    if (high->second < 1) return false;  // nobody looks at what its items would be
    ContentCursor items = *said.values[kItems];
    return open(items, low->second);
  }

  bool object(const Said& said) {
    names_.clear();
    double bytes = kBytesOfLiteral;
    if (said.has(kProperties)) {
      ContentCursor properties = *said.values[kProperties];
      if (properties.kind() != 'm') return false;
      for (size_t members = properties.num_parts(); members > 0; --members) {
        names_.push_back(properties.whole_text());
        bytes += kBytesOfMember + bytes_of_text(names_.back());
        if (!is_plain_name(names_.back()) || !open(properties)) return false;
      }
    }
    write(bytes);
    if (names_.empty()) seen_.has_free_values = seen_.has_free_objects = true;
    if (said.has(kAdditionalProperties) && !is_closed(said)) {
      ContentCursor others = *said.values[kAdditionalProperties];
      if (!open(others, 0)) return false;
    }
    if (!said.has(kRequired)) return true;
    ContentCursor required = *said.values[kRequired];
    if (required.kind() != 'l') return false;
    std::ranges::sort(names_);
    for (size_t count = required.num_parts(); count > 0; --count)
      if (required.kind() != 's' || !std::ranges::binary_search(names_, required.text())) return false;
    return true;
  }

  // Whether it is a list of values of these kinds, and not empty.
  bool is_list_of(ContentCursor values, std::string_view kinds) {
    if (values.kind() != 'l') return false;
    const size_t count = values.num_parts();
    double bytes = kBytesOfLiteral;
    for (size_t i = 0; i < count; ++i)
      if (!take_one_of(values, kinds, bytes)) return false;
    write(bytes);
    return count > 0;
  }

  bool is_one_of(ContentCursor value, std::string_view kinds) {
    double bytes = kBytesOfLiteral;
    const bool is_one = take_one_of(value, kinds, bytes);
    write(bytes);
    return is_one;
  }

  // `bytes`: of the longest value so far.
  static bool take_one_of(ContentCursor& value, std::string_view kinds, double& bytes) {
    const char kind = value.kind();
    if (kinds.find(kind) == kinds.npos) return false;
    if (kind == 's') bytes = std::max(bytes, kBytesOfLiteral + bytes_of_text(value.text()));
    if (kind != 'i') return true;
    bytes = std::max(bytes, kBytesOfBoundedNumber);
    return std::abs(static_cast<double>(value.integer())) <= kMost;
  }

  // With escapes, which for other characters than ASCII have six bytes for two.
  static double bytes_of_text(std::string_view text) {
    double bytes = 0;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      bytes += byte < ' ' ? 6 : byte >= 0x80 ? 3 : c == '&' ? 5 : c == '"' || c == '\\' ? 2 : 1;
    }
    return bytes;
  }

  // The least and the greatest of the bounds that these keywords set, or the usual one. Nothing if one is no number.
  static std::optional<std::pair<double, double>> bound(const Said& said, std::initializer_list<Keyword> keywords,
                                                        double usual, bool may_be_real) {
    std::optional<std::pair<double, double>> out;
    for (const Keyword keyword : keywords) {
      if (!said.has(keyword)) continue;
      ContentCursor value = *said.values[keyword];
      const char kind = value.kind();
      if (kind != 'i' && !(kind == 'd' && may_be_real)) return std::nullopt;
      const double number = kind == 'i' ? static_cast<double>(value.integer()) : value.real();
      if (!std::isfinite(number)) return std::nullopt;
      out = out ? std::pair(std::min(out->first, number), std::max(out->second, number)) : std::pair(number, number);
    }
    return out ? out : std::pair(usual, usual);
  }

  nb::handle formats_;
  nb::handle length_of_match_;
  nb::handle is_ignored_;
  std::vector<Open> open_;                // to be looked at, while it grows
  uint32_t within_ = Definitions::kRoot;  // of the schema that is looked at
  double times_ = 1;                      // of the same
  std::vector<std::string_view> names_;
  Definitions definitions_;
  bool is_draft_4_ = false;  // in which exclusive bounds are flags
  size_t num_steps_ = 0;
  Deferral seen_;
};

nb::object can_defer(const nb::bytes& content, nb::handle formats, nb::handle length_of_match, nb::handle is_ignored) {
  const auto seen = SchemaScan(formats, length_of_match, is_ignored).look({content.c_str(), content.size()});
  if (!seen) return nb::none();
  const auto [bytes, marks] = seen->size;
  const bool is_known = bytes <= kMostBytes && marks <= kMostBytes;
  return nb::make_tuple(seen->has_required, seen->has_members, seen->has_long_strings, seen->has_free_values,
                        seen->has_free_objects, seen->has_formats, seen->has_unknown_formats, seen->names_arguments,
                        is_known ? static_cast<int64_t>(bytes) : -1, is_known ? static_cast<int64_t>(marks) : 0);
}

}  // namespace

void bind_deferral(nb::module_& m) {
  m.def("can_defer", &can_defer, nb::arg("content"), nb::arg("formats"), nb::arg("length_of_match"),
        nb::arg("is_ignored"),
        nb::sig("def can_defer(content: bytes, formats: typing.Container[str], length_of_match: "
                "typing.Callable[[str], int], is_ignored: typing.Callable[[str], bool]) -> "
                "tuple[bool, bool, bool, bool, bool, bool, bool, bool, int, int] | None"),
        "Scans a schema's content; None if compiling it cannot be deferred "
        "(frontends/json_schema/normalise/deferral.py).");
}

}  // namespace maskwright
