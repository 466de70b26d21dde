"""`TokenizerInfo` as bytes and back, and bytes that are something else."""

from __future__ import annotations

import random
import time

import pytest
from saved_bytes import INFO, sealed

from maskwright import ArgumentError, MaskwrightError, TokenizerError, TokenizerInfo
from oracle.comparing import scaled

INFOS = [
    INFO,
    TokenizerInfo((b"a",), 1),
    TokenizerInfo((b"a", b"", b"x" * 70_000), 40, (1, 3), (2, 30), True),
    TokenizerInfo((), 3, (), (2,)),
]


@pytest.mark.parametrize("info", INFOS, ids=range(len(INFOS)))
def test_it_comes_back(info: TokenizerInfo) -> None:
    again = TokenizerInfo.deserialize(info.serialize())
    assert again == info
    assert again.fingerprint == info.fingerprint
    assert again.serialize() == info.serialize()


def test_it_has_no_tokenizer() -> None:
    with pytest.raises(TokenizerError, match="no tokenizer to encode with"):
        TokenizerInfo.deserialize(INFO.serialize()).encode("a")


def test_fingerprints_differ() -> None:
    same = ((b"ab", b"c"), 4, (1,), (0,), False)
    others = [
        ((b"a", b"bc"), 4, (1,), (0,), False),
        ((b"ab", b"c"), 5, (1,), (0,), False),
        ((b"ab", b"c"), 4, (0,), (1,), False),
        ((b"ab", b"c"), 4, (1,), (0,), True),
    ]
    assert len({TokenizerInfo(*fields).fingerprint for fields in (same, *others)}) == 5


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a saved tokenizer"),
        (b"\x89MWG" + bytes(20), "not a saved tokenizer"),
        (b"\x89MWT\x09" + bytes(20), "version 9"),
        (b"\x89MWT\x01" + bytes(20), "checksum"),
        (sealed(b"\x89MWT\x01" + bytes(14)), "ends too early"),
        (sealed(b"\x89MWT\x01" + bytes(4) + b"\x01\0\0\0" + b"\xff" * 16), "flag"),
        (sealed(b"\x89MWT\x01" + bytes(4) + b"\x01\0\0\0" + b"\xff" * 12 + bytes(4)), "ends too early"),
        (sealed(b"\x89MWT\x01" + bytes(4) + b"\xff\xff\xff\xff" + bytes(16)), "too large"),
        (sealed(INFO.serialize() + b"x"), "other lengths"),
        (sealed(b"\x89MWT\x01" + bytes(4) + bytes(20)), "vocab_size"),
    ],
)
def test_refused(data: bytes, message: str) -> None:
    with pytest.raises(TokenizerError, match=message):
        TokenizerInfo.deserialize(data)


def test_only_bytes() -> None:
    with pytest.raises(ArgumentError, match="data must be bytes"):
        TokenizerInfo.deserialize(bytearray(INFO.serialize()))  # type: ignore[arg-type]


def test_changed_at_random() -> None:
    rng = random.Random(3)
    seeds = [info.serialize() for info in INFOS]
    read = 0
    for _ in range(scaled(4_000)):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(9, min(len(data), 400))] = rng.randrange(256)
        del data[rng.randrange(9, 2 * len(data)) :]
        start = time.thread_time()
        try:
            info = TokenizerInfo.deserialize(sealed(bytes(data)))
            read += 1
        except MaskwrightError:
            continue
        finally:
            assert time.thread_time() - start < 2
        assert TokenizerInfo.deserialize(info.serialize()) == info
    assert read > 10
