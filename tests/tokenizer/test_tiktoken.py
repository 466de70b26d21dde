"""tiktoken encodings: a small one with gaps, and the real vocabularies where they are present."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import TokenizerError
from maskwright.tokenizer import TokenizerInfo

tiktoken = pytest.importorskip("tiktoken")
VOCABULARIES = ("llama3", "qwen2", "llama4")


def small(specials: dict[str, int]) -> Any:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"y" * 2000: 258}
    return tiktoken.Encoding("small", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens=specials)


def test_gaps_are_empty_tokens() -> None:
    it = TokenizerInfo.from_tiktoken(small({"<|endoftext|>": 262}))
    assert it.token_bytes[255:259] == (b"\xff", b"ab", b"", b"y" * 2000)
    assert it.token_bytes[259:] == (b"", b"", b"", b"<|endoftext|>")
    assert (it.vocab_size, it.special_token_ids, it.stop_token_ids) == (263, (262,), (262,))


def test_all_specials_are_special_and_the_caller_names_the_stop_tokens() -> None:
    it = TokenizerInfo.from_tiktoken(small({"<a>": 260, "<b>": 259}), stop_token_ids=[260, 65], vocab_size=300)
    assert (it.vocab_size, it.special_token_ids, it.stop_token_ids) == (300, (259, 260), (65, 260))


def test_no_stop_token_is_an_error_that_lists_candidates() -> None:
    with pytest.raises(TokenizerError, match="does not say which token ends the output") as caught:
        TokenizerInfo.from_tiktoken(small({"<|eot_id|>": 260}))
    assert "260: '<|eot_id|>'" in str(caught.value.hint)
    with pytest.raises(TokenizerError, match=r"pass stop_token_ids=\[id, ...\]$"):
        TokenizerInfo.from_tiktoken(small({}))


@pytest.fixture(scope="module", params=VOCABULARIES)
def real(request: pytest.FixtureRequest, peers: Any) -> Any:
    encoding, vocab, base, stop = peers.load_encoding(request.param)
    return encoding, vocab, base, TokenizerInfo.from_tiktoken(encoding, stop_token_ids=[stop])


def test_real_vocabulary(real: Any) -> None:
    encoding, vocab, base, it = real
    assert list(it.token_bytes) == vocab
    assert it.vocab_size == encoding.n_vocab == len(vocab)
    assert it.special_token_ids == tuple(range(base, len(vocab)))


def test_real_round_trip(real: Any, text: str) -> None:
    encoding, _, _, it = real
    assert it.decode(encoding.encode_ordinary(text)) == text.encode()
