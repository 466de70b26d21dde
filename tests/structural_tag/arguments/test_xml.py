"""Arguments in XML-like styles: what each accepts, and that what it accepts is valid."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import maskwright as mw
from maskwright.errors import SchemaError, StructuralTagError
from maskwright.structural_tag.formats.xml_styles import STYLES
from structural_tag.arguments.styles import INFO, M3, MEMBERS, SPELLED, check, compiled, of, renamed
from structural_tag.spelling import accepts, vocabulary


def test_every_style_is_here() -> None:
    assert {*SPELLED, "gemma", "function_gemma", "python", "python_any"} == STYLES.keys()


@pytest.mark.parametrize("style", SPELLED)
def test_members(style: str) -> None:
    schema = MEMBERS if style != "minimax_m3_xml" else of(dict(list(MEMBERS["properties"].items())[:2]), "s")
    s, n, o = SPELLED[style]
    accepted = [
        s.format(""),
        s.format('a "b" <é>\n'),
        s.format("x") + n.format("7"),
        s.format("x") + "\n" + n.format("7") + "\n",
    ]
    if o:
        accepted.append(s.format("x") + o.format() + "\n")
    rejected = ["", n.format("7"), n.format("7") + s.format("x"), s.format("x") * 2, s.format("x") + n.format("x")]
    rejected += [s.format("x")[:-1], s.format("x") + "y"]
    check(schema, style, accepted, rejected)


@pytest.mark.parametrize("style", SPELLED)
def test_white_space_around_values(style: str) -> None:
    """Servers' parsers read ` true` as a string, or as false; what a label calls JSON, and objects, as JSON."""
    n = SPELLED[style][1]
    is_labelled = any(kind.label for kind in STYLES[style].kinds)
    spaced = [n.format(text) for text in (" {}", "{} ", "\t{}", "{}\n\n", " {}\n")]
    on_lines = [n.format(text) for text in ("\n{}", "{}\n", "\n{}\n")]
    for kind, value in (("integer", "7"), ("boolean", "true"), ("null", "null"), (["integer", "null"], "null")):
        schema = of({"n": {"type": kind}}, "n")
        accepted = [n.format("{}"), *(spaced if is_labelled else []), *(on_lines if STYLES[style].padded else [])]
        rejected = [*([] if is_labelled else spaced), *([] if is_labelled or STYLES[style].padded else on_lines)]
        if style != "kimi_k3_xml":  # whose label is the type
            check(schema, style, [t.format(value) for t in accepted], [t.format(value) for t in rejected])
    if not any(kind.spelling == "items" for kind in STYLES[style].kinds) and style != "kimi_k3_xml":
        check(
            of({"n": {"type": ["array", "number"]}}, "n"), style, [t.format("[ 1]") for t in (*spaced, *on_lines)], []
        )


@pytest.mark.parametrize("style", SPELLED)
def test_constrained_strings(style: str) -> None:
    s = SPELLED[style][0]
    for inner, good, bad in (
        ({"enum": ["a", "b c"]}, ["a", "b c"], ["", "ab", '"a"']),
        ({"pattern": "^[ab]{2}$"}, ["ab", "bb"], ["a", "abc"]),
        ({"minLength": 2, "maxLength": 3}, ["ab", "é é"], ["a", "abcd"]),
        ({"format": "date"}, ["2024-02-29"], ["2023-02-29", ""]),
        ({"pattern": "a", "maxLength": 2, "not": {"const": "ba"}}, ["a", "ab"], ["ba", "bab", "b"]),
    ):
        schema = of({"s": {"type": "string", **inner}}, "s")
        check(schema, style, [s.format(v) for v in good], [s.format(v) for v in bad])


def test_padding_does_not_count() -> None:
    def spelled(value: str) -> str:
        return f"<parameter=s>{value}</parameter>"

    check(
        of({"s": {"type": "string", "maxLength": 2}}, "s"),
        "qwen_xml",
        [spelled(v) for v in ("ab", "\nab\n", "\n\na\n", "\n\n\n\n", "")],
        [spelled(v) for v in ("abc", "\nabc\n", "\nab", "ab\n")],
    )
    check(of({"s": {"const": "x"}}, "s"), "qwen_xml", [spelled("x"), spelled("\nx\n")], [spelled("\nx"), spelled(" x")])


@pytest.mark.parametrize("style", SPELLED)
def test_values_of_several_types(style: str) -> None:
    s, n, _ = SPELLED[style]
    both = (
        n.replace('"n"', '"s"')
        .replace("=n>", "=s>")
        .replace(">n<", ">s<")
        .replace("<n>", "<s>")
        .replace("</n>", "</s>")
    )
    schema = of({"s": {"anyOf": [{"const": "x"}, {"type": "integer", "minimum": 3}]}}, "s")
    check(schema, style, [s.format("x"), both.format("3"), both.format("10")], [s.format("y"), both.format("2")])


@pytest.mark.parametrize("style", ["qwen_xml", "glm_xml", "deepseek_xml"])
def test_undeclared_members(style: str) -> None:
    s, n, _ = SPELLED[style]
    schema = {"type": "object", "properties": {"s": {"type": "string"}}, "additionalProperties": {"type": "integer"}}
    more = renamed(n, "more")
    check(
        schema,
        style,
        ["", s.format("x"), more.format("1"), s.format("x") + more.format("1") + more.format("2")],
        [more.format("x"), s.format("x") + s.format("y"), more.format("1") + s.format("x")],
    )
    check({**schema, "additionalProperties": False}, style, [s.format("x")], [more.format("1")])
    open_schema = {"type": "object", "properties": {"s": {"type": "string"}}}
    check(open_schema, style, [s.format("x")], [more.format("1")], strict_mode=True)


def test_required_but_not_declared() -> None:
    schema = {"type": "object", "required": ["n"], "additionalProperties": {"type": "integer"}}
    check(schema, "qwen_xml", ["<parameter=n>1</parameter>"], ["", "<parameter=n>x</parameter>"])


def test_strings_end_at_the_first_close() -> None:
    s = SPELLED["qwen_xml"][0]
    check(MEMBERS, "qwen_xml", [s.format("</param")], [s.format("a</parameter>b")])
    check(of({"s": {"enum": ["a</parameter>", "b"]}}, "s"), "qwen_xml", [s.format("b")], [s.format("a</parameter>")])
    check(MEMBERS, "qwen_xml", [s.format("y z")], [s.format("xyz")], excludes=["yz"])


def test_white_space_by_a_pattern() -> None:
    schema = of({"n": {"type": "integer"}, "a": {"type": "array", "items": {"type": "null"}}}, "n")
    lines = "\n<parameter=n>\n1\n</parameter>\n"
    array = "<parameter=a>\n[\nnull\n,\nnull\n]\n</parameter>\n"
    spaced = array.replace(",\n", ", ")
    check(schema, "qwen_xml", [lines, lines + array], [lines.strip(), lines + spaced], whitespace_pattern="\n")
    check(schema, "qwen_xml", ["<parameter=n>1</parameter>"], [lines], whitespace_pattern="")
    check(
        {**schema, "x-guidance": {"whitespace_pattern": "\n"}},
        "qwen_xml",
        [lines + array, lines.strip()],
        [lines + spaced],
    )
    compact = {**schema, "x-guidance": {"whitespace_flexible": False, "item_separator": ", "}}
    fixed = "<parameter=n>1</parameter><parameter=a>[null, null]</parameter>"
    laid_out = [fixed, lines + "<parameter=a>\n[null, null]\n</parameter>\n"]  # the layout is that of JSON
    check(compact, "qwen_xml", laid_out, [fixed.replace(", ", ",")])
    check(schema, "qwen_xml", laid_out, [fixed.replace(", ", ",")], any_whitespace=False)
    for option in ({"whitespace_pattern": " "}, {"any_whitespace": False, "indent": 1}):
        with pytest.raises(StructuralTagError, match="is fixed"):
            compiled(schema, "python", **option)


def test_nested_members_and_items() -> None:
    schema = of(
        {
            "o": of({"x": {"type": "number"}, "s": {"type": "string"}}, "x"),
            "a": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        },
        "o",
    )
    o, a = f"{M3}<o>{{}}{M3}</o>", f"{M3}<a>{{}}{M3}</a>"
    x, item = f"{M3}<x>1.5{M3}</x>", f"{M3}<item>q{M3}</item>"
    check(
        schema,
        "minimax_m3_xml",
        [
            o.format(x),
            o.format("\n" + x + f"{M3}<s>y{M3}</s>\n"),
            o.format(x) + a.format(item),
            o.format(x) + a.format(item * 2),
        ],
        [o.format(""), o.format(x) + a.format(""), o.format(x) + a.format(item * 3), o.format(x + x)],
    )
    value = '<cofl:value{} type="{}">{}</cofl:value>'
    number = value.format(' name="x"', "json", "1.5")
    inner = value.format(' name="o"', "dict", number)
    array = value.format(' name="a"', "list", value.format("", "raw", "q"))
    check(schema, "cohere_xml", [inner, inner + array], [array, inner.replace("json", "raw")])


def test_members_in_braces() -> None:
    """Every selection of members, in their order and not, with and without undeclared ones."""
    names = ["a", "b", "c", "d"]
    for required in ([], ["a"], ["b"], ["b", "d"], ["d"]):
        for more in (False, True):
            schema = of({n: {"const": 1} for n in names}, *required, additionalProperties=more and {"const": 2})
            grammar = compiled(schema, "gemma")
            for size in range(5):
                for order in itertools.permutations(names, size):
                    spelled = [f"{n}:1" for n in order]
                    valid = list(order) == sorted(order) and {*required} <= {*order}
                    assert accepts(grammar, "{" + ",".join(spelled) + "}") == valid, (required, order)
                    assert accepts(grammar, "{" + ",".join([*spelled, "x:2", "y:2"]) + "}") == (valid and more)


def test_values_in_braces() -> None:
    inner = of({"s": {"type": "string", "minLength": 1}, "l": {"type": "array", "items": {"type": "boolean"}}})
    schema = of({"o": inner, "t": {"type": "array", "prefixItems": [{"const": "a"}, {"const": 1}], "items": False}})
    good = ["{}", '{o:{s:<|"|>a "b", {c}<|"|>}}', "{o:{l:[]}}", "{o:{l:[true,false]}}"]
    good += ['{t:[<|"|>a<|"|>,1]}', "{t:[]}"]
    bad = ['{o:{s:"a"}}', '{o:{s:<|"|><|"|>}}', '{o:{s:<|"|>a<|"|>b<|"|>}}', "{o:{l:[true,]}}"]
    bad += ["{t:[1]}", "{o:{},}", "{ }"]
    check(schema, "gemma", good, bad)
    bounded = of({"l": {"type": "array", "items": {"const": 1}, "minItems": 2, "maxItems": 3}}, "l")
    check(bounded, "gemma", ["{l:[1,1]}", "{l:[1,1,1]}"], ["{l:[]}", "{l:[1]}", "{l:[1,1,1,1]}"])


def test_recursive_schemas() -> None:
    tree = of({"v": {"type": "integer"}, "l": {"$ref": "#"}}, "v")
    leaf = f"{M3}<v>1{M3}</v>"
    check(
        tree,
        "minimax_m3_xml",
        [leaf, leaf + f"{M3}<l>{leaf}{M3}<l>{leaf}{M3}</l>{M3}</l>"],
        [leaf + f"{M3}<l>{M3}</l>"],
    )


def test_deep_schemas() -> None:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(1000):
        schema = of({"x": schema}, "x")
    assert compiled(schema, "minimax_m3_xml")


def test_special_tokens_of_a_style() -> None:
    info = vocabulary(["<|open|>", "<|close|>", "<|sep|>"])
    data = {"type": "json_schema", "json_schema": MEMBERS, "style": "kimi_k3_xml"}
    grammar = mw.GrammarCompiler(info).compile_structural_tag({"format": data})
    s, n, o = SPELLED["kimi_k3_xml"]
    assert accepts(grammar, s.format("x <") + n.format("1") + o.format())
    assert not accepts(grammar, s.format("x<|sep|>"))


@pytest.mark.parametrize(
    ("schema", "style", "pointer"),
    [
        ({"type": "object", "minProperties": 2}, "qwen_xml", "/format/json_schema/minProperties"),
        (of({"a": {"type": "string", "pattern": "("}}), "qwen_xml", "/format/json_schema/properties/a"),
    ],
)
def test_what_cannot_be_spelled_is_refused(schema: Any, style: str, pointer: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compiled(schema, style)
    assert caught.value.pointer.startswith(pointer)


def test_arguments_are_an_object() -> None:
    with pytest.raises(StructuralTagError, match="no object that is valid"):
        compiled({"type": "array"}, "qwen_xml")


@pytest.mark.parametrize(("style", "open_", "between", "close"), [("qwen_xml", "", "", ""), ("gemma", "{", ",", "}")])
@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize(
    "more", [{}, {"minProperties": 2}, {"maxProperties": 2}, {"minProperties": 3, "maxProperties": 3}]
)
def test_order_and_number_of_members(
    style: str, open_: str, between: str, close: str, any_order: bool, more: dict[str, int]
) -> None:
    schema = of({name: {"type": "null"} for name in "abcd"}, "b", **more)
    grammar = compiled(schema, style, any_order=any_order)
    member = {"qwen_xml": "<parameter={}>null</parameter>", "gemma": "{}:null"}[style]
    for count in range(6):
        for names in itertools.product("abcd", repeat=count):
            good = len(set(names)) == count and "b" in names and (any_order or list(names) == sorted(names))
            good = good and more.get("minProperties", 0) <= count <= more.get("maxProperties", 9)
            text = open_ + between.join(member.format(name) for name in names) + close
            assert accepts(grammar, text) == good, text
    undeclared = compiled(of({"a": {}}, additionalProperties=True, maxProperties=2), "qwen_xml", any_order=any_order)
    names = {"ab": True, "b": True, "abc": False, "ba": any_order, "bc": True, "bcd": False}
    for written, good in names.items():
        text = "".join(f"<parameter={name}>1</parameter>" for name in written)
        assert accepts(undeclared, text) == good, text


@pytest.mark.parametrize("style", ["qwen_xml", "mimo_xml"])
def test_booleans_in_two_spellings(style: str) -> None:
    spelled = "<parameter=b>{}</parameter>".format
    accepted = [spelled("true"), spelled("True"), spelled("False")]
    check(of({"b": {"type": "boolean"}}, "b"), style, accepted, [spelled("TRUE"), spelled("None"), spelled("1")])
    check(of({"b": {"const": True}}, "b"), style, [spelled("True")], [spelled("False"), spelled("false")])
    listed = of({"b": {"type": "array", "items": {"type": "boolean"}}}, "b")
    check(listed, style, [spelled("[true]")], [spelled("[True]")])


@pytest.mark.parametrize(
    ("style", "open_", "close"),
    [
        ("cohere_xml", '<cofl:value name="{}" type="json">', "</cofl:value>"),
        ("kimi_k3_xml", '<|open|>argument key="{}" type="number"<|sep|>', "<|close|>argument<|sep|>"),
    ],
)
def test_escaped_names(style: str, open_: str, close: str) -> None:
    schema = of({'a&"': {"type": "integer"}}, additionalProperties={"type": "integer"})
    named = [open_.format(name) + f"1{close}" for name in ("a&amp;&quot;", "b", 'a&"', "a&", "a&amp;&quot;")]
    check(schema, style, [named[0], named[1], named[0] + named[1]], [named[2], named[3], named[0] + named[4]])


@pytest.mark.parametrize("style", SPELLED)
@pytest.mark.parametrize("most", [1_000, 20_000])
def test_long_bounds(style: str, most: int) -> None:
    grammar = compiled(of({"s": {"type": "string", "maxLength": most}}, "s"), style)
    matcher = mw.GrammarMatcher(grammar)
    bitmask = mw.allocate_token_bitmask(1, INFO.vocab_size)
    string = SPELLED[style][0]
    for text in (string.split("{}")[0], "a", "</", "b" * 900):
        assert matcher.accept_string(text)
        matcher.fill_next_token_bitmask(bitmask)
    assert accepts(grammar, string.format("b" * most))
    assert not accepts(grammar, string.format("b" * (most + 1)))


@pytest.mark.parametrize("style", [*SPELLED, "gemma", "python"])
def test_strict_mode_closes_every_object(style: str) -> None:
    open_object = {"type": "object", "properties": {"o": {"type": "object"}}, "required": ["o"]}
    texts = {
        "minimax_m3_xml": (f"{M3}<o>{{}}{M3}</o>", "", f"{M3}<z>1{M3}</z>"),
        "cohere_xml": (
            '<cofl:value name="o" type="dict">{}</cofl:value>',
            "",
            '<cofl:value name="z" type="json">1</cofl:value>',
        ),
        "gemma": ("{{o:{}}}", "{}", "{z:1}"),
        "python": ("o={}", "{}", '{"z": 1}'),
    }
    if style not in texts:
        texts[style] = (SPELLED[style][2].replace("{{}}", "{}"), "{}", '{"z":1}')
    template, empty, filled = texts[style]
    check(open_object, style, [template.format(empty)], [template.format(filled)], strict_mode=True)
    # What says nothing of the type is left open, and so is what says so.
    if style != "minimax_m3_xml":
        for free in ({}, {"type": "object", "additionalProperties": True}):
            check(of({"o": free}, "o"), style, [template.format(filled)], [], strict_mode=True)


def test_what_no_keyword_has_looked_at() -> None:
    schema = {"type": "object", "allOf": [{"properties": {"a": {"type": "string"}}}], "unevaluatedProperties": False}
    check(schema, "qwen_xml", ["", "<parameter=a>x</parameter>"], ["<parameter=b>x</parameter>"])
    tree = {
        "type": "object",
        "$dynamicAnchor": "T",
        "properties": {"kids": {"type": "array", "items": {"$dynamicRef": "#T"}}},
        "additionalProperties": False,
    }
    kids = "<parameter=kids>{}</parameter>"
    check(tree, "qwen_xml", [kids.format('[{"kids": []}]')], [kids.format("[1]"), kids.format('[{"x": 1}]')])


@pytest.mark.parametrize("style", SPELLED)
def test_strings_of_grammars(style: str) -> None:
    s, close = SPELLED[style][0], SPELLED[style][0].partition("{}")[2]
    regular = {"type": "string", "x-grammar": {"syntax": "regex", "definition": '[^b]*"'}}
    good = [s.format(text) for text in ('"', 'a"', '<\né\\"')]
    check(of({"s": regular}, "s"), style, good, [s.format("a"), s.format('b"'), s.format(f'a{close}"')])
    check(of({"s": {**regular, "maxLength": 2}}, "s"), style, good[:2], [s.format('aa"')])
    check(of({"s": {"type": "string", "not": regular}}, "s"), style, [s.format("a")], good)
    nested = 'start: "a" start "\\"" | "\\n"'
    schema = of({"s": {"type": "string", "x-grammar": {"syntax": "lark", "definition": nested}}}, "s")
    written = s.replace("{}", "\n{}\n") if STYLES[style].padded else s
    wrong = [written.format(text) for text in ("a", "a\n", '\n"', 'aa\n"')]
    check(schema, style, [written.format(text) for text in ("\n", 'a\n"', 'aa\n""')], wrong)


@pytest.mark.parametrize("style", SPELLED)
def test_strings_of_grammars_that_may_hold_what_ends_them_are_refused(style: str) -> None:
    nested = {"syntax": "lark", "definition": 'start: "(" start ")" | /[^()]*/'}
    with pytest.raises(
        SchemaError, match="in this style strings have no quotes, and it may hold what begins '"
    ) as caught:
        compiled(of({"s": {"type": "string", "x-grammar": nested}}, "s"), style)
    assert caught.value.pointer.endswith("/properties/s/x-grammar")
    nested = {"syntax": "lark", "definition": 'start: "(" start ")" | /[0-9]*/'}
    with pytest.raises(SchemaError, match="x-grammar cannot be enforced: "):
        compiled(of({}, additionalProperties=True, propertyNames={"x-grammar": nested}), style)
