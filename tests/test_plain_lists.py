"""Lists of distinct elements as plain ones: what else they admit, and what a budget is known to be too small for."""

from __future__ import annotations

import pytest

import maskwright as mw
from maskwright.compiling import compiled_grammar
from maskwright.matcher import matcher_for_engine

LETTERS = mw.TokenizerInfo.from_vocab(["a", "b", ",", "[", "]", "</s>"], stop_token_ids=[5])
LIST = 'root ::= "[" Distinct(x, ",", min=3, max=4) "]"\nx ::= [ab]+'


def distinct() -> mw.CompiledGrammar:
    return mw.GrammarCompiler(LETTERS).compile_grammar(LIST)


@pytest.mark.parametrize(
    ("text", "is_distinct", "is_plain"),
    [("[a,b,aa]", True, True), ("[a,a,a]", False, True), ("[a,a]", False, False), ("[a,a,a,a,a]", False, False)],
)
def test_elements_may_repeat(text: str, is_distinct: bool, is_plain: bool) -> None:
    compiled = distinct()
    plain = compiled.with_plain_lists()
    assert plain is not None
    assert (compiled.explain_rejection(text) is None) == is_distinct
    assert (plain.explain_rejection(text) is None) == is_plain
    assert compiled.with_plain_lists() is plain


def test_what_is_kept_counts() -> None:
    compiled = distinct()
    before = compiled.own_size_bytes, compiled.memory_size_bytes
    plain = compiled.with_plain_lists()
    assert plain is not None
    assert compiled.own_size_bytes == before[0] + plain.own_size_bytes
    assert compiled.memory_size_bytes == before[1] + plain.memory_size_bytes


def test_values_of_any_spelling() -> None:
    vocab = mw.TokenizerInfo.from_vocab([*(chr(i) for i in range(128)), "</s>"], stop_token_ids=[128])
    compiled = mw.GrammarCompiler(vocab).compile_json_schema({"type": "array", "uniqueItems": True, "minItems": 2})
    plain = compiled.with_plain_lists()
    assert plain is not None
    for text in ("[[1], [1.0]]", '[{"a": [1]}, "x", {"a": [1.0]}]'):
        assert compiled.explain_rejection(text) is not None
        assert plain.explain_rejection(text) is None
    assert plain.explain_rejection("[1]") is not None


def test_what_would_take_long_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_grammar, "_FEW_SUBGRAMMARS", -1)
    compiled = distinct()
    assert compiled.with_plain_lists() is None
    assert matcher_for_engine(compiled, 2).caveat is not None
    monkeypatch.delattr(compiled_grammar, "num_subgrammars")  # nor counted for each request
    assert matcher_for_engine(compiled, 2).caveat is not None


def test_too_few_tokens() -> None:
    compiled = distinct()
    with pytest.raises(mw.UnsatisfiableError) as caught:
        matcher_for_engine(compiled, 6)
    said = "the shortest output needs at least 7 tokens, but max_tokens is 6; 8 tokens are enough"
    assert (caught.value.message, caught.value.hint) == (said, "allow more tokens")
    caveat = "a list of distinct items has no token budget here, so the output may be cut off at max_tokens"
    assert matcher_for_engine(compiled, 7).caveat == f"{caveat}; 8 tokens are enough"
    assert matcher_for_engine(compiled, 8).caveat is None
