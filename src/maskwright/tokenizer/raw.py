"""What every adapter returns, and what adapters share: naming an object's library, importing one, sizing a vocabulary.

An adapter is a module with one public function, `read(tokenizer) -> RawTokenizer`. It translates and decides nothing:
defaults, checks and refusals that hold for every library are made once, in `TokenizerInfo`. A tokenizer is recognised
by the package that its class, or a base of it, comes from, so that nothing has to be imported in order to say that a
type is wrong:

    >>> library_of(b"") is None
    True

Tested by tests/tokenizer/test_tokenizer_info.py.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from maskwright.errors import TokenizerError

# Room for any vocabulary in use (the largest have a quarter of a million), and a stop for an id gone wrong.
MAX_VOCAB_SIZE = 1 << 24

CONSTRUCTORS = {
    "transformers": "from_huggingface",
    "tokenizers": "from_huggingface",
    "tiktoken": "from_tiktoken",
    "sentencepiece": "from_sentencepiece",
    "mistral_common": "from_mistral",
    "llama_cpp": "from_llama_cpp",
    "mlx_lm": "from_huggingface",
}
# What makes the object of a name or a path.
_LOADED_BY = {
    "from_huggingface": "load it first: transformers.AutoTokenizer.from_pretrained(name)",
    "from_tiktoken": "load it first: tiktoken.get_encoding(name)",
    "from_mistral": "load it first: MistralTokenizer.from_file(path), of mistral_common",
    "from_llama_cpp": "load it first: llama_cpp.Llama(path)",
}


class RawTokenizer(NamedTuple):
    """A tokenizer, translated: `token_bytes[i]` is the text of id i, empty where there is no such id.

    `stop_token_ids` are those that the library itself declares, empty where it declares none. `drops_leading_space`
    says that the library, when it decodes a whole text, leaves out the space with which the first token begins.
    `encode` cuts a text into tokens as the model has learnt it, without adding special ones.
    """

    token_bytes: list[bytes]
    special_token_ids: Iterable[int]
    stop_token_ids: Iterable[int]
    drops_leading_space: bool = False
    encode: Callable[[str], Sequence[int]] | None = None


def library_of(thing: object) -> str | None:
    """Name the tokenizer library that the type of `thing` comes from, or None."""
    for base in type(thing).__mro__:
        package = base.__module__.partition(".")[0]
        if package in CONSTRUCTORS:
            return package
    return None


def wrong_type(thing: object, constructor: str, wanted: str) -> TokenizerError:
    """Make the error for a `constructor` that was given something which is not a `wanted`."""
    kind = type(thing)
    shown = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return TokenizerError(f"{constructor} takes {wanted}, not {shown}", hint=_advice(thing, constructor))


def _advice(thing: object, constructor: str) -> str:
    library = library_of(thing)
    if library is not None and CONSTRUCTORS[library] != constructor:
        return f"use TokenizerInfo.{CONSTRUCTORS[library]}"
    if library_of(getattr(thing, "tokenizer", None)) is not None:
        return "pass its tokenizer attribute"
    if isinstance(thing, str) and constructor != "from_vocab":
        return _LOADED_BY[constructor]
    if constructor == "from_vocab":
        return "pass list(...) of the texts, or a tokenizer to TokenizerInfo.from_huggingface or another from_ method"
    if isinstance(thing, (list, tuple, dict)):
        return "use TokenizerInfo.from_vocab for the texts of all tokens"
    return "pass the tokenizer object itself, or list the text of every id with TokenizerInfo.from_vocab"


def import_library(name: str) -> Any:
    """Import an optional library, or say how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise TokenizerError(
            f"the library {name} is not installed", hint=f"pip install {name.replace('_', '-')}"
        ) from error


def check_vocab_size(size: int) -> int:
    """Return `size`, unless it is larger than any vocabulary can be."""
    if size > MAX_VOCAB_SIZE:
        raise TokenizerError(
            f"a vocabulary of {size:,} ids is too large: the limit is {MAX_VOCAB_SIZE:,}",
            hint="check the tokenizer for an id that is far too large",
        )
    return size
