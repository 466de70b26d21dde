// What the kernel uses of C++20's library and Emscripten 3.1.6 does not have yet: algorithms of std::ranges, and
// std::bit_cast. Included before all else in every file (-include) where the library is that old; nothing otherwise.
//
// Only what the kernel uses, and only in the forms in which it does: ranges are given as lvalues, and an iterator into
// one is returned. Tested by all of web/tests, which run on what is compiled with it.
#pragma once

#include <version>

#if defined(__EMSCRIPTEN__) && !defined(__cpp_lib_ranges)

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

namespace std {

#ifndef __cpp_lib_bit_cast
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}
#endif

namespace ranges {

template <class Range>
concept maskwright_range = requires(Range& range) {
  std::begin(range);
  std::end(range);
};

// A predicate or comparison of what a projection makes of the elements.
template <class Call, class Projection>
constexpr auto maskwright_projected(Call& call, Projection& projection) {
  return [&](auto&&... elements) -> bool {
    return std::invoke(call, std::invoke(projection, std::forward<decltype(elements)>(elements))...);
  };
}

template <maskwright_range Range, class Value, class Projection = std::identity>
constexpr auto find(Range&& range, const Value& value, Projection projection = {}) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](const auto& element) { return std::invoke(projection, element) == value; });
}

template <maskwright_range Range, class Predicate>
constexpr auto find_if(Range&& range, Predicate predicate) {
  return std::find_if(std::begin(range), std::end(range), std::move(predicate));
}

template <maskwright_range Range, class Predicate>
constexpr bool any_of(Range&& range, Predicate predicate) {
  std::identity same;
  return std::any_of(std::begin(range), std::end(range), ranges::maskwright_projected(predicate, same));
}

template <maskwright_range Range, class Predicate>
constexpr bool all_of(Range&& range, Predicate predicate) {
  std::identity same;
  return std::all_of(std::begin(range), std::end(range), ranges::maskwright_projected(predicate, same));
}

template <maskwright_range Range, class Predicate>
constexpr auto count_if(Range&& range, Predicate predicate) {
  return std::count_if(std::begin(range), std::end(range), std::move(predicate));
}

template <maskwright_range First, maskwright_range Second>
constexpr bool equal(First&& first, Second&& second) {
  return std::equal(std::begin(first), std::end(first), std::begin(second), std::end(second));
}

template <maskwright_range First, maskwright_range Second>
constexpr bool is_permutation(First&& first, Second&& second) {
  return std::is_permutation(std::begin(first), std::end(first), std::begin(second), std::end(second));
}

template <maskwright_range First, maskwright_range Second>
constexpr bool lexicographical_compare(First&& first, Second&& second) {
  return std::lexicographical_compare(std::begin(first), std::end(first), std::begin(second), std::end(second));
}

template <maskwright_range Range, class Out>
constexpr void copy(Range&& range, Out out) {
  std::copy(std::begin(range), std::end(range), out);
}

template <maskwright_range Range>
constexpr void reverse(Range&& range) {
  std::reverse(std::begin(range), std::end(range));
}

template <maskwright_range Range, class Compare = std::less<>, class Projection = std::identity>
constexpr void sort(Range&& range, Compare compare = {}, Projection projection = {}) {
  std::sort(std::begin(range), std::end(range), ranges::maskwright_projected(compare, projection));
}

template <std::random_access_iterator Iterator, class Compare = std::less<>>
constexpr void sort(Iterator first, Iterator last, Compare compare = {}) {
  std::sort(first, last, std::move(compare));
}

template <maskwright_range Range, class Compare = std::less<>, class Projection = std::identity>
constexpr bool is_sorted(Range&& range, Compare compare = {}, Projection projection = {}) {
  return std::is_sorted(std::begin(range), std::end(range), ranges::maskwright_projected(compare, projection));
}

template <maskwright_range Range, class Compare = std::less<>, class Projection = std::identity>
constexpr auto min_element(Range&& range, Compare compare = {}, Projection projection = {}) {
  return std::min_element(std::begin(range), std::end(range), ranges::maskwright_projected(compare, projection));
}

template <maskwright_range Range, class Compare = std::less<>, class Projection = std::identity>
constexpr auto max_element(Range&& range, Compare compare = {}, Projection projection = {}) {
  return std::max_element(std::begin(range), std::end(range), ranges::maskwright_projected(compare, projection));
}

template <maskwright_range Range, class Predicate = std::equal_to<>>
constexpr auto adjacent_find(Range&& range, Predicate predicate = {}) {
  return std::adjacent_find(std::begin(range), std::end(range), std::move(predicate));
}

template <maskwright_range Range, class Value>
constexpr bool binary_search(Range&& range, const Value& value) {
  return std::binary_search(std::begin(range), std::end(range), value);
}

template <maskwright_range Range, class Value, class Compare = std::less<>, class Projection = std::identity>
constexpr auto lower_bound(Range&& range, const Value& value, Compare compare = {}, Projection projection = {}) {
  return std::lower_bound(std::begin(range), std::end(range), value, [&](const auto& element, const auto& bound) {
    return compare(std::invoke(projection, element), bound);
  });
}

template <maskwright_range Range, class Value, class Compare = std::less<>, class Projection = std::identity>
constexpr auto upper_bound(Range&& range, const Value& value, Compare compare = {}, Projection projection = {}) {
  return std::upper_bound(std::begin(range), std::end(range), value, [&](const auto& bound, const auto& element) {
    return compare(bound, std::invoke(projection, element));
  });
}

}  // namespace ranges
}  // namespace std

#endif
