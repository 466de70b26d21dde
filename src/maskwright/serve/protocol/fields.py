"""How a body becomes a model: each field is known, ignored because it has no effect here, or refused.

    read_body(ChatRequest, {"messages": […], "temprature": 0})
    ApiError 400: unknown field 'temprature'. Hint: did you mean 'temperature'?, param "/temprature"

A field that would change the output in a way that this server cannot is refused with a way out, unless it has the value
with which it changes nothing (`OFF`); one that cannot change the output, such as `user`, is ignored. `null` stands for
a missing field, as in OpenAI's API.
Tested by tests/serve/test_protocol.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from maskwright.serve.errors import ApiError, invalid
from maskwright.support.near_names import nearest

_SHOWN = 60
_MESSAGES = {
    "missing": "the field is required",
    "string_type": "expected a string",
    "int_type": "expected an integer",
    "float_type": "expected a number",
    "bool_type": "expected true or false",
    "list_type": "expected an array",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "greater_than": "must be > {gt}",
    "greater_than_equal": "must be >= {ge}",
    "less_than": "must be < {lt}",
    "less_than_equal": "must be <= {le}",
    "literal_error": "expected {expected}",
    "extra_forbidden": "unknown field",
    "too_short": "at least {min_length} item is required",
    "too_long": "at most {max_length} items are allowed, found {actual_length}",
    "finite_number": "expected a finite number",
}

OFF: Final[Mapping[str, Any]] = {
    "add_generation_prompt": True,
    "background": False,
    "best_of": 1,
    "continue_final_message": False,
    "early_stopping": False,
    "echo": False,
    "ignore_eos": False,
    "length_penalty": 1,
    "min_new_tokens": 0,
    "min_tokens": 0,
    "use_beam_search": False,
}
"""The values with which fields change nothing, even where they are not supported: some clients send their defaults."""


class Part(BaseModel):
    """An object within a body. Fields that are not read are ignored: clients send back what they were sent."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


class Options(BaseModel):
    """An object within a body that says what is wanted: a field that is not read would have no effect."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class Body(BaseModel):
    """The body of a request.

    Attributes:
        ignored: Fields that cannot change the output.
        refused: Fields that would, and what to use instead.
    """

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    ignored: ClassVar[frozenset[str]] = frozenset()
    refused: ClassVar[Mapping[str, str]] = {}


_B = TypeVar("_B", bound=Body)


def read_body(model: type[_B], data: Any) -> _B:
    """Check a body against a model.

    Raises:
        ApiError: A field is unknown, unsupported or malformed; `param` leads to it.
    """
    if not isinstance(data, Mapping):
        raise invalid(f"expected an object, found {type_of(data)}", "")
    given = {
        name: value
        for name, value in data.items()
        if value is not None and name not in model.ignored and not (name in model.refused and _is_off(name, value))
    }
    for name in given:
        if name not in model.model_fields:
            raise _unknown(model, name)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise _malformed(model, error) from None


def _is_off(name: str, value: Any) -> bool:
    off = OFF.get(name)
    return off is not None and isinstance(off, bool) == isinstance(value, bool) and bool(off == value)


def _unknown(model: type[Body], name: str) -> ApiError:
    shown, pointer = repr(name[:_SHOWN]), f"/{escaped(name[:_SHOWN])}"
    if name in model.refused:
        return invalid(f"{name} is not supported", pointer, code="unsupported_field", hint=model.refused[name])
    hint = _hint_for_name(name, model.model_fields, model.ignored)
    return invalid(f"unknown field {shown}", pointer, code="unknown_field", hint=hint)


def _hint_for_name(name: str, fields: Iterable[str], ignored: Iterable[str] = ()) -> str:
    near = nearest(name, [*fields, *ignored], 0.75)
    return f"did you mean {near!r}?" if near else f"the fields are: {', '.join(fields)}"


def _malformed(model: type[Body], error: ValidationError) -> ApiError:
    message, path = mistake(error)
    if error.errors(include_url=False)[0]["type"] == "extra_forbidden":
        *within, name = path
        hint = _hint_for_name(str(name), _fields_at(model, within))
        return invalid(f"{message} {str(name)[:_SHOWN]!r}", pointer_of(path), code="unknown_field", hint=hint)
    named = f"{path[0]}: " if len(path) == 1 else ""  # the answer says where inside of a field
    return invalid(f"{named}{message}", pointer_of(path))


def mistake(error: ValidationError) -> tuple[str, tuple[str | int, ...]]:
    """Return what is wrong with a value in our words, and the path to it."""
    first = error.errors(include_url=False)[0]
    kind, context = first["type"], first.get("ctx", {})
    known = _MESSAGES.get(kind)
    message = first["msg"] if known is None else known.format(**{name: _plain(each) for name, each in context.items()})
    if kind.endswith("_type"):
        message += f", found {type_of(first['input'])}"
    elif kind == "literal_error":
        message += f", found {shown_of(first['input'])}"
    return message, (*first["loc"], *context.get("at", ()))


def _fields_at(model: type[BaseModel], path: Sequence[str | int]) -> Iterable[str]:
    """The fields of the object that a path leads to."""
    for step in path:
        annotation = model.model_fields[str(step)].annotation
        kinds = (annotation, *get_args(annotation))
        model = next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
    return model.model_fields


def _plain(value: Any) -> Any:
    """A limit as a person writes it: 100, not 100.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def pointer_of(path: Iterable[str | int]) -> str:
    """Return the JSON pointer of a path.

    >>> pointer_of(("messages", 0, "a/b"))
    '/messages/0/a~1b'
    """
    return "".join(f"/{escaped(str(step))}" for step in path)


def escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def type_of(value: Any) -> str:
    """Name the type of a JSON value.

    >>> type_of({}), type_of(True), type_of(None)
    ('an object', 'true', 'null')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    kinds = ((str, "a string"), (int | float, "a number"), (list, "an array"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "an object")


def shown_of(value: Any) -> str:
    """Return a text as it is, if it is short; of other values, their type.

    >>> shown_of("usr"), shown_of(5), shown_of("x" * 99)[:9]
    ("'usr'", 'a number', "'xxxxxxxx")
    """
    return repr(value[:_SHOWN]) if isinstance(value, str) else type_of(value)


def expected(what: str, value: Any, more: str = "") -> PydanticCustomError:
    """Make the error of a validator; `more` says what is wrong with a value of the right type."""
    return misplaced(f"expected {what}, found {type_of(value)}{more}")


def misplaced(message: str, *at: str | int) -> PydanticCustomError:
    """Make the error of a validator; `at` leads from the value to where it is wrong."""
    return PydanticCustomError("expected", message, {"at": at})


def _texts(value: Any) -> Any:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise expected("a string or an array of strings", value, " with other items" if isinstance(value, list) else "")
    return given


Texts = Annotated[list[str], BeforeValidator(_texts)]
"""A string or several, as a list."""
