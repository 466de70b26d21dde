"""Read a tokenizer of mistral-common: tekken (byte-level BPE over tiktoken) or SentencePiece.

In tekken, the special tokens come first, so an id is its rank plus the number of special tokens; and many tokens that
are not valid UTF-8 share one printed text, so only the byte interface tells them apart. Cost: about a microsecond a
token. Tested by tests/tokenizer/test_mistral.py.
"""

from __future__ import annotations

from typing import Any

from maskwright.tokenizer import from_sentencepiece
from maskwright.tokenizer.raw import RawTokenizer, check_vocab_size, library_of, wrong_type


def read(tokenizer: Any) -> RawTokenizer:
    """Translate a `MistralTokenizer`, or the `Tekkenizer` or `SentencePieceTokenizer` inside one."""
    inner = tokenizer
    for wrapper in ("instruct_tokenizer", "tokenizer"):
        inner = getattr(inner, wrapper, inner)
    if library_of(tokenizer) != "mistral_common" or not hasattr(inner, "n_words"):
        raise wrong_type(tokenizer, "from_mistral", "a MistralTokenizer of mistral-common")
    if hasattr(inner, "id_to_byte_piece"):
        return _read_tekken(inner)
    return from_sentencepiece.read(inner.file_path)


def _read_tekken(tekken: Any) -> RawTokenizer:
    num_special_tokens, size = tekken.num_special_tokens, check_vocab_size(tekken.n_words)
    special = [tekken.id_to_piece(i).encode() for i in range(num_special_tokens)]
    plain = [tekken.id_to_byte_piece(i) for i in range(num_special_tokens, size)]
    return RawTokenizer(
        token_bytes=special + plain,
        special_token_ids=range(num_special_tokens),
        stop_token_ids=[tekken.eos_id],
        encode=lambda text: tekken.encode(text, bos=False, eos=False),
    )
