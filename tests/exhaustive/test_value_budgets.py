"""Token budgets of outputs with values that must differ whatever their spelling: every output is complete in time.

Bounds know no values, so masks near the end may allow less than an enumeration would, but always some token; and no
mask allows what accept does not take. Tokens are drawn so that values come again whenever they may.
"""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pytest

import maskwright
from exhaustive.test_distinct_values import BRACE, CLOSE, COMMA, OPEN, UNBRACE, joined, listed
from maskwright import ir
from maskwright.ir import GrammarIR, alt, literal, optional, plus, ref, seq, star
from oracle.comparing import mask_of, scaled, seeded
from oracle.grammars import grammar
from oracle.json_values import identity
from oracle.recognizer import matches
from oracle.vocabularies import Vocab, of

LETTER = ir.bytes_in(bytes(range(ord("a"), ord("z") + 1)))
DIGITS = ir.bytes_in(b"0123456789")
NUMBER = seq(ir.bytes_in(b"12"), star(DIGITS))
STRING = seq(literal(b'"'), star(LETTER), literal(b'"'))
MEMBER = seq(STRING, literal(b":"), alt(NUMBER, ref(2)))
OBJECTS = (seq(BRACE, optional(joined(ref(1)))), UNBRACE)
ARRAYS = (seq(OPEN, optional(joined(ref(1)))), CLOSE)
CLOSED = (seq(BRACE, literal(b'"n":"'), star(LETTER), literal(b'"')), UNBRACE)
NAMES = [chr(c) for c in range(ord("a"), ord("z") + 1)]
TOKENS = of(
    *NAMES, *'0123456789,[]{}":', '{"', '":1', '":', "},", "},{", "}]", "{}", "{},{", "1,", "1}", "]]", "],[", '""',
    '"a":1}', "ab", "12", '"n":', 'e":', stop=(b"</s>",), padding=3,
)  # fmt: skip

GRAMMARS = {
    "objects": grammar(listed(OBJECTS), MEMBER, NUMBER),
    "some objects": grammar(listed(OBJECTS, minimum=2, maximum=4), MEMBER, NUMBER),
    "objects or numbers": grammar(listed(OBJECTS, element=NUMBER, minimum=2), MEMBER, NUMBER),
    "objects or few texts": grammar(listed(OBJECTS, element=alt(literal(b"1"), literal(b'"a"'))), MEMBER, NUMBER),
    "arrays": grammar(listed(ARRAYS), NUMBER, NUMBER),
    "closed objects": grammar(listed(CLOSED), NUMBER, NUMBER),
    "lists in objects": grammar(listed(OBJECTS), MEMBER, listed(OBJECTS)),
    "beside others": grammar(seq(listed(OBJECTS, minimum=2), COMMA, plus(DIGITS)), MEMBER, NUMBER),
    "several lists": grammar(seq(OPEN, star(seq(listed(ARRAYS), COMMA)), CLOSE), NUMBER, NUMBER),
}
LEAST = {"some objects": 22, "objects or numbers": 24, "beside others": 24, "closed objects": 6}
REPEATED = [TOKENS.token_bytes.index(text) for text in b'{ } [ ] " a 1 , : {} }] "" ":1'.split()]


def output(compiled: maskwright.CompiledGrammar, vocab: Vocab, max_tokens: int, rng: random.Random) -> bytes:
    """A random one, in which every mask is not empty and what accept takes."""
    matcher, out = maskwright.GrammarMatcher(compiled, max_tokens=max_tokens), b""
    while not matcher.is_terminated():
        allowed, context = mask_of(matcher, vocab.vocab_size), (max_tokens, out)
        assert allowed, context
        for token in range(vocab.vocab_size):
            assert matcher.fork().accept_token(token) == (token in allowed), (context, token)
        likely = [token for token in REPEATED if token in allowed]
        token = rng.choice(likely if likely and rng.random() < 0.8 else sorted(allowed))
        assert matcher.validate_tokens([token]) == 1
        assert matcher.accept_token(token)
        if rng.random() < 0.2:  # neither way back leads elsewhere
            matcher.rollback(1)
            assert mask_of(matcher, vocab.vocab_size) == allowed, context
            matcher = matcher.fork()
            assert matcher.accept_token(token)
        out += vocab.token_bytes[token] if token not in vocab.stop else b""
    assert matcher.num_accepted_tokens <= max_tokens + 1
    return out


@pytest.mark.parametrize("name", GRAMMARS)
def test_outputs_are_complete_in_time(name: str) -> None:
    g: GrammarIR = GRAMMARS[name]
    compiled = maskwright.GrammarCompiler(TOKENS.info()).compile_grammar(maskwright.Grammar(g))
    rng = seeded(f"value budgets of {name}")
    longest = 0
    for _ in range(scaled(40)):
        max_tokens = LEAST.get(name, 4) + rng.randrange(30)
        text = output(compiled, TOKENS, max_tokens, rng)
        assert matches(g, text), (max_tokens, text)
        longest = max(longest, len(text))
    assert longest > 10


BYTES = of(
    *[bytes([byte]) for byte in range(256)], "{}", "[]", '""', '"}', "},", "],", '":', ', "', "true", "12", ".5", "e1",
    stop=(b"</s>",),
)  # fmt: skip
TREE = {"op": {"enum": ["+", "-"]}, "args": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}
TREES = {"type": "object", "properties": TREE, "required": ["op", "args"], "additionalProperties": False}
SHORT = {"type": "string", "minLength": 2, "maxLength": 40}
ROW = {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "number"}}, "required": ["name"]}
SCHEMAS: dict[str, dict[str, Any]] = {
    "anything": {},
    "required members": {"items": ROW, "minItems": 2},
    "no other members": {"items": {**ROW, "additionalProperties": False, "properties": {"name": {"type": "string"}}}},
    "numbers of any spelling": {"items": {"items": {"type": "number"}}},
    "few values": {"items": {"items": {"type": "boolean"}}},
    "items of several kinds": {"prefixItems": [{"type": "string"}, {"type": "boolean"}], "minItems": 3},
    "one that is contained": {"contains": {"type": "object"}, "items": {"type": ["object", "string", "null"]}},
    "elements of few texts": {"items": {"anyOf": [{"enum": ["a", 1]}, {"type": "object"}]}, "minItems": 4},
    "white space before what may not be closed": {"items": {"type": "object"}, "minItems": 3},
    "texts of one letter": {"items": {"type": "string", "pattern": "^a*$"}, "contains": {}},
    "texts of limited length": {
        "items": {"type": "array", "items": {"type": "object", "additionalProperties": SHORT}},
        "minItems": 3,
    },
    "trees of few symbols": {"$defs": {"tree": TREES}, "items": {"$ref": "#/$defs/tree"}, "minItems": 2},
}


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("name", SCHEMAS)
def test_json_schemas(name: str, any_order: bool) -> None:
    schema = {"type": "array", "uniqueItems": True, **SCHEMAS[name]}
    compiled = maskwright.GrammarCompiler(BYTES.info()).compile_json_schema(schema, any_order=any_order)
    rng = seeded(f"value budgets of {name} {any_order}")
    enough = enough_tokens(compiled)
    for _ in range(scaled(10)):
        value = json.loads(output(compiled, BYTES, enough + rng.randrange(25), rng), parse_float=Decimal)
        assert len({identity(json.dumps(item, default=str).encode()) for item in value}) == len(value)
        assert len(value) >= schema.get("minItems", 0)


def enough_tokens(compiled: maskwright.CompiledGrammar) -> int:
    try:
        maskwright.GrammarMatcher(compiled, max_tokens=2)
    except (maskwright.LimitError, maskwright.UnsatisfiableError) as error:
        return error.enough_tokens or 0
    return 2


def test_where_all_short_values_are_taken() -> None:
    """The way goes on behind a longer word, though the tokens left are as few as can be."""
    vocab = of(*'ab[]{}",:n1', stop=(b"</s>",))
    words = ["", *"ab", "aa", "ab", "ba", "bb"]
    g = grammar(listed((seq(BRACE, literal(b'"n":"'), star(ir.bytes_in(b"ab")), literal(b'"')), UNBRACE)))
    compiled = maskwright.GrammarCompiler(vocab.info()).compile_grammar(maskwright.Grammar(g))
    begun = "[" + ",".join(f'{{"n":"{word}"}}' for word in words) + ',{"n":"'
    word = 26  # letters: 2^26 words are more than a list has elements
    with pytest.raises(maskwright.MatcherError):
        write(maskwright.GrammarMatcher(compiled, max_tokens=len(begun) + word + 2), vocab, begun)
    matcher = maskwright.GrammarMatcher(compiled, max_tokens=len(begun) + word + 3)
    write(matcher, vocab, begun)
    text = ""
    while not matcher.is_terminated():
        (token,) = mask_of(matcher, vocab.vocab_size)
        assert matcher.accept_token(token)
        text += vocab.token_bytes[token].decode()
    assert text == 'aaa"}]</s>'


def test_where_no_end_is_found_the_mask_is_an_error() -> None:
    """Arrays of ones: after the five shortest, another one takes more detours than are tried."""
    arrays = (seq(OPEN, optional(joined(literal(b"1")))), CLOSE)
    vocab = of(*"[],1", stop=(b"</s>",))
    compiled = maskwright.GrammarCompiler(vocab.info()).compile_grammar(maskwright.Grammar(grammar(listed(arrays))))
    begun = "[[],[1],[1,1],[1,1,1],[1,1,1,1],["
    matcher = maskwright.GrammarMatcher(compiled, max_tokens=len(begun) + 260)
    write(matcher, vocab, begun)
    with pytest.raises(maskwright.LimitError, match="its list has the values that would fit") as caught:
        mask_of(matcher, vocab.vocab_size)
    assert caught.value.limit == "remembered_text_budget"
    assert not any(matcher.accept_token(token) for token in range(vocab.vocab_size))
    assert matcher.num_accepted_tokens == len(begun)


def write(matcher: maskwright.GrammarMatcher, vocab: Vocab, text: str) -> None:
    for byte in text:
        if not matcher.accept_token(vocab.token_bytes.index(byte.encode())):
            raise maskwright.MatcherError(f"{byte} is not allowed")
