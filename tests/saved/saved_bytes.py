"""What the tests of saved bytes share: a vocabulary with all bytes, checksums that fit, the masks of a text."""

from __future__ import annotations

import struct
import zlib

import maskwright as mw
from oracle.comparing import mask_of

STOP = 256
THINK = 257
TOKENS = [*(bytes((b,)) for b in range(256)), b"</s>", b"<think>", b'":', b"ab", b"12", "é".encode()]
INFO = mw.TokenizerInfo.from_vocab(TOKENS, special_token_ids=[STOP, THINK], stop_token_ids=[STOP])
HEADER = 9


def sealed(data: bytes) -> bytes:
    """The same with the checksum of what follows the header."""
    return data[:5] + struct.pack("<I", zlib.crc32(data[HEADER:])) + data[HEADER:]


def masks(compiled: mw.CompiledGrammar, text: bytes) -> list[set[int]]:
    """The masks before each byte of a text, up to the first that is refused, and behind the last."""
    matcher = mw.GrammarMatcher(compiled)
    found = [mask_of(matcher, INFO.vocab_size)]
    for byte in text:
        if not matcher.accept_token(byte):
            break
        found.append(mask_of(matcher, INFO.vocab_size))
    return found
