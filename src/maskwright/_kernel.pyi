from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, SupportsIndex, overload

class Vocabulary:
    def __init__(
        self, token_bytes: list[bytes], special_token_ids: Sequence[int], stop_token_ids: Sequence[int], vocab_size: int
    ) -> None: ...
    def begins_longer_token(self, text: bytes) -> bool: ...
    def longest_token(self, text: bytes) -> int | None: ...
    @property
    def build_us(self) -> float: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def num_nodes(self) -> int: ...
    @property
    def num_rule_groups(self) -> int: ...
    def keep_rules_within(self, num_bytes: int) -> None: ...
    @property
    def rule_memory_bytes(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...

class CompiledGrammar:
    @property
    def memory_bytes(self) -> int: ...
    @property
    def own_bytes(self) -> int: ...
    @property
    def shared_memory_bytes(self) -> int: ...
    @property
    def num_flushes(self) -> int: ...
    @property
    def num_instances(self) -> int: ...
    @property
    def num_mask_hits(self) -> int: ...
    @property
    def num_mask_misses(self) -> int: ...
    def size(self) -> tuple[int, int, int, int]: ...
    def precompute_masks(self, arg: float, /) -> tuple[int, int, bool, float]: ...

def set_optimisations(
    *,
    inlining: bool = True,
    registers: bool = True,
    subtree_skipping: bool = True,
    state_masks: bool = True,
    config_memo: bool = True,
    sharing: bool = True,
) -> None:
    """
    Switches off what is False, for the whole process: to measure what each is worth (support/optimisations.h).
    """

class CaptureProgram:
    def __init__(self, vocabulary: Vocabulary, rules: tuple[object, ...], root: int) -> None: ...

def compile(
    vocabulary: Vocabulary, rules: tuple[object, ...], root: int, memory_budget_bytes: int
) -> CompiledGrammar: ...
def compile_bytes(
    vocabulary: Vocabulary,
    data: bytes,
    ids_of: Callable[[list[bytes], Sequence[tuple[int, int]], bool], Sequence[int]],
    memory_budget_bytes: int,
) -> CompiledGrammar: ...

class Matcher:
    @overload
    def __init__(
        self,
        grammar: CompiledGrammar,
        stop_token_ids: Sequence[int],
        terminate_without_stop_token: bool,
        max_tokens: int = 0,
        by_bounds: bool = False,
        default_temperature: float = -1.0,
    ) -> None: ...
    @overload
    def __init__(self, arg: Matcher, /) -> None: ...
    def accept_token(self, token_id: SupportsIndex) -> bool:
        """
        Accept one token.

        Args:
            token_id: An int; or an array or a tensor of one integer, of any shape.

        Returns:
            True if the token was accepted. False, and nothing changes, if it is not allowed, for any int. A stop token
            is accepted where the output is complete, and terminates it. One that is also text in the vocabulary is
            accepted as text only where the grammar names it, or where no other token is allowed and the output is not
            complete.

        Raises:
            ArgumentError: `token_id` is not an integer.
            LimitError: The grammar is too ambiguous; nothing changes.
        """

    def accept_tokens(self, token_ids: Iterable[SupportsIndex]) -> int:
        """
        Accept several tokens, up to the first that is not allowed.

        Args:
            token_ids: A list, an array or a CPU tensor of integers.

        Returns:
            How many were accepted.

        Raises:
            ArgumentError: `token_ids` is not a sequence of integers.
            LimitError: The grammar is too ambiguous; nothing changes.
        """

    def validate_tokens(self, token_ids: Iterable[SupportsIndex]) -> int:
        """
        Return how many of these tokens would be accepted, one after the other. Nothing changes.

        Args:
            token_ids: A list, an array or a CPU tensor of integers.

        Raises:
            ArgumentError: `token_ids` is not a sequence of integers.
        """

    def accept_bytes(self, data: bytes) -> bool:
        """
        Accept text as UTF-8 bytes, with any tokenization; the same as `accept_string` with bytes.

        Returns:
            True if it was accepted, as one token for `rollback`. False, and nothing changes, if it is not allowed.

        Raises:
            ArgumentError: `data` is not bytes.
            LimitError: The grammar is too ambiguous; nothing changes.
        """

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        """
        Write the mask of the tokens that are allowed next to a row of a bitmask.

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
            LimitError: The grammar is too ambiguous.
        """

    def fill_draft_bitmask(self, draft_tokens: Iterable[SupportsIndex], bitmask: Any, index: int = 0) -> int:
        """
        Write the masks along a draft: of the present to row `index`, and those after each token to the rows that
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
            BitmaskError: The bitmask has the wrong form or too few rows; nothing is written.
        """

    def mask_is_known(self) -> bool:
        """
        Return whether the mask of the next token was computed before, for any sequence: then filling it copies it, in a
        microsecond. Otherwise it may take up to milliseconds, and is worth filling while the model calculates.
        """

    def traverse_draft_tree(
        self,
        retrieve_next_token: Iterable[SupportsIndex],
        retrieve_next_sibling: Iterable[SupportsIndex],
        draft_tokens: Iterable[SupportsIndex],
        bitmask: Any,
        time_threshold: float = -1.0,
        temperatures: Any | None = None,
    ) -> int:
        """
        Write the masks of a tree of drafted tokens, row i for node i. The matcher does not move.

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
            MatcherError: The arrays do not describe a tree.
        """

    def temperature(self) -> float | None:
        """
        Return the sampling temperature that the grammar asks for at the next token, `default_temperature` if it asks
        for none.

        It is that of the innermost rule that has one and that the next token is in, rules that may begin with it
        included; the highest where the output can be read in several ways.
        """

    def forced_token(self) -> int | None:
        """
        Return the only token that is allowed next, which may be a stop token; None if there are several or none.
        """

    def text_may_follow(self) -> bool:
        """
        Return whether text may come next, whatever tokens there are for it: not only special tokens and stop tokens.

        Raises:
            LimitError: The grammar is too ambiguous.
        """

    def forced_bytes(self) -> bytes:
        """
        Return the longest bytes that every completion begins with, at most 4096, which may end within a character.

        `find_jump_forward_string` returns whole characters. Nothing changes.

        Raises:
            LimitError: The grammar is too ambiguous.
        """

    def history(self) -> list[int | bytes]:
        """
        Return what was accepted since the matcher was made or reset, in order: an int for a token, a terminating stop
        token included, and bytes for text that was accepted as such.
        """

    def rollback(self, num_tokens: SupportsIndex = 1) -> None:
        """
        Take back the last tokens, a terminating stop token included.

        Raises:
            ArgumentError: `num_tokens` is not an integer.
            MatcherError: `num_tokens` is negative or more than were accepted; nothing changes.
        """

    def reset(self) -> None:
        """Go back to the beginning of the output."""

    def is_completed(self) -> bool:
        """
        Return whether the output so far is a whole one, so that a stop token is allowed, or was accepted.
        """

    def is_terminated(self) -> bool:
        """
        Return whether the output is over: a stop token was accepted, or with `terminate_without_stop_token`, it is
        complete. No token is allowed then.
        """

    @property
    def num_accepted_tokens(self) -> int:
        """
        How many tokens were accepted since the matcher was made or reset. Text accepted as such counts as one.
        """

    @property
    def configuration_id(self) -> int:
        """
        A number for what may follow: matchers of one compiled grammar that have the same one go on alike, whatever
        was written before, and whatever their token budgets are. Only for guesses, such as drafts: once the grammar has
        passed its memory limit and started over, numbers mean something else, and the same state may have two.
        """

    @property
    def stop_token_ids(self) -> list[int]:
        """The token ids that end the output."""

def short_end(matcher: Matcher, most: int) -> list[int | bytes] | None: ...
def precompute_masks(matcher: Matcher, budget_us: float) -> tuple[int, int, bool, float]: ...
def captures(matcher: Matcher, program: CaptureProgram) -> list[tuple[str, bytes, int, int]]: ...
def settled_captures(
    matcher: Matcher, program: CaptureProgram, num_edges: int, num_bytes: int
) -> tuple[list[tuple[str, int, bool]], bytes, tuple[int, int]]: ...
def has_history(matcher: Matcher, num_entries: int, serial: int) -> bool: ...
def available_cpus(file_root: str) -> int: ...
def accept_texts(batch: BatchMatcher, texts: Sequence[bytes]) -> list[bool]: ...

class BatchMatcher:
    def __init__(self, matchers: tuple[Matcher, ...], max_threads: int) -> None: ...
    def fill_next_token_bitmask(self, bitmask: Any, indices: Iterable[SupportsIndex] | None = None) -> bool:
        """
        Write the mask of each matcher to its row of a bitmask.

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
            LimitError: A sequence's grammar is too ambiguous; the other rows are written.
        """

    def fill_draft_bitmask(
        self,
        draft_tokens: Iterable[Iterable[SupportsIndex]],
        bitmask: Any,
        indices: Iterable[SupportsIndex] | None = None,
    ) -> list[int]:
        """
        Write the masks along a draft of each sequence; see `GrammarMatcher.fill_draft_bitmask`.

        Args:
            draft_tokens: A list of integers per matcher.
            bitmask: As for `fill_next_token_bitmask`, with len(draft_tokens[i]) + 1 rows for matcher i.
            indices: The first row of each matcher; by default one after the other.

        Returns:
            How many tokens of each draft would be accepted.

        Raises:
            ArgumentError: `draft_tokens` does not hold sequences of integers.
            BitmaskError: The bitmask has the wrong form, or a row is not there or given twice; nothing is written.
            MatcherError: There is not exactly one draft per matcher, or a matcher is in use.
        """

    def accept_token(self, token_ids: Iterable[SupportsIndex]) -> list[bool]:
        """
        Accept one token in each sequence.

        Args:
            token_ids: One integer per matcher: a list, or an array or a CPU tensor of shape (n,) or (n, 1).

        Returns:
            For each sequence whether its token was accepted.

        Raises:
            ArgumentError: `token_ids` is not a sequence of integers.
            MatcherError: There is not exactly one token per matcher, or a matcher is in use; nothing changes.
            LimitError: A sequence's grammar is too ambiguous; no sequence has changed.
        """

    def accept_tokens(self, token_ids: Iterable[Iterable[SupportsIndex]]) -> list[int]:
        """
        Accept several tokens in each sequence, up to the first that is not allowed.

        Args:
            token_ids: A list of integers per matcher.

        Returns:
            How many of each list were accepted.

        Raises:
            ArgumentError: `token_ids` does not hold sequences of integers.
            MatcherError: There is not exactly one list per matcher, or a matcher is in use; nothing changes.
            LimitError: A sequence's grammar is too ambiguous; no sequence has changed.
        """

    def validate_tokens(self, token_ids: Iterable[Iterable[SupportsIndex]]) -> list[int]:
        """
        Return how many tokens of each list would be accepted. Nothing changes.

        Args:
            token_ids: A list of integers per matcher.

        Raises:
            ArgumentError: `token_ids` does not hold sequences of integers.
            MatcherError: There is not exactly one list per matcher, or a matcher is in use.
        """

    def rollback(self, num_tokens: int | Iterable[SupportsIndex] = 1) -> None:
        """
        Take back the last tokens of each sequence.

        Args:
            num_tokens: How many, for all sequences or one number per matcher.

        Raises:
            ArgumentError: `num_tokens` is not an integer or a sequence of integers.
            MatcherError: A number is negative or more than its matcher accepted; nothing changes.
        """

    def reset(self) -> None:
        """Go back to the beginning of each output."""

    def is_completed(self) -> list[bool]:
        """Return for each sequence whether its output so far is a whole one."""

    def is_terminated(self) -> list[bool]:
        """Return for each sequence whether it is over."""

    def temperature(self) -> list[float | None]:
        """
        Return for each sequence the sampling temperature that its grammar asks for, None if it asks for none.
        """

def apply_mask(
    logits: int,
    type: int,
    row_bytes: int,
    num_columns: int,
    bitmask: int,
    bitmask_row_bytes: int,
    num_words: int,
    num_rows: int,
    rows: Sequence[int] | None = None,
    max_threads: int = 4294967295,
    max_simd_bytes: int = 32,
) -> None: ...
def address_of(array: object) -> int: ...
def simd_bytes() -> int:
    """The widest vectors that `apply_mask` uses on this processor, in bytes."""

def canonical_bytes(data: object) -> bytes | None:
    """
    Data of JSON's types, and tuples of them, as bytes that only equal data have; None for any other data.
    """

def from_canonical_bytes(content: bytes) -> Any:
    """
    The data that have this content, made anew. Raises ValueError if none have.
    """

def can_defer(
    content: bytes, formats: Container[str], length_of_match: Callable[[str], int], is_ignored: Callable[[str], bool]
) -> tuple[bool, bool, bool, bool, bool, bool, bool, bool, int, int] | None:
    """
    Scans a schema's content; None if compiling it cannot be deferred (frontends/json_schema/normalise/deferral.py).
    """

def interrupt_checkpoint() -> None:
    """
    Lets other threads have the interpreter, if this one had it for long, and handlers of signals, which may raise.
    """

def begin_compiling() -> None:
    """
    From now on to `end_compiling` the collector lets this thread alone while it has the interpreter.
    """

def end_compiling() -> None: ...
def renew_compiling_in_child() -> None:
    """To be called in a child of fork."""

def untrack(root: object, kinds: tuple[type, ...]) -> int:
    """
    Takes tuples, dicts, frozen sets and objects of these classes off the list of the garbage collector, down from
    a root. Returns about how many bytes they have, and the texts in them.
    """

def give_back_memory() -> None:
    """
    Gives memory that was freed back to the system, where the allocator can be asked to.
    """
