"""What a request asks for, compiled: vLLM's kinds of structures, and one compiler for each tokenizer.

The front-end and the engine compile the same structures, often in the same process; the compiler is shared there.
A kind is the name of a member of vLLM's `StructuredOutputOptions`, a specification the text that goes with it.
Tested by tests/integrations/test_vllm_adapter.py.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from maskwright import CompiledGrammar, GrammarCompiler, TokenizerInfo
from maskwright.errors import TokenizerError
from maskwright.integrations.environment import compiler_of
from maskwright.openai_shapes import vllm_schema_options

_MAX_COMPILERS = 8
_MOST_ADDED_TOKENS = 1024  # some tokenizers have tokens for images and the like that no model generates
_LEAST_SHARE = 0.9  # padding fills up to a multiple of some power of two
_compilers: dict[
    tuple[int, int], tuple[Any, GrammarCompiler]
] = {}  # the tokenizer is kept, so that its id stays its own
_lock = threading.Lock()
_logger = logging.getLogger("vllm.maskwright")  # below vLLM's own, so that it is shown as vLLM's messages are


def compiler_for(tokenizer: Any, vocab_size: int) -> GrammarCompiler:
    """Return the compiler for a tokenizer of vLLM and the width of the model's logits.

    Raises:
        TokenizerError: The tokenizer cannot be read, or has many ids that the model cannot generate.
    """
    key = (id(tokenizer), vocab_size)
    with _lock:
        if key not in _compilers:
            _check_vocabulary(tokenizer, vocab_size)
            info = _tokenizer_info(tokenizer, vocab_size)
            # The front-end and the engine of one process may each have loaded the tokenizer.
            same = [compiler for _, compiler in _compilers.values() if compiler.tokenizer_info == info]
            while len(_compilers) >= _MAX_COMPILERS:
                del _compilers[next(iter(_compilers))]
            _compilers[key] = (tokenizer, same[0] if same else compiler_of(info))
        return _compilers[key][1]


def _check_vocabulary(tokenizer: Any, vocab_size: int) -> None:
    num_tokens = len(tokenizer)
    sizes = f"the tokenizer has {num_tokens:,} tokens, and the model's logits have {vocab_size:,}"
    if num_tokens > vocab_size + _MOST_ADDED_TOKENS:
        raise TokenizerError(
            f"{sizes}: it is the tokenizer of another model",
            hint="leave --tokenizer out, or name the tokenizer that the model was trained with",
        )
    if num_tokens < vocab_size * _LEAST_SHARE:
        _logger.warning("%s: tokens from %d on are never allowed. Is it the tokenizer of the model?", sizes, num_tokens)


def _tokenizer_info(tokenizer: Any, vocab_size: int) -> TokenizerInfo:
    if import_module("vllm.utils.mistral").is_mistral_tokenizer(tokenizer):
        return TokenizerInfo.from_mistral(tokenizer.mistral, vocab_size=vocab_size)
    stops = None if tokenizer.eos_token_id is not None else ()  # each request brings its own
    return TokenizerInfo.from_huggingface(tokenizer, vocab_size=vocab_size, stop_token_ids=stops)


def compile_structure(
    compiler: GrammarCompiler, kind: str, specification: str, options: Mapping[str, Any]
) -> CompiledGrammar:
    """Compile a structure of one of vLLM's kinds; `options` are those of its configuration or of the request.

    Raises:
        MaskwrightError: The structure is malformed or cannot be enforced.
    """
    return _KINDS[kind](compiler, specification, vllm_schema_options(options))


def _json_object(compiler: GrammarCompiler, _: str, options: dict[str, Any]) -> CompiledGrammar:
    return compiler.compile_json_schema({"type": "object"}, **{**options, "strict_mode": False})


def _grammar(compiler: GrammarCompiler, text: str, options: dict[str, Any]) -> CompiledGrammar:
    if import_module("vllm.v1.structured_output.utils").grammar_is_likely_lark(text):
        return compiler.compile_lark(text, **options)
    return compiler.compile_grammar(text)


_KINDS: dict[str, Callable[[GrammarCompiler, str, dict[str, Any]], CompiledGrammar]] = {
    "JSON": lambda compiler, schema, options: compiler.compile_json_schema(schema, **options),
    "JSON_OBJECT": _json_object,
    "REGEX": lambda compiler, pattern, _: compiler.compile_regex(pattern),
    "CHOICE": lambda compiler, choices, _: compiler.compile_choices(json.loads(choices)),
    "GRAMMAR": _grammar,
    "STRUCTURAL_TAG": lambda compiler, tag, options: compiler.compile_structural_tag(tag, **options),
}
