// Schemas of which a glance shows that they can be compiled: src/maskwright/frontends/json_schema/evident.py says what
// that means and what it is for. Here is the glance, at a schema's content (content.cpp), where it costs a tenth.
//
// Each schema object is gone through once to find its keywords, and once more for each object around it, past which it
// is skipped. A schema for which that takes too many steps is not evident.
// Tested by tests/frontends/json_schema/test_schema_evident.py.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.h"
#include "content_cursor.h"

namespace maskwright {
namespace {

constexpr size_t kMostSchemas = 2'000;
constexpr size_t kMostSteps = 1'000'000;
constexpr double kMost = 1e15;       // of numbers: doubles hold all integers so far
constexpr double kMostLength = 1e9;  // of strings: the kernel counts so far
constexpr double kMostItems = 1'000;

enum Keyword : uint8_t {
  kType,
  kEnum,
  kFormat,
  kMinLength,
  kMaxLength,
  kMinimum,
  kMaximum,
  kMinItems,
  kMaxItems,
  kItems,
  kProperties,
  kRequired,
  kAdditionalProperties,
  kAnyOf,
  kSchemaUri,
  kNumKeywords,
};
constexpr std::array<std::string_view, kNumKeywords> kKeywords{"type",
                                                               "enum",
                                                               "format",
                                                               "minLength",
                                                               "maxLength",
                                                               "minimum",
                                                               "maximum",
                                                               "minItems",
                                                               "maxItems",
                                                               "items",
                                                               "properties",
                                                               "required",
                                                               "additionalProperties",
                                                               "anyOf",
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

// A type, and the keywords that a schema of it may have.
struct Type {
  std::string_view name;
  KeywordSet keywords;
};
constexpr std::array<Type, 7> kTypes{{
    {"null", set_of({kType})},
    {"boolean", set_of({kType})},
    {"string", set_of({kType, kEnum, kFormat, kMinLength, kMaxLength})},
    {"integer", set_of({kType, kEnum, kMinimum, kMaximum})},
    {"number", set_of({kType, kMinimum, kMaximum})},
    {"array", set_of({kType, kItems, kMinItems, kMaxItems})},
    {"object", set_of({kType, kProperties, kRequired, kAdditionalProperties})},
}};

const Type* type_named(std::string_view name) {
  const auto* const it = std::ranges::find(kTypes, name, &Type::name);
  return it == kTypes.end() ? nullptr : it;
}

// What a glance at an evident schema shows besides.
struct Evident {
  bool has_required = false;    // its objects have at least one member
  bool bounds_strings = false;  // some string has a format or bounds to its length
};

class Glance {
 public:
  // `formats`: the names of those that are known.
  explicit Glance(nb::handle formats) : formats_(formats) {}

  std::optional<Evident> look(std::string_view content) {
    open_.emplace_back(content);
    for (size_t i = 0; i < open_.size(); ++i)
      if (open_.size() > kMostSchemas || !admits(open_[i], i == 0)) return std::nullopt;
    return seen_;
  }

 private:
  // What a schema object says.
  struct Said {
    KeywordSet keywords = 0;
    std::array<std::optional<ContentCursor>, kNumKeywords> values;
    bool has(Keyword keyword) const { return values[keyword].has_value(); }
    bool has_any(KeywordSet set) const { return (keywords & set) != 0; }
  };

  bool admits(ContentCursor schema, bool is_root) {
    const char kind = schema.kind();
    if (kind == 'T') return !is_root;
    Said said;
    if (kind != 'm' || !read(schema, said)) return false;
    if (said.has(kSchemaUri)) {
      if (!is_root || !is_known_draft(*said.values[kSchemaUri])) return false;
      said.keywords &= ~set_of({kSchemaUri});
    }
    if (!said.has(kType)) return !is_root && untyped(said);
    ContentCursor type = *said.values[kType];
    switch (type.kind()) {
      case 's': {
        const std::string_view name = type.text();
        if (is_root) seen_.has_required = says_required(said);
        return (!is_root || name == "object") && typed(said, name);
      }
      case 'l': return !is_root && said.keywords == set_of({kType}) && all_types(type);
      default: return false;
    }
  }

  // Finds the keywords of a mapping that begins there. False if there are others, or if it took too long.
  bool read(ContentCursor& schema, Said& said) {
    for (size_t members = schema.num_parts(); members > 0; --members) {
      const std::string_view key = schema.whole_text();
      const auto* const known = std::ranges::find(kKeywords, key);
      if (known != kKeywords.end()) {
        const auto keyword = static_cast<Keyword>(known - kKeywords.begin());
        said.keywords |= set_of({keyword});
        said.values[keyword] = schema;
      } else if (std::ranges::find(kAnnotations, key) == kAnnotations.end()) {
        return false;
      }
      num_steps_ += 1 + schema.skip();
      if (num_steps_ > kMostSteps) return false;
    }
    return true;
  }

  // One that every style can write.
  static bool is_plain_name(std::string_view name) {
    return !name.empty() && std::ranges::none_of(name, [](char c) {
      return static_cast<unsigned char>(c) < ' ' || c == '<' || c == '>' || c == '"';
    });
  }

  static bool says_required(const Said& said) {
    if (!said.has(kRequired)) return false;
    ContentCursor required = *said.values[kRequired];
    return required.kind() == 'l' && required.num_parts() > 0;
  }

  static bool is_known_draft(ContentCursor uri) {
    if (uri.kind() != 's') return false;
    const std::string_view text = uri.text();
    return std::ranges::any_of(kDrafts, [&](std::string_view draft) { return text.find(draft) != text.npos; });
  }

  static bool all_types(ContentCursor names) {
    size_t count = names.num_parts();
    if (count == 0) return false;
    for (; count > 0; --count)
      if (names.kind() != 's' || !type_named(names.text())) return false;
    return true;
  }

  bool untyped(const Said& said) {
    if (said.keywords == set_of({kEnum})) return is_list_of(*said.values[kEnum], "siTFN");
    if (said.keywords == set_of({kAnyOf})) return alternatives(*said.values[kAnyOf]);
    return said.keywords == 0;
  }

  // Of which none is a list of alternatives itself.
  bool alternatives(ContentCursor schemas) {
    if (schemas.kind() != 'l') return false;
    size_t count = schemas.num_parts();
    if (count == 0) return false;
    for (; count > 0; --count) {
      ContentCursor inner = schemas;
      open_.push_back(schemas);
      Said said;
      if (inner.kind() == 'm' && (!read(inner, said) || said.has(kAnyOf))) return false;
      if (open_.size() > kMostSchemas) return false;
      schemas.skip();
    }
    return true;
  }

  bool typed(const Said& said, std::string_view name) {
    const Type* const type = type_named(name);
    if (!type || (said.keywords & ~type->keywords) != 0) return false;
    switch (name[0]) {
      case 's': return string(said);
      case 'i':
        if (said.has(kEnum)) return !said.has_any(set_of({kMinimum, kMaximum})) && is_list_of(*said.values[kEnum], "i");
        return bounded(said, kMinimum, kMaximum, -kMost, kMost, false);
      case 'a':
        if (said.has(kItems)) open_.push_back(*said.values[kItems]);
        return bounded(said, kMinItems, kMaxItems, 0, kMostItems, false);
      case 'o': return object(said);
      default: return bounded(said, kMinimum, kMaximum, -kMost, kMost, true);  // number; null and boolean have none
    }
  }

  bool string(const Said& said) {
    const bool has_lengths = said.has_any(set_of({kMinLength, kMaxLength}));
    seen_.bounds_strings = seen_.bounds_strings || has_lengths || said.has(kFormat);
    if (said.has(kEnum)) return !said.has(kFormat) && !has_lengths && is_list_of(*said.values[kEnum], "s");
    if (said.has(kFormat)) return !has_lengths && is_known_format(*said.values[kFormat]);
    return bounded(said, kMinLength, kMaxLength, 0, kMostLength, false);
  }

  bool is_known_format(ContentCursor name) const {
    if (name.kind() != 's') return false;
    const std::string_view text = name.text();
    return nb::cast<bool>(formats_.attr("__contains__")(nb::str(text.data(), text.size())));
  }

  bool object(const Said& said) {
    names_.clear();
    if (said.has(kProperties)) {
      ContentCursor properties = *said.values[kProperties];
      if (properties.kind() != 'm') return false;
      for (size_t members = properties.num_parts(); members > 0; --members) {
        names_.push_back(properties.whole_text());
        if (!is_plain_name(names_.back())) return false;
        open_.push_back(properties);
        num_steps_ += 1 + properties.skip();
        if (num_steps_ > kMostSteps || open_.size() > kMostSchemas) return false;
      }
    }
    if (said.has(kAdditionalProperties)) {
      ContentCursor others = *said.values[kAdditionalProperties];
      if (others.kind() != 'F') open_.push_back(*said.values[kAdditionalProperties]);
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
  static bool is_list_of(ContentCursor values, std::string_view kinds) {
    if (values.kind() != 'l') return false;
    size_t count = values.num_parts();
    if (count == 0) return false;
    for (; count > 0; --count) {
      const char kind = values.kind();
      if (kinds.find(kind) == kinds.npos) return false;
      if (kind == 's') values.text();
      if (kind == 'i' && std::abs(static_cast<double>(values.integer())) > kMost) return false;
    }
    return true;
  }

  static bool bounded(const Said& said, Keyword lower, Keyword upper, double least, double most, bool may_be_real) {
    const auto bound = [&](Keyword keyword, double otherwise) -> std::optional<double> {
      if (!said.has(keyword)) return otherwise;
      ContentCursor value = *said.values[keyword];
      const char kind = value.kind();
      if (kind == 'i') return static_cast<double>(value.integer());
      if (kind == 'd' && may_be_real) return value.real();
      return std::nullopt;
    };
    const auto low = bound(lower, least), high = bound(upper, most);
    return low && high && least <= *low && *low <= *high && *high <= most;
  }

  nb::handle formats_;
  std::vector<ContentCursor> open_;  // to be looked at, while it grows
  std::vector<std::string_view> names_;
  size_t num_steps_ = 0;
  Evident seen_;
};

nb::object evident(const nb::bytes& content, nb::handle formats) {
  const auto seen = Glance(formats).look({content.c_str(), content.size()});
  if (!seen) return nb::none();
  return nb::make_tuple(seen->has_required, seen->bounds_strings);
}

}  // namespace

void bind_evident(nb::module_& m) {
  m.def("evident", &evident, nb::arg("content"), nb::arg("formats"),
        nb::sig("def evident(content: bytes, formats: typing.Container[str]) -> tuple[bool, bool] | None"),
        "What a glance at a schema's content shows, if that it can be compiled (frontends/json_schema/evident.py).");
}

}  // namespace maskwright
