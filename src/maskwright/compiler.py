"""`GrammarCompiler`: structures in, `CompiledGrammar`s out, shared and bounded.

    compiler = GrammarCompiler(tokenizer_info)
    grammar = compiler.compile_json_schema({"type": "object", "properties": {"name": {"type": "string"}}})

Compiling does no vocabulary-sized work: automata and masks are built as the matchers need them, and shared by structure
between all grammars of one tokenizer. What was compiled is kept, the least recently used going first; what several
threads ask for at the same time is compiled once (compile_cache.py).
Tested by tests/contract.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from maskwright import _kernel
from maskwright.compile_cache import CompileCache, CompileFuture, Workers
from maskwright.errors import GrammarError, MaskwrightError, TokenizerError, UnsatisfiableError, wrong_argument
from maskwright.explainer import Explainer
from maskwright.grammar import Grammar, by_name, checked_choices
from maskwright.inputs.option_signatures import takes_schema_options
from maskwright.inputs.schema_inputs import schema_of
from maskwright.ir import OP_CAPTURE, GrammarIR, has_deferred, postorder, spelled_out
from maskwright.report.rejection import Rejection
from maskwright.report.sources import Source
from maskwright.support.arguments import as_integer, as_number, check_pattern, instance, refuse_pickling, text_hint
from maskwright.support.interruption import compiling, interrupt_checkpoint
from maskwright.token_sets import ids_of_saved, token_ids
from maskwright.tokenizer import TokenizerInfo, info_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from maskwright.frontends.json_schema import JsonSchemaKeywords
    from maskwright.kept_grammars import KeptGrammars
    from maskwright.saved_grammars import Notes
    from maskwright.structural_tag import StructuralTag

_DEFAULT_CACHE_BYTES = 256 << 20
_PYTHON_BYTES = 2048  # that a compiled grammar has in Python
_DEFAULT_GRAMMAR_BYTES = 64 << 20
_DEFAULT_CACHE_DIR_BYTES = 256 << 20
_WORTH_KEEPING_S = (
    0.002  # to read a grammar takes a third of the time of compiling it, and some tenths of a millisecond
)
_FRONT_ENDS = (
    *("maskwright.frontends.json_schema", "maskwright.frontends.regex", "maskwright.frontends.ebnf"),
    *("maskwright.frontends.lark", "maskwright.structural_tag.lowering.lower"),
)
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


class CompilerStats(NamedTuple):
    """What a compiler has cached, and how often that helped. `memory_bytes` and `rule_bytes` together stay within
    `cache_limit_bytes`, as far as what is in use lets them.
    """

    hits: int
    misses: int
    num_grammars: int
    memory_bytes: int  # of the grammars, without the rules that they share
    num_rule_groups: int  # automata that all grammars on the tokenizer share
    disk_hits: int = 0  # of the misses, those that were on disk
    disk_misses: int = 0  # those that were looked for there and compiled
    rule_bytes: int = 0  # of the rules: automata, and masks of their states


class CompiledGrammar:
    """A grammar bound to a tokenizer, ready for any number of matchers in any number of threads.

    Attributes:
        grammar: what was compiled.
        tokenizer_info: the tokenizer.
    """

    __slots__ = ("_capture_program", "_explainer", "_has_captures", "_native", "grammar", "tokenizer_info")

    def __init__(
        self, grammar: Grammar, tokenizer_info: TokenizerInfo, *, memory_budget_bytes: int, saved: bytes | None = None
    ) -> None:
        """`saved` are the bytes of this grammar, if it is there to be read from them."""
        self.grammar = instance("grammar", grammar, Grammar, "use the compile_ methods of GrammarCompiler")
        self.tokenizer_info = instance("tokenizer_info", tokenizer_info, TokenizerInfo)
        limit = as_integer("memory_budget_bytes", memory_budget_bytes, at_least=0)
        self._capture_program: _kernel.CaptureProgram | None = None
        self._explainer: Explainer | None = None
        self._has_captures: bool | None = None
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
        cls, data: bytes, tokenizer_info: TokenizerInfo, *, memory_budget_bytes: int = _DEFAULT_GRAMMAR_BYTES
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
                "the grammar was compiled for another tokenizer, or one with other special or stop tokens",
                hint="pass the TokenizerInfo with which it was compiled, or compile the grammar anew",
            )
        grammar = Grammar.saved(notes)
        grammar.release_ir(lambda: Grammar.saved(notes, read_ir(given, notes)))
        with compiling:
            made = cls(grammar, info, memory_budget_bytes=memory_budget_bytes, saved=given)
        made._has_captures = notes.captures
        return made

    def precompute(self, budget_us: float) -> Precomputed:
        """Compute the masks that an output will need first, for at most `budget_us` microseconds.

        Call it while the model processes the prompt; other threads can run and use the grammar meanwhile. It computes
        masks in the order in which they are likely to be needed, checks the time after each (microseconds to
        milliseconds), and stops before half of the memory limit is used. Another call continues. Masks are the same
        with and without it.
        """
        return Precomputed(*self._native.precompute_masks(as_number("budget_us", budget_us)))

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
            self._has_captures = _has_captures(self.grammar.compact_ir) or _has_captures(self.grammar.ir)
        return self._has_captures

    def _ir_with_tokens(self) -> GrammarIR:
        grammar = self.grammar.bound_to(self.tokenizer_info)
        return grammar.compact_ir.with_tokens(partial(token_ids, self.tokenizer_info))

    @property
    def memory_size_bytes(self) -> int:
        """Its memory: configurations, masks, its rules, and its share of the rules that other grammars use too."""
        return self._native.memory_bytes + _PYTHON_BYTES

    @property
    def own_size_bytes(self) -> int:
        """Its memory without the rules, which all grammars of the tokenizer share."""
        return self._native.own_bytes + _PYTHON_BYTES

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

        return grammar_html(self)


def compiled_cache(limit_bytes: int | None, info: TokenizerInfo) -> CompileCache[CompiledGrammar]:
    """Return a cache of grammars of a tokenizer. Its limit is for their rules, too; of several caches of one tokenizer,
    the one to which a grammar was added last says how many rules stay that no grammar uses.
    """
    vocabulary = info.kernel_vocabulary

    def shared(num_bytes: int) -> int:
        vocabulary.keep_rules_within(num_bytes)
        rule_bytes: int = vocabulary.rule_memory_bytes
        return rule_bytes

    return CompileCache(limit_bytes, shared)


class GrammarCompiler:
    """Compiles grammars for one tokenizer and caches them. Thread-safe.

    Each `compile_` method has an `_async` variant, which takes the same arguments and returns a `CompileFuture` at
    once: a `concurrent.futures.Future` that can also be awaited. Check `done()` between steps, call `result()`, or
    `await` it. Errors are raised there, except for arguments of the wrong type, which raise at once. A structure that
    is being compiled already is not compiled twice.

    Args:
        tokenizer_info: The tokenizer: a `TokenizerInfo`, or a tokenizer of transformers, tokenizers, tiktoken,
            sentencepiece, mistral-common, mlx-lm or llama-cpp-python (the model), which is read with the defaults of
            its `from_` method. If the model's logits are wider than the tokenizer's vocabulary, make the
            `TokenizerInfo` yourself, with `vocab_size`.
        max_threads: The largest number of threads in which the `_async` methods compile.
        cache_enabled: Whether to cache compiled grammars.
        cache_limit_bytes: The largest total size of what is kept: the cached grammars, and the rules of the tokenizer,
            which all its grammars share.
        cache_dir: A directory in which compiled grammars are kept for later processes, and for others that use it at
            the same time; None for none. It is created if it does not exist. It gets the grammars that took longer to
            compile than they take to read, except those passed as a `Grammar`, those with a registry, and those with
            parts that are compiled when they are first needed. They are written in the background.
        cache_dir_limit_bytes: The largest total size of the files there; the least recently used are removed.
        grammar_limit_bytes: The largest size of one grammar's cached configurations and masks; beyond it, that cache is
            cleared.

    Raises:
        ArgumentError: An argument has the wrong type.
        OptionError: A number is out of range, or `cache_dir` cannot be made.
        TokenizerError: The tokenizer cannot be read.
    """

    def __init__(
        self,
        tokenizer_info: TokenizerInfo | Any,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = _DEFAULT_CACHE_BYTES,
        grammar_limit_bytes: int = _DEFAULT_GRAMMAR_BYTES,
        cache_dir: str | os.PathLike[str] | None = None,
        cache_dir_limit_bytes: int = _DEFAULT_CACHE_DIR_BYTES,
    ) -> None:
        self.tokenizer_info = info_of(tokenizer_info)
        self.max_threads = as_integer("max_threads", max_threads, at_least=1)
        cache_limit = as_integer("cache_limit_bytes", cache_limit_bytes, at_least=0)
        self._cache = compiled_cache(cache_limit if cache_enabled else None, self.tokenizer_info)
        self._workers = Workers(self.max_threads)
        self._grammar_limit_bytes = as_integer("grammar_limit_bytes", grammar_limit_bytes, at_least=0)
        # Done here rather than at the first schema and mask, so that no request waits for them, nor a serving engine's
        # loop: an import keeps the interpreter for up to 20 ms.
        for front_end in _FRONT_ENDS:
            import_module(front_end)
        _ = self.tokenizer_info.kernel_vocabulary
        self._kept = self._kept_in(cache_dir, as_integer("cache_dir_limit_bytes", cache_dir_limit_bytes, at_least=0))

    def _kept_in(self, directory: str | os.PathLike[str] | None, limit_bytes: int) -> KeptGrammars | None:
        if directory is None:
            return None
        if not isinstance(directory, str | os.PathLike):
            raise wrong_argument("cache_dir", directory, "a path")
        from maskwright.kept_grammars import KeptGrammars

        return KeptGrammars(directory, limit_bytes, self.tokenizer_info)

    @takes_schema_options
    def compile_json_schema(self, schema: Any, **options: Unpack[JsonSchemaKeywords]) -> CompiledGrammar:
        """Compile a JSON Schema. See `Grammar.from_json_schema` for arguments and errors."""
        return self._get(_json_schema_task(schema, options))

    @takes_schema_options
    def compile_json_schema_async(
        self, schema: Any, **options: Unpack[JsonSchemaKeywords]
    ) -> CompileFuture[CompiledGrammar]:
        """Compile a JSON Schema in another thread. The schema must not be changed meanwhile."""
        return self._submit(_json_schema_task(schema, options))

    def compile_regex(self, pattern: str, *, flags: str = "") -> CompiledGrammar:
        """Compile a regular expression. See `Grammar.from_regex`."""
        return self._get(_regex_task(pattern, flags))

    def compile_regex_async(self, pattern: str, *, flags: str = "") -> CompileFuture[CompiledGrammar]:
        """Compile a regular expression in another thread."""
        return self._submit(_regex_task(pattern, flags))

    def compile_grammar(self, grammar: Grammar | str, root_rule_name: str = "root") -> CompiledGrammar:
        """Compile a `Grammar`, or a text in EBNF or GBNF. See `Grammar.from_ebnf`."""
        return self._get(_grammar_task(grammar, root_rule_name))

    def compile_grammar_async(
        self, grammar: Grammar | str, root_rule_name: str = "root"
    ) -> CompileFuture[CompiledGrammar]:
        """Compile a `Grammar`, or a text in EBNF or GBNF, in another thread."""
        return self._submit(_grammar_task(grammar, root_rule_name))

    @takes_schema_options
    def compile_lark(
        self,
        source: str,
        start: str = "start",
        *,
        grammars: Mapping[str, Grammar] | None = None,
        modules: Mapping[str, str] | None = None,
        **options: Unpack[JsonSchemaKeywords],
    ) -> CompiledGrammar:
        """Compile a grammar in Lark's syntax. See `Grammar.from_lark`."""
        return self._get(_lark_task(source, start, grammars, modules, options))

    @takes_schema_options
    def compile_lark_async(
        self,
        source: str,
        start: str = "start",
        *,
        grammars: Mapping[str, Grammar] | None = None,
        modules: Mapping[str, str] | None = None,
        **options: Unpack[JsonSchemaKeywords],
    ) -> CompileFuture[CompiledGrammar]:
        """Compile a grammar in Lark's syntax in another thread."""
        return self._submit(_lark_task(source, start, grammars, modules, options))

    def compile_choices(self, choices: Iterable[str | bytes]) -> CompiledGrammar:
        """Compile a choice between strings. See `Grammar.from_choices`."""
        return self._get(_choices_task(choices))

    def compile_choices_async(self, choices: Iterable[str | bytes]) -> CompileFuture[CompiledGrammar]:
        """Compile a choice between strings in another thread."""
        return self._submit(_choices_task(choices))

    @takes_schema_options
    def compile_structural_tag(
        self, tag: StructuralTag | str | bytes | Mapping[str, Any], **options: Unpack[JsonSchemaKeywords]
    ) -> CompiledGrammar:
        """Compile a structural tag. See `Grammar.from_structural_tag`; special tokens are those of the tokenizer."""
        return self._get(_structural_tag_task(tag, self.tokenizer_info, options))

    @takes_schema_options
    def compile_structural_tag_async(
        self, tag: StructuralTag | str | bytes | Mapping[str, Any], **options: Unpack[JsonSchemaKeywords]
    ) -> CompileFuture[CompiledGrammar]:
        """Compile a structural tag in another thread."""
        return self._submit(_structural_tag_task(tag, self.tokenizer_info, options))

    def clear_cache(self) -> None:
        """Clear the cache. Grammars in use stay valid."""
        self._cache.clear()

    def get_cache_size_bytes(self) -> int:
        """The total size of the cached grammars, without the rules that they share."""
        return self._cache.size_bytes()

    def stats(self) -> CompilerStats:
        """Return what is cached at present; hits and misses are counted since the compiler was made."""
        cache = self._cache
        rules = self.tokenizer_info.kernel_vocabulary
        disk = (0, 0) if self._kept is None else (self._kept.hits, self._kept.misses)
        sizes = cache.size_bytes(), rules.num_rule_groups
        return CompilerStats(cache.hits, cache.misses, len(cache), *sizes, *disk, rules.rule_memory_bytes)

    def __reduce__(self) -> NoReturn:
        refuse_pickling(self, "pickle its tokenizer_info, and make a compiler in the other process")

    def _get(self, task: _Task) -> CompiledGrammar:
        return self._cache.get(task.key, lambda: self._bind(task))

    def _submit(self, task: _Task) -> CompileFuture[CompiledGrammar]:
        submitted = self._cache.submit(task.key, lambda: self._bind(task), self._workers)
        interrupt_checkpoint()  # who submits thousands in a row
        return submitted

    def _bind(self, task: _Task) -> CompiledGrammar:
        with compiling:
            return self._bound(task)

    def _bound(self, task: _Task) -> CompiledGrammar:
        key = self._kept.key(task.key) if self._kept is not None and task.is_by_content else None
        if self._kept is not None and key is not None:
            loaded = self._kept.load(key, partial(self._loaded, task))
            if loaded is not None:
                return loaded
        began = time.thread_time()
        grammar = task.read()
        try:
            compiled = CompiledGrammar(grammar, self.tokenizer_info, memory_budget_bytes=self._grammar_limit_bytes)
        except UnsatisfiableError:
            if task.why_unsatisfiable is not None:
                raise task.why_unsatisfiable() from None
            if grammar.source is not None and grammar.source.kind == "regex":
                raise UnsatisfiableError("no text matches this regular expression", hint=_WHOLE_OUTPUT) from None
            raise
        if key is not None and time.thread_time() - began >= _WORTH_KEEPING_S and not has_deferred(grammar.compact_ir):
            self._keep(key, grammar.compact_ir, grammar.notes())
        if task.read_again is not None:
            grammar.release_ir(task.read_again, task.source)
        return compiled

    def _loaded(self, task: _Task, data: bytes, notes: Notes) -> CompiledGrammar:
        """Make a grammar of an entry on disk. What it was read from is at hand, for when somebody asks for it."""
        grammar = Grammar.saved(notes)
        grammar.release_ir(task.read_again or task.read, task.source)
        limit = self._grammar_limit_bytes
        compiled = CompiledGrammar(grammar, self.tokenizer_info, memory_budget_bytes=limit, saved=data)
        compiled._has_captures = notes.captures
        if notes.warnings:
            from maskwright.frontends.warnings.grammar_warnings import issue

            issue(notes.warnings)
        return compiled

    def _keep(self, key: str, ir: GrammarIR, notes: Notes) -> None:
        """Write a grammar to the disk, after what the workers are asked for already."""
        kept = self._kept
        assert kept is not None

        def keep() -> None:
            with compiling:
                kept.store(key, ir, replace(notes, captures=_has_captures(spelled_out(ir))))

        with suppress(RuntimeError):  # the interpreter is on its way out
            self._workers.run(keep)


def _has_captures(ir: GrammarIR) -> bool:
    return any(part[0] == OP_CAPTURE for rule in ir.rules for part in postorder(rule.body))


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


_WHOLE_OUTPUT = "the pattern must match the whole output; ^, $, \\b and lookarounds see no text outside it"


class _Task(NamedTuple):
    """Something to compile: what tells it from others (None: nothing does), and how its grammar is made.

    `read_again` makes the grammar from what cannot change, if that is at hand, and `source` gives that.
    `why_unsatisfiable` makes the error for a grammar that turns out to admit nothing, if more can be said than that.
    `is_by_content` says that the key means the same in other processes.
    """

    key: Hashable
    read: Callable[[], Grammar]
    read_again: Callable[[], Grammar] | None = None
    source: Callable[[], Source] | None = None
    why_unsatisfiable: Callable[[], UnsatisfiableError] | None = None
    is_by_content: bool = True


def _json_schema_task(schema: Any, given: JsonSchemaKeywords) -> _Task:
    from maskwright.frontends.json_schema import read_options, why_unsatisfiable

    try:
        data = schema_of(schema)  # a class is known by its schema: another one may have its name
        options = read_options(given)
    except MaskwrightError:
        return _Task(None, lambda: Grammar.from_json_schema(schema, **given))
    # What a registry of the caller's holds is not known here.
    is_text = isinstance(data, (str, bytes))
    content = None if options.registry is not None else data if is_text else _kernel.canonical_bytes(data)

    def read() -> Grammar:
        return Grammar.from_json_schema(data, **given)

    def why() -> UnsatisfiableError:
        return why_unsatisfiable(data, options)

    if content is None:
        return _Task(None, read, why_unsatisfiable=why)

    # These keep the content alone, not the caller's data.
    def again() -> Any:
        return content if is_text else _kernel.from_canonical_bytes(content)

    def read_again() -> Grammar:
        return Grammar.from_json_schema(again(), **given)

    def source() -> Source:
        return Source("json_schema", again(), given, is_certain=True)

    kind = "json_schema" if is_text else "json_schema data"  # whose content no text can be taken for
    return _Task((kind, content, options if given else None), read, read_again, source, why)


def _regex_task(pattern: str, flags: str) -> _Task:
    check_pattern(pattern, flags)
    return _Task(("regex", pattern, flags), lambda: Grammar.from_regex(pattern, flags=flags))


def _grammar_task(grammar: Grammar | str, root_rule_name: str) -> _Task:
    if isinstance(grammar, Grammar):
        # By identity: what is kept holds the grammar, so the id stays its own.
        return _Task(("grammar", id(grammar)), lambda: grammar, is_by_content=False)
    if not isinstance(grammar, str):
        raise wrong_argument("grammar", grammar, "a Grammar or an EBNF text", _instead_of_a_grammar(grammar))
    instance("root_rule_name", root_rule_name, str)
    return _Task(("ebnf", grammar, root_rule_name), lambda: Grammar.from_ebnf(grammar, root_rule_name))


def _instead_of_a_grammar(given: Any) -> str | None:
    if isinstance(given, Mapping):
        return "use compile_json_schema for schemas"
    if isinstance(given, CompiledGrammar):
        return "it is compiled already: pass it to GrammarMatcher"
    if isinstance(given, re.Pattern):
        return "use compile_regex(pattern.pattern)"
    return "use compile_structural_tag" if type(given).__name__ == "StructuralTag" else text_hint(given)


def _choices_task(choices: Iterable[str | bytes]) -> _Task:
    options = checked_choices(choices)
    return _Task(("choices", options), lambda: Grammar.from_choices(options))


def _lark_task(
    source: str,
    start: str,
    grammars: Mapping[str, Grammar] | None,
    modules: Mapping[str, str] | None,
    given: JsonSchemaKeywords,
) -> _Task:
    instance("source", source, str)
    instance("start", start, str)
    options = _options_key(given)
    has_key = options is not None and not by_name("grammars", grammars) and not by_name("modules", modules)

    def read() -> Grammar:
        return Grammar.from_lark(source, start, grammars=grammars, modules=modules, **given)

    return _Task(("lark", source, start, options) if has_key else None, read)


def _structural_tag_task(
    tag: StructuralTag | str | bytes | Mapping[str, Any], info: TokenizerInfo, given: JsonSchemaKeywords
) -> _Task:
    from maskwright.structural_tag.formats.content_keys import content_key
    from maskwright.structural_tag.formats.defaults import read_tag
    from maskwright.structural_tag.lowering.lower import lower_tag
    from maskwright.structural_tag.texts.tokens import tokens_of

    def read() -> Grammar:
        return Grammar.from_structural_tag(tag, tokenizer_info=info, **given)

    if isinstance(tag, (str, bytes)):
        options = _options_key(given)
        return _Task(None if options is None else ("structural_tag", tag, options), read)
    try:
        known = read_tag(tag, given)
    except MaskwrightError:
        return _Task(None, read)
    content = content_key(known.format)
    key = None if content is None else ("structural_tag", content)
    return _Task(key, lambda: Grammar(*lower_tag(known, tokens_of(info)), source=Source("structural_tag", known)))


def _options_key(given: JsonSchemaKeywords) -> Hashable:
    """A key that identifies the options; None if there is none, or they are invalid."""
    if not given:
        return ()
    from maskwright.frontends.json_schema import read_options

    try:
        options = read_options(given)
    except MaskwrightError:
        return None
    return None if options.registry is not None else options  # what the caller's registry holds is not known here
