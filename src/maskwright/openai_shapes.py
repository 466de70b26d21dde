"""Requests as servers get them, straight to a `Grammar`: OpenAI's shapes, and those of vLLM and SGLang.

    chat_completion({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {…}}}})
    chat_completion({"tools": […], "tool_choice": "required"}, model="hermes")
    responses({"text": {"format": {"type": "json_schema", "name": "x", "schema": {…}}}})
    vllm({"choice": ["yes", "no"]})
    sglang({"regex": "[0-9]+"})

Each returns None if the request does not constrain the output. Other fields are ignored, but one that looks like a
misspelling of a supported one is an error (request_fields.py). A server answers errors with a 400; all but `LimitError`
have the JSON pointer of the field.
Sources: OpenAI's API reference (chat/create, responses/create); the documentation of vLLM 0.33 and SGLang 0.5.
Tested by tests/structural_tag/test_openai_shapes.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from maskwright.errors import (
    GrammarError,
    MaskwrightError,
    OptionError,
    RequestError,
    SchemaError,
    StructuralTagError,
    UnsatisfiableError,
)
from maskwright.frontends.json_schema.options import LAYOUT_OPTIONS, read_options
from maskwright.frontends.warnings.schema_warnings import warn_of
from maskwright.grammar import Grammar
from maskwright.inputs.option_signatures import takes_schema_options
from maskwright.inputs.request_fields import (
    OF_A_CHAT,
    OF_A_RESPONSE,
    OF_SAMPLING,
    OF_STRUCTURED_OUTPUTS,
    READ,
    READ_OF_RESPONSES,
    check_all,
    check_body,
)
from maskwright.structural_tag.families import built_in_tools, get_model_structural_tag
from maskwright.structural_tag.formats.base import Format
from maskwright.structural_tag.formats.defaults import located
from maskwright.structural_tag.formats.tag import StructuralTag
from maskwright.structural_tag.request import Reasoning, read_request
from maskwright.structural_tag.response_format import read_format, type_of, wrong
from maskwright.structural_tag.tools import held_to_schemas, optional_flag
from maskwright.tokenizer import TokenizerInfo

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from maskwright.frontends.json_schema import JsonSchemaKeywords

_Reader: TypeAlias = Callable[[Any, str], Grammar]  # of a field's value and its pointer


@takes_schema_options
def chat_completion(
    request: Mapping[str, Any],
    *,
    model: str | None = None,
    reasoning: Reasoning | None = None,
    tokenizer_info: TokenizerInfo | None = None,
    **options: Unpack[JsonSchemaKeywords],
) -> Grammar | None:
    """Read `response_format`, `tools`, `tool_choice` and `parallel_tool_calls` of a Chat Completions request.

    Also `thinking_token_budget`, as vLLM and TensorRT-LLM call it: the largest number of tokens of reasoning.

    `response_format`, a `structural_tag` included, is the format of the answer: what comes after the reasoning, and
    where no tool is called. A tag that writes calls or reasoning itself needs neither `tools` nor `model`. Calls follow
    their schemas with `"strict": false`, too, which some clients send with every tool.

    Args:
        request: The request's body.
        model: The family in whose format tools are called and reasoning is written; see `get_model_structural_tag`.
        reasoning: Whether the output begins with reasoning, as in `get_model_structural_tag`: None means what the
            family's models do, or no reasoning without `model`.
        tokenizer_info: The tokenizer, for special tokens.
        **options: The fields of `JsonSchemaOptions`, where the request does not set them: its `strict` takes
            precedence over `strict_mode`. With `on_unsupported="relax"`, what cannot be enforced is left out, and
            `Grammar.report` has its JSON pointer in the request.

    Raises:
        RequestError: A field is malformed; `pointer` leads to it.
        SchemaError: A schema is malformed or cannot be enforced; `pointer` leads into the request.
        StructuralTagError: A structural tag is malformed.
    """
    _checked(options)
    _check_body(request, READ, OF_A_CHAT)
    response_format, at = request.get("response_format"), "/response_format"
    if response_format is not None and type_of(response_format, at) == "structural_tag":
        return _tagged(request, response_format, at, model, reasoning, tokenizer_info, options)
    content = read_format(response_format, at, nested="json_schema")
    return _output(request, content, model, reasoning, tokenizer_info, options)


@takes_schema_options
def responses(
    request: Mapping[str, Any],
    *,
    model: str | None = None,
    reasoning: Reasoning | None = None,
    tokenizer_info: TokenizerInfo | None = None,
    **options: Unpack[JsonSchemaKeywords],
) -> Grammar | None:
    """Read `text.format`, `tools`, `tool_choice` and `parallel_tool_calls` of a Responses request.

    Arguments and errors are those of `chat_completion`; `thinking_token_budget` is also supported.
    """
    _checked(options)
    _check_body(request, READ_OF_RESPONSES, OF_A_RESPONSE)
    text = request.get("text")
    if text is not None:
        if not isinstance(text, Mapping):
            raise wrong("an object", text, "/text")
        check_all(text, ("format", "verbosity"), "/text")
    content = read_format((text or {}).get("format"), "/text/format", nested=None)
    return _output(request, content, model, reasoning, tokenizer_info, options)


@takes_schema_options
def vllm(
    structured_outputs: Mapping[str, Any],
    *,
    tokenizer_info: TokenizerInfo | None = None,
    **options: Unpack[JsonSchemaKeywords],
) -> Grammar | None:
    """Read vLLM's `structured_outputs`: one of json, regex, choice, grammar, json_object, structural_tag.

    With json and json_object, `whitespace_pattern` is that of `JsonSchemaOptions`, `disable_any_whitespace` allows no
    white space, and `disable_additional_properties` is `strict_mode`; `options` are the fields of `JsonSchemaOptions`
    where the dictionary does not set them.

    Raises:
        RequestError: More than one is given, or a field is malformed; `pointer` leads to it.
        SchemaError: A schema is malformed or cannot be enforced.
        StructuralTagError: A structural tag is malformed.
    """
    _checked(options)
    if not isinstance(structured_outputs, Mapping):
        raise wrong("an object", structured_outputs, "/structured_outputs", 'write {"json": …}')
    said: dict[str, Any] = {**options, **vllm_schema_options(structured_outputs)}
    free = {**said, "strict_mode": False}
    readers: dict[str, _Reader] = {
        "json": lambda schema, at: _of_schema(schema, at, said),
        "regex": lambda pattern, at: Grammar.from_regex(pattern),
        "choice": lambda choices, at: Grammar.from_choices(choices),
        # As vLLM tells them apart.
        "grammar": lambda text, at: Grammar.from_ebnf(text) if "::=" in text else Grammar.from_lark(text, **options),
        "json_object": lambda _, at: _of_schema({"type": "object"}, at, free),
        "structural_tag": lambda tag, at: _of_tag(tag, at, tokenizer_info, options),
    }
    _flag(structured_outputs, "json_object")
    _check_beside(structured_outputs)
    return _only_one(structured_outputs, readers, "/structured_outputs", tuple(_BESIDE), OF_STRUCTURED_OUTPUTS)


# Fields that say more about others, with those others.
_BESIDE = {
    "disable_any_whitespace": ("json", "json_object"),
    "disable_additional_properties": ("json",),
    "whitespace_pattern": ("json", "json_object"),
}


_FLAGS = ("json_object", "disable_any_whitespace", "disable_additional_properties")


def asks_nothing(structured_outputs: Any) -> bool:
    """Return whether vLLM's dictionary is as good as none, since nothing in it is set.

    >>> asks_nothing({"json": None, "json_object": False}), asks_nothing({"json": {}})
    (True, False)
    """
    return isinstance(structured_outputs, Mapping) and not any(
        _is_given(structured_outputs, name) for name in structured_outputs if name not in OF_STRUCTURED_OUTPUTS
    )


def _is_given(given: Mapping[str, Any], name: str) -> bool:
    value = given.get(name)
    return bool(value) if name in _FLAGS else value is not None


def _check_beside(given: Mapping[str, Any]) -> None:
    """Refuse fields that would have no effect."""
    for name, others in _BESIDE.items():
        if _is_given(given, name) and not any(_is_given(given, other) for other in others):
            raise RequestError(
                f"{name} has no effect without {' or '.join(others)}",
                pointer=f"/structured_outputs/{name}",
                hint=f"omit it, or use {others[0]}",
            )


def vllm_schema_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Read the options of JSON Schemas that vLLM has beside a structure. If one is about the layout, no other is."""
    options: dict[str, Any] = {}
    if _flag(given, "disable_any_whitespace"):
        options.update(any_whitespace=False, separators=(",", ":"))
    if given.get("whitespace_pattern") is not None:
        options.update(whitespace_pattern=given["whitespace_pattern"])
    if options:
        options = {**dict.fromkeys(LAYOUT_OPTIONS), **options}
    if _flag(given, "disable_additional_properties"):
        options.update(strict_mode=True)
    return options


def _checked(options: JsonSchemaKeywords) -> None:
    """Refuse wrong options here, as they are the caller's: no mistake in the request."""
    read_options(options)


def _of_schema(schema: Any, pointer: str, options: Mapping[str, Any]) -> Grammar:
    """The grammar of a schema, whose report leads into the request."""
    made = _reported_at(pointer, Grammar.from_known_schema(schema, options))
    warn_of(made.report)
    return made


def _reported_at(pointer: str, made: Grammar) -> Grammar:
    """The grammar of what stands there in a request, with a report that leads into the request."""
    made.report = tuple([found._replace(pointer=pointer + found.pointer) for found in made.report])
    return made


def _of_tag(tag: Any, pointer: str, tokenizer_info: TokenizerInfo | None, options: JsonSchemaKeywords) -> Grammar:
    return _reported_at(pointer, Grammar.from_structural_tag(tag, tokenizer_info=tokenizer_info, **options))


def _flag(given: Mapping[str, Any], name: str) -> bool:
    if given.get(name) not in (None, True, False):
        raise wrong("true or false", given[name], f"/structured_outputs/{name}")
    return bool(given.get(name))


@takes_schema_options
def sglang(
    sampling_params: Mapping[str, Any],
    *,
    tokenizer_info: TokenizerInfo | None = None,
    **options: Unpack[JsonSchemaKeywords],
) -> Grammar | None:
    """Read SGLang's sampling parameters: one of json_schema, regex, ebnf, structural_tag.

    Options and errors are those of `vllm`.
    """
    _checked(options)
    if not isinstance(sampling_params, Mapping):
        raise wrong("an object", sampling_params, "/sampling_params", 'write {"json_schema": …}')
    readers: dict[str, _Reader] = {
        "json_schema": lambda schema, at: _of_schema(schema, at, options),
        "regex": lambda pattern, at: Grammar.from_regex(pattern),
        "ebnf": lambda text, at: Grammar.from_ebnf(text),
        "structural_tag": lambda tag, at: _of_tag(tag, at, tokenizer_info, options),
    }
    return _only_one(sampling_params, readers, "/sampling_params", (), OF_SAMPLING)


def _check_body(request: Any, read: Collection[str], others: Collection[str]) -> None:
    if not isinstance(request, Mapping):
        raise wrong("a request body (an object)", request, "")
    check_body(request, read, others)


def _output(
    request: Mapping[str, Any],
    content: Format | None,
    model: str | None,
    reasoning: Reasoning | None,
    tokenizer_info: TokenizerInfo | None,
    options: JsonSchemaKeywords,
) -> Grammar | None:
    tools, choice = held_to_schemas(request.get("tools")), request.get("tool_choice")
    parallel = optional_flag(request.get("parallel_tool_calls"), "/parallel_tool_calls")
    budget = request.get("thinking_token_budget")
    # Whether tools are needed at all, and all is well-formed.
    wanted = read_request(
        tools,
        choice,
        reasoning=reasoning or "disabled",
        content=content,
        thinking_token_budget=budget,
        options=options,
        built_in=built_in_tools(model) if tools and model is not None else (),
    )
    thinks = wanted.reasoning != "disabled"
    may_think = thinks or (reasoning is None and model is not None)
    if budget is not None and model is None and reasoning is None:
        raise _needs_model("thinking_token_budget requires", "/thinking_token_budget", _MARKS_REASONING)
    # Tools that must not be called constrain the output, too: no call begins.
    if not tools and content is None and not (may_think and budget is not None):
        return None
    if model is None:
        if thinks:
            raise _needs_model("reasoning requires", "/reasoning", _MARKS_REASONING)
        if tools:
            raise _needs_model("tools require", "/tools", "writes tool calls in its own format")
        assert content is not None
        return Grammar.from_structural_tag(StructuralTag(format=content), tokenizer_info=tokenizer_info, **options)
    tag = get_model_structural_tag(
        model,
        tools,
        choice,
        reasoning,
        parallel_tool_calls=parallel is not False,
        content=content,
        thinking_token_budget=budget,
        **options,
    )
    return Grammar.from_structural_tag(tag, tokenizer_info=tokenizer_info)


_MARKS_REASONING = "marks reasoning in its own way"


def _needs_model(what: str, pointer: str, why: str) -> RequestError:
    return RequestError(
        f"{what} the argument model: each model family {why}",
        pointer=pointer,
        hint="pass model=, the name of a model or a family; see maskwright.structural_tag.model_families()",
    )


def _tagged(
    request: Mapping[str, Any],
    given: Mapping[str, Any],
    at: str,
    model: str | None,
    reasoning: Reasoning | None,
    tokenizer_info: TokenizerInfo | None,
    options: JsonSchemaKeywords,
) -> Grammar | None:
    """What a request asks for whose answer is a structural tag."""
    with _at(at):
        tag = StructuralTag.from_json(given)
    try:
        return _output(request, located(tag.format, at), model, reasoning, tokenizer_info, options)
    except RequestError:
        raise
    except (MaskwrightError, UnicodeEncodeError):
        with _at(at):  # errors of the tag itself lead into it
            Grammar.from_structural_tag(tag, tokenizer_info=tokenizer_info, **options)
        raise


def _only_one(
    given: Mapping[str, Any],
    readers: Mapping[str, _Reader],
    pointer: str,
    beside: tuple[str, ...],
    ignored: Collection[str],
) -> Grammar | None:
    check_all(given, (*readers, *beside), pointer, ignored)
    names = [name for name in readers if _is_given(given, name)]
    if not names:
        return None
    if len(names) > 1:
        raise RequestError(f"{' and '.join(names)} cannot be combined", pointer=pointer, hint="use one of them")
    value, at = given[names[0]], f"{pointer}/{names[0]}"
    if names[0] in ("regex", "grammar", "ebnf") and not isinstance(value, str):
        raise wrong("a string", value, at)
    if names[0] == "choice" and not (isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value)):
        is_text = isinstance(value, str)
        hint = "put the text into an array" if is_text else "write numbers and other values as strings"
        raise wrong("an array of strings", value, at, hint)
    with _at(at):
        return readers[names[0]](value, at)


@contextmanager
def _at(pointer: str) -> Iterator[None]:
    """Let errors begin with the pointer of the field that was read."""
    try:
        yield
    except OptionError as error:
        field = f"{pointer.rpartition('/')[0]}/{error.option}"
        raise RequestError(error.message, pointer=field, hint=error.hint) from error
    except SchemaError as error:
        raise type(error)(
            error.message, pointer=pointer + error.pointer, keyword=error.keyword, hint=error.hint
        ) from error
    except StructuralTagError as error:
        raise StructuralTagError(error.message, pointer=pointer + error.pointer, hint=error.hint) from error
    except UnicodeEncodeError as error:
        raise RequestError(
            "the field contains a lone surrogate, which is not valid Unicode text", pointer=pointer
        ) from error
    except UnsatisfiableError as error:
        raise RequestError(
            f"no output is valid: {error.message_with_place}", pointer=pointer, hint=error.hint
        ) from error
    except GrammarError as error:
        raise RequestError(error.message_with_place, pointer=pointer, hint=error.hint) from error
