"""Grammars that a vocabulary cannot write: which byte is missing. Others compile, with exact masks."""

from __future__ import annotations

import pytest

import maskwright as mw
from maskwright.ir import Expr, GrammarIR, Rule, distinct, literal
from oracle.comparing import mask_of


def compiler(*tokens: bytes, special: tuple[bytes, ...] = ()) -> mw.GrammarCompiler:
    """Of a vocabulary of these tokens, and a stop token."""
    ids = range(len(tokens), len(tokens) + len(special) + 1)
    return mw.GrammarCompiler(
        mw.TokenizerInfo.from_vocab([*tokens, *special, b"</s>"], special_token_ids=ids, stop_token_ids=ids[-1:])
    )


LETTERS = compiler(*[bytes((byte,)) for byte in b'"abcdefghijklmnopqrstuvwxyz: '])


@pytest.mark.parametrize(
    ("pattern", "missing"),
    [
        ("a1", "'1', which every output needs"),
        ("(a|b)1+2|12", "'1' or '2', which every output needs"),
        ("a[0-9]", "'0', '1', '2', '3', '4', '5', '6', '7', or 2 other bytes, one of which every output needs"),
        ("a1|b2", "'1' or '2', one of which every output needs"),
        ("a\n", "byte 0x0a, which every output needs"),
    ],
)
def test_which_bytes_are_missing(pattern: str, missing: str) -> None:
    with pytest.raises(mw.UnsatisfiableError, match="the vocabulary cannot write any output") as raised:
        LETTERS.compile_regex(pattern)
    assert f"none of its tokens has {missing}" in str(raised.value)
    assert raised.value.hint is not None


@pytest.mark.parametrize("pattern", ["a1?", "a|1", "[^a]", "a(?!1)b", "(?:1a)*"])
def test_a_byte_that_some_outputs_need_is_no_error(pattern: str) -> None:
    assert LETTERS.compile_regex(pattern)


def test_braces_that_a_vocabulary_lacks() -> None:
    with pytest.raises(mw.UnsatisfiableError, match=r"'\{' or '\}', which every output needs"):
        LETTERS.compile_json_schema({"type": "object"})
    assert LETTERS.compile_json_schema({"type": "string"})
    with pytest.raises(mw.UnsatisfiableError, match="'1'"):
        LETTERS.compile_grammar('root ::= "a" | x x\nx ::= "1"'.replace('"a" | ', ""))


def test_a_special_token_does_not_spell_its_name() -> None:
    tokens = compiler(b"a", special=(b"<b>",))
    with pytest.raises(mw.UnsatisfiableError, match="'b'"):
        tokens.compile_regex("ab")
    assert tokens.compile_grammar('root ::= "a" <b>')


def test_a_vocabulary_without_texts_is_for_accepting_strings() -> None:
    matcher = mw.GrammarMatcher(compiler().compile_regex("ab"))
    assert matcher.accept_string("ab")


def test_of_an_element_that_repeats() -> None:
    def unique(element: Expr) -> mw.Grammar:
        return mw.Grammar(GrammarIR((Rule("root", distinct(element, literal(b":"), 1, 2)),), 0))

    assert LETTERS.compile_grammar(unique(literal(b"a")))
    with pytest.raises(mw.UnsatisfiableError, match="'1'"):
        LETTERS.compile_grammar(unique(literal(b"1")))


def test_the_mask_where_a_byte_is_missing_is_empty() -> None:
    """As `docs/mask.md` says: which texts there are does not depend on the vocabulary."""
    tokens = compiler(b"a", b"b")
    matcher = mw.GrammarMatcher(tokens.compile_regex("a|bc"))
    assert mask_of(matcher, 3) == {0, 1}
    assert matcher.accept_token(1)
    assert mask_of(matcher, 3) == set()
    assert matcher.accept_string("c")
