"""The tokenizer of `--tokenizer`: that of the built-in model, or a tokenizer.json, or a folder that has one.

Tested by tests/cli/test_explain_command.py.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from maskwright import TokenizerInfo
from maskwright.errors import MaskwrightError

from .errors import CommandError

EMBEDDED = "embedded"
_WAYS = f"give a tokenizer.json, a folder that has one, or {EMBEDDED}"


class Tokenizer(NamedTuple):
    """A vocabulary, and how texts are cut into its tokens."""

    info: TokenizerInfo
    encode: Callable[[str], Sequence[int]]


def read_tokenizer(name: str) -> Tokenizer:
    """Read a tokenizer by its name.

    Raises:
        CommandError: There is no such file, it is no tokenizer, or the library `tokenizers` is not installed.
    """
    if name == EMBEDDED:
        return _embedded()
    path = Path(name) / "tokenizer.json" if Path(name).is_dir() else Path(name)
    if not path.is_file():
        raise CommandError(f"--tokenizer: no such file: {str(path)!r}\n  hint: {_WAYS}")
    try:
        library: Any = importlib.import_module("tokenizers")
    except ImportError as error:
        hint = "pip install tokenizers"
        raise CommandError(f"--tokenizer needs the library tokenizers\n  hint: {hint}") from error
    try:
        tokenizer = library.Tokenizer.from_file(str(path))
        info = TokenizerInfo.from_huggingface(tokenizer, stop_token_ids=_stop_tokens(path, tokenizer))
    except MaskwrightError as error:
        raise CommandError(f"{path}: {error}") from error
    except Exception as error:  # the library raises this very class
        raise CommandError(f"{path}: it is not a tokenizer: {error}\n  hint: {_WAYS}") from error
    return Tokenizer(info, info.encode)


def _stop_tokens(path: Path, tokenizer: Any) -> list[int]:
    """The end of a text, as the configuration beside the tokenizer names it; none where nothing does."""
    try:
        name = json.loads((path.parent / "tokenizer_config.json").read_text("utf-8"))["eos_token"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    found = tokenizer.token_to_id(name.get("content") if isinstance(name, dict) else str(name))
    return [] if found is None else [found]


def bytes_as_tokens() -> Tokenizer:
    """A token for each byte, for questions about text alone."""
    tokens = [*(bytes((byte,)) for byte in range(256)), b"</s>"]
    info = TokenizerInfo.from_vocab(tokens, special_token_ids=[256], stop_token_ids=[256])
    return Tokenizer(info, lambda text: list(text.encode()))


def _embedded() -> Tokenizer:
    from maskwright.lm import load_embedded_model

    model = load_embedded_model()
    return Tokenizer(model.tokenizer_info, model.encode)
