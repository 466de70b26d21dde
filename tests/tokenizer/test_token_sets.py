"""Token literals, and which ids they mean in a tokenizer."""

from __future__ import annotations

import pytest

from maskwright import Grammar, GrammarCompiler, GrammarError, GrammarMatcher, TokenizerInfo
from maskwright.errors import LarkSyntaxError, Span
from maskwright.frontends.notation.token_literals import token_set
from maskwright.ir import TokenSet
from maskwright.tokenizer.token_sets import token_ids

INFO = TokenizerInfo.from_vocab(
    ["a", "b", "<|x|>", "", "a", "<|y|>", "</s>"], special_token_ids=[2, 5, 6], stop_token_ids=[6], vocab_size=8
)


@pytest.mark.parametrize(
    ("literal", "ids"),
    [
        ("<|x|>", [2]),
        ("!<|x|>", [0, 1, 4, 5]),
        ("<[0,2-4]>", [0, 2, 3, 4]),
        ("<[ 1 , 7 ]>", [1, 7]),
        ("<[^0,4]>", [1, 2, 5]),
        ("<[^<|x|>,<|y|>]>", [0, 1, 4]),
        ("<[<|x|>,0]>", [0, 2]),
        ("<[*]>", [0, 1, 2, 4, 5]),
        ("!<[*]>", []),
        ("!<[^1]>", [1]),
    ],
)
def test_literals(literal: str, ids: list[int]) -> None:
    wanted = token_set(literal, Span(0, len(literal)), literal, LarkSyntaxError)
    assert token_ids(INFO, wanted) == ids
    assert token_ids(INFO, token_set(wanted.dump(), Span(0, 1), wanted.dump(), LarkSyntaxError)) == ids


def test_all_tokens_with_a_text_are_meant() -> None:
    assert token_ids(INFO, TokenSet(names=("a",))) == [0, 4]


def test_what_the_tokenizer_lacks_is_an_error_when_it_is_bound() -> None:
    grammar = Grammar.from_ebnf("root ::= <|z|>")
    with pytest.raises(GrammarError, match=r"no token '<\|z\|>'") as info:
        GrammarCompiler(INFO).compile_grammar(grammar)
    assert "did you mean" in (info.value.hint or "")
    with pytest.raises(GrammarError, match="no token 8"):
        GrammarCompiler(INFO).compile_grammar(Grammar.from_ebnf("root ::= <[8]>"))


def test_one_grammar_serves_several_tokenizers() -> None:
    grammar = Grammar.from_lark("start: <|x|>")
    other = TokenizerInfo.from_vocab(["<|x|>", "</s>"], special_token_ids=[0], stop_token_ids=[1])
    for info, token in ((INFO, 2), (other, 0)):
        assert GrammarMatcher(GrammarCompiler(info).compile_grammar(grammar)).accept_token(token)
    assert grammar.dump() == "start ::= token\ntoken ::= <|x|>"


def test_token_sets_move_with_their_rules() -> None:
    both = Grammar.union(Grammar.from_ebnf("root ::= 'a'"), Grammar.from_ebnf("root ::= <|x|>"))
    matcher = GrammarMatcher(GrammarCompiler(INFO).compile_grammar(both))
    assert matcher.accept_token(2)
    assert matcher.is_completed()


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [('root ::= "<|z|>" # <|z|>\n  "b" <|z|>', 2, 7), ('root ::= "a" <[<|x|>,<|z|>]>', 1, 22)],
)
def test_a_name_that_no_token_has_is_found_in_the_grammar(text: str, line: int, column: int) -> None:
    with pytest.raises(GrammarError, match=r"has no token '<\|z\|>'") as caught:
        GrammarCompiler(INFO).compile_grammar(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "did you mean '<|" in str(caught.value)
    with pytest.raises(GrammarError, match=r"has no token '<\|z\|>'") as caught:
        GrammarCompiler(INFO).compile_lark('start: "a" <|z|>')
    assert (caught.value.line, caught.value.column) == (1, 12)
