"""Read a plain vocabulary: bytes as they are, str as UTF-8. In a list the position is the id; a dict gives the ids.

    >>> read([b"a", "é", b""], special_token_ids=()).token_bytes
    [b'a', b'\\xc3\\xa9', b'']
    >>> read({"c": 2, "a": 0}, special_token_ids=()).token_bytes
    [b'a', b'', b'c']

The strings of vocabulary files are no texts: `Ġthe` and `▁the` stand for ` the`, `<0x0A>` for a line break. Nor are
those that decoding each id alone returns: there, half a character is U+FFFD. A vocabulary that is full of such, as str
or encoded, is refused, since every mask would be wrong.
Tested by tests/tokenizer/test_from_vocab.py.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from maskwright.errors import TokenizerError
from maskwright.tokenizer.raw import RawTokenizer, check_vocab_size, wrong_type

Vocabulary: TypeAlias = "Sequence[bytes | str] | Mapping[str, int] | Mapping[bytes, int]"

_MOST_OF = 20  # marks in one token of so many are no accident
_LOST = "\ufffd"
_MANY_LOST = 100  # some vocabularies have a few; decoded, each of the 128 bytes beyond ASCII is one
_MARKS = {
    "\u0120": ("byte-level BPE", "from_huggingface(tokenizer)"),
    "\u2581": ("SentencePiece", "from_huggingface(tokenizer) or from_sentencepiece(processor)"),
    "##": ("WordPiece", "from_huggingface(tokenizer)"),
}
_MARK = re.compile(r"\u0120|\u2581|##(?=\w)| |<0x[0-9A-F]{2}>\Z")


def read(tokens: Vocabulary, special_token_ids: Iterable[int]) -> RawTokenizer:
    """Translate a list of token texts, or a dict from texts to ids."""
    texts = _by_id(tokens) if isinstance(tokens, Mapping) else tokens
    if isinstance(texts, (str, bytes, bytearray)) or not isinstance(texts, Sequence):
        raise wrong_type(tokens, "from_vocab", "a list with the bytes or str of every id, or a dict from these to ids")
    _check_decoded(texts)
    return RawTokenizer([_to_bytes(token, i) for i, token in enumerate(texts)], special_token_ids, ())


def _by_id(ids: Mapping[Any, Any]) -> list[bytes | str]:
    """The texts in the order of their ids; empty where there is no such id."""
    texts: dict[int, bytes | str] = {}
    for text, given in ids.items():
        i = _id_of(text, given)
        if i in texts:
            raise TokenizerError(
                f"id {i} has two texts, {str(texts[i])[:40]!r} and {str(text)[:40]!r}", hint="give each id one text"
            )
        texts[i] = text
    size = check_vocab_size(max(texts, default=-1) + 1)
    return [texts.get(i, b"") for i in range(size)]


def _id_of(text: Any, given: Any) -> int:
    try:
        if not isinstance(text, (str, bytes)) or isinstance(given, bool) or (i := operator.index(given)) < 0:
            raise TypeError
    except TypeError:
        is_reversed = isinstance(text, int) and isinstance(given, (str, bytes))
        raise TokenizerError(
            f"the entry {str(text)[:40]!r}: {str(given)[:40]!r} is not a text and its id",
            hint="pass {text: id for id, text in vocab.items()}" if is_reversed else "ids are integers from 0 on",
        ) from None
    return i


def _check_decoded(texts: Sequence[bytes | str]) -> None:
    """Refuse texts that are spelled as in a vocabulary file."""
    counts: Counter[str] = Counter()
    for given in texts:
        text = given.decode(errors="ignore") if isinstance(given, bytes) else given
        if isinstance(text, str):
            counts[_LOST] += _LOST in text
            if (found := _MARK.match(text)) is not None:
                counts[found[0]] += 1
    if sum([mark.startswith("<0x") for mark in counts]) == 256:
        raise TokenizerError(
            "the tokens <0x00> to <0xFF> stand for single bytes, as in vocabulary files of SentencePiece",
            hint="use TokenizerInfo.from_sentencepiece(processor) or from_huggingface(tokenizer), which decode them, "
            "or pass the byte instead, such as b'\\n' for <0x0A>",
        )
    if counts[_LOST] > _MANY_LOST:
        raise TokenizerError(
            f"{counts[_LOST]:,} of {len(texts):,} tokens hold U+FFFD, which decoding writes for half a character",
            hint="use the method of the tokenizer's library, such as TokenizerInfo.from_huggingface(tokenizer), or "
            "pass the bytes of every id",
        )
    for mark, (kind, reader) in _MARKS.items():
        if counts[mark] * _MOST_OF > len(texts) and counts[mark] > counts[" "]:
            raise TokenizerError(
                f"{counts[mark]:,} of {len(texts):,} tokens begin with {mark!r}, as in vocabulary files of {kind}, "
                "where it does not stand for itself",
                hint=f"use TokenizerInfo.{reader}, which decodes them, or pass the text of every id as it stands in an "
                "output",
            )


def _to_bytes(token: bytes | str, token_id: int) -> bytes:
    if isinstance(token, bytes):
        return token
    if not isinstance(token, str):
        hint = "pass b'' for an id without text" if token is None else "pass its bytes or its text"
        raise TokenizerError(f"token {token_id} is of type {type(token).__qualname__}, not bytes or str", hint=hint)
    try:
        return token.encode()
    except UnicodeEncodeError as error:
        raise TokenizerError(
            f"token {token_id} is not valid text: {error.reason}", hint="give its bytes instead of a str"
        ) from error
