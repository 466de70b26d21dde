"""Output types: the structures they stand for, the objects that come of texts, and what is refused in words."""

from __future__ import annotations

import dataclasses
import enum
import json
import re
from typing import Annotated, Any, Literal

import pytest

from labels import label
from maskwright import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import ArgumentError, OptionError, RegexSyntaxError, RequestError, SchemaError
from maskwright.outputs.output_types import output_type_of
from maskwright.structural_tag import ConstStringFormat, StructuralTag

pydantic = pytest.importorskip("pydantic", reason="an optional dependency")


class City(pydantic.BaseModel):  # type: ignore[misc, unused-ignore]
    name: str
    population: int


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Color(enum.Enum):
    RED = "red"
    DARK_RED = "dark red"


Size = enum.Enum("Size", {"SMALL": [1], "LARGE": "large"})


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@pytest.fixture(scope="module")
def compiler() -> GrammarCompiler:
    vocabulary = [*(bytes([i]) for i in range(256)), b"</s>"]
    return GrammarCompiler(TokenizerInfo.from_vocab(vocabulary, stop_token_ids=[256], special_token_ids=[256]))


def accepts(compiler: GrammarCompiler, wanted: Any, text: str) -> bool:
    matcher = GrammarMatcher(output_type_of(wanted).compile(compiler))
    return matcher.accept_string(text) and matcher.is_completed()


CASES = [
    (City, '{"name": "Oslo", "population": 700000}', City(name="Oslo", population=700000), '{"name": 1}'),
    (pydantic.TypeAdapter(City), '{"name": "Oslo", "population": 7}', City(name="Oslo", population=7), "[]"),
    (Point, '{"x": 3}', Point(3, 0), '{"y": 3}'),
    (int, "-12", -12, "1.5"),
    (bool, "true", True, "True"),
    (float, "1.5", 1.5, "x"),
    (list[int], "[1, 2]", [1, 2], '["1"]'),
    (dict[str, int], '{"a": 1}', {"a": 1}, '{"a": "b"}'),
    (int | None, "3", 3, '"a"'),
    (int | None, "null", None, '"a"'),
    (tuple[int, str], '[1, "a"]', (1, "a"), '["a", 1]'),
    (Annotated[str, pydantic.Field(max_length=3)], '"abc"', "abc", '"abcd"'),
    (Annotated[int, pydantic.Field(ge=3, le=5)], "4", 4, "6"),
    (Literal["yes", "no"], "yes", "yes", '"yes"'),
    (Literal["a", 3, None], '"a"', "a", "a"),
    (Literal[1, 2], "2", 2, "3"),
    (Color, "dark red", Color.DARK_RED, "dark"),
    (Level, "2", Level.HIGH, "3"),
    (Size, "[1]", Size.SMALL, "large"),
    (str, 'any "text"\n', 'any "text"\n', None),
    (re.compile("[ab]+c", re.IGNORECASE), "aBC", "aBC", "c"),
    (re.compile(r"\d", re.ASCII), "3", "3", "٣"),
    (re.compile(r"\d"), "٣", "٣", "x"),
    (Grammar.from_ebnf('root ::= "x" | "y"'), "y", "y", "z"),
    ({"type": "array", "items": {"type": "boolean"}}, "[true]", [True], "[1]"),
    (True, '{"a": [1]}', {"a": [1]}, "a"),
    ({"type": "json_object"}, '{"a": 1}', {"a": 1}, "1"),
    ({"type": "text"}, "free", "free", None),
    ({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer"}}}, "5", 5, '"5"'),
    ({"type": "structural_tag", "format": {"type": "const_string", "value": "v"}}, "v", "v", "w"),
    (StructuralTag(ConstStringFormat("v")), "v", "v", "w"),
]


@pytest.mark.parametrize(("wanted", "text", "value", "refused"), CASES, ids=label)
def test_types(compiler: GrammarCompiler, wanted: Any, text: str, value: Any, refused: str | None) -> None:
    assert accepts(compiler, wanted, text)
    assert refused is None or not accepts(compiler, wanted, refused)
    read = output_type_of(wanted).read(text)
    assert (type(read), read) == (type(value), value)


def test_typed_dicts(compiler: GrammarCompiler) -> None:
    from typing_extensions import TypedDict

    class Person(TypedDict):
        age: int

    assert accepts(compiler, Person, '{"age": 3}')
    assert output_type_of(Person).read('{"age": 3}') == {"age": 3}


def test_a_compiled_grammar(compiler: GrammarCompiler) -> None:
    compiled = compiler.compile_regex("a")
    assert output_type_of(compiled).compile(compiler) is compiled
    other = GrammarCompiler(TokenizerInfo.from_vocab([b"a", b"</s>"], stop_token_ids=[1]))
    with pytest.raises(ArgumentError, match=r"compiled for another tokenizer[\s\S]*output_type\.grammar"):
        output_type_of(compiled).compile(other)


def test_schema_options(compiler: GrammarCompiler) -> None:
    compact = output_type_of(City, {"any_whitespace": False, "separators": (",", ":")})
    matcher = GrammarMatcher(compact.compile(compiler))
    assert matcher.accept_string('{"name":"a","population":1}')
    assert not GrammarMatcher(compact.compile(compiler)).accept_string('{ "name"')
    with pytest.raises(OptionError, match="schema_options require an output type that becomes JSON"):
        output_type_of(str, {"any_whitespace": False})
    with pytest.raises(OptionError, match="any_whitespac"):
        output_type_of(City, {"any_whitespac": False}).compile(compiler)


def test_a_validator_of_the_callers_has_the_last_word() -> None:
    class Even(pydantic.BaseModel):  # type: ignore[misc, unused-ignore]
        n: int

        @pydantic.field_validator("n")
        @classmethod
        def must_be_even(cls, n: int) -> int:
            if n % 2:
                raise ValueError("odd")
            return n

    with pytest.raises(pydantic.ValidationError, match="odd"):
        output_type_of(Even).read('{"n": 3}')


class Plain:
    pass


def greet(name: str) -> str:
    return name


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("[0-9]+", r"must be a type or a structure, not str\n.*re\.compile\(text\).*json\.loads"),
        (3, r"must be a type or a structure, not int\n.*Literal"),
        (None, "must be a type or a structure, not None"),
        (Color.RED, r"not .*Color\n.*pass the class Color"),
        (greet, r"must be a type, not function\n.*\[function\]"),
        (re.compile(b"a"), "must be a str, not bytes"),
    ],
    ids=label,
)
def test_what_is_no_output_type(wanted: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        output_type_of(wanted)


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        ({"type": "integr"}, SchemaError),
        (json.loads, ArgumentError),
        (re.compile(r"(a)?b\1"), RegexSyntaxError),
        ({"type": "json_schema"}, RequestError),
        (Plain, SchemaError),
    ],
    ids=label,
)
def test_what_is_malformed_or_cannot_be_held_to(compiler: GrammarCompiler, wanted: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        output_type_of(wanted).compile(compiler)
