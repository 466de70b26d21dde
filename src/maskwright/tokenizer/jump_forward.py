"""Jump-forward: the tokens that must come next, so that the model need not be asked for them.

    forced text  `": {"name": "`      the model's tokenizer writes  `":`  ` {"`  `name`  `":`  ` "`
    kept                              `":`  ` {"`  `name`  `":`        the last may grow: ` "A` could be one token

Text that every completion begins with is not enough: the model has learnt to see it cut into certain tokens, and how
its end is cut depends on what follows. Tokenizers that merge pairs (BPE), maximise a score (unigram) or take the
longest match (WordPiece) have this in common: where the cut of a longer text has a border, what lies before it is cut
as if it stood alone. A token that reaches beyond the forced text begins with one of its ends. So the text is cut at
every place from which the rest is the beginning of some token, the part before is encoded, and the tokens that all of
these encodings begin with stay whatever follows. Splitting into words first, which most tokenizers do, may look ahead a
little further; so some characters of each kind are tried behind the text as well.

Source: the "token healing" and "fast-forward tokens" of guidance and llguidance's documentation, for the problem.
Tested by tests/contract/test_jump_forward.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol

from maskwright.errors import TokenizerError, wrong_argument
from maskwright.tokenizer import TokenizerInfo

Encode = Callable[[str], Sequence[int]]

_MAX_TOKENS = 1024
_MAX_REMEMBERED = 4096
_PROBES = ("a", "A", "1", " ", " a", "\n", '"', "'s", ".", "é", "日")
_ANCHOR = "\n"


class Matcher(Protocol):
    """What is asked of a `GrammarMatcher`."""

    @property
    def stop_token_ids(self) -> list[int]: ...
    def fork(self) -> Matcher: ...
    def accept_string(self, text: str) -> bool: ...
    def accept_tokens(self, token_ids: list[int]) -> int: ...
    def find_jump_forward_string(self) -> str: ...
    def forced_token(self) -> int | None: ...
    def text_may_follow(self) -> bool: ...


def find_tokens(matcher: Matcher, info: TokenizerInfo, encode: Encode | None) -> list[int]:
    """Return the forced tokens from where the matcher stands. It is left as it was."""
    return ForcedTokens(info, encode).find(matcher)


class ForcedTokens:
    """Finds forced tokens for many matchers of one tokenizer, and remembers how the forced texts are cut.

    Args:
        info: The tokenizer.
        encode: From text to token ids, without special tokens; by default the tokenizer's own.

    Raises:
        ArgumentError: `encode` is not a function.
    """

    def __init__(self, info: TokenizerInfo, encode: Encode | None = None) -> None:
        if encode is None:
            encode = info.encode
        if not callable(encode):
            raise wrong_argument("encode", encode, "a function from a str to token ids")
        self._info, self._encode = info, encode
        self._lasting: OrderedDict[tuple[str, bool], list[int]] = OrderedDict()

    def find(self, matcher: Matcher) -> list[int]:
        """Return the forced tokens from where the matcher stands. It is left as it was."""
        ahead, out = matcher.fork(), list[int]()
        while len(out) < _MAX_TOKENS:
            found = self.of_text(ahead.find_jump_forward_string(), ahead)
            if not found:
                only = ahead.forced_token()
                found = [] if only is None or only in ahead.stop_token_ids else [only]
            accepted = ahead.accept_tokens(found)
            out += found[:accepted]
            if accepted == 0 or accepted < len(found):
                break
        return out

    def of_text(self, text: str, matcher: Matcher, before: str = "") -> list[int]:
        """Return the tokens of a forced text that stay the same whatever follows.

        Args:
            text: What `matcher.find_jump_forward_string()` returns.
            matcher: Where it stands.
            before: Text right before it, to be cut together with it.
        """
        if not text:
            return []
        behind = matcher.fork()
        behind.accept_string(text)
        key = (before + text, behind.text_may_follow())
        found = self._lasting.get(key)
        if found is None:
            cut = lasting_tokens if key[1] else _encode_inside
            found = self._lasting[key] = cut(key[0], self._info, self._encode)
            if len(self._lasting) > _MAX_REMEMBERED:
                self._lasting.popitem(last=False)
        return list(found)


def lasting_tokens(text: str, info: TokenizerInfo, encode: Encode) -> list[int]:
    """Return the tokens with which the encoding of `text` and anything behind it begins."""
    common = _encode_inside(text, info, encode)
    begins_token = info.kernel_vocabulary.begins_longer_token
    cut = (text[:at] for at in range(len(text)) if begins_token(text[at:].encode()))
    for other in (*cut, *(text + probe for probe in _PROBES)):
        if not common:
            break
        common = _common_prefix(common, _encode_inside(other, info, encode))
    return common


def _encode_inside(text: str, info: TokenizerInfo, encode: Encode) -> list[int]:
    """Encode a text that continues another. Empty where the tokenizer will not say how."""
    if not text:
        return []
    tokens = [int(t) for t in encode(text)]
    if _spells(tokens, text.encode(), info):
        return tokens
    # The tokenizer puts something before the start of a text, a space perhaps: let it be before something else.
    tokens = [int(t) for t in encode(_ANCHOR + text)]
    for start in range(1, len(tokens)):
        if _spells(tokens[start:], text.encode(), info):
            return tokens[start:]
    return []


def _spells(tokens: Sequence[int], text: bytes, info: TokenizerInfo) -> bool:
    try:
        return info.decode(tokens) == text
    except TokenizerError:
        return False


def _common_prefix(a: list[int], b: list[int]) -> list[int]:
    size = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return a[:size]
