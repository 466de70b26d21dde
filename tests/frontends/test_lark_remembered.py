"""Text that comes again in Lark grammars: `tag=NAME` and `$tag`, beside what is ignored, in templates and brackets."""

from __future__ import annotations

import pytest

import maskwright as mw
from maskwright.errors import LarkSyntaxError, LimitError

XML = r"""
start: element
element: "<" tag=NAME ">" (TEXT | element)* "</" $tag ">"
NAME: /[a-z][a-z0-9]*/
TEXT: /[^<>&\s][^<>&]*/
%ignore /\s+/
"""
INFO = mw.TokenizerInfo.from_vocab(
    [*(bytes((b,)) for b in range(256)), b"</s>"], special_token_ids=[256], stop_token_ids=[256]
)
COMPILER = mw.GrammarCompiler(INFO)


def accepts(source: str, text: str) -> bool:
    matcher = mw.GrammarMatcher(COMPILER.compile_lark(source))
    return matcher.accept_string(text) and matcher.is_completed()


@pytest.mark.parametrize(
    ("source", "accepted", "rejected"),
    [
        (XML, ["<a></a>", "<a>x<b1 > y</b1 ></ a>", "< a ></a >"], ["<a></b>", "<a><b></a></b>", "<a></a b>"]),
        ("start: q=/['\"]/ /[a-z]*/ $q\n", ["'a'", '""'], ["'a\"", "'"]),
        ('start: x=("a" | "b")+ "-" $x\n', ["ab-ab"], ["ab-ba", "-"]),
        ('start: x="a"* "-" $x\n', ["-", "aa-aa"], ["a-", "aa-a"]),
        ('start: x=A "(" y=B ")" $y $x\nA: "a"+\nB: "b"+\n', ["aa(b)baa"], ["aa(b)bba", "a(b)ba "]),
        ('start: (x=A "-" $x ";")+\nA: /[ab]/\n', ["a-a;b-b;"], ["a-b;"]),
        ('start: x=A ("-" $x | "+" y=A $y)\nA: /[ab]/\n', ["a-a", "a+bb"], ["a-b", "a+ab"]),
        ('start: _twice{A} _twice{B}\n_twice{t}: x=/[ab]/ t $x\nA: "-"\nB: "+"\n', ["a-ab+b"], ["a-bb+b"]),
        ('start: x=A _in{y=A $y}\n_in{t}: "[" t "]"\nA: /[ab]/\n', ["a[bb]"], ["a[ab]"]),
    ],
)
def test_what_comes_again(source: str, accepted: list[str], rejected: list[str]) -> None:
    assert [text for text in accepted if not accepts(source, text)] == []
    assert [text for text in rejected if accepts(source, text)] == []
    again = mw.Grammar.from_lark(source).to_lark()
    assert [text for text in accepted if not accepts(again, text)] == []
    assert [text for text in rejected if accepts(again, text)] == []


@pytest.mark.parametrize(
    ("source", "message", "column"),
    [
        ("start: $x\n", "no text is named 'x' here", 8),
        ('start: "a" | x="b" $y\n', "no text is named 'y' here", 20),
        ('start: x="a" | $x\n', "no text is named 'x' here", 16),
        ('start: (x="a") $x\n', "no text is named 'x' here", 16),
        ("start: x=$x\n", "no text is named 'x' here", 10),
        ('start: x="a" _f{$x}\n_f{y}: y\n', "no text is named 'x' here", 17),
        ('start: x="a" x="b"\n', "'x' names a text already", 14),
        ("start: (x=// comment\n)\n", "nothing to remember", 9),
        ('start: x=y $x\ny: "a"\n', "a terminal cannot use the rule 'y'", 10),
        ("start: x=<tok> $x\n", "a token is not allowed in a terminal", 10),
        ("start: x=(y=/a/ $y) $x\n", "a text to remember is not allowed in a terminal", 11),
        ('X: y="a" $y\nstart: X\n', "a text to remember is not allowed in a terminal", 4),
        ('start: x="a" $x\n%ignore /#[^\\n]*/\n', "no text can be remembered beside comments", 8),
        ('start: x=S $x\nS: %regex {"substring_chars": "' + "a" * 40_000 + '"}\n', "must be regular", 8),
    ],
)
def test_what_is_refused(source: str, message: str, column: int) -> None:
    with pytest.raises(LarkSyntaxError, match=message) as caught:
        mw.Grammar.from_lark(source)
    assert caught.value.column == column
    assert caught.value.hint


def test_too_many_at_once() -> None:
    names = " ".join(f't{i}="a"' for i in range(300))
    with pytest.raises(LimitError) as caught:
        mw.Grammar.from_lark(f"start: {names}\n")
    assert caught.value.limit == "remembered_texts"
