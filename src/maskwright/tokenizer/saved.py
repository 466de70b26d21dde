"""Vocabularies as bytes: what `TokenizerInfo.serialize` returns.

    header   89 4D 57 54 ("\\x89MWT"), a version byte, the CRC-32 of the rest (4 bytes, little-endian)
    counts   vocab_size, of tokens, of special tokens, of stop tokens, and whether decoding drops a leading space
    arrays   the special ids, the stop ids, the length of each token; then the tokens' bytes

All numbers are unsigned and take 4 bytes, little-endian, so that arrays are read at once. The kernel's trie is not
among them: it is 30 times as large, and to read and to check it takes as long as to build it (docs/decisions.md).

    >>> read(write(Fields((b"a", b"</s>"), 3, (1,), (1,), False))).token_bytes
    (b'a', b'</s>')

The bytes may be anybody's: sizes are checked before anything is made. What the fields say is checked by TokenizerInfo.
Cost: 20 ms for 128,000 tokens. Tested by tests/saved/test_tokenizers.py.
"""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from collections.abc import Iterable
from itertools import accumulate, pairwise
from typing import Final, NamedTuple, NoReturn

from maskwright.errors import TokenizerError
from maskwright.tokenizer.raw import check_vocab_size

_MAGIC: Final = b"\x89MWT"
_VERSION: Final = 1
_HEADER: Final = len(_MAGIC) + 5
_COUNTS: Final = struct.Struct("<5I")
_WIDTH: Final = 4


class Fields(NamedTuple):
    """The fields of a `TokenizerInfo`."""

    token_bytes: tuple[bytes, ...]
    vocab_size: int
    special_token_ids: tuple[int, ...]
    stop_token_ids: tuple[int, ...]
    drops_leading_space: bool


def write(fields: Fields) -> bytes:
    """Return the bytes of a vocabulary."""
    tokens, special, stop = fields.token_bytes, fields.special_token_ids, fields.stop_token_ids
    counts = _COUNTS.pack(fields.vocab_size, len(tokens), len(special), len(stop), fields.drops_leading_space)
    arrays = numbers((*special, *stop, *map(len, tokens)))
    body = b"".join((counts, arrays, *tokens))
    return _MAGIC + bytes((_VERSION,)) + struct.pack("<I", zlib.crc32(body)) + body


def read(data: bytes) -> Fields:
    """Read what `write` returned.

    Raises:
        TokenizerError: The bytes are something else, or were damaged.
    """
    _check_header(data)
    if len(data) < _HEADER + _COUNTS.size:
        _refuse("it ends too early")
    vocab_size, num_tokens, num_special, num_stop, drops = _COUNTS.unpack_from(data, _HEADER)
    check_vocab_size(vocab_size)
    if drops > 1:
        _refuse("a flag is neither 0 nor 1")
    begin = _HEADER + _COUNTS.size
    end = begin + _WIDTH * (num_special + num_stop + num_tokens)
    if end > len(data):
        _refuse("it ends too early")
    ids = _read_numbers(data[begin:end])
    ends = list(accumulate(ids[num_special + num_stop :], initial=end))
    if ends[-1] != len(data):
        _refuse("its tokens have other lengths")
    tokens = [data[a:b] for a, b in pairwise(ends)]
    special, stop = ids[:num_special], ids[num_special : num_special + num_stop]
    return Fields(tuple(tokens), vocab_size, tuple(special), tuple(stop), bool(drops))


def numbers(values: Iterable[int]) -> bytes:
    """Numbers of 4 bytes each, the same on every machine."""
    out = array("I", values)
    if sys.byteorder == "big":
        out.byteswap()
    return out.tobytes()


def _read_numbers(data: bytes) -> array[int]:
    out = array("I", data)
    if sys.byteorder == "big":
        out.byteswap()
    return out


def _check_header(data: bytes) -> None:
    if len(data) < _HEADER or not data.startswith(_MAGIC):
        raise TokenizerError("the bytes are not a saved tokenizer", hint="pass what TokenizerInfo.serialize() returned")
    version = data[len(_MAGIC)]
    if version != _VERSION:
        raise TokenizerError(
            f"the saved tokenizer has version {version}; this release of Maskwright reads version {_VERSION}",
            hint="save it again with this release",
        )
    expected = struct.unpack_from("<I", data, len(_MAGIC) + 1)[0]
    if zlib.crc32(memoryview(data)[_HEADER:]) != expected:
        _refuse("its checksum does not match")


def _refuse(what: str) -> NoReturn:
    raise TokenizerError(f"the saved tokenizer is damaged: {what}", hint="save it again")
