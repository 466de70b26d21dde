"""Read the vocabulary of a llama-cpp-python model: llama.cpp itself knows the bytes of every token.

Special are control tokens, the unknown token and unused ones. Stop tokens are all at which llama.cpp ends a
generation. A model that was loaded with `vocab_only=True` suffices.
Cost: 0.3 s for 100,000 tokens. Tested by tests/engines/test_llama_cpp.py.
"""

from __future__ import annotations

import ctypes
from typing import Any

from maskwright.tokenizer.raw import RawTokenizer, check_vocab_size, import_library, library_of, wrong_type

_USUAL_SIZE = 256


def read(llama: Any) -> RawTokenizer:
    """Translate the vocabulary of a `llama_cpp.Llama`."""
    vocab = getattr(getattr(llama, "_model", None), "vocab", None)
    if library_of(llama) != "llama_cpp" or vocab is None or not hasattr(llama, "n_vocab"):
        raise wrong_type(llama, "from_llama_cpp", "a llama_cpp.Llama")
    library = import_library("llama_cpp")
    ids = range(check_vocab_size(llama.n_vocab()))
    special = library.LLAMA_TOKEN_ATTR_CONTROL | library.LLAMA_TOKEN_ATTR_UNKNOWN | library.LLAMA_TOKEN_ATTR_UNUSED
    pieces = _Pieces(library, vocab)
    return RawTokenizer(
        token_bytes=[pieces.of(i) for i in ids],
        special_token_ids=[i for i in ids if library.llama_vocab_get_attr(vocab, i) & special],
        stop_token_ids=[i for i in ids if library.llama_vocab_is_eog(vocab, i)],
        drops_leading_space=b"".join(pieces.of(i) for i in _encode(llama, "a")) == b" a",
        encode=lambda text: _encode(llama, text),
    )


def _encode(llama: Any, text: str) -> list[int]:
    ids: list[int] = llama.tokenize(text.encode("utf-8", "surrogatepass"), add_bos=False, special=False)
    return ids


class _Pieces:
    """The bytes of tokens, into one buffer that grows as needed."""

    def __init__(self, library: Any, vocab: Any) -> None:
        self._library, self._vocab = library, vocab
        self._buffer = ctypes.create_string_buffer(_USUAL_SIZE)

    def of(self, token_id: int) -> bytes:
        size = self._write(token_id)
        if size < 0:
            self._buffer = ctypes.create_string_buffer(-size)
            size = self._write(token_id)
        return self._buffer.raw[:size]

    def _write(self, token_id: int) -> int:
        buffer = self._buffer
        size: int = self._library.llama_token_to_piece(self._vocab, token_id, buffer, len(buffer), 0, True)
        return size
