"""Lark's own published grammars: they load, and accept what Lark's Earley parser accepts.

`dynamic_complete` is the lexer that considers every text of a terminal, as a context-free grammar does. The texts are
hand-written ones and random small changes of them. One difference is known: a look-ahead sees the end of its terminal
where Lark sees what follows, so Python's `(?!"")` does not keep `""` `"a"` from being two strings.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from maskwright import Grammar, GrammarMatcher
from oracle.accepting import COMPILER, accepts

lark = pytest.importorskip("lark", reason="Lark is what the grammars are compared with")
PUBLISHED = Path(lark.__file__).parent / "grammars"
JSON = r"""
    ?start: value
    ?value: object | array | string | SIGNED_NUMBER -> number | "true" -> true | "false" -> false | "null" -> null
    array  : "[" [value ("," value)*] "]"
    object : "{" [pair ("," pair)*] "}"
    pair   : string ":" value
    string : ESCAPED_STRING

    %import common.ESCAPED_STRING
    %import common.SIGNED_NUMBER
    %import common.WS
    %ignore WS
"""
COMMENTED = r"""
    start: "f" "(" [NAME ("," NAME)*] ")"
    NAME: /[a-z]+/
    %import common (SH_COMMENT, C_COMMENT, WS)
    %ignore SH_COMMENT
    %ignore C_COMMENT
    %ignore WS
"""
COMMON = [
    "DIGIT",
    "HEXDIGIT",
    "INT",
    "SIGNED_INT",
    "DECIMAL",
    "FLOAT",
    "SIGNED_FLOAT",
    "NUMBER",
    "SIGNED_NUMBER",
    "ESCAPED_STRING",
    "LCASE_LETTER",
    "UCASE_LETTER",
    "LETTER",
    "WORD",
    "CNAME",
    "WS_INLINE",
    "WS",
    "CR",
    "LF",
    "NEWLINE",
    "SH_COMMENT",
    "CPP_COMMENT",
    "C_COMMENT",
    "SQL_COMMENT",
]

# the grammar, its start, texts, characters to put in, how many changed texts of each
GRAMMARS = {
    "JSON": (JSON, "start", ['{"a": [1, 2.5e3, true, null]}', '[ "a\\"b" , {} ]', "-1.5E+3"], 'a1,[]{}": \\\n.e-', 80),
    "comments": (COMMENTED, "start", ["f(a,b) # c, d\n", "f(/* a */a #\n,b)", "f (#)\n)"], "ab,#\n/*( )", 80),
    "Lark in Lark": (
        PUBLISHED / "lark.lark",
        "start",
        [
            'start: "a" | b\nb: /x/\n',
            "%import common.WS -> W\n%ignore W\n",
            'a{x,y}: x y~1..3 // c\nA.2: "a".."z" ["b"]\n',
            '?x: y -> z\n | "q"i\n\n%declare A B\n',
        ],
        'ab:"/|%\n .~[]',
        20,
    ),
    "Python": (
        PUBLISHED / "python.lark",
        "file_input",
        [
            "x = 1\n",
            "f(a, *b, c=3)\n",
            'x = "a\\"b" + \'c\'\n',
            "if x: y += 0x1F\n",
            "[i for i in r if i % 2]\n",
            "def f(a, b=2): return a # c\n",
            'x = """a"b"""\n',
        ],
        "ab1 =+\"'\n#:()",
        8,
    ),
}


def changed(text: str, alphabet: str, rng: random.Random) -> str:
    """The text with one to three characters deleted, put in or exchanged."""
    out = list(text)
    for _ in range(rng.choice([1, 1, 2, 3])):
        at, action = rng.randrange(len(out) + 1), rng.random()
        if action < 0.4 and at < len(out):
            del out[at]
        elif action < 0.7 or at + 1 >= len(out):
            out.insert(at, rng.choice(alphabet))
        else:
            out[at], out[at + 1] = out[at + 1], out[at]
    return "".join(out)


def compare(source: str, start: str, texts: list[str], alphabet: str, count: int, name: str) -> int:
    """Compare on all texts; return how many both accept."""
    theirs = lark.Lark(source, parser="earley", lexer="dynamic_complete", start=start, ambiguity="resolve")
    compiled, rng, both = COMPILER.compile_lark(source, start), random.Random(name), 0
    for text in texts:
        changes = 0 if '"""' in text else count
        for case in [text, *(changed(text, alphabet, rng) for _ in range(changes))]:
            matcher = GrammarMatcher(compiled)
            ours = matcher.accept_string(case) and matcher.is_completed()
            try:
                theirs.parse(case)
                expected = True
            except lark.exceptions.LarkError:
                expected = False
            assert ours == expected, (name, case)
            both += ours
    return both


@pytest.mark.parametrize("name", GRAMMARS)
def test_published_grammars(name: str) -> None:
    grammar, start, texts, alphabet, count = GRAMMARS[name]
    source = grammar.read_text() if isinstance(grammar, Path) else grammar
    assert compare(source, start, texts, alphabet, count, name) > len(texts)


@pytest.mark.parametrize(
    "ignored",
    [
        ["/#[^\\n]*/", "/%[ab]*/"],  # runs that differ
        ["/#[^\\n]*/", "/%[ab]*/", "/\\s+/"],
        ["/#[^\\n]*/", "/%[^#]*/", "/ +/"],
        ["/#.*\\n?/"],  # what follows the run may be missing
        ["/#.*(\\n|$)/", "/\\s+/"],
        ["/#.*\\r?\\n?/", "/%.+/"],
        ["/#(.)*/", "/\\s+/"],  # a run in a group
        ["/#((a|b| )*)/", "/%%/"],
        ["/#( *[^\\n]*)/", "/\\s+/"],
    ],
)
def test_code_is_not_hidden_behind_a_comment(ignored: list[str]) -> None:
    source = 'start: "f" "a"? "b"\n' + "\n".join(f"%ignore {each}" for each in ignored)
    compare(source, "start", ["fab", "f#%ab", "f%a#\nb", "f#a\nb#", "f%ab%", "f #%\nab"], "fab#% \n", 80, str(ignored))


@pytest.mark.parametrize(
    "terminal",
    [
        r'"a"* /[ab]+?b/',  # what comes before is free
        r"/[ab]*[ab]+?b/",
        r'("a" | "aa") /[ab]+?b/',
        r'"a"+ (/a/ | /[ab]+?b/)',
        r'"a" /[ab]+?b/~1..2',
        r"/a*b.*?a.+?b/",
        r"/a?(?!bb).*?b/",
        r"/a+?/ /b+/",  # what comes after is looked for
        r"/.+?b{2,3}/",
        r"/a.*?b+/ /a*/",
        r"/a.*?(ab|b)b/",
        r"/.*?a*bb/",
        r"/.*?b+a/",
        r"/a.*?(ba|b$)/",
    ],
)
def test_only_the_non_greedy_part_of_a_terminal_ends_early(terminal: str) -> None:
    texts = ["".join(letters) for length in range(1, 6) for letters in itertools.product("ab", repeat=length)]
    compare(f'start: T "a"?\nT: {terminal}', "start", texts, "ab", 0, terminal)


def test_common_terminals() -> None:
    texts = ["<0.5e+3>", '<"a\\"b">', "<aB_1>", "< \t\r\n>", "<# x>", "<// x>", "</* a */>", "<-- x>", "<f>", "<\r\n>"]
    for name in COMMON:
        source = f'start: "<" {name} ">"\n%import common.{name}\n'
        compare(source, "start", texts, 'ab1.e+-"/*#\\ \t\n\r_', 12, name)


@pytest.mark.parametrize("start", ["file_input", "single_input", "eval_input"])
def test_every_start_of_the_python_grammar(start: str) -> None:
    grammar = Grammar.from_lark((PUBLISHED / "python.lark").read_text(), start)
    assert accepts(grammar, "f(x)[1:2].y\n")
    assert accepts(grammar, "if x: pass\n\n") == (start != "eval_input")


def test_declared_terminals_are_supplied() -> None:
    """A fixed indentation, where Lark has a post-lexer count."""
    supplied = {"_INDENT": Grammar.from_choices(["    "]), "_DEDENT": Grammar.from_choices([""])}
    grammar = Grammar.from_lark((PUBLISHED / "python.lark").read_text(), "file_input", grammars=supplied)
    assert accepts(grammar, "def f(x):\n    return x\n")
    assert not accepts(Grammar.from_lark((PUBLISHED / "python.lark").read_text(), "file_input"), "if x:\n    y\n")
