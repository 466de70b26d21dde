"""What may stand for a JSON Schema: data and texts, and Python types and functions, which pydantic describes.

    {"type": "integer"} · '{"type": "integer"}' · a pydantic model or TypeAdapter
    a dataclass · a TypedDict · a NamedTuple · an Enum · int, date and other types that pydantic knows
    Literal["a", "b"] and other types with arguments, such as list[int]
    a NewType of one of these, or an alias (`type Name = …`)
    a function: the object of its parameters, for tool calls

Functions and classes are tools, too (`tool_of`), named and described by themselves.

Pydantic is never imported for data and texts; who passes its models has imported it already. Validation's own names
are used (aliases), as what a model writes is to be validated.
Tested by tests/frontends/json_schema/read/test_schema_inputs.py.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import sys
from functools import cache
from typing import Any, Final, NewType, get_origin

from maskwright.errors import SchemaError
from maskwright.support.arguments import text_hint
from maskwright.support.entrances import OF_A_LIST

_USE_INSTEAD = {
    "StructuralTag": "use compile_structural_tag",
    "Grammar": "use compile_grammar; maskwright.lint looks for mistakes in a grammar",
    "CompiledGrammar": "it is compiled already: pass it to GrammarMatcher",
    "Pattern": "use compile_regex(pattern.pattern), or Grammar.from_regex",
    "list": OF_A_LIST,
    "set": 'a dict has colons: {"type": "object"}, not {"type", "object"}',
}
# By pydantic's codes of errors.
_HINTS: Final[dict[str | None, str]] = {
    "typed-dict-version": "before Python 3.12, import TypedDict from typing_extensions instead of typing",
}
_DATA = (dict, str, bool, bytes, bytearray)


def schema_of(source: Any) -> Any:
    """Return the JSON Schema of an input; dicts and JSON texts are returned as they are.

    Raises:
        SchemaError: It has no schema, pydantic is not installed, or pydantic cannot describe it.

    >>> schema_of({"type": "null"})
    {'type': 'null'}
    """
    if isinstance(source, _DATA):
        return source
    pydantic = sys.modules.get("pydantic")  # what is pydantic's has imported it
    if pydantic is not None and isinstance(source, pydantic.TypeAdapter):
        return _described(source, lambda: source)
    kind = _kind_of(source, pydantic)
    if kind is None:
        raise SchemaError(
            f"a schema must be an object or a boolean, not {_name(source)}",
            hint=_way_out(source),
        )
    try:
        from pydantic import TypeAdapter
    except ImportError as error:
        raise SchemaError(
            f"the schema of {kind} requires pydantic, which is not installed",
            hint="pip install pydantic, or pass a dict",
        ) from error
    if kind == "a function":
        _check_parameters(source)
    return _described(source, lambda: TypeAdapter(source))


def tool_of(source: Any) -> dict[str, Any]:
    """Return a function or a class as a tool in the shape of Chat Completions.

    Args:
        source: A function, whose parameters become the arguments, or a class, whose fields do: a pydantic model, a
            dataclass, a TypedDict. The tool takes its name, and the first paragraph of its docstring as description.

    Raises:
        SchemaError: It has no name, pydantic is not installed, or pydantic cannot describe it.
    """
    name = getattr(source, "__name__", None)
    if not (isinstance(source, type) or inspect.isfunction(source) or inspect.ismethod(source)) or not name:
        raise SchemaError(
            f"a tool must be an object, a function or a class, not {type(source).__name__}",
            hint=_function_instead(source)
            or "pass a dict, a function with annotated parameters, a pydantic model, a dataclass or a TypedDict",
        )
    function = {"name": name, "description": _description(source), "parameters": schema_of(source)}
    return {"type": "function", "function": {key: value for key, value in function.items() if value is not None}}


def meaning_of(source: Any) -> Any:
    """Return what a `NewType` or an alias made by `type Name = …` stands for; anything else as it is.

    >>> meaning_of(NewType("UserId", int))
    <class 'int'>
    """
    while True:
        if isinstance(source, NewType):
            source = source.__supertype__
        elif type(source).__name__ == "TypeAliasType":  # of typing, from Python 3.12 on, or of typing_extensions
            source = source.__value__
        else:
            return source


def class_instead(value: Any) -> str | None:
    """What to pass instead of an object where its class is meant, or a list of the class."""
    kind = type(value)
    pydantic = sys.modules.get("pydantic")
    is_made = isinstance(value, enum.Enum) or dataclasses.is_dataclass(kind) or _is_model(kind, pydantic)
    if is_made and not kind.__module__.startswith("maskwright."):
        return f"pass the class {kind.__name__}, not an object of it"
    if isinstance(value, list | tuple) and len(value) == 1 and isinstance(value[0], type):
        return f"for an array, pass list[{value[0].__name__}]"
    return None


def _function_instead(value: Any) -> str | None:
    """What to pass instead of something else that can be called: a partial, an object, a function of C."""
    if callable(value) and type(value).__module__ != "typing":
        return "write a function with annotated parameters that calls it"
    return None


def _name(source: Any) -> str:
    return "None" if source is None else type(source).__name__


def _way_out(source: Any) -> str:
    return (
        text_hint(source)
        or class_instead(source)
        or _USE_INSTEAD.get(type(source).__name__)
        or _function_instead(source)
        or "pass a dict, a bool, a JSON text, a pydantic model, a type such as list[int], or a function"
    )


def _description(source: Any) -> str | None:
    """The first paragraph of the docstring that somebody wrote."""
    text = inspect.cleandoc(source.__doc__ or "").partition("\n\n")[0]
    is_made = isinstance(source, type) and dataclasses.is_dataclass(source) and text.startswith(f"{source.__name__}(")
    return None if is_made or not text else " ".join(text.split())


def _kind_of(source: Any, pydantic: Any) -> str | None:
    """Name the kind of a Python type or function; None for what is neither."""
    if inspect.isfunction(source) or inspect.ismethod(source):
        return "a function"
    if get_origin(source) is not None or source is Any:
        return "a type with arguments"
    if meaning_of(source) is not source:
        return "a named type"
    if not isinstance(source, type):
        return None
    if _is_model(source, pydantic):
        return "a model"
    return "a dataclass" if dataclasses.is_dataclass(source) else "a class"


def _is_model(kind: type, pydantic: Any) -> bool:
    return pydantic is not None and issubclass(kind, pydantic.BaseModel)


def _check_parameters(function: Any) -> None:
    """Refuse parameters that no member of an object can stand for, and a method without its object."""
    parameters = inspect.signature(function).parameters
    of_class = function.__qualname__.rpartition(".")[0]
    if "self" in parameters and of_class and not of_class.endswith("<locals>"):
        raise SchemaError(
            f"{function.__qualname__} is a method without an object, so self would be an argument",
            hint=f"pass the method of an object: {of_class.rpartition('.')[2]}(...).{function.__name__}",
        )
    for parameter in parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise SchemaError(
                f"the parameter {parameter.name!r} of {function.__qualname__} cannot be passed by name",
                hint="arguments are passed by name: make it an ordinary parameter",
            )


@cache
def _generator() -> Any:
    """Pydantic's generator of schemas, which also tells times that must not have an offset from others."""
    from pydantic.json_schema import GenerateJsonSchema

    class Generator(GenerateJsonSchema):
        def datetime_schema(self, schema: Any) -> dict[str, Any]:
            out = super().datetime_schema(schema)
            return {**out, "format": "date-time-local"} if schema.get("tz_constraint") == "naive" else out

    return Generator


def _described(source: Any, adapter: Any) -> Any:
    """Return pydantic's schema of what an adapter is made for, with its errors as ours."""
    from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError

    try:
        return adapter().json_schema(schema_generator=_generator())
    except (PydanticUserError, PydanticUndefinedAnnotation, NameError, TypeError, ValueError, RecursionError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise SchemaError(
            f"pydantic cannot describe {getattr(source, '__qualname__', repr(source))[:100]}: {reason}",
            hint=_HINTS.get(getattr(error, "code", None), "use annotations that have a JSON Schema, or pass a dict"),
        ) from error
