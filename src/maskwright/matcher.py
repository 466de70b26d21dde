"""`GrammarMatcher`: keeps one sequence to a grammar. `BatchGrammarMatcher`: many sequences in one call.

    matcher = GrammarMatcher(compiled_grammar)
    bitmask = allocate_token_bitmask(1, tokenizer_info.vocab_size)
    while not matcher.is_terminated():
        matcher.fill_next_token_bitmask(bitmask)
        apply_token_bitmask_inplace(logits, bitmask)
        if not matcher.accept_token(sample(logits)):
            raise RuntimeError("the mask was not applied to what was sampled from")

The mask and `accept_token` agree on every token, always, whatever was filled, rolled back or forked before.
`accept_token`, `fill_next_token_bitmask` and what else is called at every step are the kernel's own methods, with
their docstrings (cpp/bindings/docs.h): nothing of Python lies on that path.
A matcher belongs to one thread at a time; a second one gets a MatcherError. Its memory is a token id and a
configuration id per token. Tested by tests/exhaustive and tests/contract.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, NoReturn

from maskwright import _kernel
from maskwright.compiling.compiled_grammar import CompiledGrammar, Precomputed, checked_compiled
from maskwright.errors import LimitError, OptionError, TokenizerError, UnsatisfiableError, wrong_argument
from maskwright.report.rejection import Explanation, expected
from maskwright.support.argument_names import other_names
from maskwright.support.arguments import as_integer, as_number, as_tuple, instance, refuse_pickling
from maskwright.tokenizer.jump_forward import Encode, find_tokens

MAX_TOKEN_BUDGET = 10**9
_MANY_THREADS = 1 << 16  # the kernel knows how many there are
_WITHOUT_END = (
    "the tokenizer has no stop token, so is_terminated() is never True: pass stop_token_ids=[...] to TokenizerInfo, "
    "or terminate_without_stop_token=True to GrammarMatcher, or override_stop_tokens=[] if your loop ends by itself"
)


class Capture(NamedTuple):
    """A part of the output that a capture matched."""

    name: str
    data: bytes
    start: int  # in bytes of the output, to which special tokens add none
    end: int  # exclusive


class GrammarMatcher(_kernel.Matcher):
    """Keeps one output to a grammar, token by token.

    Args:
        compiled_grammar: The grammar.
        override_stop_tokens: Stop tokens to use instead of the tokenizer's: an id, or several. An empty list says that
            the caller's loop needs none: it ends by `is_completed`, for example.
        terminate_without_stop_token: Whether the output counts as terminated as soon as it is complete; stop tokens
            are then never allowed.
        max_tokens: The largest number of tokens of the whole output, not counting stop tokens. The mask then allows
            only tokens after which the output can still be completed in time. Text accepted as a string counts as one
            token.
        budget: How to decide what can still be completed. "quick": by bounds that cost almost nothing; some of the last
            tokens that would fit are not allowed, stop tokens included. If no output fits by the bounds, it falls back
            to "exact". "exact": every token after which some output fits is allowed. For some structures, such as
            counted patterns and many optional members, masks near the end of the budget are then slow, or end in a
            `LimitError`. If the bounds allow it, objects with more than 4 properties in any order are always decided as
            with "quick"; those of objects inside them are counted, too.
        default_temperature: What `temperature` returns where the grammar sets none.

    Raises:
        ArgumentError: `compiled_grammar` is not a `CompiledGrammar`, or another argument has the wrong type.
        LimitError: It takes too long to find out whether an output fits into `max_tokens`, or is not known, as with
            elements that must differ; the message says how many tokens an output needs at least, and how many are
            enough.
        OptionError: `max_tokens` is less than 1, `budget` is unknown, or `default_temperature` is negative or not
            finite.
        TokenizerError: A stop token is outside the vocabulary.
        UnsatisfiableError: No output fits into `max_tokens`; the message says how many tokens the shortest one has, or
            gives bounds for that number.

    A stop token that is also text in the vocabulary is not allowed as content, since an engine that samples it stops.
    The exceptions are places where the grammar names it, and places where no other token is allowed and the output is
    not complete. Sets such as `<[*]>`, `any_tokens` and `exclude_token` do not name it.

    Without stop tokens, `is_terminated` is never True, and a loop that waits for it does not end: a `UserWarning` says
    so, unless `override_stop_tokens` or `terminate_without_stop_token` is given.
    """

    @other_names(
        max_new_tokens="max_tokens", stop_token_ids="override_stop_tokens", eos_token_id="override_stop_tokens"
    )
    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: int | Iterable[int] | None = None,
        terminate_without_stop_token: bool = False,
        max_tokens: int | None = None,
        budget: Literal["exact", "quick"] = "quick",
        default_temperature: float | None = None,
    ) -> None:
        info = checked_compiled("compiled_grammar", compiled_grammar).tokenizer_info
        stops = list(info.stop_token_ids)
        if override_stop_tokens is not None:
            stops = _stop_tokens(override_stop_tokens, info.vocab_size)
        elif not stops and not terminate_without_stop_token:
            warnings.warn(_WITHOUT_END, UserWarning, stacklevel=3)
        super().__init__(
            compiled_grammar._native,
            stops,
            bool(terminate_without_stop_token),
            _budget(max_tokens),
            _is_quick(budget),
            _temperature(default_temperature),
        )
        self.compiled_grammar = compiled_grammar

    def accept_string(self, text: str | bytes) -> bool:
        """Accept text, with any tokenization. Returns False, and nothing changes, if it is not allowed.

        The text counts as one token for `rollback`. Half a surrogate pair is three bytes that are not valid UTF-8.
        """
        return self.accept_bytes(_encoded("text", text))

    def find_jump_forward_string(self) -> str:
        """Return the longest text that every completion begins with.

        Only whole characters: half a character at the end is left out, and if the output so far ends inside a
        character, the text is empty.
        """
        forced = self.forced_bytes()
        try:
            return forced.decode()
        except UnicodeDecodeError as error:
            return forced[: error.start].decode()

    def find_jump_forward_tokens(self, encode: Encode | None = None) -> list[int]:
        """Return the tokens that every completion begins with, as the model's own tokenizer would write them.

        These are the tokens of the forced text that stay the same whatever text follows, or the only allowed token (a
        special token, for example). Stop tokens are not included. Nothing changes: accept the tokens to go on.

        Args:
            encode: A function from text to token ids, without special tokens; by default the tokenizer's own.

        Raises:
            TokenizerError: `encode` is not given, and the tokenizer has no encoder.
        """
        return find_tokens(self, self.compiled_grammar.tokenizer_info, encode)

    def expected(self) -> tuple[str, ...]:
        """Return what text may come next, in words, such as ("a digit", "`,`", "the end of the output").

        Special tokens are not included. With `max_tokens`, each byte is judged as one token. Nothing changes.

        Raises:
            LimitError: The grammar is too ambiguous.
        """
        return expected(self)

    def explain(self, what: int | str | bytes) -> Explanation:
        """Return whether a token or a text is allowed next, and why: which keyword of the schema or rule of the grammar
        is the reason, what was expected, and how the output can go on. Nothing changes.

        Args:
            what: A token id, or a text as for `accept_string`.

        Raises:
            ArgumentError: `what` is something else.
            TokenizerError: The token id is outside the vocabulary.
            LimitError: The grammar is too ambiguous.
        """
        asked = _encoded("what", what) if isinstance(what, str | bytes | bytearray | memoryview) else None
        if asked is not None:
            return self.compiled_grammar.explainer.explanation(self, asked)
        token_id = as_integer("what", what, hint="pass a token id, a str or bytes")
        size = self.compiled_grammar.tokenizer_info.vocab_size
        if not 0 <= token_id < size:
            raise TokenizerError(f"token {token_id} is outside the vocabulary of {size}")
        return self.compiled_grammar.explainer.explanation(self, token_id)

    def precompute(self, budget_us: float) -> Precomputed:
        """Compute masks that this sequence will soon need, for at most `budget_us` microseconds.

        See `CompiledGrammar.precompute`.
        """
        return Precomputed(*_kernel.precompute_masks(self, as_number("budget_us", budget_us)))

    def get_captures(self) -> list[tuple[str, bytes]]:
        """Return what the grammar's captures have matched so far, as (name, bytes), in the order in which they begin.

        Only closed captures are returned, nested ones included. Empty ones are left out, but for texts that an end of
        theirs closed, and special tokens add no bytes. If the output can be read in several ways, captures that begin
        earlier win, then those that end later; until the output is terminated, that may still change. A call reads only
        what was accepted since the last one.

        Raises:
            LimitError: The output is too ambiguous, or a capture is left-recursive.
        """
        return [(capture.name, capture.data) for capture in self.get_capture_spans()]

    def get_capture_spans(self, *, order: Literal["begin", "end"] = "begin") -> list[Capture]:
        """Return the same as `get_captures`, with positions.

        Args:
            order: `"begin"` for the order in which captures begin, outer ones first; `"end"` for the order in which
                they close, inner ones first.

        Raises:
            LimitError: The output is too ambiguous, or a capture is left-recursive.
            OptionError: `order` is something else.
        """
        if order not in ("begin", "end"):
            raise OptionError(f"unknown order {order!r:.60}", option="order", hint="use 'begin' or 'end'")
        found = [each for each in _kernel.captures(self, self.compiled_grammar.capture_program) if each[3] >= 0]
        if order == "end":
            found.sort(key=lambda each: each[3])
        return [Capture(name, data, start, start + len(data)) for name, data, start, _ in found]

    def get_open_captures(self) -> list[tuple[str, bytes]]:
        """Return the captures that are still open, the outermost first, with their bytes so far."""
        found = _kernel.captures(self, self.compiled_grammar.capture_program)
        return [(name, data) for name, data, _, rank in found if rank < 0]

    def fork(self) -> GrammarMatcher:
        """Return an independent matcher in the same state, in constant time."""
        twin = type(self).__new__(type(self))
        _kernel.Matcher.__init__(twin, self)
        twin.compiled_grammar = self.compiled_grammar
        return twin

    def __copy__(self) -> GrammarMatcher:
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> GrammarMatcher:
        return self.fork()

    def __reduce__(self) -> NoReturn:
        refuse_pickling(self, "keep the token ids, and accept them with a new matcher in the other process")

    def __repr__(self) -> str:
        if not hasattr(self, "compiled_grammar"):  # a debugger looks at one whose construction failed
            return "<GrammarMatcher: not initialized>"
        state = "terminated" if self.is_terminated() else "complete" if self.is_completed() else "open"
        return f"<GrammarMatcher: {self.num_accepted_tokens} tokens, {state}>"

    def _repr_html_(self) -> str:
        from maskwright.show.notebook import matcher_html

        return matcher_html(self, self.compiled_grammar.tokenizer_info)


class BatchGrammarMatcher(_kernel.BatchMatcher):
    """The matchers of several sequences, with one call into the kernel for all of them.

    Each method does the same as the matcher's method of that name, for every sequence: argument i belongs to matcher i.
    Cached masks are copied on the calling thread; the others are computed by the kernel's threads, without the GIL.
    There is one thread pool per process, started when first needed, with as many threads as the CPU affinity and the
    control groups' quota allow.

    A matcher can be used by one call at a time: if another thread uses it meanwhile, directly or in another batch, one
    of the two calls raises a MatcherError. Creating a batch costs little, so create a new one when sequences come and
    go.

    Args:
        matchers: One per sequence, all different; they may belong to different grammars and tokenizers.
        max_threads: The largest number of threads to use, including the calling one; by default all of the process.

    Raises:
        ArgumentError: A matcher is not a `GrammarMatcher`, or `max_threads` is not an int.
        MatcherError: A matcher is given twice.
        OptionError: `max_threads` is less than 1.
    """

    def __init__(self, matchers: Iterable[GrammarMatcher], *, max_threads: int | None = None) -> None:
        threads = _MANY_THREADS if max_threads is None else as_integer("max_threads", max_threads, at_least=1)
        given = as_tuple("matchers", matchers, "a list of GrammarMatchers", "pass [matcher] for one sequence")
        for each in given:
            instance("each of matchers", each, GrammarMatcher, "make one with GrammarMatcher(compiled_grammar)")
        super().__init__(given, min(_MANY_THREADS, threads))
        self.matchers = given

    def accept_string(self, texts: Sequence[str | bytes]) -> list[bool]:
        """Accept a text in each sequence; return for each whether it was accepted.

        Raises:
            MatcherError: There is not exactly one text per matcher; nothing changes.
        """
        given = as_tuple("texts", texts, "a list with one str or bytes per sequence")
        return _kernel.accept_texts(self, [_encoded("each of texts", text) for text in given])

    def __reduce__(self) -> NoReturn:
        refuse_pickling(self, "make a batch of the matchers' forks instead")

    def __len__(self) -> int:
        return len(self.matchers)


class EngineMatcher(NamedTuple):
    """A matcher for an engine's limit, and why the output may be cut off there nevertheless, if it may."""

    matcher: GrammarMatcher
    caveat: str | None = None


def matcher_for_engine(compiled: CompiledGrammar, max_tokens: int, **options: Any) -> EngineMatcher:
    """Return a matcher with an engine's limit as its budget.

    A grammar with a list of distinct elements has no such budget if it cannot be shown that an output fits. Then the
    matcher has none either, so the engine's limit may cut the output off.

    Args:
        compiled: The grammar.
        max_tokens: As for `GrammarMatcher`.
        **options: Its other arguments.

    Raises:
        LimitError: As `GrammarMatcher` does, but not for lists of distinct elements.
        UnsatisfiableError: No output has so few tokens, even if elements could repeat.
    """
    try:
        return EngineMatcher(GrammarMatcher(compiled, max_tokens=max_tokens, **options))
    except LimitError as error:
        if error.limit != "remembered_text_budget":
            raise
        enough = error.enough_tokens
    _check_plain_lists(compiled, max_tokens, enough)
    caveat = "a list of distinct items has no token budget here, so the output may be cut off at max_tokens"
    return EngineMatcher(GrammarMatcher(compiled, **options), caveat + _said_of(enough))


def _check_plain_lists(compiled: CompiledGrammar, max_tokens: int, enough: int | None) -> None:
    """Raise an error if no output has so few tokens, even if elements could repeat; `enough` are known to do.

    Raises:
        UnsatisfiableError: It is so.
    """
    try:
        plain = compiled.with_plain_lists()
        if plain is not None:
            GrammarMatcher(plain, max_tokens=max_tokens, override_stop_tokens=[])
    except LimitError:  # it is not known
        return
    except UnsatisfiableError as error:
        least = error.least_tokens
        if least is None:
            raise
        message = f"the shortest output needs at least {least} tokens, but max_tokens is {max_tokens}"
        raise UnsatisfiableError(
            message + _said_of(enough), hint="allow more tokens", least_tokens=least, enough_tokens=enough
        ) from None


def _said_of(enough: int | None) -> str:
    return "" if enough is None else f"; {enough} tokens are enough"


def _encoded(name: str, text: str | bytes) -> bytes:
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if isinstance(text, bytes | bytearray | memoryview):
        return bytes(text)
    raise wrong_argument(name, text, "a str or bytes")


def _budget(max_tokens: int | None) -> int:
    """As the kernel takes it, 0 for none."""
    if max_tokens is None:
        return 0
    return min(as_integer("max_tokens", max_tokens, at_least=1), MAX_TOKEN_BUDGET)


def _is_quick(budget: str) -> bool:
    if budget not in ("exact", "quick"):
        raise OptionError(f'budget must be "exact" or "quick", not {budget!r}', option="budget")
    return budget == "quick"


def _temperature(default: float | None) -> float:
    """As the kernel takes it, negative for none."""
    if default is None:
        return -1.0
    number = as_number("default_temperature", default)
    if not 0 <= number < math.inf:
        raise OptionError(f"default_temperature must be finite and >= 0, not {number}", option="default_temperature")
    return number


def _stop_tokens(given: int | Iterable[int], vocab_size: int) -> list[int]:
    if isinstance(given, str | bytes):
        hint = "look the id up: tokenizer.convert_tokens_to_ids(text)"
        raise wrong_argument("override_stop_tokens", given, "a token id or several", hint)
    several = given if isinstance(given, Iterable) else [given]
    ids = [as_integer("override_stop_tokens", i, hint="pass token ids") for i in several]
    for token_id in ids:
        if not 0 <= token_id < vocab_size:
            raise TokenizerError(f"stop token {token_id} is outside the vocabulary of {vocab_size}")
    return ids
