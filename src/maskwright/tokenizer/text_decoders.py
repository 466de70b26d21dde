"""From the texts in a vocabulary file to bytes: what `Ġ`, `▁`, `<0x0A>` and `##` stand for.

Libraries write tokens as strings, and a decoder says what they mean. A `TextDecoder` does to one token what the
library's decoder does to every token but the first of a text, so that the bytes of a sequence are the tokens' bytes,
joined:

    >>> byte_level_decoder().decode("ĠcafÃ©")
    b' caf\\xc3\\xa9'
    >>> parse_decoder({"type": "ByteFallback"}).decode("<0x0A>")
    b'\\n'

What a decoder does to the start of a whole text (drop one space) is kept apart as `drops_leading_space`. A decoder
that makes a token's text depend on its neighbours is refused. Between steps, a byte that is not ASCII is a
surrogate escape. An added token is stored as it looks in a text, so the byte-level map leaves it alone; all other
steps apply to it too. The configurations are those of the `decoder` in a tokenizer.json.
Cost: about a microsecond a token.
Tested by tests/tokenizer/test_text_decoders.py against the tokenizers library itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from maskwright.errors import TokenizerError

METASPACE = "▁"
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_OTHER_WAY = "give the bytes of every id yourself, with TokenizerInfo.from_vocab"

# The replacements that the WordPiece decoder calls clean-up, in its order; they stay within one token.
_CLEANUP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


@dataclass
class TextDecoder:
    """Steps from a token's text to its bytes, and what happens at the start of a whole text."""

    steps: list[Callable[[str], str]] = field(default_factory=list)
    added_steps: list[Callable[[str], str]] = field(default_factory=list)
    drops_leading_space: bool = False
    fused: bool = False

    def decode(self, token: str, *, added: bool = False) -> bytes:
        """Give the bytes of one token; `added` marks one that is not in the model's own vocabulary."""
        for step in self.added_steps if added else self.steps:
            token = step(token)
        return token.encode("utf-8", "surrogateescape")

    def then(self, step: Callable[[str], str], *, for_added: bool = True) -> None:
        """Append a step."""
        self.steps.append(step)
        if for_added:
            self.added_steps.append(step)


@lru_cache(maxsize=1)
def byte_level_map() -> dict[str, int]:
    """Map each character of byte-level BPE to its byte: printable Latin-1 is itself, the rest starts at U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


def byte_level_decoder(characters: Mapping[str, int] | None = None) -> TextDecoder:
    """Decode byte-level BPE. `characters` maps characters to bytes, by default in the way of GPT-2."""
    byte_of = dict(characters or byte_level_map()).__getitem__

    def step(token: str) -> str:
        try:
            return bytes(map(byte_of, token)).decode("utf-8", "surrogateescape")
        except KeyError:
            return token  # as the library: a token with any other character is plain text

    decoder = TextDecoder(fused=True)
    decoder.then(step, for_added=False)
    return decoder


def metaspace_decoder(*, drops_leading_space: bool, byte_pieces: Mapping[str, int] | None = None) -> TextDecoder:
    """Decode SentencePiece's pieces: `▁` is a space, and each of `byte_pieces` its byte."""
    escapes = {piece: _escaped(byte) for piece, byte in (byte_pieces or {}).items()}
    decoder = TextDecoder(drops_leading_space=drops_leading_space)
    decoder.then(lambda piece: escapes.get(piece) or piece.replace(METASPACE, " "))
    return decoder


def wordpiece_decoder(prefix: str = "##", *, cleanup: bool = False) -> TextDecoder:
    """Decode WordPiece: a piece with the prefix goes on a word, any other begins one after a space."""
    decoder = TextDecoder()
    _word_piece(decoder, {"prefix": prefix, "cleanup": cleanup})
    return decoder


def latin1_decoder() -> TextDecoder:
    """Decode a tokenizer over bytes whose tokens are the characters U+0000 to U+00FF."""
    return byte_level_decoder({chr(byte): byte for byte in range(256)})


def parse_decoder(config: Mapping[str, Any]) -> TextDecoder:
    """Read the `decoder` of a tokenizer.json.

    Raises:
        TokenizerError: the decoder does not give each token a text of its own, or is of an unknown kind.
    """
    decoder = TextDecoder()
    _add(decoder, config)
    return decoder


def decoder_of_pre_tokenizer(config: Mapping[str, Any]) -> TextDecoder | None:
    """Find the decoder that undoes a `pre_tokenizer` of a tokenizer.json: what to go by where there is no decoder."""
    if config["type"] in ("ByteLevel", "Metaspace"):
        return parse_decoder(config)
    found = (decoder_of_pre_tokenizer(part) for part in config.get("pretokenizers", ()))
    return next((decoder for decoder in found if decoder is not None), None)


def _add(decoder: TextDecoder, config: Mapping[str, Any]) -> None:
    kind = str(config["type"])
    step = _STEPS.get(kind)
    if step is None:
        raise _refusal(kind, "does not give each token a text of its own")
    if decoder.fused and kind not in _AFTER_FUSE:
        raise _refusal(kind, "comes after the tokens were joined")
    step(decoder, config)


def _sequence(decoder: TextDecoder, config: Mapping[str, Any]) -> None:
    for part in config["decoders"]:
        _add(decoder, part)


def _byte_level(decoder: TextDecoder, config: Mapping[str, Any]) -> None:
    decoder.then(byte_level_decoder().steps[0], for_added=False)
    decoder.fused = True


def _byte_fallback(decoder: TextDecoder, config: Mapping[str, Any]) -> None:
    def step(token: str) -> str:
        match = _BYTE_TOKEN.fullmatch(token) if token[:1] == "<" else None
        return _escaped(int(match[1], 16)) if match else token

    decoder.then(step)


def _metaspace(decoder: TextDecoder, config: Mapping[str, Any]) -> None:
    replacement = config.get("replacement", METASPACE)
    scheme = config.get("prepend_scheme", "always" if config.get("add_prefix_space", True) else "never")
    decoder.drops_leading_space |= scheme != "never"
    decoder.then(lambda token: token.replace(replacement, " "))


def _replace(decoder: TextDecoder, config: Mapping[str, Any]) -> None:
    pattern, content = config["pattern"].get("String"), config["content"]
    if not pattern:
        raise _refusal("Replace", "replaces by a regular expression")
    if decoder.fused and len(pattern) > 1:
        raise _refusal("Replace", "replaces text that may lie across tokens")
    decoder.then(lambda token: token.replace(pattern, content))


def _strip(decoder: TextDecoder, config: Mapping[str, Any]) -> None:
    content, start, stop = config["content"], config["start"], config["stop"]
    if not decoder.fused:
        decoder.then(lambda token: _strip_token(token, content, start, stop))
    elif stop or (start and content != " "):
        raise _refusal("Strip", "removes more than the space at the start of a text")
    elif start:
        decoder.drops_leading_space = True


def _strip_token(token: str, content: str, start: int, stop: int) -> str:
    for _ in range(start):
        token = token.removeprefix(content)
    for _ in range(stop):
        token = token.removesuffix(content)
    return token


def _fuse(decoder: TextDecoder, config: Mapping[str, Any]) -> None:
    decoder.fused = True


def _word_piece(decoder: TextDecoder, config: Mapping[str, Any]) -> None:
    prefix, cleanup = config["prefix"], _CLEANUP if config["cleanup"] else ()

    def step(token: str) -> str:
        token = token[len(prefix) :] if token.startswith(prefix) else f" {token}"
        for untidy, tidy in cleanup:
            token = token.replace(untidy, tidy)
        return token

    decoder.then(step)
    decoder.drops_leading_space = True


_STEPS: dict[str, Callable[[TextDecoder, Mapping[str, Any]], None]] = {
    "Sequence": _sequence,
    "ByteLevel": _byte_level,
    "ByteFallback": _byte_fallback,
    "Metaspace": _metaspace,
    "Replace": _replace,
    "Strip": _strip,
    "Fuse": _fuse,
    "WordPiece": _word_piece,
}
_AFTER_FUSE = ("Sequence", "Replace", "Strip", "Fuse")


def _escaped(byte: int) -> str:
    return bytes((byte,)).decode("utf-8", "surrogateescape")


def _refusal(kind: str, reason: str) -> TokenizerError:
    return TokenizerError(f"the tokenizer's decoder {kind!r} {reason}, so tokens have no exact bytes", hint=_OTHER_WAY)
