"""What may stand for a schema: Python types and functions, by pydantic; all else is a typed error."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
import subprocess
import sys
import typing
import uuid
from typing import Any, Literal, NamedTuple

import pytest

from frontends.json_schema.checking import check_texts
from labels import label
from maskwright.errors import SchemaError
from maskwright.grammar import Grammar
from maskwright.inputs.schema_inputs import schema_of

pydantic = pytest.importorskip("pydantic", reason="an optional dependency")
typing_extensions = pytest.importorskip("typing_extensions", reason="comes with pydantic")


class Model(pydantic.BaseModel):
    size: int = pydantic.Field(ge=1, le=3, alias="n")
    next: Model | None = None


@dataclasses.dataclass
class Point:
    x: bool
    label: Literal["a", "b"] = "a"


Row = typing_extensions.TypedDict("Row", {"id": bool})


class Color(enum.Enum):
    RED = "red"
    TWO = 2


def search(query: Literal["cats", "dogs"], exact: bool = False) -> None:
    """Search."""


class Pair(NamedTuple):
    left: bool
    right: Literal["x"] = "x"


class Tool:
    def call(self, on: bool) -> None: ...


CASES: list[tuple[Any, list[str], list[str]]] = [
    (Model, ['{"n":2}', '{"n":2,"next":{"n":1}}'], ["{}", '{"n":4}', '{"size":2}']),
    (pydantic.TypeAdapter(list[Model]), ["[]", '[{"n":2}]'], ["{}"]),
    (Point, ['{"x":true}', '{"x":true,"label":"b"}'], ["{}", '{"x":true,"label":"c"}']),
    (Row, ['{"id":true}'], ["{}"]),
    (Color, ['"red"', "2"], ['"RED"', "3"]),
    (Literal["a", 1], ['"a"', "1"], ['"b"', "2"]),
    (list[bool], ["[]", "[true]"], ["[1]"]),
    (bool | None, ["null", "true"], ["1"]),
    (int, ["1", "-7"], ['"1"', "1.5", "true"]),
    (float, ["1.5", "1"], ['"1"']),
    (str, ['"a"'], ["1"]),
    (bool, ["true"], ["1"]),
    (type(None), ["null"], ["0"]),
    (list, ["[]", '[1,"a"]'], ["{}"]),
    (dict, ["{}", '{"a":1}'], ["[]"]),
    (Any, ["1", "{}"], []),
    (typing.NewType("Id", int), ["1"], ['"1"']),
    (typing_extensions.TypeAliasType("Row", list[typing.NewType("Id", int)]), ["[]", "[1]"], ["1"]),
    (datetime.date, ['"2026-02-28"'], ['"2026-02-30"', "1"]),
    (uuid.UUID, ['"00000000-0000-0000-0000-000000000000"'], ['"x"']),
    (Pair, ['[true,"x"]', "[true]"], ["[]", '[true,"y"]', '{"left":true}']),
    (typing.Annotated[int, pydantic.Field(ge=3, le=4)], ["3", "4"], ["5"]),
    (search, ['{"query":"cats"}', '{"query":"dogs","exact":true}'], ["{}", '{"query":"cats","x":1}']),
    (Tool().call, ['{"on":true}'], ["{}", '{"self":1,"on":true}']),
]


@pytest.mark.parametrize(("source", "right", "wrong"), CASES, ids=label)
def test_a_type_stands_for_its_schema(source: Any, right: list[str], wrong: list[str]) -> None:
    schema = schema_of(source)
    assert Grammar.from_json_schema(source) == Grammar.from_json_schema(schema)
    check_texts(schema, right, wrong)


def test_data_and_texts_are_their_own() -> None:
    for source in ({"type": "null"}, True, "{}", b"{}"):
        assert schema_of(source) is source


def positional(a: int, /) -> None: ...


def many(*values: int) -> None: ...


def unknown(a: Nowhere) -> None: ...  # type: ignore[name-defined] # noqa: F821


def opaque(a: object, b: functools.partial) -> None: ...  # type: ignore[type-arg]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (3, "not int"),
        (None, "not None"),
        (object(), "not object"),
        ([int], r"not list\n.*list\[int\]"),
        (type("Opaque", (), {}), "cannot describe Opaque"),
        (typing.Callable[[int], int], "cannot describe"),
        ([{"type": "function"}], r"not list\n.*get_model_structural_tag"),
        ("[1]", r"not list\n.*get_model_structural_tag"),
        (Model(n=1), r"not Model\n.*the class Model, not an object"),
        (Point(True), r"not Point\n.*the class Point, not an object"),
        (Color.RED, r"not Color\n.*the class Color, not an object"),
        (functools.partial(search), r"not partial\n.*a function .* that calls it"),
        (Tool.call, r"a method without an object.*\n.*Tool\(\.\.\.\)\.call"),
        (positional, "'a' of positional cannot be passed by name"),
        (many, "'values' of many cannot be passed by name"),
        (unknown, "cannot describe unknown"),
        (opaque, "cannot describe opaque"),
    ],
    ids=label,
)
def test_what_stands_for_no_schema(source: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Grammar.from_json_schema(source)


def test_the_cache_goes_by_schema() -> None:
    pytest.importorskip("maskwright._kernel", reason="the kernel is not built", exc_type=ImportError)
    from maskwright import GrammarCompiler, TokenizerInfo

    compiler = GrammarCompiler(TokenizerInfo.from_vocab([bytes([b]) for b in range(256)] + [b""], stop_token_ids=[256]))

    def model(kind: type) -> Any:
        return pydantic.create_model("Same", a=(kind, ...))

    one = compiler.compile_json_schema(model(int))
    assert compiler.compile_json_schema(model(int)) is one
    assert compiler.compile_json_schema(model(int).model_json_schema()) is one
    assert compiler.compile_json_schema(model(bool)) is not one
    assert compiler.compile_json_schema(model(int), any_order=True) is not one
    with pytest.raises(SchemaError, match="not int"):
        compiler.compile_json_schema_async(3).result()


def test_pydantic_is_needed_for_types_only() -> None:
    """Without pydantic, dicts work, and a dataclass is an error that says what to install."""
    program = """
import dataclasses, sys
sys.modules["pydantic"] = None
import maskwright
maskwright.Grammar.from_json_schema({"type": "null"})
try:
    maskwright.Grammar.from_json_schema(dataclasses.make_dataclass("Point", ["x"]))
except maskwright.SchemaError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pydantic, which is not installed" in done.stdout
    assert "pip install pydantic" in done.stdout


def test_data_needs_no_pydantic() -> None:
    program = "import sys; from maskwright import check; check({}); print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_dict_of_types_is_no_schema() -> None:
    with pytest.raises(SchemaError, match="is not a JSON Schema: 'age' is the class int") as caught:
        Grammar.from_json_schema({"age": int, "name": str})
    assert '{"type": "object", "properties": ' in (caught.value.hint or "")
    Grammar.from_json_schema({"type": "string", "x-python": str})  # an annotation


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="from 3.12 on, pydantic takes it")
def test_the_typed_dict_of_old_versions_has_a_way_out() -> None:
    class Old(typing.TypedDict):
        id: int

    for source in (Old, list[Old], dataclasses.make_dataclass("Holder", [("row", Old)])):
        with pytest.raises(SchemaError) as caught:
            schema_of(source)
        assert caught.value.hint == "before Python 3.12, import TypedDict from typing_extensions instead of typing"
