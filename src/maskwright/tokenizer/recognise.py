"""A tokenizer of any library that is known, recognised by its class, without importing the library.

    >>> info_of(b"")
    Traceback (most recent call last):
    maskwright.errors.ArgumentError: tokenizer_info must be a TokenizerInfo or a tokenizer, not bytes
      hint: make one with TokenizerInfo.from_huggingface, from_tiktoken, from_vocab or another from_ method

Tested by tests/tokenizer/test_recognise.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from maskwright.errors import wrong_argument
from maskwright.tokenizer.info import TokenizerInfo
from maskwright.tokenizer.raw import CONSTRUCTORS, library_of

_HINT = "make one with TokenizerInfo.from_huggingface, from_tiktoken, from_vocab or another from_ method"


def info_of(
    tokenizer: Any, *, vocab_size: int | None = None, stop_token_ids: Iterable[int] | None = None
) -> TokenizerInfo:
    """Return what masks need to know of a tokenizer; a `TokenizerInfo` is returned as it is.

    Args:
        tokenizer: a tokenizer of a library that is known.
        vocab_size: the width of the model's logits, as in the `from_` methods of `TokenizerInfo`.
        stop_token_ids: in place of those that the tokenizer declares.

    Raises:
        ArgumentError: It is not a tokenizer of a library that is known.
        TokenizerError: It is, but cannot be read.
    """
    if isinstance(tokenizer, TokenizerInfo):
        return tokenizer
    library = library_of(tokenizer)
    if library is not None:
        constructor = getattr(TokenizerInfo, CONSTRUCTORS[library])
        info: TokenizerInfo = constructor(tokenizer, vocab_size=vocab_size, stop_token_ids=stop_token_ids)
        return info
    raise wrong_argument("tokenizer_info", tokenizer, "a TokenizerInfo or a tokenizer", _hint(tokenizer))


def _hint(given: Any) -> str:
    if isinstance(given, str):
        return "load it first: TokenizerInfo.from_huggingface(transformers.AutoTokenizer.from_pretrained(name))"
    if isinstance(given, list | tuple | dict):
        return "use TokenizerInfo.from_vocab(tokens, stop_token_ids=[...]) for the texts of all tokens"
    if library_of(getattr(given, "tokenizer", None)) is not None:
        return "pass its tokenizer attribute"
    return _HINT
