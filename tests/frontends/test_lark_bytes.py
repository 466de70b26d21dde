r"""Under `allow_invalid_utf8` regular expressions are about bytes, and strings in quotes stay texts."""

from __future__ import annotations

import pytest
from ir_matcher import matches

from maskwright import Grammar, LarkSyntaxError
from oracle.accepting import accepts

BYTES = '%llguidance {"allow_invalid_utf8": true}\n'

CASES = [
    (r"start: /a.b/", [b"a\xffb", b"a\x80b", b"axb"], [b"a\nb", "aéb".encode()]),
    (r"start: /a[^x]b/", [b"a\xffb", b"ayb"], [b"axb", "aéb".encode()]),
    (r"start: /\xff+/", [b"\xff", b"\xff\xff"], ["ÿ".encode()]),
    (r"start: /[\x80-\xbf]{2}/", [b"\x80\xbf"], [b"\x80\xc0"]),
    (r"start: /\w\W/", [b"a\xff", b"a-"], [b"\xe9-", b"aa"]),
    (r'start: "é" /\xe9/', [b"\xc3\xa9\xe9"], [b"\xe9\xe9"]),
    (r'start: "é"i "x"i', ["Éx".encode(), "éX".encode()], [b"\xe9x", b"\xe3\xa9x"]),
    ('start: T\nT: "é" /.*/ & ~"éa"', [b"\xc3\xa9\xff", b"\xc3\xa9"], [b"\xc3\xa9a"]),
    ("start: T\nT: ~/a+/", [b"\xff\xfe", b""], [b"aa"]),
    ('start: "a" "\\n" "b"\n%ignore /#[^\\n]*/', [b"a\nb", b"a#\xff\nb"], [b"a#\xffb"]),
]


@pytest.mark.parametrize(("source", "accepted", "rejected"), CASES)
def test_bytes(source: str, accepted: list[bytes], rejected: list[bytes]) -> None:
    grammar = Grammar.from_lark(BYTES + source)
    for data in accepted:
        assert accepts(grammar, list(data)), data
    for data in rejected:
        assert not accepts(grammar, list(data)), data


@pytest.mark.parametrize("pattern", ["é", r"\u00e9", r"\p{L}", r"a\\\p{L}", "[a-ü]"])
def test_what_is_no_byte_is_refused(pattern: str) -> None:
    with pytest.raises(LarkSyntaxError, match="this is not a byte") as caught:
        Grammar.from_lark(BYTES + f"start: /{pattern}/")
    assert caught.value.hint is not None
    assert "allow_invalid_utf8" in caught.value.hint


def test_a_backslash_before_a_letter_is_none_of_those() -> None:
    assert matches(Grammar.from_lark(BYTES + r"start: /\\u/").ir.rules[0].body, b"\\u")


def test_a_range_beyond_ascii_is_refused() -> None:
    with pytest.raises(LarkSyntaxError, match="this is not a byte"):
        Grammar.from_lark(BYTES + 'start: "a".."ü"')
