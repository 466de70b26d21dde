"""Budgets of items in any order, whose orders are too many to look at all of them: see byte_distance.h."""

from __future__ import annotations

import json

import pytest

import maskwright
from maskwright import ir
from maskwright.frontends.selections import Selection, permutation
from oracle import vocabularies
from oracle.comparing import mask_of, seeded


@pytest.mark.parametrize("count", [7, 20])
@pytest.mark.parametrize("budget", ["quick", "exact"])
def test_many_required_members_in_any_order(budget: str, count: int) -> None:
    """Their orders are far too many to look at all of them."""
    names = [f"member{i}" for i in range(count)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
        "additionalProperties": False,
    }
    texts = [*(bytes((b,)) for b in range(256)), b'"member', b'":', b'","', b'""', b'": "', b'"}', b"</s>"]
    info = maskwright.TokenizerInfo.from_vocab(texts, special_token_ids=[262], stop_token_ids=[262])
    grammar = maskwright.Grammar.from_json_schema(schema, any_order=True)
    compiled = maskwright.GrammarCompiler(info).compile_grammar(grammar)
    rng = seeded(f"{count} members in any order")
    for max_tokens in (17 * count, 18 * count):
        matcher = maskwright.GrammarMatcher(compiled, max_tokens=max_tokens, budget=budget)
        tokens: list[int] = []
        while not matcher.is_terminated():
            tokens.append(rng.choice(sorted(mask_of(matcher, info.vocab_size))))
            assert matcher.accept_token(tokens[-1])
        assert len(tokens) <= max_tokens + 1
        assert json.loads(b"".join(texts[t] for t in tokens[:-1])).keys() == set(names)


def test_as_many_items_as_a_parameter_has_bits() -> None:
    """Within a budget that is just enough, each item is one of those left, and few sets of items are looked at."""
    vocab = vocabularies.of(*(bytes((ord("0") + i,)) for i in range(64)), stop=(b"</s>",))
    builder = ir.IRBuilder()
    body = permutation(builder, "p", Selection([ir.literal(text) for text in vocab.token_bytes[:64]], range(64)))
    compiled = maskwright.GrammarCompiler(vocab.info()).compile_grammar(maskwright.Grammar(builder.build(body)))
    matcher = maskwright.GrammarMatcher(compiled, max_tokens=64)
    order = [*range(58), *range(63, 57, -1)]
    for i, token in enumerate(order):
        assert mask_of(matcher, vocab.vocab_size) == set(order[i:])
        assert matcher.accept_token(token)
    assert matcher.is_completed()
    assert compiled._native.num_instances < 5_000  # 64 times 64, not all sets of three
