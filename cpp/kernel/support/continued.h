// A vector that goes on from a beginning which copies share: copying one costs what comes after its beginning.
//
//     Continued<int> a;  a.push_back(1);  a.push_back(2);
//     a.share();                          all so far becomes the beginning, which nobody changes any more
//     Continued<int> b = a;               shares it
//     b.push_back(3);                     a has two elements, b three
//
// References hold as those of std::vector do. Tested by tests/kernel/test_beginnings.py.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace maskwright {

template <class T>
class Continued {
 public:
  size_t size() const { return shared_.size() + own_.size(); }
  size_t num_shared() const { return shared_.size(); }
  const T& operator[](size_t i) const { return i < shared_.size() ? shared_[i] : own_[i - shared_.size()]; }
  const T& back() const { return (*this)[size() - 1]; }
  // Elements that were added one after the other, with no `share` in between.
  std::span<const T> slice(size_t begin, size_t end) const {
    if (begin < shared_.size()) return shared_.subspan(begin, end - begin);
    return std::span<const T>(own_).subspan(begin - shared_.size(), end - begin);
  }

  void reserve(size_t size) {
    if (size > shared_.size()) own_.reserve(size - shared_.size());
  }
  void push_back(const T& value) { own_.push_back(value); }
  T& emplace_back() { return own_.emplace_back(); }
  template <class Range>
  void append(const Range& values) {
    own_.insert(own_.end(), std::begin(values), std::end(values));
  }

  void share() {
    auto all = std::make_shared<std::vector<T>>(shared_.begin(), shared_.end());
    all->insert(all->end(), own_.begin(), own_.end());
    own_.clear();
    shared_ = *all;
    keeps_ = std::move(all);
  }

 private:
  std::shared_ptr<const std::vector<T>> keeps_;
  std::span<const T> shared_;  // all of it
  std::vector<T> own_;
};

}  // namespace maskwright
