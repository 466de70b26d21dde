"""`TokenizerInfo`: what masks need to know of a tokenizer, whatever library it comes from.

    >>> info = TokenizerInfo.from_vocab([b"{", b"}", b"</s>"], special_token_ids=[2], stop_token_ids=[2])
    >>> info
    TokenizerInfo(vocab_size=3, special=1, stop={2: '</s>'})
    >>> info.decode([0, 1, 2])
    b'{}'

Invariants: immutable; every id below `vocab_size` is a text token, special, or empty; ids from `len(token_bytes)` on
are the padding of the model's output layer. Ids are unique in the sorted tuples. The kernel's trie is built on first
use, once, and kept; neither it nor the tokenizer that this was read from is
pickled or serialized. Equality and hash go by content.
Cost: reading 200,000 tokens takes 0.1 to 0.5 s, the fingerprint 15 ms. Tested by tests/tokenizer/.
"""

from __future__ import annotations

import hashlib
import importlib
import operator
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from maskwright.errors import TokenizerError, wrong_argument
from maskwright.support.arguments import as_tuple, instance
from maskwright.tokenizer import (
    from_huggingface,
    from_llama_cpp,
    from_mistral,
    from_sentencepiece,
    from_tiktoken,
    from_vocab,
    saved,
)
from maskwright.tokenizer.raw import RawTokenizer, check_vocab_size

_NUM_SHOWN = 8
_NO_SUCH_TOKEN = "the tokenizer has no such token: look at what it declares, or how the token is spelled"  # None, -1
_PART = 4096  # of the tokens, looked at together


@dataclass(frozen=True, repr=False, eq=False)
class TokenizerInfo:
    """The bytes of every token id, and which ids are special or stop the output.

    Make one with a `from_` method. All of them take `vocab_size`, the width of the model's logits, which may be more or
    less than the tokenizer's number of ids, and `stop_token_ids`, which replace the stop tokens that the tokenizer
    declares (an empty list means none). Ids from `vocab_size` on are left out, since the model cannot generate them.

    Attributes:
        token_bytes: what each id adds to the output; empty where an id has no text. For a special token, its name.
        vocab_size: the number of ids that a mask covers, padding included.
        special_token_ids: ids that never match by their text, sorted.
        stop_token_ids: ids that end the output, sorted. They may be special or ordinary tokens.
        drops_leading_space: whether the tokenizer, when it decodes a whole text, leaves out the space with which the
            first token begins, because encoding put it there (SentencePiece, WordPiece). `token_bytes` holds that
            space.
    """

    token_bytes: tuple[bytes, ...]
    vocab_size: int
    special_token_ids: tuple[int, ...] = ()
    stop_token_ids: tuple[int, ...] = ()
    drops_leading_space: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.token_bytes, list | tuple):
            hint = "use TokenizerInfo.from_huggingface for a tokenizer"
            raise wrong_argument("token_bytes", self.token_bytes, "a tuple with the bytes of every id", hint)
        size = check_vocab_size(_to_id(self.vocab_size, "vocab_size"))
        if size < len(self.token_bytes) or size < 1:
            raise _too_small(size, len(self.token_bytes))
        special = _to_ids(_as_tuple(self.special_token_ids, "special_token_ids"), "special token", size)
        stop = _to_ids(_as_tuple(self.stop_token_ids, "stop_token_ids"), "stop token", size)
        num_tokens = max(len(self.token_bytes), *(i + 1 for i in special + stop), 0)
        tokens = (*self.token_bytes, *[b""] * (num_tokens - len(self.token_bytes)))
        if not {type(token) for token in tokens} <= {bytes}:
            raise TokenizerError("token_bytes holds something that is not bytes", hint="use TokenizerInfo.from_vocab")
        # What the caller passed may be lists, numpy integers or unsorted: the fields hold one form.
        self.__dict__.update(
            token_bytes=tokens,
            vocab_size=size,
            special_token_ids=special,
            stop_token_ids=stop,
            drops_leading_space=bool(self.drops_leading_space),
            _lock=threading.Lock(),
        )

    @classmethod
    def from_huggingface(
        cls, tokenizer: Any, *, vocab_size: int | None = None, stop_token_ids: Iterable[int] | None = None
    ) -> TokenizerInfo:
        """Read a transformers tokenizer, fast or slow, a `tokenizers.Tokenizer`, or mlx-lm's wrapper of one.

        Args:
            tokenizer: the tokenizer object.
            vocab_size: the width of the model's logits, for most models `model.config.vocab_size`; not the
                tokenizer's own `vocab_size`, which leaves out added tokens.
            stop_token_ids: by default the eos token, and the eos list of the model's generation config if available.

        Raises:
            TokenizerError: no stop token is declared, tokens have no exact bytes, or an argument is out of range.
        """
        return cls._from_raw(from_huggingface.read(tokenizer), vocab_size, stop_token_ids)

    @classmethod
    def from_tiktoken(
        cls, encoding: Any, *, vocab_size: int | None = None, stop_token_ids: Iterable[int] | None = None
    ) -> TokenizerInfo:
        """Read a `tiktoken.Encoding`. The stop token is `<|endoftext|>` by default.

        Raises:
            TokenizerError: no stop token is declared, or an argument is of the wrong type or out of range.
        """
        return cls._from_raw(from_tiktoken.read(encoding), vocab_size, stop_token_ids)

    @classmethod
    def from_sentencepiece(
        cls,
        processor_or_path: Any | str | os.PathLike[str],
        *,
        vocab_size: int | None = None,
        stop_token_ids: Iterable[int] | None = None,
    ) -> TokenizerInfo:
        """Read a `SentencePieceProcessor`, or a model file. The stop token is the model's eos piece by default.

        Raises:
            TokenizerError: no stop token is declared, the file is not a model, or an argument is out of range.
        """
        return cls._from_raw(from_sentencepiece.read(processor_or_path), vocab_size, stop_token_ids)

    @classmethod
    def from_mistral(
        cls, tokenizer: Any, *, vocab_size: int | None = None, stop_token_ids: Iterable[int] | None = None
    ) -> TokenizerInfo:
        """Read a `MistralTokenizer` of mistral-common, tekken or SentencePiece. The stop token is `</s>` by default.

        Raises:
            TokenizerError: an argument is of the wrong type or out of range.
        """
        return cls._from_raw(from_mistral.read(tokenizer), vocab_size, stop_token_ids)

    @classmethod
    def from_llama_cpp(
        cls, llama: Any, *, vocab_size: int | None = None, stop_token_ids: Iterable[int] | None = None
    ) -> TokenizerInfo:
        """Read the vocabulary of a `llama_cpp.Llama`. Stop tokens are those at which llama.cpp ends a generation.

        Raises:
            TokenizerError: no stop token is declared, or an argument is of the wrong type or out of range.
        """
        return cls._from_raw(from_llama_cpp.read(llama), vocab_size, stop_token_ids)

    @classmethod
    def from_vocab(
        cls,
        tokens: from_vocab.Vocabulary,
        *,
        stop_token_ids: Iterable[int],
        special_token_ids: Iterable[int] = (),
        vocab_size: int | None = None,
    ) -> TokenizerInfo:
        """Use the given text of every id: bytes as they are, str as UTF-8.

        These are texts as they stand in an output. The strings in which libraries write tokens (`get_vocab()`,
        `convert_ids_to_tokens()`) are something else for most tokenizers: `Ġthe` or `▁the` for ` the`, `<0x0A>` for a
        line break; and decoding each id alone loses bytes and spaces. Both are refused, also as bytes;
        `from_huggingface` reads the bytes.

        Args:
            tokens: the text of every id, in order, empty for an id without text; or a dict from texts to ids.
            stop_token_ids: ids that end the output.
            special_token_ids: ids that never match by their text.
            vocab_size: the width of the model's logits, by default the number of texts; not less than that.

        Raises:
            TokenizerError: an argument is of the wrong type or out of range, an id has two texts, or the texts are
                spelled as in vocabulary files.

        >>> TokenizerInfo.from_vocab({"b": 1, "a": 0, "</s>": 3}, stop_token_ids=[3]).token_bytes
        (b'a', b'b', b'', b'</s>')
        """
        raw = from_vocab.read(tokens, special_token_ids)
        if vocab_size is not None and _to_id(vocab_size, "vocab_size") < len(raw.token_bytes):
            raise _too_small(vocab_size, len(raw.token_bytes))
        return cls._from_raw(raw, vocab_size, stop_token_ids)

    @classmethod
    def _from_raw(
        cls, raw: RawTokenizer, vocab_size: int | None, stop_token_ids: Iterable[int] | None
    ) -> TokenizerInfo:
        declared = raw.stop_token_ids
        if vocab_size is not None:
            raw = _cut(raw, _to_id(vocab_size, "vocab_size"))
        stop = raw.stop_token_ids if stop_token_ids is None else stop_token_ids
        info = cls(
            token_bytes=tuple(raw.token_bytes),
            vocab_size=len(raw.token_bytes) if vocab_size is None else vocab_size,
            special_token_ids=_as_tuple(raw.special_token_ids, "special_token_ids"),
            stop_token_ids=_as_tuple(stop, "stop_token_ids"),
            drops_leading_space=raw.drops_leading_space,
        )
        info.__dict__["_encode"] = raw.encode
        if stop_token_ids is None and not info.stop_token_ids:
            raise _stop_tokens_cut(declared, info.vocab_size) if declared else _no_stop_token(info)
        return info

    def serialize(self) -> bytes:
        """Return it as bytes, for `deserialize` in any process: without the tokenizer that it was read from, and
        without that tokenizer's library.

        >>> info = TokenizerInfo.from_vocab(["a", "</s>"], stop_token_ids=[1])
        >>> TokenizerInfo.deserialize(info.serialize()) == info
        True
        """
        return saved.write(saved.Fields(*self._data()))

    @classmethod
    def deserialize(cls, data: bytes) -> TokenizerInfo:
        """Read what `serialize` returned. The bytes may come from anybody. The result cannot `encode`.

        Raises:
            TokenizerError: They are something else, were damaged, or were written in another version of the format.
        """
        return cls(*saved.read(instance("data", data, bytes, "pass what serialize() returned")))

    @cached_property
    def fingerprint(self) -> str:
        """A hex digest of everything that can change a mask; the same on every machine and in every process."""
        digest = hashlib.sha256()
        ids = (self.vocab_size, self.special_token_ids, self.stop_token_ids, self.drops_leading_space)
        digest.update(repr(ids).encode())
        digest.update(saved.numbers(map(len, self.token_bytes)))
        digest.update(b"".join(self.token_bytes))
        return digest.hexdigest()

    @cached_property
    def missing_bytes(self) -> bytes:
        """The bytes that no token has in its text, in order; none for a tokenizer that can spell every text.

        >>> len(TokenizerInfo.from_vocab(["ab", "</s>"], stop_token_ids=[1], special_token_ids=[1]).missing_bytes)
        254
        """
        special, missing = set(self.special_token_ids), bytes(range(256))
        for begin in range(0, len(self.token_bytes), _PART):
            part = enumerate(self.token_bytes[begin : begin + _PART], begin)
            missing = missing.translate(None, b"".join([text for i, text in part if i not in special]))
            if not missing:  # as a rule in the first part
                break
        return missing

    @property
    def kernel_vocabulary(self) -> Any:
        """The kernel's form of the vocabulary, with its trie: built on first use, in one thread, and kept."""
        built = self.__dict__.get("_kernel_vocabulary")
        if built is not None:
            return built
        with self.__dict__["_lock"]:
            if "_kernel_vocabulary" not in self.__dict__:
                kernel = importlib.import_module("maskwright._kernel")
                self.__dict__["_kernel_vocabulary"] = kernel.Vocabulary(
                    list(self.token_bytes), list(self.special_token_ids), list(self.stop_token_ids), self.vocab_size
                )
            return self.__dict__["_kernel_vocabulary"]

    def decode(self, token_ids: Iterable[int], *, skip_special_tokens: bool = True) -> bytes:
        """Join the bytes of these tokens, as a matcher sees them: special tokens and padding have none.

        The start and the end of the text are not changed; see `drops_leading_space`.

        Raises:
            TokenizerError: an id is not in the vocabulary.
        """
        skipped = set(self.special_token_ids) if skip_special_tokens else set()
        out = []
        for given in as_tuple("token_ids", token_ids, "a list of token ids"):
            i = _to_id(given, "a token id")
            if not 0 <= i < self.vocab_size:
                raise TokenizerError(f"token id {i} is not in the vocabulary of {self.vocab_size} ids")
            if i < len(self.token_bytes) and i not in skipped:
                out.append(self.token_bytes[i])
        return b"".join(out)

    def encode(self, text: str) -> list[int]:
        """Encode a text with the tokenizer that this was read from, without adding special tokens.

        Raises:
            TokenizerError: There is no tokenizer, as after `from_vocab` or pickling.
        """
        instance("text", text, str)
        encode = self.__dict__.get("_encode")
        if encode is None:
            raise TokenizerError(
                "this TokenizerInfo has no tokenizer to encode with", hint="pass the model's own encode function"
            )
        return [int(i) for i in encode(text)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenizerInfo):
            return NotImplemented
        return self is other or self._data() == other._data()

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        return TokenizerInfo, self._data()

    def __repr__(self) -> str:
        padding = self.vocab_size - len(self.token_bytes)
        shown = f", padding={padding}" if padding else ""
        stop = _named(self, self.stop_token_ids)
        return f"TokenizerInfo(vocab_size={self.vocab_size}{shown}, special={len(self.special_token_ids)}, stop={stop})"

    def _data(self) -> tuple[Any, ...]:
        return (
            self.token_bytes,
            self.vocab_size,
            self.special_token_ids,
            self.stop_token_ids,
            self.drops_leading_space,
        )


def _cut(raw: RawTokenizer, vocab_size: int) -> RawTokenizer:
    """Leave out the ids that the model cannot generate."""
    if not 0 < vocab_size < len(raw.token_bytes):
        return raw
    return raw._replace(
        token_bytes=raw.token_bytes[:vocab_size],
        special_token_ids=[i for i in raw.special_token_ids if i < vocab_size],
        stop_token_ids=[i for i in raw.stop_token_ids if i < vocab_size],
    )


def _too_small(vocab_size: int, num_ids: int) -> TokenizerError:
    return TokenizerError(
        f"vocab_size is {vocab_size}, but there are {num_ids} token texts",
        hint="leave vocab_size out, or pass the width of the model's logits",
    )


def _as_tuple(ids: Iterable[int], name: str) -> tuple[int, ...]:
    try:
        return tuple(ids)
    except TypeError:
        raise TokenizerError(
            f"{name} is of type {type(ids).__qualname__}, not a list of ids", hint=f"write {name}=[id]"
        ) from None


def _to_id(value: Any, role: str) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TokenizerError(
            f"{role} is of type {type(value).__qualname__}, not int", hint=_id_instead(value, role)
        ) from None


def _id_instead(value: Any, role: str) -> str | None:
    if role == "vocab_size":
        return "pass model.config.vocab_size" if hasattr(value, "vocab_size") else None
    if isinstance(value, str | bytes):
        return "pass its id, such as tokenizer.eos_token_id"
    return _NO_SUCH_TOKEN if value is None else None


def _to_ids(ids: Iterable[int], role: str, vocab_size: int) -> tuple[int, ...]:
    found = sorted({_to_id(i, f"a {role} id") for i in ids})
    for i in found:
        if not 0 <= i < vocab_size:
            raise TokenizerError(
                f"{role} id {i} is not in the vocabulary of {vocab_size} ids",
                hint=_NO_SUCH_TOKEN if i < 0 else "pass vocab_size= if the model has more ids than the tokenizer",
            )
    return tuple(found)


def _named(info: TokenizerInfo, ids: Iterable[int]) -> str:
    names = [f"{i}: {info.token_bytes[i].decode('utf-8', 'replace')!r}" for i in ids]
    return "{" + ", ".join(names[:_NUM_SHOWN] + ["..."] * (len(names) > _NUM_SHOWN)) + "}"


def _stop_tokens_cut(declared: Iterable[int], vocab_size: int) -> TokenizerError:
    return TokenizerError(
        f"the tokenizer's stop tokens, {sorted(declared)}, lie outside vocab_size={vocab_size}",
        hint="pass the width of the model's logits (usually model.config.vocab_size), or stop_token_ids=[id, ...]",
    )


def _no_stop_token(info: TokenizerInfo) -> TokenizerError:
    candidates = f"; its special tokens are {_named(info, info.special_token_ids)}" if info.special_token_ids else ""
    return TokenizerError(
        "the tokenizer does not say which token ends the output",
        hint=f"pass stop_token_ids=[id, ...]{candidates}",
    )
