// Docstrings of the methods that users call on matchers and batches, as `help()` and editors show them.
//
// They stand here so that the bindings stay readable. tests/kernel/test_stub.py compares them with _kernel.pyi, and
// tests/test_public_api.py requires one for each method.
#pragma once

namespace maskwright::docs {

namespace matcher {

constexpr const char* kAcceptToken =
    R"(Accept one token.

Args:
    token_id: An int; or an array or a tensor of one integer, of any shape.

Returns:
    True if the token was accepted. False, and nothing changes, if it is not allowed, for any int. A stop token
    is accepted where the output is complete, and terminates it. One that is also text in the vocabulary is
    accepted as text only where the grammar names it, or where no other token is allowed and the output is not
    complete.

Raises:
    ArgumentError: `token_id` is not an integer.
    LimitError: The grammar is too ambiguous; nothing changes.)";

constexpr const char* kAcceptTokens =
    R"(Accept several tokens, up to the first that is not allowed.

Args:
    token_ids: A list, an array or a CPU tensor of integers.

Returns:
    How many were accepted.

Raises:
    ArgumentError: `token_ids` is not a sequence of integers.
    LimitError: The grammar is too ambiguous; nothing changes.)";

constexpr const char* kValidateTokens =
    R"(Return how many of these tokens would be accepted, one after the other. Nothing changes.

Args:
    token_ids: A list, an array or a CPU tensor of integers.

Raises:
    ArgumentError: `token_ids` is not a sequence of integers.)";

constexpr const char* kAcceptBytes =
    R"(Accept text as UTF-8 bytes, with any tokenization; the same as `accept_string` with bytes.

Returns:
    True if it was accepted, as one token for `rollback`. False, and nothing changes, if it is not allowed.

Raises:
    ArgumentError: `data` is not bytes.
    LimitError: The grammar is too ambiguous; nothing changes.)";

constexpr const char* kFillNextTokenBitmask =
    R"(Write the mask of the tokens that are allowed next to a row of a bitmask.

Args:
    bitmask: (batch, >= ceil(vocab_size / 32)) int32, CPU, C-contiguous, bit 1 = allowed; a numpy array or a
        torch tensor, such as `allocate_token_bitmask` returns. Of one dimension, it is a single row.
    index: The row to write. Words beyond the vocabulary become zero.

Returns:
    Whether the mask must be applied; False means that all tokens are allowed. The row is written in both cases.
    It is all zero once the output is terminated.

Raises:
    ArgumentError: `index` is not an integer.
    BitmaskError: The bitmask has the wrong dtype, shape, device or layout, or no such row; nothing is written.
    LimitError: The grammar is too ambiguous.)";

constexpr const char* kFillDraftBitmask =
    R"(Write the masks along a draft: of the present to row `index`, and those after each token to the rows that
follow.

Args:
    draft_tokens: The drafted token ids: a list, an array or a CPU tensor of integers.
    bitmask: As for `fill_next_token_bitmask`, with len(draft_tokens) + 1 rows from `index` on.
    index: The first row.

Returns:
    How many of the tokens would be accepted. Rows past the first that would not are all zero. The matcher does
    not move.

Raises:
    ArgumentError: `draft_tokens` is not a sequence of integers, or `index` is not an integer.
    BitmaskError: The bitmask has the wrong form or too few rows; nothing is written.)";

constexpr const char* kMaskIsKnown =
    R"(Return whether the mask of the next token was computed before, for any sequence: then filling it copies it, in a
microsecond. Otherwise it may take up to milliseconds, and is worth filling while the model calculates.)";

constexpr const char* kTraverseDraftTree =
    R"(Write the masks of a tree of drafted tokens, row i for node i. The matcher does not move.

A node lives if its token is allowed at its parent and its parent lives. Node 0 is the present, which always
lives; its token is not looked at. Rows of other nodes, also those outside the tree, are all zero.

Args:
    retrieve_next_token: The first child of each node, -1 for none: (num_nodes,) integers.
    retrieve_next_sibling: The next sibling of each node, -1 for none: (num_nodes,) integers.
    draft_tokens: The token id of each node: (num_nodes,) integers.
    bitmask: As for `fill_next_token_bitmask`, with a row for each node.
    time_threshold: The most seconds to take, looked at before each mask; not positive for any time.
    temperatures: None, or (num_nodes,) float32, CPU, contiguous, a numpy array or a torch tensor: what
        `temperature` returns at each node is written there, -1 for None and at nodes that do not live.

Returns:
    How many nodes live, node 0 included; 0 if the time was over before all rows were written. They are all zero
    then.

Raises:
    ArgumentError: An argument is not a sequence of integers.
    BitmaskError: The bitmask or `temperatures` has the wrong form or is too small.
    MatcherError: The arrays do not describe a tree.)";

constexpr const char* kTemperature =
    R"(Return the sampling temperature that the grammar asks for at the next token, `default_temperature` if it asks
for none.

It is that of the innermost rule that has one and that the next token is in, rules that may begin with it
included; the highest where the output can be read in several ways.)";

constexpr const char* kForcedToken =
    R"(Return the only token that is allowed next, which may be a stop token; None if there are several or none.)";

constexpr const char* kTextMayFollow =
    R"(Return whether text may come next, whatever tokens there are for it: not only special tokens and stop tokens.

Raises:
    LimitError: The grammar is too ambiguous.)";

constexpr const char* kForcedBytes =
    R"(Return the longest bytes that every completion begins with, at most 4096, which may end within a character.

`find_jump_forward_string` returns whole characters. Nothing changes.

Raises:
    LimitError: The grammar is too ambiguous.)";

constexpr const char* kHistory =
    R"(Return what was accepted since the matcher was made or reset, in order: an int for a token, a terminating stop
token included, and bytes for text that was accepted as such.)";

constexpr const char* kRollback =
    R"(Take back the last tokens, a terminating stop token included.

Raises:
    ArgumentError: `num_tokens` is not an integer.
    MatcherError: `num_tokens` is negative or more than were accepted; nothing changes.)";

constexpr const char* kReset = R"(Go back to the beginning of the output.)";

constexpr const char* kIsCompleted =
    R"(Return whether the output so far is a whole one, so that a stop token is allowed, or was accepted.)";

constexpr const char* kIsTerminated =
    R"(Return whether the output is over: a stop token was accepted, or with `terminate_without_stop_token`, it is
complete. No token is allowed then.)";

constexpr const char* kNumAcceptedTokens =
    R"(How many tokens were accepted since the matcher was made or reset. Text accepted as such counts as one.)";

constexpr const char* kConfigurationId =
    R"(A number for what may follow: matchers of one compiled grammar that have the same one go on alike, whatever
was written before, and whatever their token budgets are. Only for guesses, such as drafts: once the grammar has
passed its memory limit and started over, numbers mean something else, and the same state may have two.)";

constexpr const char* kStopTokenIds = R"(The token ids that end the output.)";

}  // namespace matcher

namespace batch {

constexpr const char* kAcceptToken =
    R"(Accept one token in each sequence.

Args:
    token_ids: One integer per matcher: a list, or an array or a CPU tensor of shape (n,) or (n, 1).

Returns:
    For each sequence whether its token was accepted.

Raises:
    ArgumentError: `token_ids` is not a sequence of integers.
    MatcherError: There is not exactly one token per matcher, or a matcher is in use; nothing changes.
    LimitError: A sequence's grammar is too ambiguous; no sequence has changed.)";

constexpr const char* kAcceptTokens =
    R"(Accept several tokens in each sequence, up to the first that is not allowed.

Args:
    token_ids: A list of integers per matcher.

Returns:
    How many of each list were accepted.

Raises:
    ArgumentError: `token_ids` does not hold sequences of integers.
    MatcherError: There is not exactly one list per matcher, or a matcher is in use; nothing changes.
    LimitError: A sequence's grammar is too ambiguous; no sequence has changed.)";

constexpr const char* kValidateTokens =
    R"(Return how many tokens of each list would be accepted. Nothing changes.

Args:
    token_ids: A list of integers per matcher.

Raises:
    ArgumentError: `token_ids` does not hold sequences of integers.
    MatcherError: There is not exactly one list per matcher, or a matcher is in use.)";

constexpr const char* kFillNextTokenBitmask =
    R"(Write the mask of each matcher to its row of a bitmask.

Args:
    bitmask: (batch, >= ceil(vocab_size / 32)) int32, CPU, C-contiguous, bit 1 = allowed; a numpy array or a
        torch tensor, such as `allocate_token_bitmask` returns.
    indices: The row of each matcher; by default row i for matcher i.

Returns:
    Whether any of the masks must be applied; False means that all tokens are allowed in all rows.

Raises:
    ArgumentError: `indices` is not a sequence of integers.
    BitmaskError: The bitmask has the wrong form, or a row is not there or given twice; nothing is written.
    MatcherError: There is not exactly one row per matcher, or a matcher is in use.
    LimitError: A sequence's grammar is too ambiguous; the other rows are written.)";

constexpr const char* kFillDraftBitmask =
    R"(Write the masks along a draft of each sequence; see `GrammarMatcher.fill_draft_bitmask`.

Args:
    draft_tokens: A list of integers per matcher.
    bitmask: As for `fill_next_token_bitmask`, with len(draft_tokens[i]) + 1 rows for matcher i.
    indices: The first row of each matcher; by default one after the other.

Returns:
    How many tokens of each draft would be accepted.

Raises:
    ArgumentError: `draft_tokens` does not hold sequences of integers.
    BitmaskError: The bitmask has the wrong form, or a row is not there or given twice; nothing is written.
    MatcherError: There is not exactly one draft per matcher, or a matcher is in use.)";

constexpr const char* kRollback =
    R"(Take back the last tokens of each sequence.

Args:
    num_tokens: How many, for all sequences or one number per matcher.

Raises:
    ArgumentError: `num_tokens` is not an integer or a sequence of integers.
    MatcherError: A number is negative or more than its matcher accepted; nothing changes.)";

constexpr const char* kReset = R"(Go back to the beginning of each output.)";

constexpr const char* kIsCompleted = R"(Return for each sequence whether its output so far is a whole one.)";

constexpr const char* kIsTerminated = R"(Return for each sequence whether it is over.)";

constexpr const char* kTemperature =
    R"(Return for each sequence the sampling temperature that its grammar asks for, None if it asks for none.)";

}  // namespace batch

}  // namespace maskwright::docs
