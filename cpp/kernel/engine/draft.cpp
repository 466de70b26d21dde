#include "engine/draft.h"

#include <algorithm>
#include <string>

#include "support/errors.h"

namespace maskwright {
namespace {

constexpr uint32_t kNoParent = 0xFFFFFFFF;

TokenId as_token(int64_t id) {
  return id < 0 || id > INT32_MAX ? -1 : static_cast<TokenId>(id);
}

[[noreturn]] void refuse(const char* array, size_t at, int64_t index, const char* why) {
  throw InvalidDraft(std::string(array) + "[" + std::to_string(at) + "] is " + std::to_string(index) + ": " + why);
}

}  // namespace

void Draft::start(size_t num_nodes) {
  nodes_.assign(num_nodes, {-1, kNoParent, false, {}});
  order_.clear();
  num_followed_ = num_living_ = 0;
}

void Draft::set_tree(std::span<const int64_t> first_child, std::span<const int64_t> next_sibling,
                     std::span<const int64_t> tokens) {
  const size_t size = tokens.size();
  if (size == 0 || size >= kNoParent) throw InvalidDraft("a draft tree needs at least node 0, the current position");
  if (first_child.size() != size || next_sibling.size() != size)
    throw InvalidDraft("draft_tokens has " + std::to_string(size) + " elements, but retrieve_next_token has " +
                       std::to_string(first_child.size()) + " and retrieve_next_sibling has " +
                       std::to_string(next_sibling.size()));
  start(size);
  for (size_t i = 0; i < size; ++i) nodes_[i].token = as_token(tokens[i]);
  const auto visit = [&](const char* array, size_t at, int64_t index, uint32_t parent) {
    if (index == -1) return;
    if (index < -1 || index >= static_cast<int64_t>(size)) refuse(array, at, index, "there is no such node");
    Node& node = nodes_[static_cast<size_t>(index)];
    if (index == 0 || node.parent != kNoParent) refuse(array, at, index, "the node already has a parent");
    node.parent = parent;
    order_.push_back(static_cast<uint32_t>(index));
  };
  if (next_sibling[0] != -1)
    refuse("retrieve_next_sibling", 0, next_sibling[0], "node 0 is the root and has no siblings");
  visit("retrieve_next_token", 0, first_child[0], 0);
  // Each node is visited once, so this ends.
  for (size_t i = 0; i < order_.size(); ++i) {
    const uint32_t at = order_[i];
    visit("retrieve_next_sibling", at, next_sibling[at], nodes_[at].parent);
    visit("retrieve_next_token", at, first_child[at], at);
  }
}

void Draft::set_line(std::span<const TokenId> tokens) {
  start(tokens.size() + 1);
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    nodes_[i + 1].token = tokens[i];
    nodes_[i + 1].parent = i;
    order_.push_back(i + 1);
  }
}

bool Draft::follow(Matcher& matcher, bool look_ups_only, Deadline deadline) {
  if (num_living_ == 0) {
    if (look_ups_only && !matcher.here_is_known()) return false;
    nodes_[0].point = matcher.here();
    nodes_[0].lives = true;
    num_living_ = 1;
  }
  for (; num_followed_ < order_.size(); ++num_followed_) {
    Node& node = nodes_[order_[num_followed_]];
    const Node& parent = nodes_[node.parent];
    if (!parent.lives) continue;
    if (is_past(deadline)) throw OutOfTime();
    if (look_ups_only && !matcher.after_is_known(parent.point, node.token)) return false;
    const auto point = matcher.after(parent.point, node.token);
    if (!point) continue;
    node.point = *point;
    node.lives = true;
    ++num_living_;
  }
  return true;
}

void Draft::add_rows(Matcher& matcher, uint32_t* rows, size_t words_per_row, size_t sequence, FillQueue& queue) const {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    uint32_t* row = rows + i * words_per_row;
    if (nodes_[i].lives)
      queue.add(matcher, nodes_[i].point, row, sequence);
    else
      std::fill_n(row, matcher.num_words(), 0);
  }
}

}  // namespace maskwright
