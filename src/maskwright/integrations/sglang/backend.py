"""What SGLang asks for a grammar: a JSON Schema, a regular expression, EBNF or a structural tag.

Invariants: a grammar that is wrong becomes SGLang's `InvalidGrammarObject` with the message of the error, pointer or
position included, so that the request ends with HTTP 400; nothing else is affected. What SGLang keeps of grammars is
bounded in bytes, the least recently used going first.
Tested by tests/engines/test_sglang.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    GrammarStats,
    InvalidGrammarObject,
)
from sglang.srt.constrained.torch_ops.token_filter_torch_ops import set_token_filter_torch

from maskwright import CompiledGrammar, TokenizerInfo
from maskwright.errors import MaskwrightError, TokenizerError
from maskwright.integrations.environment import compiler_of
from maskwright.integrations.sglang.cache import BoundedCache
from maskwright.integrations.sglang.grammar import MaskwrightGrammar, allocate, apply
from maskwright.integrations.sglang.versions import another_interface
from maskwright.support.entrances import (
    IN_REQUESTS,
    RELAX_IN_SCHEMA,
    USE_EBNF,
    USE_LARK,
    USE_REGEX,
    USE_SCHEMA,
    USE_TAG,
    in_words_of,
)
from maskwright.tokenizer import info_of

_ANY_JSON = "$$ANY$$"
_WAYS_OUT = (  # in Python, and in a request
    RELAX_IN_SCHEMA,
    (USE_LARK, "write it in EBNF, as name ::= body"),
    (USE_EBNF, "use the field ebnf"),
    (USE_SCHEMA, "use the field json_schema"),
    (USE_TAG, "use the field structural_tag"),
    (USE_REGEX, "use the field regex"),
    *IN_REQUESTS,
)
_MOST_COMPILING = 2  # at once: they share the interpreter with the scheduler, which has to wake up in time


def make_backend(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Any) -> BaseGrammarBackend:
    """Make the backend that SGLang's arguments ask for, wrapped for reasoning if they name a parser for that."""
    _check_interface()
    info = _tokenizer_info(tokenizer, vocab_size, eos_token_ids)
    backend = MaskwrightBackend(info, _json_options(server_args))
    if not getattr(server_args, "reasoning_parser", None):
        return backend
    from maskwright.integrations.sglang.reasoning import with_reasoning

    return with_reasoning(backend, server_args, tokenizer)


class MaskwrightBackend(BaseGrammarBackend):  # type: ignore[misc, unused-ignore]
    """Compiles grammars for one model.

    Args:
        tokenizer_info: The model's tokenizer, with its stop tokens.
        json_options: Options of `compile_json_schema` for all schemas.
    """

    def __init__(self, tokenizer_info: TokenizerInfo, json_options: dict[str, Any]) -> None:
        super().__init__()
        self.cache = BoundedCache()
        self.executor = ThreadPoolExecutor(max_workers=_MOST_COMPILING)
        self._info = tokenizer_info
        self._compiler = compiler_of(tokenizer_info)
        self._framing_compiler = self._compiler
        self._json_options = json_options

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        def compile_schema() -> CompiledGrammar:
            schema = True if key_string == _ANY_JSON else key_string
            return self._compiler.compile_json_schema(schema, **self._json_options)

        return self._made("json", key_string, compile_schema)

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        return self._made("regex", key_string, lambda: self._compiler.compile_regex(key_string))

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        return self._made("ebnf", key_string, lambda: self._compiler.compile_grammar(key_string))

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        return self._made(
            "structural_tag",
            key_string,
            lambda: self._compiler.compile_structural_tag(key_string, **self._json_options),
        )

    def _made(self, kind: str, key_string: str, compile_it: Callable[[], CompiledGrammar]) -> BaseGrammarObject:
        try:
            return MaskwrightGrammar(compile_it(), key_string, GrammarStats(dispatch_type=kind))
        except MaskwrightError as error:
            return InvalidGrammarObject(in_words_of(_WAYS_OUT, str(error)))

    def reserve_framing_tokens(self, token_ids: Sequence[int]) -> None:
        """Let these tokens match where a frame names them, never as text."""
        info = self._info
        special = sorted({*info.special_token_ids, *token_ids})
        framing = TokenizerInfo(
            info.token_bytes, info.vocab_size, tuple(special), info.stop_token_ids, info.drops_leading_space
        )
        self._framing_compiler = compiler_of(framing)

    def compile_framed_grammar(
        self, grammar: MaskwrightGrammar, frame: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> BaseGrammarObject:
        """Compile what a reasoning format writes around a grammar's output."""
        tag = json.dumps(frame({"type": "grammar", "grammar": str(grammar.compiled.grammar)}))
        return self._made("structural_tag", tag, lambda: self._framing_compiler.compile_structural_tag(tag))

    def reset(self) -> None:
        super().reset()
        self._compiler.clear_cache()
        self._framing_compiler.clear_cache()

    @staticmethod
    def allocate_vocab_mask(vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        return allocate(vocab_size, batch_size)

    @staticmethod
    def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
        apply(logits, vocab_mask)

    @property
    def is_support_token_filter(self) -> bool:
        return True

    @staticmethod
    def set_token_filter(
        vocab_mask: torch.Tensor,
        token_ids: list[int],
        batch_idx: int,
        is_allowed: bool = True,
        reset_vocab_mask: bool = True,
    ) -> None:
        set_token_filter_torch(vocab_mask, token_ids, batch_idx, is_allowed, reset_vocab_mask)


def _tokenizer_info(tokenizer: Any, vocab_size: int, eos_token_ids: Any) -> TokenizerInfo:
    """The tokenizer as wide as the model's logits, with the stop tokens of the model where it declares any."""
    stops = [eos_token_ids] if isinstance(eos_token_ids, int) else sorted(eos_token_ids or ())
    try:
        return info_of(tokenizer, vocab_size=vocab_size, stop_token_ids=stops or None)
    except MaskwrightError as error:
        raise TokenizerError(
            f"--grammar-backend maskwright cannot read the tokenizer: {error.message}", hint=error.hint
        ) from error


def _json_options(server_args: Any) -> dict[str, Any]:
    """SGLang's flags for white space in JSON. Where it wants none, it means compact JSON."""
    pattern = getattr(server_args, "constrained_json_whitespace_pattern", None)
    if getattr(server_args, "constrained_json_disable_any_whitespace", False):
        return {"any_whitespace": False, "separators": (",", ":")}
    if pattern is not None:
        return {"whitespace_pattern": pattern}
    most = getattr(server_args, "constrained_json_max_whitespace_cnt", None)
    return {} if most is None else {"max_whitespace_cnt": most}


def _check_interface() -> None:
    """Refuse a version of SGLang that calls its backends by other names."""
    for theirs, names in _INTERFACE.items():
        missing = [name for name in names if not hasattr(theirs, name)]
        if missing:
            raise another_interface(f"{theirs.__name__} has no {missing[0]}")


_INTERFACE = {
    BaseGrammarBackend: (
        *("dispatch_json", "dispatch_regex", "dispatch_ebnf", "dispatch_structural_tag"),
        *("get_cached_or_future_value", "set_cache", "reset"),
        *("reserve_framing_tokens", "compile_framed_grammar", "is_support_token_filter", "set_token_filter"),
    ),
    BaseGrammarObject: (
        *("accept_token", "rollback", "is_terminated", "copy", "finished"),
        *("allocate_vocab_mask", "fill_vocab_mask", "fill_vocab_mask_batched", "reset_vocab_mask"),
        *("move_vocab_mask", "apply_vocab_mask"),
        *("try_jump_forward", "jump_forward_str_state", "jump_and_retokenize"),
    ),
}
