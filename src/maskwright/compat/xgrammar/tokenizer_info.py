"""`TokenizerInfo` and `VocabType`: the vocabulary as XGrammar's callers give it.

    >>> info = TokenizerInfo(["\\u2581a", "<0x0A>", "</s>"], VocabType.BYTE_FALLBACK)
    >>> info.decoded_vocab, info.stop_token_ids
    ([b' a', b'\\n', b'</s>'], [2])

Special tokens of a tokenizer never match by their text, also where XGrammar lets them: see docs/engines/xgrammar.md.
Tested by tests/compat/test_xgrammar_objects.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from typing import Any, Final

from maskwright.compat.xgrammar.base import XGRObject
from maskwright.compat.xgrammar.exception import as_xgrammar_errors
from maskwright.compat.xgrammar.serialization import bytes_of, dumped, field, loaded, text_of
from maskwright.errors import TokenizerError, wrong_argument
from maskwright.support.arguments import as_integer, as_tuple, instance
from maskwright.tokenizer import TokenizerInfo as _Info
from maskwright.tokenizer.text_decoders import byte_level_map

# What ends the output where nobody says so: names that no ordinary text has.
_STOP_NAMES: Final = frozenset(
    name.encode()
    for name in (
        "</s>",
        "<eos>",
        "<|endoftext|>",
        "<|end_of_text|>",
        "<|eot_id|>",
        "<end_of_turn>",
        "<|im_end|>",
        "<|eos|>",
        "<｜end▁of▁sentence｜>",
    )
)
_BYTE: Final = re.compile(rb"<0x([0-9A-Fa-f]{2})>\Z")


class VocabType(Enum):
    """How the texts of a vocabulary stand for bytes."""

    RAW = 0
    """As they are, in UTF-8."""
    BYTE_FALLBACK = 1
    """As SentencePiece writes them: U+2581 is a space, `<0x1B>` a byte."""
    BYTE_LEVEL = 2
    """As GPT-2 writes them: a character for each byte."""


class TokenizerInfo(XGRObject):
    """The bytes of every token id, and which ids stop the output.

    Args:
        encoded_vocab: The text of every id, in order. An empty list stands for one id without text.
        vocab_type: How these texts stand for bytes.
        vocab_size: The width of the model's logits, if they are wider than the vocabulary.
        stop_token_ids: The ids that end the output; by default those with a name such as `</s>`.
        add_prefix_space: Whether the tokenizer puts a space before the first word.

    Raises:
        TokenizerError: A text or an id is wrong.
    """

    @as_xgrammar_errors()
    def __init__(
        self,
        encoded_vocab: list[bytes] | list[str],
        vocab_type: VocabType = VocabType.RAW,
        *,
        vocab_size: int | None = None,
        stop_token_ids: list[int] | int | None = None,
        add_prefix_space: bool = False,
    ) -> None:
        instance("vocab_type", vocab_type, VocabType)
        texts = as_tuple("encoded_vocab", encoded_vocab, "a list with the bytes or the str of every id") or (b"",)
        tokens = [_decoded(text, vocab_type) for text in texts]
        stops = _named_stops(tokens) if stop_token_ids is None else _ids(stop_token_ids)
        size = len(tokens) if vocab_size is None else vocab_size
        self._info = _Info(tuple(tokens), size, (), tuple(stops), add_prefix_space)
        self._vocab_type = vocab_type

    @classmethod
    def _of(cls, info: _Info, vocab_type: VocabType) -> TokenizerInfo:
        made = cls.__new__(cls)
        made._info, made._vocab_type = info, vocab_type
        return made

    @staticmethod
    @as_xgrammar_errors()
    def from_huggingface(
        tokenizer: Any, *, vocab_size: int | None = None, stop_token_ids: list[int] | int | None = None
    ) -> TokenizerInfo:
        """Read a tokenizer of transformers.

        Args:
            tokenizer: The tokenizer.
            vocab_size: The width of the model's logits.
            stop_token_ids: By default those that the tokenizer declares, or whose names say so.

        Raises:
            TokenizerError: Its tokens have no exact bytes, or an argument is out of range.
        """
        stops = None if stop_token_ids is None else _ids(stop_token_ids)
        try:
            info = _Info.from_huggingface(tokenizer, vocab_size=vocab_size, stop_token_ids=stops)
        except TokenizerError:
            if stops is not None:
                raise
            undeclared = _Info.from_huggingface(tokenizer, vocab_size=vocab_size, stop_token_ids=[])
            info = replace(undeclared, stop_token_ids=tuple(_named_stops(undeclared.token_bytes)))
        return TokenizerInfo._of(info, _vocab_type_of(tokenizer))

    @staticmethod
    @as_xgrammar_errors()
    def from_vocab_and_metadata(encoded_vocab: list[bytes | str], metadata: str) -> TokenizerInfo:
        """Make it from a vocabulary and what `dump_metadata` wrote."""
        data = loaded(metadata, "TokenizerInfo", versioned=False)
        vocab_type, size = _vocab_type(data), field(data, "vocab_size", int)
        tokens = [_decoded(text, vocab_type) for text in as_tuple("encoded_vocab", encoded_vocab, "a list of texts")]
        return _made(tokens, vocab_type, size, data)

    @staticmethod
    @as_xgrammar_errors()
    def _detect_metadata_from_hf(backend_str: str) -> dict[str, Any]:
        """Return what a `tokenizer.json` says: its `vocab_type`, and `add_prefix_space`. TensorRT-LLM calls this."""
        data = loaded(backend_str, "tokenizer", versioned=False)
        kinds = {each.get("type") for each in _components(data, "decoder", "decoders")}
        if "ByteFallback" in kinds:
            vocab_type = VocabType.BYTE_FALLBACK
        else:
            vocab_type = VocabType.BYTE_LEVEL if "ByteLevel" in kinds else VocabType.RAW
        prepends = any(each.get("type") == "Prepend" for each in _components(data, "normalizer", "normalizers"))
        spaced = any(_puts_space(each) for each in _components(data, "pre_tokenizer", "pretokenizers"))
        return {"vocab_type": vocab_type, "add_prefix_space": prepends or spaced}

    @property
    def vocab_type(self) -> VocabType:
        """How the vocabulary's texts stand for bytes."""
        return self._vocab_type

    @property
    def vocab_size(self) -> int:
        """The number of ids, padding included."""
        return self._info.vocab_size

    @property
    def add_prefix_space(self) -> bool:
        """Whether the tokenizer puts a space before the first word."""
        return self._info.drops_leading_space

    @property
    def prepend_space_in_tokenization(self) -> bool:
        """The older name of `add_prefix_space`."""
        return self._info.drops_leading_space

    @property
    def decoded_vocab(self) -> list[bytes]:
        """The bytes of every id but padding."""
        return list(self._info.token_bytes)

    @property
    def stop_token_ids(self) -> list[int]:
        """The ids that end the output."""
        return list(self._info.stop_token_ids)

    @property
    def special_token_ids(self) -> list[int]:
        """The ids that never match by their text, those without text and padding included."""
        info = self._info
        without_text = [i for i, text in enumerate(info.token_bytes) if not text]
        padding = range(len(info.token_bytes), info.vocab_size)
        return sorted({*info.special_token_ids, *without_text, *padding} - set(info.stop_token_ids))

    def dump_metadata(self) -> str:
        """Write all but the vocabulary as JSON."""
        return dumped(self._metadata(), versioned=False)

    def serialize_json(self) -> str:
        """Write it as JSON, which `deserialize_json` reads."""
        return dumped({**self._metadata(), "decoded_vocab": [text_of(token) for token in self._info.token_bytes]})

    @staticmethod
    @as_xgrammar_errors()
    def deserialize_json(json_string: str) -> TokenizerInfo:
        """Read what `serialize_json` wrote.

        Raises:
            InvalidJSONError: It is not JSON.
            DeserializeVersionError: It was written by another engine or release.
            DeserializeFormatError: It is something else.
        """
        data = loaded(json_string, "TokenizerInfo")
        tokens = [bytes_of(text) for text in field(data, "decoded_vocab", list)]
        return _made(tokens, _vocab_type(data), field(data, "vocab_size", int), data)

    def _metadata(self) -> dict[str, Any]:
        known = {
            "vocab_type": self._vocab_type.value,
            "vocab_size": self._info.vocab_size,
            "add_prefix_space": self._info.drops_leading_space,
            "stop_token_ids": list(self._info.stop_token_ids),
        }
        special = list(self._info.special_token_ids)
        return {**known, "special_token_ids": special} if special else known


def checked_info(name: str, value: Any) -> TokenizerInfo:
    """Return a `TokenizerInfo`."""
    if isinstance(value, TokenizerInfo):
        return value
    raise wrong_argument(name, value, "a TokenizerInfo", "make one with TokenizerInfo.from_huggingface(tokenizer)")


def _made(tokens: list[bytes], vocab_type: VocabType, size: int, data: dict[str, Any]) -> TokenizerInfo:
    special = field(data, "special_token_ids", list) if "special_token_ids" in data else ()
    prefix_space = data.get("add_prefix_space", data.get("prepend_space_in_tokenization", False))
    info = _Info(tuple(tokens), size, tuple(special), tuple(field(data, "stop_token_ids", list)), prefix_space)
    return TokenizerInfo._of(info, vocab_type)


def _vocab_type(data: dict[str, Any]) -> VocabType:
    number = field(data, "vocab_type", int)
    try:
        return VocabType(number)
    except ValueError:
        raise TokenizerError(f"vocab_type must be 0, 1 or 2, not {number}") from None


def _components(data: dict[str, Any], name: str, members: str) -> list[dict[str, Any]]:
    """The parts of a tokenizer in this role: one, or those of a sequence."""
    whole = data.get(name)
    if not isinstance(whole, dict):
        return []
    several = whole.get(members) if whole.get("type") == "Sequence" else [whole]
    return [each for each in several if isinstance(each, dict)] if isinstance(several, list) else []


def _puts_space(pre_tokenizer: dict[str, Any]) -> bool:
    if pre_tokenizer.get("type") != "Metaspace":
        return False
    return pre_tokenizer.get("prepend_scheme") != "never" and pre_tokenizer.get("add_prefix_space") is not False


def _vocab_type_of(tokenizer: Any) -> VocabType:
    """How a tokenizer's own texts stand for bytes. `Ġ` is a space in vocabularies of byte-level BPE."""
    vocabulary = tokenizer.get_vocab()
    if "<0x0A>" in vocabulary:
        return VocabType.BYTE_FALLBACK
    return VocabType.BYTE_LEVEL if "\u0120" in vocabulary else VocabType.RAW


def _ids(given: Any) -> list[int]:
    several = given if isinstance(given, Iterable) else [given]
    return [as_integer("each of stop_token_ids", i) for i in several]


def _named_stops(tokens: Iterable[bytes]) -> list[int]:
    return [i for i, token in enumerate(tokens) if token in _STOP_NAMES]


def _decoded(text: Any, vocab_type: VocabType) -> bytes:
    if isinstance(text, str):
        raw = text.encode("utf-8", "surrogateescape")
    elif isinstance(text, bytes):
        raw = text
    else:
        raise wrong_argument("each of encoded_vocab", text, "bytes or a str")
    if vocab_type is VocabType.BYTE_FALLBACK:
        match = _BYTE.match(raw)
        return bytes([int(match[1], 16)]) if match else raw.replace("\u2581".encode(), b" ")
    if vocab_type is VocabType.BYTE_LEVEL:
        return _from_byte_level(raw)
    return raw


def _from_byte_level(raw: bytes) -> bytes:
    """The bytes that the characters stand for; texts with another character, such as added tokens, are as they are."""
    table = byte_level_map()
    try:
        return bytes([table[character] for character in raw.decode()])
    except (KeyError, UnicodeDecodeError):
        return raw
