"""Forced tokens: what must come next, cut as the model's own tokenizer cuts it whatever follows."""

from __future__ import annotations

import importlib
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import maskwright
from maskwright.errors import TokenizerError
from maskwright.ir import alt, seq, star, text, tokens
from maskwright.lm import load_embedded_model
from maskwright.tokenizer.jump_forward import lasting_tokens
from oracle.comparing import compile_fresh, mask_of, scaled, seeded
from oracle.grammars import A, B, grammar, random_grammar
from oracle.model import Language, ModelMatcher
from oracle.vocabularies import SMALL


def greedy(info: maskwright.TokenizerInfo) -> Callable[[str], list[int]]:
    """Encode by the longest token that matches."""
    special = set(info.special_token_ids)
    ids = {t: i for i, t in reversed(list(enumerate(info.token_bytes))) if t and i not in special}

    def encode(given: str) -> list[int]:
        data, out = given.encode(), []
        while data:
            size = max(n for n in range(1, len(data) + 1) if data[:n] in ids)
            out.append(ids[data[:size]])
            data = data[size:]
        return out

    return encode


def test_forced_token_is_the_only_one_allowed() -> None:
    rng, seen = seeded("forced token"), set()
    for _ in range(scaled(150)):
        g = random_grammar(rng, SMALL.special)
        language = Language(g)
        model = ModelMatcher(language, SMALL)
        if not model.allowed():
            continue
        matcher = maskwright.GrammarMatcher(compile_fresh(g, SMALL))
        for _ in range(4):
            allowed = sorted(mask_of(matcher, SMALL.vocab_size))
            only = allowed[0] if len(allowed) == 1 else None
            assert matcher.forced_token() == only
            seen.add(only)
            if not allowed or not matcher.accept_token(rng.choice(allowed)):
                break
    assert len(seen) > 3


def test_forced_tokens_of_wide_vocabularies() -> None:
    """The mask may be kept as a list or as bits."""
    info = maskwright.TokenizerInfo.from_vocab([b"x"] * 1 + [b"y"] * 2000, stop_token_ids=[])
    for pattern, only in (("x", 0), ("y", None), ("xy?", 0)):
        compiled = maskwright.GrammarCompiler(info).compile_regex(pattern)
        matcher = maskwright.GrammarMatcher(compiled, override_stop_tokens=[])
        assert matcher.forced_token() == only


def test_a_stop_token_may_be_the_only_one() -> None:
    one_stop = maskwright.TokenizerInfo.from_vocab([b"a", b"</s>"], special_token_ids=[1], stop_token_ids=[1])
    matcher = maskwright.GrammarMatcher(maskwright.GrammarCompiler(one_stop).compile_regex("a"))
    assert matcher.find_jump_forward_tokens(greedy(one_stop)) == [0]
    assert matcher.accept_token(0)
    assert matcher.forced_token() == 1
    assert matcher.find_jump_forward_tokens(greedy(one_stop)) == []
    assert matcher.accept_token(1)
    assert matcher.forced_token() is None
    assert matcher.find_jump_forward_tokens(greedy(one_stop)) == []


def test_special_tokens_between_texts() -> None:
    x, a_special = SMALL.special[:2]
    matcher = maskwright.GrammarMatcher(
        compile_fresh(grammar(seq(text("ab"), tokens([x]), tokens([a_special]), text("ba"), tokens([x]))), SMALL)
    )
    encode = greedy(SMALL.info())
    ids = {t: i for i, t in reversed(list(enumerate(SMALL.token_bytes)))}
    assert matcher.find_jump_forward_tokens(encode) == [ids[b"ab"], x, a_special, ids[b"ba"], x]
    assert matcher.num_accepted_tokens == 0


def test_the_end_may_grow_unless_nothing_follows() -> None:
    ends, goes_on = (
        maskwright.GrammarMatcher(compile_fresh(g, SMALL)) for g in (grammar(text("ab")), grammar(seq(A, B, star(A))))
    )
    encode = greedy(SMALL.info())
    assert len(ends.find_jump_forward_tokens(encode)) == 1
    assert goes_on.find_jump_forward_string() == "ab"
    assert goes_on.find_jump_forward_tokens(encode) == []  # "aba" is a token


def test_whatever_follows_a_random_vocabulary() -> None:
    """Exhaustively: no continuation changes the tokens."""
    rng = random.Random(5)
    for _ in range(scaled(40)):
        pieces = [bytes(rng.choices(b"ab", k=rng.choice((2, 2, 3, 4)))) for _ in range(rng.randint(1, 6))]
        info = maskwright.TokenizerInfo.from_vocab([b"a", b"b", *pieces], stop_token_ids=[])
        check_all_behind(info, ["".join(rng.choices("ab", k=rng.randint(1, 7))) for _ in range(8)])


def check_all_behind(info: maskwright.TokenizerInfo, texts: list[str]) -> None:
    encode = greedy(info)

    def encode_letters(given: str) -> list[int]:
        """The vocabulary has no other characters, so those tried behind the text are left out."""
        return encode("".join(c for c in given if c in "ab"))

    for given in texts:
        lasting = lasting_tokens(given, info, encode_letters)
        for number in range(2**6):
            behind = format(number, "06b").translate(str.maketrans("01", "ab"))
            assert encode(given + behind)[: len(lasting)] == lasting, (given, behind)


TEXTS = ('{"name": "', '", "size": 12, "', "\n    if x:\n", "It's 1234 o'clock...  ", "</tool_call>", 'é": ["日本", ')
BEHIND = ("a", "ame", "s", " the", "1", "56", "\n\n", "  x", '"', '":', ", ", "}", "é", "日", "'s", "!!!", "\t", "")


def check_real(info: maskwright.TokenizerInfo) -> int:
    """Every text followed by anything begins with its lasting tokens. Returns how many there were."""
    count = 0
    for given in TEXTS:
        lasting = lasting_tokens(given, info, info.encode)
        count += len(lasting)
        assert given.encode().startswith(info.decode(lasting))
        for behind in BEHIND:
            assert info.encode(given + behind)[: len(lasting)] == lasting, (given, behind)
    return count


def tekken() -> maskwright.TokenizerInfo:
    module = importlib.import_module("mistral_common.tokens.tokenizers.mistral")
    return maskwright.TokenizerInfo.from_mistral(module.MistralTokenizer.v3(is_tekken=True))


def test_tekken() -> None:
    pytest.importorskip("mistral_common")
    info = tekken()
    assert check_real(info) > 10
    schema = {
        "type": "object",
        "properties": {"first_name": {"type": "string"}, "last_name": {"type": "string"}},
        "required": ["first_name", "last_name"],
        "additionalProperties": False,
    }
    compiler = maskwright.GrammarCompiler(info)
    matcher = maskwright.GrammarMatcher(compiler.compile_json_schema(schema, any_whitespace=False))
    forced = matcher.find_jump_forward_tokens()
    assert forced
    whole = json.dumps({"first_name": "Ada", "last_name": "Lovelace"})
    assert info.encode(whole)[: len(forced)] == forced


def test_sentencepiece_with_a_space_before_every_text() -> None:
    pytest.importorskip("mistral_common")
    pytest.importorskip("sentencepiece")
    module = importlib.import_module("mistral_common.tokens.tokenizers.mistral")
    data = Path(module.__file__).parents[2] / "data"
    models = sorted(data.glob("*.model*"))
    if not models:
        pytest.skip("mistral-common brings no SentencePiece model")
    info = maskwright.TokenizerInfo.from_sentencepiece(str(models[0]))
    assert info.drops_leading_space
    for given in ('{"name": "Ada", "', "ab = 12\n"):
        lasting = lasting_tokens(given, info, info.encode)
        assert lasting
        assert given.encode().startswith(info.decode(lasting))
        inside = info.encode("\n" + given)
        begin = next(i for i in range(len(inside)) if info.decode(inside[i:]) == given.encode())
        assert inside[begin:][: len(lasting)] == lasting


def test_the_embedded_model() -> None:
    model = load_embedded_model()
    info = maskwright.TokenizerInfo.from_vocab(
        model.token_bytes, stop_token_ids=[model.end_id], special_token_ids=[model.end_id]
    )
    matcher = maskwright.GrammarMatcher(maskwright.GrammarCompiler(info).compile_regex('\\{"name": "[a-z]+"\\}'))
    forced = matcher.find_jump_forward_tokens(model.encode)
    assert forced
    assert b'{"name": "'.startswith(info.decode(forced))
    assert matcher.accept_tokens(forced) == len(forced)


def test_without_a_tokenizer() -> None:
    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(text("ab")), SMALL))
    with pytest.raises(TokenizerError):
        matcher.find_jump_forward_tokens()


def test_an_encoder_that_cannot_spell_the_text_gives_nothing() -> None:
    matcher = maskwright.GrammarMatcher(compile_fresh(grammar(seq(text("ab"), alt(A, B))), SMALL))
    for encode in (lambda s: [], lambda s: [-1], lambda s: [10**9], lambda s: [0] * len(s)):
        assert matcher.find_jump_forward_tokens(encode) == []
