"""`GrammarCompiler` and `CompiledGrammar` with XGrammar's arguments.

    compiler = GrammarCompiler(TokenizerInfo.from_huggingface(tokenizer))
    compiled = compiler.compile_json_schema(schema)

Compiling does no work over the vocabulary, and what was compiled is shared: see maskwright.compiling.compiler.
Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

from typing import Any, Final

from maskwright.compat.xgrammar.base import XGRObject
from maskwright.compat.xgrammar.exception import DeserializeFormatError, as_xgrammar_errors
from maskwright.compat.xgrammar.grammar import (
    Grammar,
    checked_grammar,
    deserialized,
    lark_source,
    of_native,
    structural_tag_data,
)
from maskwright.compat.xgrammar.reading import REGEX_FLAGS, TAG_OPTIONS, schema_data, schema_options, schema_text
from maskwright.compat.xgrammar.serialization import dumped, field, loaded
from maskwright.compat.xgrammar.tokenizer_info import TokenizerInfo, checked_info
from maskwright.compiling.compiled_grammar import CompiledGrammar as _Compiled
from maskwright.compiling.compiler import GrammarCompiler as _Compiler
from maskwright.errors import OptionError
from maskwright.support.arguments import as_integer

_UNLIMITED: Final = 1 << 62


class CompiledGrammar(XGRObject):
    """A grammar bound to a tokenizer, for any number of matchers. Made by a `GrammarCompiler`."""

    _compiled: _Compiled
    _tokenizer_info: TokenizerInfo
    _source: dict[str, Any]

    @property
    def grammar(self) -> Grammar:
        """What was compiled."""
        return of_native(self._compiled.grammar, self._source)

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        """The tokenizer."""
        return self._tokenizer_info

    @property
    def memory_size_bytes(self) -> int:
        """What it holds."""
        return self._compiled.memory_size_bytes

    def serialize_json(self) -> str:
        """Write it as JSON, which `deserialize_json` reads. It holds the grammar and which tokenizer it is for."""
        return dumped({"grammar": self._source, "tokenizer": self._tokenizer_info._info.fingerprint})

    @staticmethod
    @as_xgrammar_errors()
    def deserialize_json(json_str: str, tokenizer_info: TokenizerInfo) -> CompiledGrammar:
        """Read what `serialize_json` wrote, and compile it.

        Raises:
            InvalidJSONError: It is not JSON.
            DeserializeVersionError: It was written by another engine or release.
            DeserializeFormatError: It is something else, or was compiled for another tokenizer.
        """
        info = checked_info("tokenizer_info", tokenizer_info)
        data = loaded(json_str, "CompiledGrammar")
        if field(data, "tokenizer", str) != info._info.fingerprint:
            raise DeserializeFormatError("the serialized grammar was compiled for another tokenizer")
        return GrammarCompiler(info, cache_enabled=False).compile_grammar(deserialized(data))


class GrammarCompiler(XGRObject):
    """Compiles grammars for one tokenizer and keeps what it compiled. Thread-safe.

    Args:
        tokenizer_info: The tokenizer.
        max_threads: Kept for XGrammar's callers; compiling takes the thread that calls.
        cache_enabled: Whether to keep what was compiled.
        cache_limit_bytes: What the kept grammars may hold together; -1 for no limit.
    """

    @as_xgrammar_errors()
    def __init__(
        self,
        tokenizer_info: TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = -1,
    ) -> None:
        limit = as_integer("cache_limit_bytes", cache_limit_bytes)
        if limit < -1:
            raise OptionError(f"cache_limit_bytes must be >= -1, not {limit}", option="cache_limit_bytes")
        self._tokenizer_info = checked_info("tokenizer_info", tokenizer_info)
        self._cache_limit_bytes = limit
        self._compiler = _Compiler(
            tokenizer_info._info,
            max_threads=max(1, as_integer("max_threads", max_threads)),
            cache_enabled=cache_enabled,
            cache_limit_bytes=_UNLIMITED if limit < 0 else limit,
        )

    @as_xgrammar_errors()
    def compile_json_schema(
        self,
        schema: str | type | dict[str, Any],
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        any_order: bool = False,
    ) -> CompiledGrammar:
        """Compile a JSON Schema. See `Grammar.from_json_schema`."""
        options = schema_options(any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order)
        text = schema_text(schema)
        compiled = self._compiler.compile_json_schema(schema_data(text, strict_mode), **options)
        return self._made(compiled, {"json_schema": text, "options": options})

    @as_xgrammar_errors()
    def compile_builtin_json_grammar(self) -> CompiledGrammar:
        """Compile the grammar of any JSON object or array."""
        return self._compile(Grammar.builtin_json_grammar())

    @as_xgrammar_errors()
    def compile_regex(self, regex: str) -> CompiledGrammar:
        """Compile a regular expression. See `Grammar.from_regex`."""
        return self._made(self._compiler.compile_regex(regex, flags=REGEX_FLAGS), {"regex": regex})

    @as_xgrammar_errors()
    def compile_lark(
        self, lark_string: str, *, named_grammars: dict[str, Grammar | str] | None = None
    ) -> CompiledGrammar:
        """Compile a grammar in Lark. See `Grammar.from_lark`."""
        if named_grammars:
            return self._compile(Grammar.from_lark(lark_string, named_grammars=named_grammars))
        return self._made(self._compiler.compile_lark(lark_string), lark_source(lark_string, None))

    @as_xgrammar_errors()
    def compile_structural_tag(self, *args: Any, **kwargs: Any) -> CompiledGrammar:
        """Compile a structural tag. See `Grammar.from_structural_tag`."""
        data = structural_tag_data("compile_structural_tag", args, kwargs)
        return self._made(self._compiler.compile_structural_tag(data, **TAG_OPTIONS), {"structural_tag": data})

    @as_xgrammar_errors()
    def compile_grammar(self, grammar: str | Grammar, *, root_rule_name: str = "root") -> CompiledGrammar:
        """Compile a `Grammar`, or a text in EBNF."""
        if isinstance(grammar, str):
            compiled = self._compiler.compile_grammar(grammar, root_rule_name)
            return self._made(compiled, {"ebnf": grammar, "root_rule_name": root_rule_name})
        return self._compile(checked_grammar("grammar", grammar))

    def clear_cache(self) -> None:
        """Forget what was compiled. What is in use stays valid."""
        self._compiler.clear_cache()

    def get_cache_size_bytes(self) -> int:
        """What the kept grammars hold together."""
        return self._compiler.get_cache_size_bytes()

    @property
    def cache_limit_bytes(self) -> int:
        """What the kept grammars may hold together; -1 for no limit."""
        return self._cache_limit_bytes

    def _compile(self, grammar: Grammar) -> CompiledGrammar:
        return self._made(self._compiler.compile_grammar(grammar._grammar), grammar._source)

    def _made(self, compiled: _Compiled, source: dict[str, Any]) -> CompiledGrammar:
        made = CompiledGrammar()
        made._compiled, made._tokenizer_info, made._source = compiled, self._tokenizer_info, source
        return made
