"""`CompiledGrammar`: a grammar bound to a tokenizer, which matchers run; saved, measured and explained.

    grammar = compiler.compile_regex("a+")
    data = grammar.serialize()  # CompiledGrammar.deserialize(data, tokenizer_info) reads it without the front-ends

It holds the kernel's grammar. What is slow to make and seldom wanted (an explainer, the captures' program) is made when
it is first asked for. `checked_compiled` is how whatever takes one looks at what it was given.
Tested by tests/contract and tests/saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, NoReturn

from maskwright import _kernel
from maskwright.compiling.cache import CompileFuture
from maskwright.errors import GrammarError, LimitError, OptionError, TokenizerError, wrong_argument
from maskwright.explaining.explainer import Explainer
from maskwright.grammar import Grammar
from maskwright.ir import OP_CAPTURE, OP_SUBGRAMMAR, GrammarIR, postorder
from maskwright.ir.plain_lists import with_plain_lists
from maskwright.report.rejection import Rejection
from maskwright.support.arguments import as_integer, as_number, instance, refuse_pickling
from maskwright.support.interruption import compiling
from maskwright.tokenizer import TokenizerInfo
from maskwright.tokenizer.token_sets import ids_of_saved, token_ids

DEFAULT_GRAMMAR_BYTES = 64 << 20
_PYTHON_BYTES = 2048  # that a compiled grammar has in Python
_FEW_SUBGRAMMARS = 16  # that are compiled at once where most need not be
_MOST_BYTES = 1 << 62  # the kernel counts in 64 bits


class Precomputed(NamedTuple):
    """The result of `precompute`."""

    num_masks: int  # computed
    num_configurations: int  # looked at, known ones included
    finished: bool  # nothing worth computing is left
    elapsed_us: float


class GrammarStats(NamedTuple):
    """What a compiled grammar has cached, and how often that helped."""

    num_configurations: int
    num_transitions: int  # (configuration, token) -> configuration
    num_masks: int
    memory_bytes: int  # of all these; automata and state masks are shared with other grammars and not counted
    shared_memory_bytes: int  # of the automata and state masks that it uses
    num_flushes: int  # how often it passed its memory limit and started over
    mask_hits: int  # masks asked for that were known
    mask_misses: int


class CompiledGrammar:
    """A grammar bound to a tokenizer, ready for any number of matchers in any number of threads.

    Attributes:
        grammar: what was compiled.
        tokenizer_info: the tokenizer.
    """

    __slots__ = (
        "__weakref__",
        "_capture_program",
        "_explainer",
        "_has_captures",
        "_native",
        "_plain",
        "grammar",
        "tokenizer_info",
    )

    def __init__(
        self,
        grammar: Grammar,
        tokenizer_info: TokenizerInfo,
        *,
        memory_budget_bytes: int,
        saved: bytes | None = None,
        has_captures: bool | None = None,
    ) -> None:
        """`saved` are the bytes of this grammar, if it is there to be read from them; `has_captures` is None if it is
        not known yet.
        """
        self.grammar = instance("grammar", grammar, Grammar, "use the compile_ methods of GrammarCompiler")
        self.tokenizer_info = instance("tokenizer_info", tokenizer_info, TokenizerInfo)
        limit = as_integer("memory_budget_bytes", memory_budget_bytes, at_least=0)
        self._capture_program: _kernel.CaptureProgram | None = None
        self._explainer: Explainer | None = None
        self._plain: CompiledGrammar | Literal[False] | None = None  # False if there is none
        self._has_captures = has_captures
        self._native = self._compiled(saved, min(limit, _MOST_BYTES))

    def _compiled(self, saved: bytes | None, limit: int) -> _kernel.CompiledGrammar:
        vocabulary = self.tokenizer_info.kernel_vocabulary
        if saved is not None:
            return _kernel.compile_bytes(vocabulary, saved, partial(ids_of_saved, self.tokenizer_info), limit)
        ir = self._ir_with_tokens()
        return _kernel.compile(vocabulary, ir.rules, ir.root, limit)

    def serialize(self) -> bytes:
        """Return the compiled grammar as bytes, for `deserialize` in any process that has the same release of
        Maskwright and the same tokenizer. See `Grammar.serialize`; `Grammar.deserialize` reads them, too.

        Raises:
            LimitError: It is too large.
        """
        from maskwright.saved_grammars import written

        grammar = self.grammar.bound_to(self.tokenizer_info)
        notes = replace(grammar.notes(), tokenizer=self.tokenizer_info.fingerprint, captures=self.has_captures)
        return written(grammar.compact_ir, notes)

    @classmethod
    def deserialize(
        cls, data: bytes, tokenizer_info: TokenizerInfo, *, memory_budget_bytes: int = DEFAULT_GRAMMAR_BYTES
    ) -> CompiledGrammar:
        """Read what `serialize` returned, without the front-ends. The bytes may come from anybody.

        Masks are those of the grammar that was saved. They are not among the bytes: they are computed anew when they
        are needed, as the first ones take less than a millisecond.

        Args:
            data: The bytes. They are kept, as the grammar's rules are read from them when somebody asks for these.
            tokenizer_info: The tokenizer for which it was compiled, or one with the same tokens.
            memory_budget_bytes: What it may remember of configurations and masks; past it, it starts over.

        Raises:
            TokenizerError: It was compiled for another tokenizer.
            GrammarError: The bytes are something else, were damaged, or were written in another version of the format.
            LimitError: They are too many, or a limit on what is in them is passed.
            ArgumentError, OptionError: An argument has the wrong type, or is out of range.

        >>> from maskwright import GrammarCompiler
        >>> info = TokenizerInfo.from_vocab(["a", "b", "</s>"], stop_token_ids=[2])
        >>> saved = GrammarCompiler(info).compile_regex("a+").serialize()
        >>> CompiledGrammar.deserialize(saved, info).grammar.dump()
        'root ::= "a"+'
        """
        from maskwright.saved_grammars import read_ir, read_notes

        given = instance("data", data, bytes, "pass what serialize() returned")
        info = instance("tokenizer_info", tokenizer_info, TokenizerInfo)
        notes = read_notes(given)
        if notes.tokenizer is None:
            raise GrammarError(
                "the bytes are a grammar that was not compiled",
                hint="read it with Grammar.deserialize, and compile it with GrammarCompiler.compile_grammar",
            )
        if notes.tokenizer != info.fingerprint:
            raise TokenizerError(
                "the grammar was compiled for a different tokenizer, or with different special or stop tokens",
                hint="pass the TokenizerInfo with which it was compiled, or compile the grammar again",
            )
        grammar = Grammar.saved(notes)
        grammar.release_ir(lambda: Grammar.saved(notes, read_ir(given, notes)))
        with compiling:
            return cls(
                grammar,
                info,
                memory_budget_bytes=memory_budget_bytes,
                saved=given,
                has_captures=notes.captures,
            )

    def precompute(self, budget_us: float) -> Precomputed:
        """Compute the masks that an output will need first, for at most `budget_us` microseconds.

        Call it while the model processes the prompt; other threads can run and use the grammar meanwhile. It computes
        masks in the order in which they are likely to be needed, checks the time after each (microseconds to
        milliseconds), and stops before half of the memory limit is used. Another call continues. Masks are the same
        with and without it.

        Raises:
            ArgumentError: `budget_us` is not a number.
            OptionError: It is negative.
        """
        budget = as_number("budget_us", budget_us)
        if not budget >= 0:
            raise OptionError(f"budget_us must be >= 0, not {budget:g}", option="budget_us")
        return Precomputed(*self._native.precompute_masks(budget))

    def stats(self) -> GrammarStats:
        """Return what is cached at present; hits and misses are counted since the grammar was compiled."""
        native = self._native
        configurations, transitions, masks, memory_bytes = native.size()
        return GrammarStats(
            num_configurations=configurations,
            num_transitions=transitions,
            num_masks=masks,
            memory_bytes=memory_bytes,
            shared_memory_bytes=native.shared_memory_bytes,
            num_flushes=native.num_flushes,
            mask_hits=native.num_mask_hits,
            mask_misses=native.num_mask_misses,
        )

    def explain_rejection(self, text: str | bytes) -> Rejection | None:
        """Return where a finished text breaks the structure, which keyword or rule is the reason, what was expected
        there, and how the text could go on; None if the text is a valid output.

        The first call reads the structure again, from the object that it was compiled from. If a schema was changed
        since then, no keyword is named.

        Raises:
            ArgumentError: `text` is not a str or bytes.
            LimitError: The grammar is too ambiguous.
        """
        if isinstance(text, str):
            data = text.encode("utf-8", "surrogatepass")
        elif isinstance(text, bytes | bytearray | memoryview):
            data = bytes(text)
        else:
            raise wrong_argument("text", text, "a str or bytes")
        return self.explainer.rejection(data)

    @property
    def explainer(self) -> Explainer:
        """What answers `explain_rejection` and `GrammarMatcher.explain`, made when it is first asked for."""
        if self._explainer is None:
            self._explainer = Explainer(self._native, self.grammar, self.tokenizer_info)
        return self._explainer

    @property
    def capture_program(self) -> _kernel.CaptureProgram:
        """The grammar with its captures, made when they are first asked for. Masks do not need it."""
        if self._capture_program is None:
            ir = self._ir_with_tokens()
            self._capture_program = _kernel.CaptureProgram(self.tokenizer_info.kernel_vocabulary, ir.rules, ir.root)
        return self._capture_program

    @property
    def has_captures(self) -> bool:
        """Whether anything in the grammar is captured."""
        if self._has_captures is None:
            self._has_captures = has_captures(self.grammar.compact_ir) or has_captures(self.grammar.ir)
        return self._has_captures

    def with_plain_lists(self) -> CompiledGrammar | None:
        """Return the grammar with elements of lists that may repeat, made when it is first asked for; None if it would
        be too large, or take long, as with many tools.
        """
        if self._plain is None:
            self._plain = self._with_plain_lists() or False
        return self._plain or None

    def _with_plain_lists(self) -> CompiledGrammar | None:
        bound = self.grammar.bound_to(self.tokenizer_info)
        if num_subgrammars(bound.compact_ir) > _FEW_SUBGRAMMARS:
            return None
        try:
            with compiling:
                grammar = Grammar(with_plain_lists(bound.ir))
                return CompiledGrammar(grammar, self.tokenizer_info, memory_budget_bytes=DEFAULT_GRAMMAR_BYTES)
        except LimitError:
            return None

    def _ir_with_tokens(self) -> GrammarIR:
        grammar = self.grammar.bound_to(self.tokenizer_info)
        return grammar.compact_ir.with_tokens(partial(token_ids, self.tokenizer_info))

    @property
    def memory_size_bytes(self) -> int:
        """Its memory: configurations, masks, its rules, and its share of the rules that other grammars use too."""
        plain = self._plain.memory_size_bytes if self._plain else 0
        return self._native.memory_bytes + _PYTHON_BYTES + plain

    @property
    def own_size_bytes(self) -> int:
        """Its memory without the rules, which all grammars of the tokenizer share."""
        plain = self._plain.own_size_bytes if self._plain else 0
        return self._native.own_bytes + _PYTHON_BYTES + plain

    def __copy__(self) -> CompiledGrammar:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledGrammar:
        return self  # what it holds is shared and does not change for its users

    def __reduce__(self) -> NoReturn:
        refuse_pickling(self, "pass what its serialize() returns, and deserialize it in the other process")

    def __repr__(self) -> str:
        return f"<CompiledGrammar: {self.grammar!r}, {self.tokenizer_info!r}>"

    def _repr_html_(self) -> str:
        from maskwright.show.notebook import grammar_html

        return grammar_html(self.grammar, self.tokenizer_info)


def has_captures(ir: GrammarIR) -> bool:
    """Whether anything in the rules is captured."""
    return any(part[0] == OP_CAPTURE for rule in ir.rules for part in postorder(rule.body))


def num_subgrammars(ir: GrammarIR) -> int:
    """How many grammars stand in the rules as leaves."""
    return sum(part[0] == OP_SUBGRAMMAR for rule in ir.rules for part in postorder(rule.body))


def checked_compiled(name: str, value: Any) -> CompiledGrammar:
    """Return a `CompiledGrammar`, or raise an ArgumentError that says how to come from what was given to one."""
    if isinstance(value, CompiledGrammar):
        return value
    compile_first = "compile it first: GrammarCompiler(tokenizer_info).{}"
    if isinstance(value, Grammar):
        hint = compile_first.format("compile_grammar(grammar)")
    elif isinstance(value, Mapping):
        hint = compile_first.format("compile_json_schema(schema)")
    elif isinstance(value, str | bytes):
        hint = compile_first.format("compile_json_schema(text), compile_regex(text) or compile_grammar(text)")
    elif isinstance(value, CompileFuture):
        hint = "await it, or pass its result()"
    elif isinstance(value, _kernel.Matcher):
        hint = "use fork() to copy a matcher; its grammar is matcher.compiled_grammar"
    else:
        hint = "pass what compile_json_schema or another compile_ method of GrammarCompiler returns"
    raise wrong_argument(name, value, "a CompiledGrammar", hint)
