"""The embedded language model: a byte-level BPE vocabulary and an n-gram over it, made by the package itself.

It exists so that the whole pipeline can be seen at work without a download: its tokens cut across JSON's punctuation
as those of large models do, its text is plausible line by line, and left alone it rarely gives what was asked for.
Besides the last tokens it looks at the JSON key that it is under, so that the second name in a list is still a name,
and at whether quotation marks and brackets are open.

    >>> model = load_embedded_model()
    >>> model.decode(model.encode("Write an order as JSON."))
    'Write an order as JSON.'

Invariants: deterministic; the last id is the end-of-text token, the only special and stop token; every logit is
finite.
Cost: 0.4 s to make, once per process; 40 µs a step.
Source: Provilkov, Emelianenko, Voita, "BPE-dropout: simple and effective subword regularization" (2020), for
reading some pieces in two parts, so that spellings which a mask enforces are not foreign to the model.
Tested by tests/lm/test_model.py.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .bpe import BytePairEncoding
from .corpus import SEED, documents
from .ngram import FactoredNGram, Ints

if TYPE_CHECKING:
    from maskwright import TokenizerInfo

END_OF_TEXT = b"<|end|>"
NUM_MERGES = 3000
NUM_RECENT = 7  # tokens of context
KEY_REACH = 200  # how many bytes back the key is looked for
SPLIT_SHARE = 0.05

_NUMBER_REACH = 20
_FRACTION = re.compile(rb"[0-9][.][0-9]+$")
_KEY = re.compile(rb'"([^"]*)":')


class EmbeddedModel:
    """A small language model that needs no download."""

    def __init__(self) -> None:
        texts = documents()
        self._bpe = BytePairEncoding.train(texts, NUM_MERGES)
        self.token_bytes: list[bytes] = [*self._bpe.token_bytes, END_OF_TEXT]
        self.end_id = len(self.token_bytes) - 1
        self._key_ids: dict[bytes, int] = {b"": 0}
        tokens, shapes, keys = self._training_data(texts)
        following = tokens[NUM_RECENT:]
        recent = [tokens[NUM_RECENT - back : -back] for back in range(1, NUM_RECENT + 1)]
        self._with_key = FactoredNGram([shapes, keys, *recent], following, vocab_size=self.vocab_size)
        self._without_key = FactoredNGram([shapes, *recent], following, vocab_size=self.vocab_size)

    @property
    def vocab_size(self) -> int:
        return len(self.token_bytes)

    @cached_property
    def tokenizer_info(self) -> TokenizerInfo:
        """The vocabulary, as the compiler wants it."""
        from maskwright import TokenizerInfo

        return TokenizerInfo.from_vocab(self.token_bytes, stop_token_ids=[self.end_id], special_token_ids=[self.end_id])

    def encode(self, text: str) -> list[int]:
        """Turn a text into token ids; no special tokens are added."""
        return self._bpe.encode(text)

    def decode(self, token_ids: Sequence[int]) -> str:
        """Turn token ids into text; the end-of-text token has none."""
        data = b"".join(self.token_bytes[i] for i in token_ids if i != self.end_id)
        return data.decode("utf-8", "replace")

    def logits(self, context_ids: Sequence[int]) -> npt.NDArray[np.float32]:
        """Return the log-probabilities of the next token, (vocab_size,) float32, all finite.

        The context stands at the beginning of a text: it needs no start token.
        """
        recent = [*context_ids[: -NUM_RECENT - 1 : -1], *[self.end_id] * NUM_RECENT][:NUM_RECENT]
        text = b"".join(map(self.token_bytes.__getitem__, context_ids))
        shape = _shape(text[-_NUMBER_REACH:], *_nesting(text))
        key = self._key_ids.get(_key(text[-KEY_REACH:]))
        if key is None:
            p = self._without_key.probabilities([shape, *recent])
        else:
            p = self._with_key.probabilities([shape, key, *recent])
        return np.log(p).astype(np.float32)

    def _training_data(self, texts: list[str]) -> tuple[Ints, Ints, Ints]:
        """All tokens, (n,), and for each but the first `NUM_RECENT` the shape and the key of the text before it."""
        rng = random.Random(SEED)
        tokens, shapes, keys = [self.end_id] * NUM_RECENT, [], []
        for text in texts:
            data, offset, key = text.encode(), 0, 0
            ends = [(match.end(), match[1]) for match in _KEY.finditer(data)][::-1]
            quotes, depths = _nestings(data)
            for token in (*self._bpe.encode(text, split=lambda: rng.random() < SPLIT_SHARE), self.end_id):
                while ends and ends[-1][0] <= offset:
                    key = self._key_ids.setdefault(ends.pop()[1], len(self._key_ids))
                tokens.append(token)
                shapes.append(_shape(data[max(0, offset - _NUMBER_REACH) : offset], quotes[offset], depths[offset]))
                keys.append(key)
                offset += len(self.token_bytes[token])
        return np.array(tokens), np.array(shapes), np.array(keys)


def _key(text: bytes) -> bytes:
    """The JSON key that the end of a text is under, or nothing."""
    end = text.rfind(b'":')
    return text[text.rfind(b'"', 0, end) + 1 : end] if end > 0 else b""


def _nesting(text: bytes) -> tuple[int, int]:
    """How many quotation marks a text has, and how many more brackets open than close."""
    return text.count(b'"'), sum(map(text.count, (b"{", b"["))) - sum(map(text.count, (b"}", b"]")))


_NESTING_STEPS = np.array([_nesting(bytes((byte,))) for byte in range(256)])


def _nestings(text: bytes) -> tuple[list[int], list[int]]:
    """What `_nesting` says of every beginning of a text."""
    steps = _NESTING_STEPS[np.frombuffer(text, np.uint8)]
    quotes, depths = np.vstack([(0, 0), steps.cumsum(axis=0)]).T.tolist()
    return quotes, depths


def _shape(text: bytes, num_quotes: int, depth: int) -> int:
    """How a text ends: in a fraction, another number, a letter, or in which other byte; in a string; in brackets."""
    last = text[-1:]
    if last.isdigit():
        ending = 2 if _FRACTION.search(text) else 0
    else:
        ending = 1 if last.isalpha() or last >= b"\x80" else last[0] if last else 3
    return 4 * ending + 2 * (num_quotes % 2) + (depth > 0)


@lru_cache(maxsize=1)
def load_embedded_model() -> EmbeddedModel:
    """Make the embedded model, or return the one already made in this process."""
    return EmbeddedModel()
