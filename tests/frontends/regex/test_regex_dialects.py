r"""What dialects of regular expressions read differently: supported by name, or refused with a way out that works.

Python, Rust, ECMA-262 and PCRE disagree on more than they document. Each table below is one kind of disagreement. The
algebra of classes is compared with that of Python's sets, on random classes.
"""

from __future__ import annotations

import random
import re
import warnings

import pytest

from frontends.ir_matcher import matches
from maskwright import Grammar
from maskwright.errors import LarkSyntaxError, LimitError, RegexSyntaxError
from maskwright.frontends.regex import regex_to_expr

# pattern, texts that match as a whole, texts that do not
SUPPORTED = [
    # set operations and nested classes as in Rust; Python warns of all of these
    ("[a-z&&[^aeiou]]", ["b", "z"], ["a", "&", "]", "b]"]),
    ("[[a-z]--[aeiou]]", ["b"], ["a", "-"]),
    ("[a-z--aeiou]", ["b"], ["a", "-"]),
    ("[a-f~~d-i]", ["a", "c", "g", "i"], ["d", "f", "~"]),
    (r"[\w--\d--_]", ["a", "é"], ["1", "_"]),
    (r"[\w&&\d]", ["1", "٣"], ["a"]),
    (r"[\p{L}--\p{Greek}&&\p{Lu}]", ["A"], ["α", "Α", "a"]),
    ("[a-z&&a-f--c]", ["a"], ["c", "g"]),
    ("[^a-z&&b-y]", ["a", "z", "1"], ["b"]),
    ("[[a-z][0-9]]", ["a", "5"], ["[", "]", "a5]"]),
    ("[[:alpha:][0-9]]", ["a", "5"], ["[", ":"]),
    ("[[^a-z]]", ["A", "]"], ["a", "A]"]),
    ("[[a-z&&[^x]]--[[b][c]]]", ["a"], ["x", "b", "c"]),
    ("[[:alnum:]&&[^[:digit:]]]", ["a"], ["1"]),
    ("[a[:digit:]_]", ["a", "1", "_"], ["d", ":"]),
    ("[a&&b]|c", ["c"], ["a", "b"]),
    ("(?i)[a-z--[k]]", ["A", "j"], ["k", "K", "\u212a"]),
    ("[]a&&[^a]]", ["]"], ["a"]),
    # a bracket that only Python can read
    (r"[^[\]]+", ["ab"], ["[", "]"]),
    ("[[]", ["["], ["]"]),
    ("[[(]x", ["[x", "(x"], ["x"]),
    (r"[[{]\w+[}]", ["[a}", "{a}"], ["a"]),
    ("[!-[]", ["A", "["], ["]"]),
    # hyphens, tildes and ampersands that are characters everywhere
    ("[a-]", ["a", "-"], ["b"]),
    ("[--]", ["-"], ["a"]),
    ("[&~a]", ["&", "~", "a"], ["b"]),
    ("[a||b]", ["a", "|", "b"], ["c"]),
    # escapes
    (r"\U{1F600}\U0001F600\u{1F600}\x{1F600}", ["😀😀😀😀"], ["😀"]),
    (r"[\U{1F600}-\U{1F602}]", ["😁"], ["😃"]),
    (r"\Aab\z|\Acd\Z", ["ab", "cd"], ["ab\n", "cd\n"]),
    (r".*\b{start}cat.*", ["cat", "a cat", "cats"], ["acat", "concat"]),
    (r".*cat\b{end}.*", ["cat", "acat", "cat s"], ["cats"]),
    (r"[a-]\b{start-half}.*", ["-", "-a"], ["ab", "a-"]),
    (r".*\b{end-half}[a-]", ["-", "a-"], ["a", "-a"]),
    (r"[\<\>]<>", ["<<>"], ["<>"]),
    # `$` is the end of the text, and not before a final line break as in Python and PCRE
    ("a$\n?", ["a"], ["a\n"]),
    ("(?m)a$\n?", ["a", "a\n"], ["ab"]),
    # flags
    (r"(?-u:\w\d\b)", ["a1"], ["é1", "a٣"]),
    (r"(?i-u)k[s]", ["Ks"], ["\u212as", "k\u017f"]),
    (r"(?-u:\w(?u:\w))é", ["aéé"], ["ééé", "aaa"]),
    (r"(?a)\w(?u)\w", ["aé"], ["éa"]),
    ("(?x)[ ]a b", [" ab"], ["ab"]),
    (r"(?x)[a\ \#]", ["a", " ", "#"], ["b"]),
    # `\d \w \s` are Unicode's; comments; lazy and greedy are one language
    (r"\d\w\s", ["٣é\u2003"], ["-é "]),
    ("a(?#what)b", ["ab"], ["a(?#what)b"]),
    ("a+?b*?", ["aab"], [""]),
]

# pattern, part of the message, a pattern named by the hint, a text that this matches
REFUSED = [
    ("[a-c[x-z]]", "nested class in Rust", r"[a-c\[x-z]\]", "[]"),
    ("[a-c[x-z]]", "nested class in Rust", "[a-cx-z]", "y"),
    ("[^[a-z]]", "nested class in Rust", "[^a-z]", "A"),
    ("[[a-z]+]", "nested class in Rust", r"[\[a-z]+\]", "a]"),
    ("[[a-z]_]", "nested class in Rust", "[a-z_]", "_"),
    ("[a-z-[aeiou]]", "nested class in Rust", "[a-z--[aeiou]]", "b"),
    ("[a[b]&&c]", "nested class in Rust", r"\[", "["),
    ("[^[a]--[b]]", "nested class in Rust", "[[^[a]--[b]]]", "b"),
    ("[^[a][b]]", "nested class in Rust", "[[^[a][b]]]", "c"),
    ("(?x)[a b]", "flag x", r"\x20", " "),
    ("(?x)[a#]", "flag x", r"\x23", "#"),
    ("[a&&]", "no right operand", r"\&", "&"),
    ("[&&a]", "no left operand", r"\&", "&"),
    ("[+--]", "no right operand", r"\-", "-"),
    ("[--a]", "no left operand", r"\-", "-"),
    ("[~~a]", "no left operand", r"\~", "~"),
    (r"\<think", "the start of a word in Rust", "<", "<"),
    (r"a\>", "the end of a word in Rust", ">", ">"),
    (r"\h", "not supported", r"[ \t]", "\t"),
    (r"\h", "not supported", "[0-9a-fA-F]", "F"),
    (r"\R", "any line break", r"(?:\r\n|[\n\v\f\r\u0085\u2028\u2029])", "\r\n"),
    (r"\V", "not supported", r"[^\n\v\f\r\u0085\u2028\u2029]", "a"),
    (r"\X", "grapheme cluster", r"\P{M}\p{M}*", "e\u0301"),
    ("(?>ab)c", "atomic group", "(?:…)", "…"),
    ("(?'n'a)", "named group", "(?<name>…)", "…"),
]

# pattern, part of the message, part of the hint
REFUSED_IN_WORDS = [
    (r"\<think", "the start of a word in Rust", r"\b{start}"),
    (r"a\>", "the end of a word in Rust", r"\b{end}"),
    (r"[\w-[\d]]", "a range between sets", "-- for a difference"),
    ("(?R)", "recursion in PCRE", "EBNF or Lark"),
    ("(?R)", "CRLF mode in Rust", r"\r?\n"),
    ("(?mR)a", "CRLF", r"\r?\n"),
    ("(?0)", "recursion", "EBNF or Lark"),
    ("(a)(?1)", "call of a group", "repeat the expression"),
    ("(a)(?-1)", "call of a group", "repeat the expression"),
    ("(?P>n)", "call of a group", "repeat the expression"),
    ("(?P<n>a)(?P=n)", "back-reference", "repeat the expression"),
    (r"(?<n>a)\k<n>", "back-reference", "repeat the expression"),
    (r"(a)\g{1}", "back-reference", r"written \1 and \k<name>"),
    (r"(a)\1", "back-reference", "repeat the"),
    ("(a)?(?(1)b|c)", "conditional", "alternatives"),
    ("(?|a)", "branch-reset", "groups need no numbers"),
    ("(?{1})", "code", "leave it out"),
    ("(*FAIL)", "verb", r"\*"),
    ("a++", "possessive", "leave out the last +"),
    ("a{2}+", "possessive", "leave out the last +"),
    (r"\Qa.b\E", "quoting", "backslash"),
    (r"\Ga", "previous match", "leave it out"),
    (r"a\Kb", "start of the match", "leave it out"),
    (r"\C", "single byte", "one character"),
    (r"\o{12}", "not supported", r"\xHH"),
    ("(?U)a.*b", "swaps greedy and lazy", "*?"),
    ("(?U:a.*b)", "swaps greedy and lazy", "*?"),
    ("(?l)a", "locale", "(?a) for ASCII"),
    ("(?v)a", "flag v", "need no flag"),
    ("(?au)a", "exclude each other", "leave one"),
    ("(?-a:a)", "cannot be switched off", "(?u:"),
    ("(?-u:.)", "single bytes", "(?a:"),
    (r"(?-u:\W)", "single bytes", "(?a:"),
    ("(?-u)é", "single bytes", "(?a:"),
    (r"(?-u:\xff)", "single bytes", "allow_invalid_utf8"),
    ("[[a-z]--[b-a]]", "ends before it starts", "a-b"),
    ("[a-z&&[aeiou]", "not closed", "]"),
]

# As JSON Schema's `pattern`: brackets, ampersands and angles are characters, as in ECMA-262 without the flag v.
ECMA = [
    ("[a-c[x-z]]", ["[]", "y]"], ["y", "a"]),
    ("[a&&b]", ["&"], ["c"]),
    ("[+--]", ["+", ",", "-"], ["a"]),
    (r"\<a\>", ["<a>"], ["a"]),
    (r"\d\w", ["1a"], ["٣a", "1é"]),
    ("a$\n?", ["a"], ["a\n"]),
    (r"\bcat\b", ["cat"], ["cats"]),
]
ECMA_REFUSED = [
    (r"\Aa", "not part of ECMA-262", "write ^"),
    (r"a\z", "not part of ECMA-262", "write $"),
    (r"a\Z", "not part of ECMA-262", "write $"),
    (r"\N{BULLET}", "not part of ECMA-262", r"\uHHHH"),
    ("a(?#b)", "not part of ECMA-262", "leave it out"),
    (r"\h", "not supported", r"[ \t]"),
    ("(?>a)", "atomic", "(?:"),
    ("(?R)", "recursion", "EBNF or Lark"),
    ("a++", "possessive", "leave out"),
]


@pytest.mark.parametrize(("pattern", "accepted", "rejected"), SUPPORTED)
def test_supported(pattern: str, accepted: list[str], rejected: list[str]) -> None:
    expr = regex_to_expr(pattern)
    assert [t for t in accepted if not matches(expr, t)] == []
    assert [t for t in rejected if matches(expr, t)] == []


@pytest.mark.parametrize(("pattern", "message", "named", "text"), REFUSED)
def test_refused_with_a_spelling_that_works(pattern: str, message: str, named: str, text: str) -> None:
    with pytest.raises(RegexSyntaxError, match=re.escape(message)) as info:
        regex_to_expr(pattern)
    assert info.value.hint is not None
    assert named in info.value.hint
    assert matches(regex_to_expr(named), text)


@pytest.mark.parametrize(("pattern", "message", "hint"), REFUSED_IN_WORDS)
def test_refused_with_a_way_out(pattern: str, message: str, hint: str) -> None:
    with pytest.raises(RegexSyntaxError, match=re.escape(message)) as info:
        regex_to_expr(pattern)
    assert info.value.span is not None
    assert hint in (info.value.hint or "")


@pytest.mark.parametrize(("pattern", "accepted", "rejected"), ECMA)
def test_ecma_keeps_its_reading(pattern: str, accepted: list[str], rejected: list[str]) -> None:
    expr = regex_to_expr(pattern, dialect="ecma")
    assert [t for t in accepted if not matches(expr, t)] == []
    assert [t for t in rejected if matches(expr, t)] == []


@pytest.mark.parametrize(("pattern", "message", "hint"), ECMA_REFUSED)
def test_ecma_refuses_by_name(pattern: str, message: str, hint: str) -> None:
    with pytest.raises(RegexSyntaxError, match=re.escape(message)) as info:
        regex_to_expr(pattern, dialect="ecma")
    assert hint in (info.value.hint or "")


@pytest.mark.parametrize("letter", ["U", "R", "l", "L", "g", "y", "n", "v", "au"])
def test_flags_are_refused_by_name(letter: str) -> None:
    with pytest.raises(RegexSyntaxError, match=r"flags? ") as info:
        regex_to_expr("a", flags=letter)
    assert info.value.hint


def test_lark_refuses_its_locale_flag() -> None:
    with pytest.raises(LarkSyntaxError, match="locale") as info:
        Grammar.from_lark("start: /a/l")
    assert info.value.span == (7, 11)
    assert "(?a) for ASCII" in (info.value.hint or "")


def test_bytes_may_be_named_with_or_without_unicode() -> None:
    text = '%llguidance {"allow_invalid_utf8": true}\nstart: '
    for pattern in (r"/\xff/", r"/(?-u:\xff)/"):
        assert Grammar.from_lark(text + pattern).dump() == Grammar.from_lark(text + r"/\xff/").dump()


@pytest.mark.parametrize("pattern", [p for p, _, _ in SUPPORTED if re.search(r"&&|--[^\]]|~~|^\[\[.*\]\]$", p)])
def test_python_warns_of_what_is_read_in_the_way_of_rust(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((FutureWarning, re.error)):
            re.compile(pattern)


def test_brackets_are_read_in_bounded_time() -> None:
    with pytest.raises(LimitError) as info:
        regex_to_expr(("[[]" + "a" * 1000) * 40)
    assert info.value.limit == "regex classes"
    with pytest.raises(LimitError, match="levels deep"):
        regex_to_expr("[" * 200 + "a" + "]" * 200)


LETTERS = "abcdefgh"


def random_class(rng: random.Random, depth: int) -> tuple[str, set[str]]:
    """A class in Rust's syntax, and the letters in it."""
    operands = []
    for _ in range(rng.randint(1, 3)):
        if depth and rng.random() < 0.6:
            parts = [random_class(rng, depth - 1) for _ in range(rng.randint(1, 2))]
            operands.append(("".join(text for text, _ in parts), set().union(*(letters for _, letters in parts))))
        else:
            first, last = sorted(rng.sample(LETTERS, 2))
            extra = rng.choice(LETTERS)
            operands.append((f"{first}-{last}{extra}", {c for c in LETTERS if first <= c <= last} | {extra}))
    text, letters = operands[0]
    for more, other in operands[1:]:
        operator = rng.choice(["&&", "--", "~~"])
        text += operator + more
        letters = {"&&": letters & other, "--": letters - other, "~~": letters ^ other}[operator]
    if "[" not in operands[0][0] and rng.random() < 0.3:
        return f"[^{text}]", set(LETTERS) - letters
    return f"[{text}]", letters


def test_the_algebra_of_classes_is_that_of_sets() -> None:
    rng = random.Random(16)
    for _ in range(300):
        pattern, letters = random_class(rng, 2)
        expr = regex_to_expr(pattern)
        assert {c for c in LETTERS if matches(expr, c)} == letters, pattern


def test_a_class_that_python_reads_without_a_warning_is_never_read_in_another_way() -> None:
    rng = random.Random(17)
    texts = ["", *"[]^-&~ab5", *(a + b for a in "[]-a5" for b in "[]-a5")]
    compared = 0
    for _ in range(4000):
        pattern = "[" + "".join(rng.choices("[]^-&~ab5", k=rng.randint(1, 6))) + rng.choice(["]", "]]", "]a"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                theirs = re.compile(pattern)
            except (re.error, FutureWarning):
                theirs = None
        try:
            ours = regex_to_expr(pattern)
        except RegexSyntaxError:
            continue
        if theirs is None:
            continue
        compared += 1
        assert [t for t in texts if matches(ours, t)] == [t for t in texts if theirs.fullmatch(t)], pattern
    assert compared > 500
