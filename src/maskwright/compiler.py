"""`GrammarCompiler`: structures in, `CompiledGrammar`s out, shared and bounded.

    compiler = GrammarCompiler(tokenizer_info)
    grammar = compiler.compile_json_schema({"type": "object", "properties": {"name": {"type": "string"}}})

Compiling does no vocabulary-sized work: automata and masks are built as the matchers need them, and shared by structure
between all grammars of one tokenizer. What was compiled is kept, the least recently used going first.
Tested by tests/contract.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from importlib import import_module
from typing import Any

from maskwright import _kernel
from maskwright.errors import GrammarError
from maskwright.grammar import Grammar
from maskwright.tokenizer import TokenizerInfo

_DEFAULT_CACHE_BYTES = 512 << 20
_DEFAULT_GRAMMAR_BYTES = 64 << 20
_MAX_CACHED = 4096
_WEIGH_EVERY = 32


class CompiledGrammar:
    """A grammar bound to a tokenizer, ready for any number of matchers in any number of threads.

    Attributes:
        grammar: what was compiled.
        tokenizer_info: the tokenizer.
    """

    __slots__ = ("_capture_program", "_native", "grammar", "tokenizer_info")

    def __init__(self, grammar: Grammar, tokenizer_info: TokenizerInfo, *, memory_budget_bytes: int) -> None:
        self.grammar = grammar
        self.tokenizer_info = tokenizer_info
        self._native = _kernel.compile(
            tokenizer_info.kernel_vocabulary, grammar.ir.rules, grammar.ir.root, memory_budget_bytes
        )

        self._capture_program: _kernel.CaptureProgram | None = None

    @property
    def capture_program(self) -> _kernel.CaptureProgram:
        """The grammar with its captures, made when they are first asked for. Masks do not need it."""
        if self._capture_program is None:
            ir = self.grammar.ir
            self._capture_program = _kernel.CaptureProgram(self.tokenizer_info.kernel_vocabulary, ir.rules, ir.root)
        return self._capture_program

    @property
    def memory_size_bytes(self) -> int:
        """What is remembered for this grammar alone; automata and state masks are shared and not counted."""
        return self._native.memory_bytes

    def __repr__(self) -> str:
        return f"<CompiledGrammar: {self.grammar!r}, {self.tokenizer_info!r}>"


class GrammarCompiler:
    """Compiles grammars for one tokenizer and keeps what it compiled. Thread-safe.

    Args:
        tokenizer_info: The tokenizer.
        max_threads: The most threads that batch operations on its grammars may use. They use one so far.
        cache_enabled: Whether to keep compiled grammars.
        cache_limit_bytes: What the kept grammars may hold together.
        grammar_limit_bytes: What one grammar may remember of configurations and masks; past it, it starts over.
    """

    def __init__(
        self,
        tokenizer_info: TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = _DEFAULT_CACHE_BYTES,
        grammar_limit_bytes: int = _DEFAULT_GRAMMAR_BYTES,
    ) -> None:
        self.tokenizer_info = tokenizer_info
        self.max_threads = max_threads
        self._cache = _Cache(cache_limit_bytes) if cache_enabled else None
        self._grammar_limit_bytes = grammar_limit_bytes
        # Done here rather than at the first schema and mask, so that the first request does not wait for them.
        import_module("maskwright.frontends.json_schema")
        _ = tokenizer_info.kernel_vocabulary

    def compile_json_schema(self, schema: Any, **options: Any) -> CompiledGrammar:
        """Compile a JSON Schema. See `Grammar.from_json_schema` for arguments and errors."""
        return self._compile(
            lambda: _schema_key(schema, options),
            lambda: Grammar.from_json_schema(schema, **options),
        )

    def compile_regex(self, pattern: str, *, flags: str = "") -> CompiledGrammar:
        """Compile a regular expression. See `Grammar.from_regex`."""
        return self._compile(lambda: ("regex", pattern, flags), lambda: Grammar.from_regex(pattern, flags=flags))

    def compile_grammar(self, grammar: Grammar | str, root_rule_name: str = "root") -> CompiledGrammar:
        """Compile a `Grammar`, or a text in EBNF or GBNF. See `Grammar.from_ebnf`."""
        if isinstance(grammar, Grammar):
            # By identity: what is kept holds the grammar, so the id stays its own.
            return self._compile(lambda: ("grammar", id(grammar)), lambda: grammar)
        if not isinstance(grammar, str):
            raise GrammarError(
                f"compile_grammar takes a Grammar or an EBNF text, not {type(grammar).__name__}",
                hint="use compile_json_schema for schemas",
            )
        return self._compile(
            lambda: ("ebnf", grammar, root_rule_name), lambda: Grammar.from_ebnf(grammar, root_rule_name)
        )

    def compile_choices(self, choices: Iterable[str | bytes]) -> CompiledGrammar:
        """Compile a choice between strings. See `Grammar.from_choices`."""
        options = choices if isinstance(choices, str | bytes) else tuple(choices)
        return self._compile(lambda: ("choices", options), lambda: Grammar.from_choices(options))

    def clear_cache(self) -> None:
        """Forget all compiled grammars. Those in use stay valid."""
        if self._cache is not None:
            self._cache.clear()

    def get_cache_size_bytes(self) -> int:
        """What the kept grammars hold together."""
        return 0 if self._cache is None else self._cache.size_bytes()

    def _compile(self, key: Callable[[], Hashable], read: Callable[[], Grammar]) -> CompiledGrammar:
        cache_key = None if self._cache is None else key()
        if self._cache is None or cache_key is None:
            return self._bind(read())
        known = self._cache.get(cache_key)
        if known is None:
            known = self._bind(read())
            self._cache.put(cache_key, known)
        return known

    def _bind(self, grammar: Grammar) -> CompiledGrammar:
        return CompiledGrammar(grammar, self.tokenizer_info, memory_budget_bytes=self._grammar_limit_bytes)


class _Cache:
    """Least recently used first out, bounded in bytes and entries."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._entries: OrderedDict[Hashable, CompiledGrammar] = OrderedDict()
        self._lock = threading.Lock()
        self._puts = 0

    def get(self, key: Hashable) -> CompiledGrammar | None:
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
            return found

    def put(self, key: Hashable, grammar: CompiledGrammar) -> None:
        with self._lock:
            self._entries[key] = grammar
            self._puts += 1
            if len(self._entries) > _MAX_CACHED:
                self._entries.popitem(last=False)
            # Grammars grow while they are used, so they are weighed again now and then.
            if self._puts % _WEIGH_EVERY == 0:
                self._shrink()

    def _shrink(self) -> None:
        sizes = {key: g.memory_size_bytes for key, g in self._entries.items()}
        total = sum(sizes.values())
        for key, size in sizes.items():
            if total <= self._limit_bytes:
                return
            del self._entries[key]
            total -= size

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

    def size_bytes(self) -> int:
        with self._lock:
            return sum(g.memory_size_bytes for g in self._entries.values())


def _schema_key(schema: Any, options: dict[str, Any]) -> Hashable:
    from maskwright.frontends.json_schema.documents import check_size

    if not isinstance(schema, str):
        check_size(schema)
    try:
        text = schema if isinstance(schema, str) else json.dumps(schema, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None  # not plain JSON: the front-end says what is wrong with it
    return ("json_schema", text, repr(sorted(options.items())))
