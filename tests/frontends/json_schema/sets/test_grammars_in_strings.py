"""`x-grammar`: which strings are accepted, with the grammar alone as the judge; every mask bit; and what is refused."""

from __future__ import annotations

import base64
import itertools
import json
from typing import Any

import pytest

import maskwright
from corpora import TOKENIZERS
from frontends.json_schema.checking import check, check_texts
from frontends.json_schema.random_outputs import random_output
from maskwright.frontends.grammar_readers import READERS
from maskwright.frontends.json_schema import JsonSchemaOptions, schema_to_ir
from maskwright.frontends.json_schema.sets.escaped_grammars import NotInStringsError, Spelling, escaped_grammar
from maskwright.ir import OP_LITERAL, OP_SET, Expr, GrammarIR, Rule, byte_set, literal, operands, postorder, rebuilt
from maskwright.ir.subgrammars import spelled_out
from oracle.comparing import compare_with_oracle, scaled, seeded
from oracle.grammars import (
    one_rule_grammars,
    random_grammar,
    random_parametric_grammar,
    two_rule_grammars,
)
from oracle.recognizer import matches
from oracle.vocabularies import of, strings

GRAMMARS = [
    ("lark", r'start: "a" start "\n" | "\"" | "é"'),
    ("lark", r'start: start "\\" start | /[^a"]/ | '),
    ("lark", 'start: TEXT "a"\nTEXT: /[^a]*/ & ~/.*\\n.*/s'),
    ("lark", 'start: /a+/ | "\\"" QUOTED "\\""\nQUOTED: /([^"\\\\]|\\\\["\\\\])*/'),
    ("lark", 'start: line*\nline[stop="\\n"]: /[^é]*/'),
    ("ebnf", 'root ::= "a" root | [^a\\n]{1,2}'),
    ("ebnf", 'root ::= ~("a" | "\\n" [^a]*)'),
    ("ebnf", 'root ::= ~"" ("a" & ~"é")'),
    ("gbnf", 'root ::= ("a" | "\\\\") root? "\\""'),
    ("regex", r'(["\n\\])a\1'),
    ("regex", r"([a\n]*)é\1"),
    ("regex", r"(?!a).*"),
    ("regex", r'[^"]{2}|é'),
]
CHARACTERS = 'a"\\\né'
PIECES = ("a", '"', "\\", "n", "é", "\\u000a", "\\u00e9", "/")
VOCAB = of(
    *strings(b'a"\\', 1), "n", "\\n", '\\"', "\\\\", '"a', 'a"', '\\""', "\\n\\n", "aa", "é", b"\xc3", b"\xa9", '\\"a"',
    "u000a", "\n", '["', '","', "]", ",", "[",
    stop=(b"</s>",), padding=3,
)  # fmt: skip


def schema_of(syntax: str, definition: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "x-grammar": {"syntax": syntax, "definition": definition}, **more}


def lark(definition: str, **more: Any) -> dict[str, Any]:
    return schema_of("lark", definition, **more)


def ir_of(schema: Any) -> GrammarIR:
    return spelled_out(schema_to_ir(schema))


def texts(longest: int, alphabet: Any = CHARACTERS) -> list[str]:
    return ["".join(s) for n in range(longest + 1) for s in itertools.product(alphabet, repeat=n)]


@pytest.mark.parametrize(("syntax", "definition"), GRAMMARS)
def test_the_strings_are_the_texts_of_the_grammar(syntax: str, definition: str) -> None:
    own, made = spelled_out(READERS[syntax](definition).grammar), ir_of(schema_of(syntax, definition))
    for text in texts(3):
        valid = matches(own, text.encode())
        assert matches(made, json.dumps(text, ensure_ascii=False).encode()) == valid, text


@pytest.mark.parametrize(("syntax", "definition"), GRAMMARS)
def test_each_text_has_one_spelling(syntax: str, definition: str) -> None:
    own, made = spelled_out(READERS[syntax](definition).grammar), ir_of(schema_of(syntax, definition))
    for inside in texts(3, PIECES):
        text = f'"{inside}"'
        if matches(made, text.encode()):
            value = json.loads(text)
            assert json.dumps(value, ensure_ascii=False) == text
            assert matches(own, value.encode())


def with_other_letters(grammar: GrammarIR) -> GrammarIR:
    """The grammar with a quote for each "a" and a line feed for each "b"."""
    change = bytes.maketrans(b"ab", b'"\n')

    def changed(root: Expr) -> Expr:
        known: dict[int, Expr] = {}
        for e in postorder(root):
            if e[0] == OP_LITERAL:
                known[id(e)] = literal(e[1].translate(change))
            elif e[0] == OP_SET:
                members = bytes(byte for byte in range(256) if e[1] >> byte & 1)
                known[id(e)] = byte_set(sum(1 << byte for byte in members.translate(change)))
            else:
                known[id(e)] = rebuilt(e, [known[id(part)] for part in operands(e)])
        return known[id(root)]

    return GrammarIR(tuple(Rule(rule.name, changed(rule.body)) for rule in grammar.rules), grammar.root)


def check_escaped(grammar: GrammarIR) -> bool:
    own = with_other_letters(grammar)
    try:
        made = escaped_grammar(own, Spelling())
    except NotInStringsError:
        return False
    for text in texts(3, '"\n'):
        assert matches(made, json.dumps(text)[1:-1].encode()) == matches(own, text.encode()), (own.dump(), text)
    for inside in ("\\", '"', "n", '\\"\\', "\\\n", '""', '\\"n'):
        assert not matches(made, inside.encode()) or matches(own, json.loads(f'"{inside}"').encode()), own.dump()
    return True


def test_all_small_grammars() -> None:
    every = [g for size in (1, 2, 3, 4) for g in one_rule_grammars(size)]
    every += [g for size in (1, 2) for g in two_rule_grammars(size)]
    assert sum(map(check_escaped, every)) == len(every)


def test_random_grammars() -> None:
    rng = seeded("grammars in strings")
    grammars = [random_grammar(rng) for _ in range(scaled(150))]
    grammars += [random_parametric_grammar(rng) for _ in range(scaled(50))]
    assert sum(map(check_escaped, grammars)) > len(grammars) // 4


@pytest.mark.parametrize(
    "schema",
    [
        *[schema_of(syntax, definition) for syntax, definition in GRAMMARS],
        lark('start: /[a"]*/', pattern="a$"),
        lark('start: /[a"]*/', maxLength=1),
        {"type": "string", "not": lark('start: /a*/ | "\\n"')},
        {"type": "array", "items": lark('start: /a?/ "\\n"?'), "uniqueItems": True},
        {"anyOf": [lark('start: "a" start "\\n" | "é"'), lark('start: "a"')]},
    ],
    ids=str,
)
def test_masks(schema: Any) -> None:
    grammar = maskwright.Grammar.from_json_schema(schema, any_whitespace=False)
    compare_with_oracle(grammar.ir, VOCAB, seeded(str(schema)), steps=4, walks=scaled(5))


ANYTHING = texts(3)


def check_by(schema: Any, is_valid: Any) -> None:
    check(schema, [v for v in ANYTHING if is_valid(v)], [v for v in ANYTHING if not is_valid(v)])


def test_beside_other_constraints_a_regular_grammar_is_intersected() -> None:
    quotes = lark('start: QUOTE* "a"?\nQUOTE: "\\""')

    def is_text(value: str) -> bool:
        return value.removesuffix("a").strip('"') == ""

    check_by(quotes, is_text)
    check_by({**quotes, "pattern": 'a|"{2}'}, lambda v: is_text(v) and ("a" in v or '""' in v))
    check_by({**quotes, "minLength": 2}, lambda v: is_text(v) and len(v) >= 2)
    check_by({**quotes, "enum": ["a", "aa", '"a', "", 3]}, lambda v: v in ("a", '"a', ""))
    check_by({**quotes, "const": '"'}, lambda v: v == '"')
    check_by({"allOf": [quotes, schema_of("regex", '.?.?"?')]}, lambda v: is_text(v) and (len(v) < 3 or v[2] == '"'))
    check_by({"allOf": [quotes, quotes]}, is_text)
    check_by({**quotes, "not": {"pattern": '"'}}, lambda v: v in ("", "a"))
    check_by({"not": quotes}, lambda v: not is_text(v))
    check_by({"not": {**quotes, "minLength": 1}}, lambda v: not v or not is_text(v))
    check_by({"not": {"not": quotes}}, is_text)
    check_by({"minLength": 1, "not": {**quotes, "not": {"const": "a"}}}, lambda v: v == "a" or (v and not is_text(v)))
    check_by({"oneOf": [quotes, {"maxLength": 1}]}, lambda v: is_text(v) != (len(v) < 2))
    check({"propertyNames": quotes}, [{}, {'"a': 1}], [{"é": 1}])
    check(
        {"type": "object", "patternProperties": {"a": False}, "propertyNames": quotes},
        [{'"': 1}],
        [{'"a': 1}, {"é": 1}],
    )


def test_excluded_texts_have_no_other_spelling() -> None:
    schema = {"type": "string", "not": lark(r'start: "\n" | "é"')}
    check_texts(schema, ['"\\n\\n"', '"a"'], ['"\\n"', '"\\u000a"', '"é"', '"\\u00e9"', '"\\u00E9"'])


def test_half_a_surrogate_pair_is_no_text() -> None:
    check({**schema_of("regex", ".*"), "enum": ["\ud800", "a"]}, ["a"], ["b"])
    check({"format": "date", "enum": ["\ud800", 1]}, [1], ["b"])


def test_it_says_nothing_of_other_types() -> None:
    check({"x-grammar": {"syntax": "regex", "definition": "a+"}}, ["a", 3, None, []], ["b", ""])


def test_ensure_ascii() -> None:
    check_texts(lark('start: "é" "\\x7f"?'), ['"\\u00e9"', '"\\u00e9\\u007f"'], ['"é"'], ensure_ascii=True)
    others = schema_of("ebnf", 'root ::= ~("a" | "é")', minLength=1, maxLength=1)
    check_texts(others, ['"b"', '"\\u00e8"'], ['"a"', '""', '"\\u00e9"', '"é"', '"è"'], ensure_ascii=True)
    schema = {"type": "string", "not": lark('start: "é" | "a"')}
    check_texts(schema, ['"\\u00e8"', '"b"', '"aa"'], ['"\\u00e9"', '"a"', '"é"'], ensure_ascii=True)


def test_escapes_that_a_schema_allows() -> None:
    guidance = {"x-guidance": {"json_allowed_escapes": 'u"'}}
    check_texts(lark(r'start: "\n\"\\"', **guidance), [r'"\u000a\"\u005c"'], [r'"\n\"\\"'])
    without = {"x-guidance": {"json_allowed_escapes": 'n"'}}
    check_texts(lark(r'start: /[\n\\"]/', **without), [r'"\n"', r'"\""'], [r'"\\"'])


def test_without_texts_there_is_no_string() -> None:
    for definition in ('start: A & B\nA: "a"\nB: "b"', 'start: "a" start'):
        with pytest.raises(
            maskwright.UnsatisfiableError, match="no text follows the grammar at #/properties/q/x-g"
        ) as e:
            maskwright.GrammarCompiler(VOCAB.info()).compile_json_schema(
                {"type": "object", "properties": {"q": lark(definition)}, "required": ["q"]}
            )
        assert e.value.pointers == ("/properties/q/x-grammar",)


REGULAR = (
    "x-grammar cannot be enforced: it must be regular beside other constraints of the string, such as maxLength or"
    " enum, in propertyNames, in unique items, and where it is excluded"
)
NESTED = 'start: "a" start "b" | "a"'


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (lark(NESTED, minLength=2), REGULAR),
        (lark('start: ("a" start "b")?', minLength=1), REGULAR),
        (lark(NESTED, maxLength=9), REGULAR),
        (lark(NESTED, pattern="a"), REGULAR),
        (lark(NESTED, format="date"), REGULAR),
        (lark(NESTED, enum=["a"]), REGULAR),
        (lark(NESTED, const="a"), REGULAR),
        (lark(NESTED, allOf=[lark('start: "ab"')]), REGULAR),
        ({"type": "string", "not": lark(NESTED)}, REGULAR),
        ({"oneOf": [lark(NESTED), {"type": "string", "maxLength": 3}]}, REGULAR),
        ({"type": "array", "items": lark(NESTED), "uniqueItems": True}, REGULAR),
        ({"type": "object", "propertyNames": lark(NESTED)}, REGULAR),
        (schema_of("regex", r"(a*)b\1", minLength=3), REGULAR),
        (lark("start: <|x|>"), "x-grammar cannot be enforced: it names tokens, which are no text"),
        (
            schema_of("ebnf", 'root ::= "a" | Byte("80-bf")'),
            "x-grammar cannot be enforced: it matches bytes that are no text",
        ),
        (
            lark('start: %json {"type": "array", "uniqueItems": true, "items": {"type": "object"}}'),
            "x-grammar cannot be enforced: it compares JSON values, and in a string they are no values",
        ),
    ],
    ids=str,
)
def test_what_is_refused(schema: Any, message: str) -> None:
    with pytest.raises(maskwright.UnsupportedSchemaError) as caught:
        schema_to_ir(schema)
    assert caught.value.message == message
    assert caught.value.keyword == "x-grammar"
    assert caught.value.pointer.endswith("/x-grammar")
    assert caught.value.hint


def test_relaxed_it_is_left_out_and_reported() -> None:
    report: list[Any] = []
    schema_to_ir(lark("start: <|x|>"), JsonSchemaOptions(on_unsupported="relax"), report)
    assert [(f.pointer, f.outcome) for f in report] == [("/x-grammar", "relaxed")]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("start: a", 'x-grammar must be an object of the texts "syntax" and "definition", not \'start: a\''),
        ({}, "x-grammar lacks 'syntax'"),
        ({"syntax": "lark"}, "x-grammar lacks 'definition'"),
        ({"syntax": "lark", "definition": 3}, "'definition' of x-grammar must be a string, not 3"),
        ({"syntax": ["lark"], "definition": ""}, "'syntax' of x-grammar must be a string, not an array"),
        ({"syntax": "lark", "definition": 'start: "a"', "start": "x"}, "x-grammar has no member 'start'"),
        (
            {"syntax": "bnf", "definition": ""},
            "x-grammar must be in one of the syntaxes ebnf, gbnf, lark, regex, not 'bnf'",
        ),
        (
            {"syntax": "lark", "definition": 'start: "a"\n  | missing'},
            "the grammar cannot be used: rule 'missing' is not defined (line 2, column 5)",
        ),
        ({"syntax": "regex", "definition": "a("}, "the grammar cannot be used: the group is not closed (column 2)"),
        ({"syntax": "ebnf", "definition": "root ::= |)"}, "the grammar cannot be used: "),
    ],
)
def test_mistakes(value: Any, message: str) -> None:
    with pytest.raises(maskwright.SchemaError) as caught:
        schema_to_ir({"properties": {"q": {"x-grammar": value}}})
    assert caught.value.message.startswith(message)
    assert caught.value.pointer == "/properties/q/x-grammar"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("syntax", "definition", "hint"),
    [
        ("lark", 'root ::= "a"', 'this looks like EBNF: let syntax be "ebnf"; in Lark, write name: body'),
        ("ebnf", 'start: "a"', 'this looks like Lark: let syntax be "lark"; in EBNF, write name ::= body'),
        ("gbnf", "main ::= [a]", "the rules are: main; rename one to 'root'"),
        ("lark", 'begin: "a"', "the rules are: begin; rename one to 'start'"),
        ("ebnf", "[a-z]+", 'write name ::= body; for a regular expression, let syntax be "regex"'),
        ("regex", 'start: "(" a\na: "b"', 'this looks like Lark: let syntax be "lark"'),
        ("lark", "start: @other", "write its rules here"),
        ("lark", "%import sql.NAME\nstart: NAME", "there are: common"),
        ("Lark", 'start: "a"', "did you mean 'lark'?"),
    ],
)
def test_hints_name_what_there_is_beside_a_definition(syntax: str, definition: str, hint: str) -> None:
    with pytest.raises(maskwright.SchemaError) as caught:
        schema_to_ir(schema_of(syntax, definition))
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("syntax", "definition", "remark"),
    [
        (
            "ebnf",
            'root ::= "[a-z]+"',
            "1:10: in 'root': in quotes, all characters stand for themselves; write Regex(\"",
        ),
        ("lark", 'start: TEXT | call\nTEXT: /(.|\\n)*/\ncall: "<call>" %json {"type": "object"}', "1:1: in 'start': "),
        (
            "regex",
            'start: a "b"\na: "b"',
            "this looks like Lark, but is matched as a regular expression; let syntax be",
        ),
        ("regex", "[:alpha:]+", "[:alpha:] matches one of its own characters"),
    ],
)
def test_what_is_surely_meant_otherwise_is_a_warning(syntax: str, definition: str, remark: str) -> None:
    schema = {"properties": {"q": schema_of(syntax, definition)}}
    with pytest.warns(maskwright.SchemaWarning) as caught:
        grammar = maskwright.Grammar.from_json_schema(schema)
    assert len(caught) == 1
    assert [(f.pointer, f.outcome) for f in grammar.report] == [("/properties/q/x-grammar", "enforced")]
    assert grammar.report[0].reason.startswith(f"probably a mistake: {remark}")
    assert maskwright.check(schema).warnings


def test_texts_of_at_least_a_character_may_be_asked_for_where_there_are_no_others() -> None:
    check(lark(NESTED, minLength=1), ["a", "aab"], ["", "ab"])


def test_captures_hold_what_is_written() -> None:
    compiled = maskwright.GrammarCompiler(VOCAB.info()).compile_json_schema(lark('start: x "a"\nx[capture]: /[^a]+/'))
    matcher = maskwright.GrammarMatcher(compiled)
    assert matcher.accept_string('"\\"\\na"')
    assert matcher.get_captures() == [("x", b'\\"\\n')]


SQL = r"""
start: "SELECT " columns " FROM " NAME (" WHERE " condition)?
columns: "*" | NAME (", " NAME)*
condition: value " = " value | "(" condition (" AND " | " OR ") condition ")"
value: NAME | /[0-9]{1,4}/ | /'[^'\n]{0,5}'/ | "\"" NAME "\""
NAME: /[a-z_é]{1,6}/
"""


FILES = sorted(TOKENIZERS.glob("*.tiktoken"))


@pytest.mark.skipif(not FILES, reason="no *.tiktoken file beside the checkout")
def test_with_a_real_vocabulary() -> None:
    lines = [line.split() for line in FILES[0].read_bytes().splitlines()]
    tokens = [base64.b64decode(text) for text, _ in sorted(lines, key=lambda line: int(line[1]))]
    stop = [len(tokens)]
    info = maskwright.TokenizerInfo.from_vocab([*tokens, b"</s>"], special_token_ids=stop, stop_token_ids=stop)
    compiler = maskwright.GrammarCompiler(info)
    schema = {"type": "object", "properties": {"sql": lark(SQL)}, "required": ["sql"], "additionalProperties": False}
    inside = compiler.compile_json_schema(schema)
    alone = compiler.compile_lark(SQL)
    for i in range(scaled(20)):
        rng = seeded(f"sql {i}")
        data = random_output(inside, tokens, rng, likely=(), closing=(b"a", b")", b"'", b'\\"', b'"', b"}"), after=20)
        text = json.loads(data)["sql"]
        assert accepts(alone, text), text
        text = random_output(alone, tokens, rng, likely=(), closing=(b"a", b")", b"'", b'"'), after=20).decode()
        assert accepts(inside, json.dumps({"sql": text}, ensure_ascii=False)), text


def accepts(compiled: maskwright.CompiledGrammar, text: str) -> bool:
    matcher = maskwright.GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()
