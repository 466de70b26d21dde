// Strongly connected components by Tarjan's algorithm (1972), without recursion.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace maskwright {

// `successors(v, out)` adds the vertices that v points to, and may make new ones. Components come with successors
// first; vertices in a component come in the order in which the search from `roots` met them.
template <class Successors>
std::vector<std::vector<uint32_t>> strong_components(const std::vector<uint32_t>& roots, Successors&& successors) {
  struct Visit {
    uint32_t vertex;
    size_t begin;   // of its successors in `next`
    size_t cursor;  // the next one to look at
  };
  std::vector<uint32_t> index, low;  // 0: not met yet; grown as vertices are
  std::vector<bool> open;
  std::vector<uint32_t> stack;
  std::vector<Visit> path;
  std::vector<uint32_t> next;  // successors of the vertices on the path
  std::vector<std::vector<uint32_t>> out;
  uint32_t counter = 0;
  const auto met = [&](uint32_t v) {
    if (v >= index.size()) {
      index.resize(v + 1);
      low.resize(v + 1);
      open.resize(v + 1);
    }
    return index[v] != 0;
  };
  const auto enter = [&](uint32_t v) {
    index[v] = low[v] = ++counter;
    open[v] = true;
    stack.push_back(v);
    path.push_back({v, next.size(), next.size()});
    successors(v, next);
  };
  for (const uint32_t root : roots) {
    if (!met(root)) enter(root);
    while (!path.empty()) {
      Visit& visit = path.back();
      const uint32_t v = visit.vertex;
      if (visit.cursor < next.size()) {
        const uint32_t w = next[visit.cursor++];
        if (!met(w))
          enter(w);
        else if (open[w])
          low[v] = std::min(low[v], index[w]);
        continue;
      }
      next.resize(visit.begin);
      path.pop_back();
      if (!path.empty()) low[path.back().vertex] = std::min(low[path.back().vertex], low[v]);
      if (low[v] != index[v]) continue;
      auto first = stack.end();
      while (*--first != v) {
      }
      out.emplace_back(first, stack.end());
      for (const uint32_t w : out.back()) open[w] = false;
      stack.erase(first, stack.end());
    }
  }
  return out;
}

}  // namespace maskwright
