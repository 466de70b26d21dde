// The kernel's functions as WebAssembly exports, which web/maskwright/kernel.js calls. No logic: numbers and addresses
// in, numbers out.
//
// An error leaves no function: `mw_error` says which kind the last call ended with (0: none), `mw_message` its text.
// What is longer than a number is left at `mw_data`, `mw_size` until the next call. Objects are addresses that the
// caller frees with the `_free` of its kind, once. Tested by web/tests.
#include <emscripten.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>

#include "engine/capture_tracker.h"
#include "engine/compiled_grammar.h"
#include "engine/draft.h"
#include "engine/matcher.h"
#include "engine/precompute.h"
#include "support/errors.h"
#include "token_texts.h"

#define EXPORT extern "C" EMSCRIPTEN_KEEPALIVE

using namespace maskwright;

namespace {

// kernel.js has the same list.
enum class Failure { None, Limit, Unsatisfiable, Draft, Malformed, Tokenizer, Memory, Internal };

struct {
  Failure failure = Failure::None;
  std::string message, limit, hint;
  TokensNeeded needed;
  std::string data;
} last;

void fail(Failure failure, const char* message, const std::string& limit = {}, const std::string& hint = {},
          TokensNeeded needed = {}) {
  last.failure = failure;
  last.message = message;
  last.limit = limit;
  last.hint = hint;
  last.needed = needed;
}

// Runs a call; what it throws is kept, and zero returned.
template <class Call>
auto guarded(Call&& call) -> decltype(call()) {
  last.failure = Failure::None;
  try {
    return call();
  } catch (const LimitExceeded& e) {
    fail(Failure::Limit, e.what(), e.limit, {}, e.needed);
  } catch (const Unsatisfiable& e) {
    fail(Failure::Unsatisfiable, e.what(), {}, e.hint, e.needed);
  } catch (const InvalidDraft& e) {
    fail(Failure::Draft, e.what());
  } catch (const MalformedGrammar& e) {
    fail(Failure::Malformed, e.what());
  } catch (const TokenizerMismatch& e) {
    fail(Failure::Tokenizer, e.what());
  } catch (const std::bad_alloc&) {
    fail(Failure::Memory, "the page's memory for WebAssembly is used up");
  } catch (const std::length_error&) {
    fail(Failure::Memory, "something is larger than WebAssembly's memory");
  } catch (const std::exception& e) {
    fail(Failure::Internal, e.what());
  }
  return decltype(call())();
}

constexpr size_t kMaxForcedBytes = 4096;

struct Tokenizer {
  std::shared_ptr<TokenizerContext> context;
  TokenTexts texts;
};

struct Grammar {
  std::shared_ptr<CompiledGrammar> compiled;
  std::shared_ptr<Tokenizer> tokenizer;
  std::string source;
  std::shared_ptr<const Program> with_captures = nullptr;  // once they are asked for
};

struct Sequence {
  Matcher matcher;
  std::shared_ptr<Grammar> grammar;
  std::unique_ptr<CaptureTracker> captures = nullptr;  // once they are asked for
};

std::vector<TokenId> ids(const int32_t* first, size_t count) {
  return {first, first + count};
}

template <class Number>
void append(Number number) {
  last.data.append(reinterpret_cast<const char*>(&number), sizeof number);
}

GrammarIr read(std::string_view source, const Tokenizer& tokenizer, bool with_captures) {
  const Vocabulary& vocabulary = *tokenizer.context->vocabulary;
  GrammarFile file = read_grammar(source, vocabulary.vocab_size(), with_captures);
  for (const NamedTokens& each : file.named_tokens)
    supply_tokens(file.ir, each, find_tokens(each, vocabulary, tokenizer.texts));
  return std::move(file.ir);
}

GrammarIr ir_with_captures(const Grammar& grammar) {
  return read(grammar.source, *grammar.tokenizer, true);
}

CaptureTracker& tracker(Sequence& self) {
  Grammar& grammar = *self.grammar;
  if (!grammar.with_captures) {
    RuleStore& rules = grammar.tokenizer->context->rules;
    grammar.with_captures = std::make_shared<const Program>(link(ir_with_captures(grammar), rules));
  }
  if (!self.captures)
    self.captures = std::make_unique<CaptureTracker>(grammar.with_captures, grammar.compiled->shared_vocabulary());
  self.matcher.update(*self.captures);
  return *self.captures;
}

// Fills the rows of a draft; returns how many of its nodes live.
size_t fill_draft(Sequence& self, Draft& draft, uint32_t* rows, size_t words_per_row, Deadline deadline) {
  draft.follow(self.matcher, false, deadline);
  FillQueue queue;
  queue.clear(deadline);
  draft.add_rows(self.matcher, rows, words_per_row, 0, queue);
  queue.run(1);
  return draft.num_living();
}

}  // namespace

EXPORT int mw_error() {
  return static_cast<int>(last.failure);
}
EXPORT const char* mw_message() {
  return last.message.c_str();
}
EXPORT const char* mw_limit() {
  return last.limit.c_str();
}
EXPORT const char* mw_hint() {
  return last.hint.c_str();
}
EXPORT uint32_t mw_least_tokens() {
  return last.needed.at_least;
}
EXPORT uint32_t mw_enough_tokens() {
  return last.needed.enough;
}
EXPORT const char* mw_data() {
  return last.data.data();
}
EXPORT size_t mw_size() {
  return last.data.size();
}
EXPORT void* mw_alloc(size_t size) {
  return std::malloc(size);
}
EXPORT void mw_free(void* memory) {
  std::free(memory);
}

// `ends[i]` is where the bytes of token i end in `bytes`.
EXPORT std::shared_ptr<Tokenizer>* mw_tokenizer(const char* bytes, const uint32_t* ends, size_t num_tokens,
                                                const int32_t* special, size_t num_special, const int32_t* stops,
                                                size_t num_stops, uint32_t vocab_size) {
  return guarded([&] {
    auto made = std::make_shared<Tokenizer>();
    made->texts.ends.assign(ends, ends + num_tokens);
    made->texts.bytes.assign(bytes, num_tokens ? ends[num_tokens - 1] : 0);
    std::vector<std::string_view> texts;
    for (size_t i = 0; i < num_tokens; ++i) texts.push_back(made->texts[i]);
    made->context = std::make_shared<TokenizerContext>(
        std::make_shared<const Vocabulary>(texts, ids(special, num_special), ids(stops, num_stops), vocab_size));
    return new std::shared_ptr<Tokenizer>(std::move(made));
  });
}
EXPORT void mw_tokenizer_free(std::shared_ptr<Tokenizer>* self) {
  delete self;
}
EXPORT double mw_tokenizer_memory(std::shared_ptr<Tokenizer>* self) {
  return static_cast<double>((*self)->context->vocabulary->memory_bytes());
}
EXPORT double mw_tokenizer_rules_memory(std::shared_ptr<Tokenizer>* self) {
  return static_cast<double>((*self)->context->rules.memory_bytes());
}
// Whether a token begins with this text and goes on.
EXPORT int mw_begins_longer_token(std::shared_ptr<Tokenizer>* self, const char* text, size_t size) {
  const Vocabulary& vocabulary = *(*self)->context->vocabulary;
  NodeId at = Vocabulary::kRoot;
  for (size_t i = 0; i < size; ++i) {
    at = vocabulary.child(at, static_cast<uint8_t>(text[i]));
    if (at == 0) return 0;
  }
  return vocabulary.node(at).num_children > 0;
}

EXPORT std::shared_ptr<Grammar>* mw_grammar(std::shared_ptr<Tokenizer>* tokenizer, const char* data, size_t size,
                                            size_t budget_bytes) {
  return guarded([&] {
    TokenizerContext& context = *(*tokenizer)->context;
    std::string source(data, size);
    GrammarIr ir = read(source, **tokenizer, false);
    Program program = link(ir, context.rules);
    auto compiled =
        std::make_shared<CompiledGrammar>((*tokenizer)->context, std::move(ir), std::move(program), budget_bytes);
    return new std::shared_ptr<Grammar>(
        std::make_shared<Grammar>(Grammar{std::move(compiled), *tokenizer, std::move(source)}));
  });
}
EXPORT void mw_grammar_free(std::shared_ptr<Grammar>* self) {
  delete self;
}
EXPORT double mw_grammar_memory(std::shared_ptr<Grammar>* self) {
  return static_cast<double>((*self)->compiled->memory_bytes());
}
EXPORT int mw_has_captures(std::shared_ptr<Grammar>* self) {
  return guarded([&] {
    const GrammarIr ir = ir_with_captures(**self);
    for (size_t id = 0; id < ir.nodes.size(); ++id) {
      if (ir.nodes[id].op == Op::Capture) return 1;
    }
    return 0;
  });
}
// Computes masks for at most so long: their number, that of configurations, whether nothing is left, microseconds.
EXPORT void mw_precompute(std::shared_ptr<Grammar>* self, Sequence* sequence, double budget_us) {
  using Clock = std::chrono::steady_clock;
  guarded([&] {
    const auto begin = Clock::now();
    const auto elapsed_us = [&] { return std::chrono::duration<double, std::micro>(Clock::now() - begin).count(); };
    const auto engine = (*self)->compiled->engine();
    Precomputation ahead = sequence ? sequence->matcher.precomputation() : Precomputation(engine, engine->initial());
    ahead.run([&] { return elapsed_us() >= budget_us; });
    last.data.clear();
    append(static_cast<double>(ahead.num_masks()));
    append(static_cast<double>(ahead.num_configs()));
    append(static_cast<double>(ahead.is_done()));
    append(elapsed_us());
    return 0;
  });
}

// max_tokens 0: any number. A negative default_temperature: none.
EXPORT Sequence* mw_matcher(std::shared_ptr<Grammar>* grammar, const int32_t* stops, size_t num_stops,
                            int terminate_without_stop_token, uint32_t max_tokens, int by_bounds,
                            double default_temperature) {
  return guarded([&] {
    return new Sequence{Matcher((*grammar)->compiled, ids(stops, num_stops), terminate_without_stop_token != 0,
                                {max_tokens, by_bounds != 0}, default_temperature),
                        *grammar};
  });
}
EXPORT Sequence* mw_fork(Sequence* self) {
  return guarded([&] { return new Sequence{self->matcher, self->grammar}; });
}
EXPORT void mw_matcher_free(Sequence* self) {
  delete self;
}
EXPORT int mw_accept(Sequence* self, int32_t token) {
  return guarded([&] { return self->matcher.accept(token) ? 1 : 0; });
}
EXPORT int mw_accept_bytes(Sequence* self, const char* bytes, size_t size) {
  return guarded([&] { return self->matcher.accept_bytes({bytes, size}) ? 1 : 0; });
}
EXPORT size_t mw_validate(Sequence* self, const int32_t* tokens, size_t count) {
  return guarded([&] { return self->matcher.validate(tokens, count); });
}
// Writes a row and returns how many tokens it allows.
EXPORT uint32_t mw_fill(Sequence* self, uint32_t* row) {
  return guarded([&] { return self->matcher.fill(row); });
}
// Rows of words_per_row words: that of the present, and those after each token. Returns how many tokens live.
EXPORT size_t mw_fill_draft(Sequence* self, const int32_t* tokens, size_t count, uint32_t* rows, size_t words_per_row) {
  return guarded([&] {
    Draft draft;
    draft.set_line(std::span(tokens, count));
    return fill_draft(*self, draft, rows, words_per_row, std::nullopt) - 1;
  });
}
// Returns how many nodes live; 0 when the time was over.
EXPORT size_t mw_fill_tree(Sequence* self, const int64_t* first_child, const int64_t* next_sibling,
                           const int64_t* tokens, size_t count, uint32_t* rows, size_t words_per_row, double seconds) {
  return guarded([&]() -> size_t {
    Draft draft;
    draft.set_tree({first_child, count}, {next_sibling, count}, {tokens, count});
    Deadline deadline;
    if (seconds > 0)
      deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                        std::chrono::duration<double>(seconds));
    try {
      return fill_draft(*self, draft, rows, words_per_row, deadline);
    } catch (const OutOfTime&) {
      std::memset(rows, 0, count * words_per_row * sizeof *rows);
      return 0;
    }
  });
}
EXPORT int mw_rollback(Sequence* self, size_t count) {
  return guarded([&] {
    if (!self->matcher.rollback(count)) return 0;
    if (self->captures) self->captures->truncate(self->matcher.num_accepted());
    return 1;
  });
}
EXPORT void mw_reset(Sequence* self) {
  guarded([&] {
    self->captures.reset();
    self->matcher.reset();
    return 0;
  });
}
EXPORT int mw_is_completed(Sequence* self) {
  return self->matcher.is_completed();
}
EXPORT int mw_is_terminated(Sequence* self) {
  return self->matcher.is_terminated();
}
EXPORT size_t mw_num_accepted(Sequence* self) {
  return self->matcher.num_accepted();
}
// -1 for none.
EXPORT int32_t mw_forced_token(Sequence* self) {
  return guarded([&] { return self->matcher.forced_token().value_or(-1); });
}
EXPORT int mw_text_may_follow(Sequence* self) {
  return guarded([&] { return self->matcher.text_may_follow() ? 1 : 0; });
}
EXPORT void mw_forced_bytes(Sequence* self) {
  guarded([&] {
    last.data = self->matcher.forced_bytes(kMaxForcedBytes);
    return 0;
  });
}
// Negative for none.
EXPORT double mw_temperature(Sequence* self) {
  return guarded([&] { return self->matcher.temperature().value_or(-1); });
}
// The text that was matched (its size, its bytes), then each capture: rank, begin, end, size of the name, name.
EXPORT size_t mw_captures(Sequence* self) {
  return guarded([&] {
    CaptureTracker& found = tracker(*self);
    const std::vector<Capture> captures = found.captures(self->matcher.is_terminated());
    last.data.clear();
    append(static_cast<uint32_t>(found.text().size()));
    last.data += found.text();
    for (const Capture& each : captures) {
      append(static_cast<int32_t>(each.rank));
      append(static_cast<uint32_t>(each.begin));
      append(static_cast<uint32_t>(each.end));
      append(static_cast<uint32_t>(each.name.size()));
      last.data += each.name;
    }
    return captures.size();
  });
}
// What no more output can change, past the first edges and bytes: the bytes (size, bytes), then each edge: position,
// whether it opens, size of the name, name; last the entries of the history and their serial number.
EXPORT size_t mw_settled(Sequence* self, size_t num_edges, size_t num_bytes) {
  return guarded([&] {
    CaptureTracker& found = tracker(*self);
    std::vector<CaptureEdge> edges;
    const size_t known = found.settled(self->matcher.is_terminated(), num_edges, edges);
    const size_t first = std::min(num_bytes, known);
    last.data.clear();
    append(static_cast<uint32_t>(known - first));
    last.data.append(found.text(), first, known - first);
    for (const CaptureEdge& edge : edges) {
      append(static_cast<uint32_t>(edge.position));
      append(static_cast<uint32_t>(edge.opens));
      append(static_cast<uint32_t>(edge.name.size()));
      last.data += edge.name;
    }
    append(static_cast<uint32_t>(found.num_entries()));
    append(found.serial(found.num_entries()));
    return edges.size();
  });
}
// Whether the history still begins with this one.
EXPORT int mw_has_history(Sequence* self, size_t num_entries, uint32_t serial_low, uint32_t serial_high) {
  return self->captures && self->captures->serial(num_entries) == (uint64_t{serial_high} << 32 | serial_low);
}
