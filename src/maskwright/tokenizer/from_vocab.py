"""Read a plain list of token texts: bytes as they are, str as UTF-8, the position is the id.

    >>> read([b"a", "é", b""], special_token_ids=()).token_bytes
    [b'a', b'\\xc3\\xa9', b'']

Tested by tests/tokenizer/test_tokenizer_info.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from maskwright.errors import TokenizerError
from maskwright.tokenizer.raw import RawTokenizer, wrong_type


def read(tokens: Sequence[bytes | str], special_token_ids: Iterable[int]) -> RawTokenizer:
    """Translate a list of token texts."""
    if isinstance(tokens, (str, bytes, bytearray)) or not isinstance(tokens, Sequence):
        raise wrong_type(tokens, "from_vocab", "a sequence with the bytes or str of every id, in order")
    return RawTokenizer([_to_bytes(token, i) for i, token in enumerate(tokens)], special_token_ids, ())


def _to_bytes(token: bytes | str, token_id: int) -> bytes:
    if isinstance(token, bytes):
        return token
    if not isinstance(token, str):
        raise TokenizerError(f"token {token_id} is of type {type(token).__qualname__}, not bytes or str")
    try:
        return token.encode()
    except UnicodeEncodeError as error:
        raise TokenizerError(
            f"token {token_id} is not valid text: {error.reason}", hint="give its bytes instead of a str"
        ) from error
