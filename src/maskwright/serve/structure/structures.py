"""What a request asks of the output's form, compiled: one cache for all requests, by content.

    structures = Structures(tokenizer_info, settings)
    structure = await structures.compiled("chat", request, reasoning=None)
    structure.compiled                 a CompiledGrammar, or None for free text
    structure.has_parts                whether the output has reasoning and tool calls to be told apart

`maskwright.openai_shapes` reads the fields; this module says which of them exclude each other, moves the pointers of
errors to where this API has a field, and compiles in threads, each structure once. An error ends in HTTP 400.
A model that reasons has a structure even if the request wants free text: the matcher tells reasoning from the answer.
What a request asks for is the form of the answer: what comes after the reasoning, and where no tool is called.
Tested by tests/serve/test_serve_structure.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from maskwright import CompiledGrammar, Grammar, GrammarCompiler, TokenizerInfo, openai_shapes
from maskwright._kernel import canonical_bytes
from maskwright.compiling.cache import Workers
from maskwright.compiling.compiler import compiled_cache
from maskwright.errors import MaskwrightError
from maskwright.frontends.json_schema.normalise.findings import of_warnings
from maskwright.inputs.request_fields import READ, READ_OF_RESPONSES
from maskwright.serve.errors import ApiError, api_error, invalid
from maskwright.serve.protocol.requests import Endpoint
from maskwright.serve.protocol.structure import OF_ENGINES
from maskwright.serve.settings import Settings
from maskwright.serve.structure.answers import answer_format, place_of_answer
from maskwright.structural_tag import GrammarFormat, default_reasoning, get_model_structural_tag
from maskwright.structural_tag.request import Reasoning
from maskwright.structural_tag.tools import held_to_schemas
from maskwright.support import entrances

if TYPE_CHECKING:
    from maskwright.frontends.json_schema import Finding, JsonSchemaKeywords

_WAYS_OUT = ((entrances.RELAX, "start the server with --relax"), *entrances.IN_STRUCTURED_OUTPUTS)


class Structure(NamedTuple):
    """A compiled structure.

    Attributes:
        compiled: the grammar; None for free text.
        has_parts: whether its captures are those of a model family: content, reasoning, calls.
        seconds: how long it took to get it.
        is_new: whether it was compiled for this request.
    """

    compiled: CompiledGrammar | None
    has_parts: bool = False
    seconds: float = 0.0
    is_new: bool = False

    def warnings(self) -> list[Finding]:
        """What has no effect in the request's schemas and was surely meant to; pointers lead into the request."""
        report = () if self.compiled is None else self.compiled.grammar.report
        return [found for found in report if found.is_mistake]


class Structures:
    """Compiles the structures of requests for one tokenizer."""

    def __init__(self, tokenizer_info: TokenizerInfo, settings: Settings) -> None:
        self._info = tokenizer_info
        self._settings = settings
        # What is kept is found by the content of requests, not by that of grammars.
        self._compiler = GrammarCompiler(tokenizer_info, cache_enabled=False)
        self._cache = compiled_cache(settings.structure_cache_bytes, tokenizer_info)
        self._workers = Workers(settings.max_compile_threads)
        self._family_reasons = default_reasoning(settings.tool_format) != "disabled"

    async def compiled(self, endpoint: Endpoint, fields: Mapping[str, Any], reasoning: Reasoning | None) -> Structure:
        """Compile what a request asks for.

        Args:
            endpoint: Whose fields these are.
            fields: Those of `STRUCTURE_FIELDS` that the request has.
            reasoning: As in `get_model_structural_tag`.

        Raises:
            ApiError: A field is malformed, contradicts another one, or cannot be enforced.
        """
        asked = {name: value for name, value in fields.items() if not _is_missing(name, value)}
        if "tools" in asked:
            asked["tools"] = held_to_schemas(asked["tools"])
        has_parts = self._has_parts(asked, endpoint, reasoning)
        if not asked and not has_parts:
            return Structure(None)
        if "thinking_token_budget" in asked and not has_parts:
            raise self._no_reasoning(reasoning)
        engine_field = _only_one(asked)
        content = canonical_bytes(asked)
        if content is not None and len(content) > self._settings.max_structure_bytes:
            raise _too_large(asked, self._settings.max_structure_bytes)

        def read() -> Grammar | None:
            return self._read(asked, endpoint, reasoning, engine_field, has_parts)

        is_new = False

        def make() -> CompiledGrammar:
            nonlocal is_new
            is_new = True
            grammar = read()
            assert grammar is not None
            return self._compiler.compile_grammar(grammar)

        began = time.perf_counter()
        key = None if content is None else (endpoint, reasoning, content)
        try:
            if not has_parts and engine_field is None and _is_free_text(asked):
                read()  # for its checks; there is nothing to compile
                return Structure(None)
            compiled = await self._cache.submit(key, make, self._workers)
        except MaskwrightError as error:
            raise _placed(error, asked) from error
        return Structure(compiled, has_parts, time.perf_counter() - began, is_new)

    def figures(self) -> tuple[int, int, int, int]:
        """Return hits, misses, how many structures are kept, and their bytes."""
        return self._cache.hits, self._cache.misses, len(self._cache), self._cache.size_bytes()

    def _no_reasoning(self, reasoning: Reasoning | None) -> ApiError:
        message = "thinking_token_budget has no effect: this output has no reasoning"
        hint = "leave it out, or enable thinking"
        if reasoning != "disabled":
            family = self._settings.tool_format
            hint = f"leave it out; or, if the model does reason, start the server with its --tool-format (now {family})"
        return invalid(message, "/thinking_token_budget", hint=hint)

    def _has_parts(self, asked: Mapping[str, Any], endpoint: Endpoint, reasoning: Reasoning | None) -> bool:
        if endpoint == "completion":
            return False
        reasons = self._family_reasons if reasoning is None else reasoning != "disabled"
        return bool(asked.get("tools")) or reasons

    def _read(
        self,
        asked: Mapping[str, Any],
        endpoint: Endpoint,
        reasoning: Reasoning | None,
        engine_field: str | None,
        has_parts: bool,
    ) -> Grammar | None:
        """The grammar that a request asks for."""
        options: JsonSchemaKeywords = {"on_unsupported": "relax"} if self._settings.relax else {}
        if self._settings.strict:
            options["strict_mode"] = True
        family = self._settings.tool_format if has_parts else None
        if engine_field is None:
            read: Callable[..., Grammar | None] = openai_shapes.chat_completion
            if endpoint == "response":
                read = openai_shapes.responses
            given = reasoning if has_parts else None
            grammar = read(asked, model=family, reasoning=given, tokenizer_info=self._info, **options)
        elif engine_field == "structured_outputs":
            grammar = openai_shapes.vllm(asked[engine_field], tokenizer_info=self._info, **options)
        else:
            grammar = openai_shapes.sglang({engine_field: asked[engine_field]}, tokenizer_info=self._info, **options)
        if engine_field is not None and grammar is not None:
            kind, at = place_of_answer(engine_field, asked[engine_field])
            grammar.report = (*grammar.report, *of_warnings(grammar.warnings, at, kind))
        if family is None or (engine_field is None and grammar is not None):
            return grammar
        content = None
        if engine_field is not None:
            assert grammar is not None
            content = answer_format(engine_field, asked[engine_field], grammar)
        tag = get_model_structural_tag(
            family,
            asked.get("tools"),
            asked.get("tool_choice"),
            reasoning,
            parallel_tool_calls=asked.get("parallel_tool_calls") is not False,
            content=content,
            thinking_token_budget=asked.get("thinking_token_budget"),
            **options,
        )
        made = Grammar.from_structural_tag(tag, tokenizer_info=self._info)
        if isinstance(content, GrammarFormat):  # whose text is not read again
            assert grammar is not None
            made.report += grammar.report
        return made


STRUCTURE_FIELDS = (*dict.fromkeys((*READ, *READ_OF_RESPONSES)), *OF_ENGINES)
"""The fields that `Structures` reads."""


def _is_missing(name: str, value: Any) -> bool:
    return value is None or (name == "structured_outputs" and openai_shapes.asks_nothing(value))


def _is_free_text(asked: Mapping[str, Any]) -> bool:
    """Whether no field restricts the output, judged without compiling anything."""
    formats = [asked.get("response_format")]
    text = asked.get("text")
    formats.append(text.get("format") if isinstance(text, Mapping) else None)
    return all(each is None or (isinstance(each, Mapping) and each.get("type") == "text") for each in formats)


def _only_one(asked: Mapping[str, Any]) -> str | None:
    """The field of an engine that is given, if it is the only one about the form.

    Raises:
        ApiError: There are several.
    """
    given = [name for name in OF_ENGINES if name in asked]
    if not given:
        return None
    others = [*given[1:], *([] if _is_free_text(asked) else ["response_format"])]
    if others:
        message = f"{given[0]} and {others[0]} cannot be combined"
        raise invalid(message, f"/{others[0]}", code="conflicting_fields", hint="use one of them")
    return given[0]


def _too_large(asked: Mapping[str, Any], most: int) -> ApiError:
    largest = max(asked, key=lambda name: len(canonical_bytes(asked[name]) or b""))
    message = f"the schemas and tools of the request are larger than {most:,} bytes"
    hint = "use a smaller schema or fewer tools, or start the server with a larger --max-structure-bytes"
    return ApiError(413, message, param=f"/{largest}", code="structure_too_large", hint=hint)


def _placed(error: MaskwrightError, asked: Mapping[str, Any]) -> ApiError:
    """The answer to an error, with the place and the way out that this API has."""
    made = api_error(error, param=f"/{next(iter(asked), '')}")
    if made.param is not None:
        made.param = made.param.removeprefix("/sampling_params")
    made.message = entrances.in_words_of(_WAYS_OUT, made.message)
    return made
