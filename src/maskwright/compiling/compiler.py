"""`GrammarCompiler`: structures in, `CompiledGrammar`s out, shared and bounded.

    compiler = GrammarCompiler(tokenizer_info)
    grammar = compiler.compile_json_schema({"type": "object", "properties": {"name": {"type": "string"}}})

Compiling does no vocabulary-sized work: automata and masks are built as the matchers need them, and shared by structure
between all grammars of one tokenizer. A structure becomes a task (tasks.py), which is known (cache.py:
the least recently used go first, and what several threads ask for at the same time is compiled once) or else compiled
(task_compiler.py).
Tested by tests/contract.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from maskwright.compiling import tasks
from maskwright.compiling.cache import CompileCache, CompileFuture, Workers
from maskwright.compiling.compiled_grammar import DEFAULT_GRAMMAR_BYTES, CompiledGrammar
from maskwright.compiling.task_compiler import TaskCompiler
from maskwright.errors import wrong_argument
from maskwright.grammar import Grammar
from maskwright.inputs.option_signatures import takes_schema_options
from maskwright.support import memos
from maskwright.support.argument_names import of_a_grammar
from maskwright.support.arguments import as_integer, refuse_pickling
from maskwright.support.interruption import interrupt_checkpoint
from maskwright.tokenizer import TokenizerInfo, info_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from maskwright.compiling.kept_grammars import KeptGrammars
    from maskwright.frontends.json_schema import JsonSchemaKeywords
    from maskwright.structural_tag import StructuralTag

_DEFAULT_CACHE_BYTES = 256 << 20
_DEFAULT_CACHE_DIR_BYTES = 256 << 20
_FRONT_ENDS = (
    *("maskwright.frontends.json_schema", "maskwright.frontends.regex", "maskwright.frontends.ebnf"),
    *("maskwright.frontends.lark", "maskwright.structural_tag.lowering.lower"),
)


class CompilerStats(NamedTuple):
    """What a compiler has cached, and how often that helped. `memory_bytes`, `rule_bytes` and `front_end_bytes`
    together stay within `cache_limit_bytes`, as far as what is in use lets them; half of the limit is left to grammars
    and rules.
    """

    hits: int
    misses: int
    num_grammars: int
    memory_bytes: int  # of the grammars, without the rules that they share
    num_rule_groups: int  # automata that all grammars on the tokenizer share
    disk_hits: int = 0  # of the misses, those that were on disk
    disk_misses: int = 0  # those that were looked for there and compiled
    rule_bytes: int = 0  # of the rules: automata, and masks of their states
    front_end_bytes: int = 0  # of parts of structures, such as tools, that all compilers of the process know again


def compiled_cache(limit_bytes: int | None, info: TokenizerInfo) -> CompileCache[CompiledGrammar]:
    """Return a cache of grammars of a tokenizer. Its limit is for their rules, too, and for what front-ends remember.
    Of several caches of one tokenizer, the one to which a grammar was added last says how many rules stay that no
    grammar uses.
    """
    vocabulary = info.kernel_vocabulary
    most_of_front_ends = (limit_bytes or 0) // 2

    def shared(num_bytes: int) -> tuple[int, int]:
        front_end_bytes, before = min(memos.num_bytes(), most_of_front_ends), vocabulary.rule_memory_bytes
        vocabulary.keep_rules_within(max(0, num_bytes - front_end_bytes))
        rule_bytes = vocabulary.rule_memory_bytes
        return rule_bytes + front_end_bytes, max(0, before - rule_bytes)

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
        cache_limit_bytes: The largest total size of what is kept: the cached grammars, the rules of the tokenizer,
            which all its grammars share, and what front-ends remember for all compilers of the process, 40 MB at most.
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
        grammar_limit_bytes: int = DEFAULT_GRAMMAR_BYTES,
        cache_dir: str | os.PathLike[str] | None = None,
        cache_dir_limit_bytes: int = _DEFAULT_CACHE_DIR_BYTES,
    ) -> None:
        self.tokenizer_info = info_of(tokenizer_info)
        self.max_threads = as_integer("max_threads", max_threads, at_least=1)
        cache_limit = as_integer("cache_limit_bytes", cache_limit_bytes, at_least=0)
        self._cache = compiled_cache(cache_limit if cache_enabled else None, self.tokenizer_info)
        self._workers = Workers(self.max_threads)
        grammar_limit = as_integer("grammar_limit_bytes", grammar_limit_bytes, at_least=0)
        # Done here rather than at the first schema and mask, so that no request waits for them, nor a serving engine's
        # loop: an import keeps the interpreter for up to 20 ms.
        for front_end in _FRONT_ENDS:
            import_module(front_end)
        _ = self.tokenizer_info.kernel_vocabulary
        disk_limit = as_integer("cache_dir_limit_bytes", cache_dir_limit_bytes, at_least=0)
        self._kept = _kept_in(cache_dir, disk_limit, self.tokenizer_info)
        self._task_compiler = TaskCompiler(self.tokenizer_info, grammar_limit, self._kept, self._workers)

    @takes_schema_options
    def compile_json_schema(self, schema: Any, **options: Unpack[JsonSchemaKeywords]) -> CompiledGrammar:
        """Compile a JSON Schema. See `Grammar.from_json_schema` for arguments and errors."""
        return self._get(tasks.json_schema_task(schema, options))

    @takes_schema_options
    def compile_json_schema_async(
        self, schema: Any, **options: Unpack[JsonSchemaKeywords]
    ) -> CompileFuture[CompiledGrammar]:
        """Compile a JSON Schema in another thread. The schema must not be changed meanwhile."""
        return self._submit(tasks.json_schema_task(schema, options))

    @of_a_grammar
    def compile_regex(self, pattern: str, *, flags: str = "") -> CompiledGrammar:
        """Compile a regular expression. See `Grammar.from_regex`."""
        return self._get(tasks.regex_task(pattern, flags))

    @of_a_grammar
    def compile_regex_async(self, pattern: str, *, flags: str = "") -> CompileFuture[CompiledGrammar]:
        """Compile a regular expression in another thread."""
        return self._submit(tasks.regex_task(pattern, flags))

    @of_a_grammar
    def compile_grammar(self, grammar: Grammar | str, root_rule_name: str = "root") -> CompiledGrammar:
        """Compile a `Grammar`, or a text in EBNF or GBNF. See `Grammar.from_ebnf`."""
        return self._get(tasks.grammar_task(grammar, root_rule_name))

    @of_a_grammar
    def compile_grammar_async(
        self, grammar: Grammar | str, root_rule_name: str = "root"
    ) -> CompileFuture[CompiledGrammar]:
        """Compile a `Grammar`, or a text in EBNF or GBNF, in another thread."""
        return self._submit(tasks.grammar_task(grammar, root_rule_name))

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
        return self._get(tasks.lark_task(source, start, grammars, modules, options))

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
        return self._submit(tasks.lark_task(source, start, grammars, modules, options))

    @of_a_grammar
    def compile_choices(self, choices: Iterable[str | bytes]) -> CompiledGrammar:
        """Compile a choice between strings. See `Grammar.from_choices`."""
        return self._get(tasks.choices_task(choices))

    @of_a_grammar
    def compile_choices_async(self, choices: Iterable[str | bytes]) -> CompileFuture[CompiledGrammar]:
        """Compile a choice between strings in another thread."""
        return self._submit(tasks.choices_task(choices))

    @takes_schema_options
    def compile_structural_tag(
        self, tag: StructuralTag | str | bytes | Mapping[str, Any], **options: Unpack[JsonSchemaKeywords]
    ) -> CompiledGrammar:
        """Compile a structural tag. See `Grammar.from_structural_tag`; special tokens are those of the tokenizer."""
        return self._get(tasks.structural_tag_task(tag, self.tokenizer_info, options))

    @takes_schema_options
    def compile_structural_tag_async(
        self, tag: StructuralTag | str | bytes | Mapping[str, Any], **options: Unpack[JsonSchemaKeywords]
    ) -> CompileFuture[CompiledGrammar]:
        """Compile a structural tag in another thread."""
        return self._submit(tasks.structural_tag_task(tag, self.tokenizer_info, options))

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
        shared = rules.rule_memory_bytes, memos.num_bytes()
        return CompilerStats(cache.hits, cache.misses, len(cache), *sizes, *disk, *shared)

    def __reduce__(self) -> NoReturn:
        refuse_pickling(
            self, "share it among threads; for another process, pickle its tokenizer_info, and make one there"
        )

    def _get(self, task: tasks.Task) -> CompiledGrammar:
        return self._cache.get(task.key, lambda: self._task_compiler.compile(task))

    def _submit(self, task: tasks.Task) -> CompileFuture[CompiledGrammar]:
        submitted = self._cache.submit(task.key, lambda: self._task_compiler.compile(task), self._workers)
        interrupt_checkpoint()  # who submits thousands in a row
        return submitted


def _kept_in(directory: str | os.PathLike[str] | None, limit_bytes: int, info: TokenizerInfo) -> KeptGrammars | None:
    if directory is None:
        return None
    if not isinstance(directory, str | os.PathLike):
        raise wrong_argument("cache_dir", directory, "a path")
    from maskwright.compiling.kept_grammars import KeptGrammars

    return KeptGrammars(directory, limit_bytes, info)
