"""SGLang's own grammar backend for XGrammar, unchanged, while `MASKWRIGHT_AS_XGRAMMAR=1` makes that Maskwright.

SGLang's plugin loader finds the entry point, and its module `xgrammar_backend` is driven without a server: each kind of
request, masks, copies, rollback, jump-forward, framed grammars and what is refused. A process of its own, as imports
change; torchvision, which SGLang imports for its vision models, is stood in for where it is missing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engines.programs import run_program

pytest.importorskip("sglang", reason="SGLang is not installed: make engines")
PROGRAM = r"""
import importlib.machinery, importlib.util, json, os, sys
from unittest.mock import MagicMock

os.environ["MASKWRIGHT_AS_XGRAMMAR"] = "1"
if importlib.util.find_spec("torchvision") is None:
    parts = ("", ".io", ".ops", ".transforms", ".transforms.functional", ".transforms.v2", ".transforms.v2.functional")
    for name in ("torchvision" + part for part in parts):
        module = MagicMock(name=name, __path__=[], __version__="0")
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        sys.modules[name] = module
from sglang.srt.plugins import load_plugins

load_plugins()
import torch
from transformers import AutoTokenizer
import sglang.srt.constrained.xgrammar_backend as theirs
from sglang.srt.constrained.base_grammar_backend import InvalidGrammarObject

found = {"modules": [theirs.GrammarMatcher.__module__, sys.modules["xgrammar"].__name__]}
tokenizer = AutoTokenizer.from_pretrained("HuggingFaceTB/SmolLM2-135M-Instruct")
backend = theirs.XGrammarGrammarBackend(tokenizer, 49152, model_eos_token_ids=[tokenizer.eos_token_id])
schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


def tagged(begin, content, end):
    tag = {"type": "tag", "begin": begin, "content": content, "end": end}
    return {"type": "structural_tag", "format": tag}


tag = tagged("<f>", {"type": "json_schema", "json_schema": schema}, "</f>")
structure = {"begin": "<f>", "schema": schema, "end": "</f>"}
legacy = {"structures": [structure], "triggers": ["<f"], "at_least_one": True}
requests = {
    "json": (backend.dispatch_json(json.dumps(schema)), '{"ok": true}'),
    "any": (backend.dispatch_json("$$ANY$$"), '[1, {"a": null}]'),
    "ebnf": (backend.dispatch_ebnf('root ::= "a" [0-9]{2}'), "a12"),
    "regex": (backend.dispatch_regex(r"(hello|hi) \d+"), "hello 42"),
    "tag": (backend.dispatch_structural_tag(json.dumps(tag)), '<f>{"ok": false}</f>'),
    "legacy": (backend.dispatch_structural_tag(json.dumps(legacy)), '<f>{"ok": false}</f>'),
}
found["texts"] = {}
for name, (grammar, text) in requests.items():
    grammar = grammar.copy()
    mask = grammar.allocate_vocab_mask(49152, 1, "cpu")
    for token in tokenizer.encode(text, add_special_tokens=False):
        logits = torch.zeros(1, 49152)
        grammar.fill_vocab_mask(mask, 0)
        grammar.apply_vocab_mask(logits, mask)
        assert logits[0, token] == 0, (name, token)
        grammar.accept_token(token)
    grammar.rollback(1)
    grammar.accept_token(token)
    grammar.accept_token(tokenizer.eos_token_id)
    found["texts"][name] = grammar.is_terminated()
found["jump"] = backend.dispatch_regex("abcdef[0-9]").try_jump_forward(tokenizer)[1]
backend.reserve_framing_tokens([tokenizer.eos_token_id])
framed = backend.compile_framed_grammar(requests["regex"][0], lambda inner: tagged("<", inner, ">"))
found["framed"] = framed.matcher.accept_string("<hi 7>") and framed.matcher.is_completed()
bad = [
    backend.dispatch_json('{"type": "foo"}'),
    backend.dispatch_json("{"),
    backend.dispatch_ebnf("root := x"),
    backend.dispatch_regex("(a"),
    backend.dispatch_structural_tag('{"format": {"type": "no such"}}'),
]
found["refused"] = [isinstance(each, InvalidGrammarObject) for each in bad]
backend.reset()
print("FOUND", json.dumps(found))
"""


def test_the_backend_runs_on_maskwright(tmp_path: Path) -> None:
    printed = run_program(PROGRAM, tmp_path, name="sglang_as_xgrammar")
    lines = [line for line in printed.splitlines() if line.startswith("FOUND ")]
    found: dict[str, Any] = json.loads(lines[-1].removeprefix("FOUND "))
    assert found["modules"] == ["maskwright.compat.xgrammar.matcher", "maskwright.compat.xgrammar"]
    assert found["texts"] == dict.fromkeys(("json", "any", "ebnf", "regex", "tag", "legacy"), True)
    assert found["jump"] == "abcdef"
    assert found["framed"]
    assert found["refused"] == [True] * 5
