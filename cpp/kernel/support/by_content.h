// Things by their content: numbers or pointers, each under a hash of what it stands for.
//
// The things themselves lie elsewhere, so that a place takes one word or two, and looking one up touches the place and
// the thing: nodes of a standard container, one allocation each, would cost several times as much.
// Cost: open addressing with linear probing, at most two thirds full. Hashes must be mixed in all their low 32 bits.
// Tested by tests/exhaustive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace maskwright {

template <class T>
class ByContent {
 public:
  // The one with this hash that `is_equal` says is meant; `kNone` if there is none.
  template <class IsEqual>
  T find(uint64_t hash, IsEqual&& is_equal) const {
    if (places_.empty()) return kNone;
    for (size_t p = hash & mask();; p = (p + 1) & mask()) {
      const Place& place = places_[p];
      if (place.thing == kNone) return kNone;
      if (place.hash == static_cast<uint32_t>(hash) && is_equal(place.thing)) return place.thing;
    }
  }
  // Precondition: none that is equal is there.
  void add(uint64_t hash, T thing) {
    if (3 * (size_ + 1) > 2 * places_.size()) grow();
    put({static_cast<uint32_t>(hash), thing});
    ++size_;
  }
  size_t memory_bytes() const { return places_.capacity() * sizeof(Place); }

  static constexpr T kNone = [] {
    if constexpr (std::is_pointer_v<T>)
      return nullptr;
    else
      return static_cast<T>(~uint64_t{0});
  }();

 private:
  struct Place {
    uint32_t hash = 0;
    T thing = kNone;
  };
  size_t mask() const { return places_.size() - 1; }
  void put(Place place) {
    size_t p = place.hash & mask();
    while (places_[p].thing != kNone) p = (p + 1) & mask();
    places_[p] = place;
  }
  void grow() {
    const std::vector<Place> before =
        std::exchange(places_, std::vector<Place>(places_.empty() ? kFirst : 2 * places_.size()));
    for (const Place& place : before)
      if (place.thing != kNone) put(place);
  }

  static constexpr size_t kFirst = 8;
  std::vector<Place> places_;
  size_t size_ = 0;
};

}  // namespace maskwright
