"""Programs as XGrammar's documentation writes them, after `install()`: each in a process of its own.

The logits processor runs in transformers' own `generate`, on a tiny model with random weights.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="an optional dependency")
pytest.importorskip("transformers", reason="an optional dependency")
TESTS = Path(__file__).resolve().parents[1]
SETUP = """
import maskwright.compat
maskwright.compat.install()
import torch
import xgrammar as xgr
from small_models import make_model, make_tokenizer
tokenizer = make_tokenizer()
model = make_model("llama", tokenizer)
vocab_size = model.config.vocab_size
tokenizer_info = xgr.TokenizerInfo.from_huggingface(tokenizer, vocab_size=vocab_size)
"""
DECODING = """
compiler = xgr.GrammarCompiler(tokenizer_info, max_threads=8)
compiled = compiler.compile_grammar('root ::= "[" [a-c]{3} ("," [a-c]{3}){2} "]"')
matchers = [xgr.GrammarMatcher(compiled) for _ in range(2)]
bitmask = xgr.allocate_token_bitmask(2, tokenizer_info.vocab_size)
sequences = [[], []]
torch.manual_seed(0)
while not all(matcher.is_terminated() for matcher in matchers):
    logits = torch.randn(2, vocab_size)
    xgr.reset_token_bitmask(bitmask)
    for i, matcher in enumerate(matchers):
        if not matcher.is_terminated():
            matcher.fill_next_token_bitmask(bitmask, i)
    xgr.apply_token_bitmask_inplace(logits, bitmask)
    for i, matcher in enumerate(matchers):
        if not matcher.is_terminated():
            token = torch.softmax(logits[i], dim=-1).argmax().item()
            assert matcher.accept_token(token)
            sequences[i].append(token)
import re
for sequence in sequences:
    text = tokenizer.decode(sequence, skip_special_tokens=True)
    assert re.fullmatch(r"\\[[abc]{3}(,[abc]{3}){2}\\]", text), text
"""
GENERATE = """
import json
from pydantic import BaseModel

class Answer(BaseModel):
    ok: bool

compiler = xgr.GrammarCompiler(tokenizer_info)
compiled = compiler.compile_json_schema(Answer, any_whitespace=False)
inputs = tokenizer(["a", "b c"], return_tensors="pt", padding=True)
for processor in (xgr.contrib.hf.LogitsProcessor(compiled), xgr.hf.LogitsProcessor([compiled, compiled])):
    output = model.generate(**inputs, max_new_tokens=60, do_sample=False, logits_processor=[processor])
    for row in output[:, inputs["input_ids"].shape[1]:]:
        Answer.model_validate_json(tokenizer.decode(row, skip_special_tokens=True))
try:
    xgr.contrib.hf.LogitsProcessor(3)
except TypeError as error:
    assert "CompiledGrammar" in str(error)
"""
JUMPS = """
compiler = xgr.GrammarCompiler(tokenizer_info)
schema = {"type": "object", "properties": {"name": {"const": "x"}}, "required": ["name"]}
matcher = xgr.GrammarMatcher(compiler.compile_json_schema(schema, any_whitespace=False))
forced = matcher.find_jump_forward_string()
assert forced == '{"name": "x"}', forced
assert matcher.accept_string(forced)
bitmask = xgr.allocate_token_bitmask(1, vocab_size)
matcher.fill_next_token_bitmask(bitmask)
assert xgr.testing._is_single_token_bitmask(bitmask, vocab_size) == (True, tokenizer.eos_token_id)
"""
TAGS = """
from xgrammar.structural_tag import JSONSchemaFormat, StructuralTag, TagFormat, TriggeredTagsFormat
from xgrammar import StructuralTagItem, normalize_tool_choice

tag = TagFormat(begin="<f>", content=JSONSchemaFormat(json_schema={"type": "integer"}), end="</f>")
structural_tag = StructuralTag(format=TriggeredTagsFormat(triggers=["<f>"], tags=[tag], at_least_one=True))
compiled = xgr.GrammarCompiler(tokenizer_info).compile_structural_tag(structural_tag)
matcher = xgr.GrammarMatcher(compiled)
assert matcher.accept_string("<f>12</f>") and matcher.is_completed()
items = [StructuralTagItem(begin="<f>", schema={"type": "integer"}, end="</f>")]
assert xgr.GrammarCompiler(tokenizer_info).compile_structural_tag(items, ["<f>"]).memory_size_bytes > 0
"""
CACHES = """
compiler = xgr.GrammarCompiler(tokenizer_info, cache_enabled=True, cache_limit_bytes=128 * 1024 * 1024)
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor() as executor:
    schemas = ['{"type": "object", "properties": {"a%d": {"type": "integer"}}}' % i for i in range(20)] * 2
    for schema, compiled in zip(schemas, executor.map(compiler.compile_json_schema, schemas)):
        assert xgr.GrammarMatcher(compiled).accept_string("{}")
assert 0 < compiler.get_cache_size_bytes() <= compiler.cache_limit_bytes
text = compiled.serialize_json()
again = xgr.CompiledGrammar.deserialize_json(text, tokenizer_info)
assert xgr.TokenizerInfo.deserialize_json(tokenizer_info.serialize_json()).vocab_size == vocab_size
compiler.clear_cache()
assert compiler.get_cache_size_bytes() == 0
"""

# rules of several grammars joined under new names, as engines do for models that list their calls
JOINED = """
import json, re
parts = {}
for name in ("get_time", "search"):
    properties = {"tool_name": {"const": name}, "n": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["tool_name"]}
    text = str(xgr.Grammar.from_json_schema(json.dumps(schema)))
    for rule in re.findall(r"\\b(\\w+)\\s*::=", text):
        text = re.sub(rf"\\b{re.escape(rule)}\\b", name + rule, text)
    parts[name] = f"{name} ::= {name}root\\n{text}"
grammar = 'root ::= "[" tool ("," tool)* "]"\\ntool ::= ' + " | ".join(parts) + "\\n" + "\\n".join(parts.values())
matcher = xgr.GrammarMatcher(xgr.GrammarCompiler(tokenizer_info).compile_grammar(grammar))
assert matcher.accept_string('[{"tool_name": "search", "n": 1},{"tool_name": "get_time"}]') and matcher.is_completed()
assert not xgr.GrammarMatcher(xgr.GrammarCompiler(tokenizer_info).compile_grammar(grammar)).accept_string('[{"n"')
"""


@pytest.mark.parametrize(
    "program",
    [DECODING, GENERATE, JUMPS, TAGS, CACHES, JOINED],
    ids=["decoding", "generate", "jump forward", "structural tags", "caches", "joined rules"],
)
def test_the_program_runs(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SETUP + textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
