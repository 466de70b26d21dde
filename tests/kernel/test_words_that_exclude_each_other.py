"""One of many words is to occur and no second one: behind two of them nothing can follow, which is to be found soon."""

from __future__ import annotations

import pytest

import maskwright
from oracle.comparing import mask_of

WORDS = ["NEW", "ON_APPROVAL", "ON_SIGNING", "ON_MODIFICATION", "EXECUTED", "CANCELED", "SIGNED", "DELETED", "FAILED"]
TEXTS = [*(bytes([b]) for b in range(256)), *(w.encode() for w in WORDS), b"NEW ON_SIGNING", b'NEW"', b'NEWNEW"']
STOP = len(TEXTS)
INFO = maskwright.TokenizerInfo.from_vocab([*TEXTS, b"</s>"], stop_token_ids=[STOP])


@pytest.mark.parametrize(
    "text", [b'"', b'"x', b'"NEW', b'"NEW ON_SIGN', b'"ON_', b'"DELETE', b'"EXECUTED CANCELE', b'"SIGNED"']
)
def test_masks(text: bytes) -> None:
    grammar = maskwright.Grammar.from_json_schema({"type": "string", "oneOf": [{"pattern": word} for word in WORDS]})
    matcher = maskwright.GrammarMatcher(maskwright.GrammarCompiler(INFO).compile_grammar(grammar))
    assert matcher.accept_string(text)
    allowed = mask_of(matcher, STOP + 1)
    assert allowed == {token for token in range(STOP + 1) if matcher.fork().accept_token(token)}
    for token in allowed - {STOP}:
        found = sum(word in (text + TEXTS[token]).decode("latin-1") for word in WORDS)
        assert found <= 1
