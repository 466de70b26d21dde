r"""Regular expressions by example: what each construct matches, in each dialect, and what is refused, where and why."""

from __future__ import annotations

import re
import sys

import pytest

from frontends.ir_matcher import matches
from maskwright import ir
from maskwright.errors import LimitError, RegexSyntaxError
from maskwright.frontends.charset import ALL_CHARACTERS, CodePointSet, json_string_chars, utf8
from maskwright.frontends.regex import parse, regex_to_expr
from maskwright.frontends.regex.classes import property_set, unicode_shorthands
from timing import processor_seconds

# pattern, texts that match as a whole, texts that do not
FULL = [
    ("", [""], ["a"]),
    ("a|", ["a", ""], ["aa"]),
    ("ab*?c+?", ["ac", "abbc", "abcc"], ["ab", ""]),
    ("a.?b", ["ab", "axb", "aéb", "a😀b"], ["a\nb", "axxb"]),
    ("(?s)a.b", ["a\nb"], ["ab"]),
    ("(?P<x>a)(?<y>b)(?:c)", ["abc"], ["ab"]),
    ("a{2}b{1,}c{0,2}d{,1}", ["aab", "aabbccd"], ["ab", "aabccc"]),
    ("a{,}b", ["b", "aaab"], ["a"]),
    ("a{x}{", ["a{x}{"], ["a"]),
    ("(ab){1000000000}", [], ["ab"]),
    ("[]a]", ["]", "a"], ["b"]),
    ("[^]a]", ["b", "\n"], ["]", "a"]),
    ("[a-c-]+", ["a-c"], ["d"]),
    ("[-a]", ["-", "a"], ["b"]),
    (r"[\b\]\-\\]", ["\b", "]", "-", "\\"], ["b"]),
    (r"\x41\u0042\u{43}\x{44}\U00000045\cJ\n\0", ["ABCDE\n\n\0"], ["ABCDE"]),
    (r"\ud83d\ude00", ["😀"], [""]),
    (r"[\ud83d\ude00-\ud83d\ude02]", ["😁"], ["😃"]),
    (r"\101\07\377", ["A\x07ÿ"], ["A"]),
    (r"\N{BULLET}", ["•"], ["N"]),
    (r"\d\w\s", ["1a ", "٣é\u2003"], ["aa ", "1- "]),
    (r"(?a)\d\w\s", ["1a "], ["٣a ", "1é ", "1a\u2003"]),
    (r"\D\W\S", ["a-a"], ["1-a", "aaa", "a- "]),
    (r"[\d\-x]+", ["1-x"], ["y"]),
    (r"[^\W\d]", ["a", "é", "_"], ["1", "-"]),
    (r"[[:alpha:][:^space:]]", ["a", "-"], [" "]),
    (r"[[:xdigit:]]+", ["09afAF"], ["g"]),
    (r"\p{Lu}\pL\P{Lu}\p{^Lu}", ["Éaaa"], ["aaaa", "AaAa"]),
    (r"\p{Script=Greek}\p{sc=Cyrl}\p{Han}", ["αя中"], ["ааа"]),
    (r"\p{general_category=decimal number}\p{White_Space}\p{Emoji}", ["3 😀"], ["a b"]),
    (r"[\p{Lu}\p{Nd}]+", ["A1"], ["a"]),
    (r"(?i)straße", ["STRAßE", "ſtraẞe"], ["strasse"]),
    ("(?i)[a-k]", ["K", "\u212a", "b"], ["l"]),
    ("(?i)[^k]", ["l"], ["k", "K", "\u212a"]),
    (r"(?i)\p{Lu}", ["a", "A"], ["1"]),
    ("(?ai)k[k]", ["kK"], ["\u212ak", "k\u212a"]),
    ("a(?i:b)c", ["abc", "aBc"], ["Abc", "abC"]),
    ("(?i)a(?-i:b)c", ["AbC"], ["aBc"]),
    ("a(?i)b|c", ["aB", "C"], ["Ab"]),
    ("(a(?i)b)c", ["aBc"], ["abC"]),
    ("(?x) a b # comment )\n c [ ] \\ ", ["abc  "], ["a b c"]),
    ("a(?#comment)b", ["ab"], ["a"]),
    ("(?x: a\tb )c ", ["abc "], ["abc"]),
    ("^a$", ["a"], ["", "a\n"]),
    ("a^b", [], ["ab", "a", "b", ""]),
    ("a$b", [], ["ab", "a", "b", ""]),
    (r"\Aa\Z", ["a"], ["b"]),
    (r"\Aa\z", ["a"], ["b"]),
    ("(^a|b)*", ["", "a", "abb", "b"], ["aa", "ba"]),
    ("(a$|b)*", ["bba", ""], ["ab"]),
    ("(?m)a$\n^b", ["a\nb"], ["a\n", "ab"]),
    ("(?m)(^a$|\n)*", ["a\na\n\na"], ["aa"]),
    (r"a\bb", [], ["ab"]),
    (r"a\b-\Bc?", ["a-"], ["a-c"]),
    (r"(?:\w+\b[ ]?)+", ["ab cd "], [" ab"]),
    (r"(?:^)*(?:$)?a(?:\b)+", ["a"], [""]),
    ("(?=a)[ab]+", ["ab"], ["ba"]),
    ("(?!a)[ab]+", ["ba"], ["ab", ""]),
    ("[ab]+(?<=a)", ["ba"], ["ab"]),
    ("[ab]+(?<!a)", ["ab"], ["ba"]),
    ("(?!ab).*", ["", "a", "ba"], ["ab", "abc"]),
    ("(?=.*1)(?=.*x).{3,}", ["1-x", "ax1"], ["1x", "aa1"]),
    ("(?:(?!ab)[a-c]{2}){2}", ["acba"], ["acab"]),
    (r"(?:(?!-->).)*-->", ["-->", "a--->", "-- >-->"], ["-->-->", "--"]),
    ("(?:(?!foo)[a-z])*", ["", "fo", "bar"], ["foo", "xfoox"]),
    ("a(?=b|$)b?", ["a", "ab"], ["ac"]),
    ("(?:(?=ab)a|b)b", ["ab", "bb"], ["b"]),
    ("x(?<!^x)y|z", ["z"], ["xy"]),
    ("(?<=^|,)a", ["a"], [",a"]),
    ("(?!(?!a))a", ["a"], ["b"]),
    ("a\0b", ["a\0b"], ["ab"]),
    ("é|ê", ["é", "ê"], ["e"]),
    ("(?=a)*b", ["b"], ["ab"]),
    # what comes zero times, beside assertions that look at its neighbours
    ("b(?!a)[ac]{0}", ["b"], ["bc", "ba"]),
    ("(?:[ac]{0}|(?<=-))(?:[bc]d{0}|$)", ["b", ""], ["a", "ab", "bd"]),
    (r"(?:(?:\ba){0}-\b){0,2}a", ["a", "-a"], ["aa", "a-a", "-aa"]),
]

# The same, where more could not follow.
TO_THE_END = [
    (r"^(?:(?!\.\.)[a-z.]){1,5}$", ["a", "a.b.", "."], ["", "a..b", "abcdef"]),
    ("(?:(?!--)(?!__)[a-z_-]){3}", ["a-_", "-a-"], ["a--", "__a", "ab"]),
    ("(?:(?!END).){2,4}END", ["abEND", "ENEEND"], ["aEND", "ENDEND", "abcdeEND"]),
    ("(?:(?!ab)[abc]){2,5}x", ["ccx", "bax", "cbcax"], ["abx", "cx", "caba"]),
    (r"^(?:(?!-c)[a-z-]){1,4}\.c(om)?$", ["a-.c", "-.com", "ab.c"], ["a-c.c", ".c", "abcde.c"]),
    ("(?:(?!a-)[ab]){1,2}-", ["b-", "ab-"], ["a-", "ba-"]),
]

# The same for a search.
SEARCH = [
    ("a", ["a", "xa\n"], ["", "b"]),
    ("^a", ["ab"], ["ba"]),
    ("a$", ["ba"], ["ab", "a\n"]),
    ("^a$", ["a"], ["aa"]),
    ("^a|b$", ["ax", "xb"], ["xax"]),
    ("^(a|b)$", ["a", "b"], ["ab"]),
    ("(^|,)a(,|$)", ["a", "b,a", "a,b"], ["ba", "ab"]),
    ("(?m)^a$", ["b\na", "a\nb"], ["ba"]),
    (r"\bfoo\b", ["foo", "a foo!"], ["food", "éfoo"]),
    (r"\Bo\B", ["foot"], ["o", "fo of"]),
    ("(?<=ab)c", ["xabc"], ["xac", "c"]),
    ("a(?!b)", ["ac", "aba", "a"], ["ab", "b"]),
    ("(?<![0-9])[0-9]{2}(?![0-9])", ["a12b", "12"], ["123", "1"]),
    ("", ["", "x"], []),
    ("a(?=.*b)", ["axb"], ["ba"]),
]

# Where ECMA-262 differs.
ECMA = [
    (r"\d\w\s", ["1a ", "1a\ufeff", "1a\u2003"], ["٣a ", "1é ", "1a\x1c"]),
    ("a.b", ["a\x0bb"], ["a\nb", "a\rb", "a\u2028b"]),
    ("[]", [], ["", "a"]),
    ("[^]", ["\n", "a"], [""]),
    ("[[:alpha:]", ["[", ":", "a", "l"], ["b"]),
    (r"[\w-.]", ["-", ".", "a"], [","]),
    (r"[a-z&&b]", ["&", "c"], ["A"]),
    (r"\cA\0\-\/", ["\x01\0-/"], [""]),
    ("(?<n>a)b", ["ab"], [""]),
    (r"^\p{Letter}+\p{digit}$", ["éа३"], ["1"]),
    ("a{,b", ["a{,b"], ["a"]),
    ("^{.*}$", ["{a}"], ["a"]),
    (r"(?i:\w[^\W])", ["\u017fK", "\u212as"], ["é1"]),
    (r"(?i:\W)[^\w]", ["é\u212a", "-\u017f"], ["\u212a-", "\u017f-"]),
    (r"(?i:.\b.)", ["\u017f-"], ["\u212aa"]),
    (r"(?i:\P{Lu})\P{Lu}", ["Aa", "a-"], ["aA"]),
    (r"(?i:[^\P{Lu}\d])", [], ["A", "a", "1"]),
]


def cases(table: list[tuple[str, list[str], list[str]]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("pattern", "accepted", "rejected"), table)


@cases(FULL + TO_THE_END)
def test_full_match(pattern: str, accepted: list[str], rejected: list[str]) -> None:
    expr = regex_to_expr(pattern)
    assert [t for t in accepted if not matches(expr, t)] == []
    assert [t for t in rejected if matches(expr, t)] == []


@cases(SEARCH)
def test_search(pattern: str, accepted: list[str], rejected: list[str]) -> None:
    expr = regex_to_expr(pattern, search=True)
    assert [t for t in accepted if not matches(expr, t)] == []
    assert [t for t in rejected if matches(expr, t)] == []


@cases(ECMA)
def test_ecma(pattern: str, accepted: list[str], rejected: list[str]) -> None:
    expr = regex_to_expr(pattern, dialect="ecma")
    assert [t for t in accepted if not matches(expr, t)] == []
    assert [t for t in rejected if matches(expr, t)] == []


@pytest.mark.parametrize("pattern", [p for p, _, _ in FULL + SEARCH])
def test_results_are_regular_and_valid_utf8(pattern: str) -> None:
    expr = regex_to_expr(f"(?s:.)*(?:{pattern})(?s:.)*" if "(?!foo)" not in pattern else pattern)
    assert not has_references(expr)
    for data in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"a\x80", b"\xc0\x80"):
        assert not matches(expr, data)


def has_references(expr: ir.Expr) -> bool:
    return expr.op in (ir.OP_REF, ir.OP_TOKENS) or any(has_references(e) for e in expr[1:] if isinstance(e, ir.Expr))


@pytest.mark.parametrize(("pattern", "dumped"), [
    ("^[a-z0-9-]+$", r"[\-0-9a-z]+"),
    ("^(abc|de)$", '"abc" | "de"'),
    (r"^(\d{1,3}\.){3}\d{1,3}$", r'([0-9]{1,3} "."){3} [0-9]{1,3}'),
    ("^(?!foo$)[a-z]+$", '[a-z]+ & ~"foo"'),
    ("^(?!-)[a-z-]{1,63}(?<!-)$", r"[a-z] [\-a-z]{0,61} [a-z] | [a-z]"),
])  # fmt: skip
def test_expressions_of_common_patterns_are_small(pattern: str, dumped: str) -> None:
    assert regex_to_expr(pattern, search=True, dialect="ecma").dump() == dumped


# pattern, dialect, part of the message, the text under the caret
ERRORS = [
    ("(a", "python", "not closed", "("),
    ("a)", "python", "unmatched", ")"),
    ("[a", "python", "not closed", "["),
    ("[]", "python", "not closed", "["),
    ("x**", "python", "nothing to repeat", "*"),
    ("*", "python", "nothing to repeat", "*"),
    ("^*", "python", "nothing to repeat", "*"),
    ("(|+)", "python", "nothing to repeat", "+"),
    ("a{2}{3}", "python", "nothing to repeat", "{3}"),
    ("a{3,2}", "python", "upper bound", "{3,2}"),
    ("a{2147483648}", "python", "count above", "{2147483648}"),
    ("a{" + "9" * 5000 + "}", "python", "count above", "{" + "9" * 5000 + "}"),
    ("a{,2}", "ecma", "no lower bound", "{,2}"),
    ("a*+", "python", "possessive", "*+"),
    (r"(a)\1", "python", "back-reference", r"\1"),
    (r"(a)\1", "ecma", "back-reference", r"\1"),
    (r"(?<n>a)\k<n>", "ecma", "back-reference", r"\k"),
    ("(?P=n)", "python", "back-reference", "(?P="),
    ("(?R)", "python", "recursion", "(?R)"),
    ("(?&x)", "python", "call of a group", "(?&"),
    ("(?(1)a|b)", "python", "conditional", "(?("),
    ("(?>a)", "python", "atomic", "(?>"),
    ("(?|a)", "python", "branch-reset", "(?|"),
    ("(*FAIL)", "python", "verb", "(*"),
    ("(?~a)", "python", "unknown kind of group", "(?~"),
    ("(?L)a", "python", "locale", "(?L)"),
    ("(?-a:a)", "python", "cannot be switched off", "(?-a:"),
    ("(?q)a", "python", "unknown flag", "(?q)"),
    ("(?<1>a)", "python", "name", "(?<"),
    ("(?<a>.)(?<a>.)", "python", "two groups", "(?<a>"),
    ("(?#a", "python", "comment", "(?#"),
    ("a\\", "python", "ends with a backslash", "\\"),
    (r"\y", "python", "unknown escape", r"\y"),
    (r"\R", "python", "any line break", r"\R"),
    (r"\Z", "ecma", "not part of ECMA-262", r"\Z"),
    (r"\a", "ecma", "not part of ECMA-262", r"\a"),
    (r"\x4", "python", "incomplete", r"\x"),
    (r"\u{110000}", "python", "above U+10FFFF", r"\u{110000}"),
    (r"\01", "ecma", "octal", r"\0"),
    (r"\c1", "python", "control", r"\c"),
    (r"\N{NO SUCH}", "python", "character name", r"\N{NO SUCH}"),
    (r"\p{Foo}", "python", "'Foo'", r"\p{Foo}"),
    (r"\p{gc=}", "python", "property", r"\p{gc=}"),
    (r"\p{Script=Foo}", "ecma", "'Script=Foo'", r"\p{Script=Foo}"),
    (r"\p", "python", "incomplete property", r"\p"),
    ("[b-a]", "python", "ends before", "b-a"),
    (r"[\w-a]", "python", "between sets", r"\w-a"),
    (r"[\B]", "python", "no meaning", r"\B"),
    ("[[:foo:]]", "python", "unknown POSIX class", "[:foo:]"),
    ("[[.a.]]", "python", "unknown POSIX class", "[.a.]"),
    (r"\ud800", "python", "lone surrogate", r"\ud800"),
    (r"[\ud800-\udbff]", "ecma", "surrogates", r"[\ud800-\udbff]"),
    ("\ud800", "python", "surrogate", "\ud800"),
    ("a(?:(?=bc)b|c)*", "python", "lookahead is not supported", "(?=bc)"),
    ("(?:(?<=ab)c)*", "python", "lookbehind is not supported", "(?<=ab)"),
    ("a*(?=ab+c).*(?<=(?:ab)+)c", "python", "lookbehind is not supported", "(?<=(?:ab)+)"),
]


@pytest.mark.parametrize(("pattern", "dialect", "message", "marked"), ERRORS)
def test_errors_say_what_and_where(pattern: str, dialect: str, message: str, marked: str) -> None:
    with pytest.raises(RegexSyntaxError, match=re.escape(message)) as info:
        regex_to_expr(pattern, dialect=dialect)
    error = info.value
    assert error.source == pattern
    assert error.span is not None
    assert pattern[error.span.start : error.span.end] == marked
    assert len(str(error)) < 700


def test_arguments_are_checked() -> None:
    with pytest.raises(RegexSyntaxError, match="unknown flag 'q'"):
        regex_to_expr("a", flags="iq")
    with pytest.raises(ValueError, match="unknown dialect"):
        regex_to_expr("a", dialect="perl")
    assert matches(regex_to_expr("A b", flags="ix"), "ab")


def test_spans_and_structure() -> None:
    assert str(parse("a(b|c)*?$")) == "seq('a', repeat(group(alt('b', 'c')), 0, inf, lazy), end)"
    assert str(parse("(?<n>ab+)(?!c)")) == "seq(group(seq('a', repeat('b', 1, inf)), n), lookahead(not 'c'))"
    assert str(parse("(?:ab)+")) == "repeat(seq('ab'), 1, inf)"
    assert parse("ab(cd)").items[1].span == (2, 6)


HOSTILE = {
    "open groups": "(" * 30_000,
    "nested groups": "(" * 30_000 + ")" * 30_000,
    "nested loops": "(?:" * 30_000 + "a" + ")*" * 30_000,
    "nested branches": "(a|" * 90 + "b" + ")" * 90,
    "nested lookaheads": "(?=" * 30_000 + "a" + ")" * 30_000,
    "NUL bytes": "\0" * 30_000,
    "brackets": "[[" * 30_000,
    "classes with brackets": "[[]" * 10_000,
    "nested classes": "[" * 30_000 + "a" + "]" * 30_000,
    "set operations": "[" + "&&".join(["a-z"] * 10_000) + "]",
    "braces": "{" * 30_000,
    "backslashes": "\\" * 30_001,
    "word boundaries": r"\b" * 10_000,
    "boundaries between": r"a\b" * 1_000,
    "lookaheads": "(?=a)" * 10_000,
    "long lookaheads": "(?!a{1000000000})b" * 1_000,
    "lookbehinds": "(?<=ab)" * 3_000,
    "branching lookaheads": "(?:(?=.*ab)c|d)" * 2_000,
    "many classes": "".join(f"(?:(?=[{chr(97 + i)}])|x)" for i in range(26)),
    "boundaries in loops": r"(?:a\b|b\B|^c|d$|\n(?m:^)|(?m:$))*" * 10,
    "counted boundaries": r"(?:a\b|-){1000}",
    "large counts": "((a{1000000000}){1000000000}){1000000000}",
    "many branches": "|".join(f"w{i}" for i in range(20_000)),
    "wide class": "[" + "".join(chr(0x4E00 + 2 * i) for i in range(8000)) + "]",
    "lazy dots": ".*?" * 10_000,
    "comments": "(?x)" + " #c\n" * 20_000,
}


@pytest.mark.parametrize("pattern", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_patterns_end_at_once(pattern: str) -> None:
    lengths: list[int] = []
    assert processor_seconds(lambda: lengths.append(length_of_error(pattern))) < 5  # usually far below one second
    assert lengths[0] < 700


def length_of_error(pattern: str) -> int:
    try:
        regex_to_expr(pattern, search=True)
    except (RegexSyntaxError, LimitError) as error:
        return len(str(error))
    return 0


def test_limits_are_named() -> None:
    with pytest.raises(LimitError) as info:
        regex_to_expr("(" * 200 + ")" * 200)
    assert info.value.limit == "regex depth"


def test_json_spellings_of_a_pattern() -> None:
    expr = regex_to_expr("^a\nb$", search=True, dialect="ecma", encode=json_string_chars)
    assert matches(expr, r"a\nb")
    assert matches(expr, r"\u0061\u000Ab")
    assert not matches(expr, "a\nb")
    negated = regex_to_expr("[^a]", encode=json_string_chars)
    assert matches(negated, r"\u0000")
    assert not matches(negated, r"\u0061")
    look = regex_to_expr("^(?!ab)...$", search=True, encode=json_string_chars)
    assert matches(look, r"a\u0063b")
    assert not matches(look, r"a\u0062c")
    assert not matches(look, '"""')


def test_shorthands_are_those_of_python() -> None:
    # Characters that this Python knows; a newer table may know more.
    shorthands = unicode_shorthands()
    unassigned = property_set("Cn")
    text = "".join(chr(c) for c in range(0x30000) if not 0xD800 <= c < 0xE000)
    for chars, letter in ((shorthands.digit, "d"), (shorthands.word, "w"), (shorthands.space, "s")):
        python = CodePointSet.from_string("".join(re.findall(rf"\{letter}", text)))
        assert python.issubset(chars)
        newer = chars - python
        assert all(c >= 0x30000 or not chr(c).isprintable() for c in newer)
    assert unassigned | ~unassigned == ALL_CHARACTERS


def test_properties_are_those_of_the_regex_package() -> None:
    regex = pytest.importorskip("regex")
    text = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
    names = [
        "L",
        "Lu",
        "Letter",
        "gc=Nd",
        "P",
        "S",
        "Cn",
        "LC",
        "Script=Greek",
        "scx=Deva",
        "Alphabetic",
        "Emoji",
        "XIDS",
    ]
    for name in names:
        assert property_set(name) == CodePointSet.from_string(regex.findall(rf"\p{{{name}}}", text)), name


def test_case_folding_is_that_of_the_standard_library() -> None:
    fold = regex_to_expr("(?i)[a-zß-öµα-ωа-яᾳ]")
    for c in "ABKSſKÀÖΜΣςЯᾼẞ":
        assert matches(fold, c), c
    assert not matches(fold, "ı")


def test_common_patterns_are_quick() -> None:
    def read() -> None:
        regex_to_expr("^[a-z0-9-]+$", search=True, dialect="ecma", encode=utf8)

    assert processor_seconds(read, runs=200) < 0.002  # about 30 µs on an idle core


def test_depth_does_not_depend_on_the_stack() -> None:
    pattern = "(a|" * 45 + "b" + ")" * 45
    limit = sys.getrecursionlimit()

    def nested(levels: int) -> None:
        if levels:
            nested(levels - 1)
        else:
            regex_to_expr(pattern + r"\b", search=True)

    nested(limit // 3)
