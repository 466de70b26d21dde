"""llama.cpp's own grammars, given what `Grammar.to_gbnf` writes: it allows the tokens that Maskwright allows."""

from __future__ import annotations

import ctypes
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: make engines")

from maskwright import (  # noqa: E402
    CompiledGrammar,
    Grammar,
    GrammarCompiler,
    GrammarMatcher,
    allocate_token_bitmask,
    grammars,
)

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 8},
        "born": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"enum": ["a", "é"]}, "uniqueItems": True},
    },
    "required": ["name"],
}
GRAMMARS = {
    "open object": Grammar.from_json_schema(PERSON),
    "closed object, any order": Grammar.from_json_schema({**PERSON, "additionalProperties": False}, any_order=True),
    "words but some": Grammar.from_ebnf("root ::= [a-zà-ü^\\]-]{1,6} & ~('if' | 'für')"),
    "chess": grammars.load("chess_san"),
    "URL": grammars.load("url"),
}


class LlamaGrammar:
    """llama.cpp's sampler for a grammar."""

    def __init__(self, llama: Any, gbnf: str) -> None:
        vocab = llama_cpp.llama_model_get_vocab(llama._model.model)
        self._sampler = llama_cpp.llama_sampler_init_grammar(vocab, gbnf.encode(), b"root")
        assert self._sampler
        self._size = llama.n_vocab()

    def allowed(self) -> np.ndarray:
        """The ids that are left of all tokens."""
        data = (llama_cpp.llama_token_data * self._size)()
        for i in range(self._size):
            data[i].id = i
        tokens = llama_cpp.llama_token_data_array(data=data, size=self._size, selected=-1, sorted=False)
        llama_cpp.llama_sampler_apply(self._sampler, ctypes.byref(tokens))
        return np.array([data[i].logit for i in range(self._size)]) != -np.inf

    def accept(self, token: int) -> None:
        llama_cpp.llama_sampler_accept(self._sampler, token)

    def close(self) -> None:
        llama_cpp.llama_sampler_free(self._sampler)


@pytest.fixture(scope="module")
def llama(smollm2_gguf: Path) -> Any:
    return llama_cpp.Llama(str(smollm2_gguf), n_ctx=64, vocab_only=True, verbose=False)


def spelled_alike(compiled: CompiledGrammar) -> np.ndarray:
    """Tokens whose text is one whole character or more: llama.cpp looks at the others differently."""
    info = compiled.tokenizer_info
    special = {*info.special_token_ids, *info.stop_token_ids}
    out = np.zeros(info.vocab_size, bool)
    for i, text in enumerate(info.token_bytes):
        if text and i not in special:
            out[i] = text.decode("utf-8", "ignore").encode() == text
    return out


@pytest.mark.parametrize("name", GRAMMARS)
def test_the_same_tokens_are_allowed(llama: Any, name: str) -> None:
    compiled = GrammarCompiler(llama).compile_grammar(GRAMMARS[name])
    compared = spelled_alike(compiled)
    stop = compiled.tokenizer_info.stop_token_ids[0]
    compared[stop] = True
    bitmask = allocate_token_bitmask(1, compiled.tokenizer_info.vocab_size)
    rng = random.Random(name)
    for _ in range(3):
        matcher, theirs = GrammarMatcher(compiled), LlamaGrammar(llama, GRAMMARS[name].to_gbnf())
        for _ in range(12):
            matcher.fill_next_token_bitmask(bitmask)
            ours = np.unpackbits(np.asarray(bitmask).view(np.uint8), bitorder="little")[: len(compared)].astype(bool)
            differ = np.flatnonzero((ours != theirs.allowed()) & compared)
            assert differ.tolist() == [], [compiled.tokenizer_info.token_bytes[i] for i in differ[:5]]
            choices = np.flatnonzero(ours & compared).tolist()
            token = rng.choice(choices)
            if token == stop:
                break
            assert matcher.accept_token(token)
            theirs.accept(token)
        theirs.close()


def test_a_completion(smollm2_gguf: Path) -> None:
    llama = llama_cpp.Llama(str(smollm2_gguf), n_ctx=512, seed=1, verbose=False)
    grammar = llama_cpp.LlamaGrammar.from_string(Grammar.from_json_schema(PERSON).to_gbnf(), verbose=False)
    text = llama("Ada Lovelace as JSON: ", grammar=grammar, max_tokens=200)["choices"][0]["text"]
    assert 1 <= len(json.loads(text)["name"]) <= 8
