// Strongly connected components by Tarjan's algorithm (1972), without recursion.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace maskwright {

// `successors(v)` returns the vertices that v points to. Components come with successors first; vertices in a component
// come in the order in which the search from `roots` met them.
template <class Successors>
std::vector<std::vector<uint32_t>> strong_components(uint32_t num_vertices, const std::vector<uint32_t>& roots,
                                                     Successors&& successors) {
  struct Visit {
    uint32_t vertex;
    std::vector<uint32_t> next;
    size_t cursor = 0;
  };
  std::vector<uint32_t> index(num_vertices), low(num_vertices);
  std::vector<bool> open(num_vertices);
  std::vector<uint32_t> stack;
  std::vector<Visit> path;
  std::vector<std::vector<uint32_t>> out;
  uint32_t counter = 0;
  const auto enter = [&](uint32_t v) {
    index[v] = low[v] = ++counter;
    open[v] = true;
    stack.push_back(v);
    path.push_back({v, successors(v)});
  };
  for (const uint32_t root : roots) {
    if (!index[root]) enter(root);
    while (!path.empty()) {
      Visit& visit = path.back();
      const uint32_t v = visit.vertex;
      if (visit.cursor < visit.next.size()) {
        const uint32_t w = visit.next[visit.cursor++];
        if (!index[w])
          enter(w);
        else if (open[w])
          low[v] = std::min(low[v], index[w]);
        continue;
      }
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
