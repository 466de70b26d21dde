// The suffix automaton of a sequence of chunks: every run of consecutive chunks is a path from the start.
//
//     "ab" "c" "ab"     →     0 -ab-> 1 -c-> 2 -ab-> 3,     0 -c-> 2
//
// Every state may be an end. All edges into a state have the same chunk, so its bytes are spelled
// once, before that state, however many edges lead there. Fewer than two states and three edges a chunk; linear in
// the chunks, and twice the chunks' bytes are spelled at most.
// Source: Blumer et al., The smallest automaton recognizing the subwords of a text, 1985.
// Tested by tests/kernel/test_substrings.py.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/ids.h"

namespace maskwright {

// Byte strings, none of them empty.
struct ChunkList {
  std::string bytes;           // of all, one after the other
  std::vector<uint32_t> ends;  // where each ends

  size_t size() const { return ends.size(); }
  std::string_view operator[](size_t chunk) const {
    const uint32_t begin = chunk == 0 ? 0 : ends[chunk - 1];
    return std::string_view(bytes).substr(begin, ends[chunk] - begin);
  }
};

class SubstringAutomaton {
 public:
  struct Edge {
    uint32_t source, chunk, target;
    uint32_t next;  // another one of the same source, or kNone
  };
  // `chunks` must outlive it.
  explicit SubstringAutomaton(const ChunkList& chunks);
  SubstringAutomaton(const SubstringAutomaton&) = delete;
  SubstringAutomaton& operator=(const SubstringAutomaton&) = delete;

  static constexpr uint32_t kStart = 0;
  uint32_t num_states() const { return static_cast<uint32_t>(states_.size()); }
  const std::vector<Edge>& edges() const { return edges_; }
  // What all edges into a state read; not of the start.
  std::string_view bytes_before(uint32_t state) const { return chunks_[states_[state].chunk]; }

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  struct State {
    uint32_t chunk = kNone;       // of the edges into it
    uint32_t first_edge = kNone;  // of those that leave it
    uint32_t link = kNone;        // the state of the longest end of its paths that is in another state
    uint32_t length = 0;          // of its longest path
  };
  uint32_t append(uint32_t last, uint32_t chunk);
  uint32_t split(uint32_t at, uint32_t chunk, uint32_t target);
  uint32_t add_state(uint32_t chunk, uint32_t length);
  void add_edge(uint32_t source, uint32_t chunk, uint32_t target);
  uint32_t* edge_place(uint32_t source, uint32_t chunk);

  const ChunkList& chunks_;
  std::vector<State> states_;
  std::vector<Edge> edges_;
  std::vector<uint32_t> edge_of_;  // open addressing, by source and chunk
};

}  // namespace maskwright
