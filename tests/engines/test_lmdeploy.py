"""LMDeploy's PyTorch engine under `maskwright as-xgrammar`: its guided decoding, step by step, with a real model.

LMDeploy needs a GPU: the packages around its guided decoding cannot be imported here, and empty ones stand for them.
What is run of it is `_guided_decoding.py`, `guided_process.py` and `guided_spec_helper.py`, as they are; a step calls
them as its `logits_process.py` does.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="an optional dependency")
pytest.importorskip("transformers", reason="an optional dependency")
if find_spec("lmdeploy") is None:
    pytest.skip("LMDeploy is not installed: make engines", allow_module_level=True)

PROGRAM = """
import asyncio, importlib.util, json, sys, types
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

folder = Path(importlib.util.find_spec("lmdeploy").submodule_search_locations[0])
for name in ("lmdeploy", "lmdeploy.pytorch", "lmdeploy.pytorch.engine", "lmdeploy.pytorch.spec_decode"):
    sys.modules[name] = package = types.ModuleType(name)
    package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]

from lmdeploy._guided_decoding import ensure_response_format_compilable
from lmdeploy.pytorch.engine.guided_process import GuidedDecodingManager
from lmdeploy.pytorch.spec_decode.guided_spec_helper import GuidedSpecHelper

tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
schema = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 10, "maximum": 99},
    },
    "required": ["city", "age"],
}
formats = (
    {"type": "json_schema", "json_schema": {"name": "person", "schema": schema}},
    {"type": "regex_schema", "regex_schema": "[A-Z][a-z]{2,8} [0-9]{4}"},
    {
        "type": "structural_tag",
        "format": {"type": "tag", "begin": "<a>", "content": {"type": "regex", "pattern": "[0-9]{5}"}, "end": "</a>"},
    },
    {"type": "text"},
)
sessions = [{"session_id": i, "seq_id": 0} for i in range(len(formats))]
manager = GuidedDecodingManager(tokenizer, model.config.vocab_size)
helper = GuidedSpecHelper(manager)


@torch.inference_mode()
def logits(rows):
    return torch.stack([model(torch.tensor([row])).logits[0, -1].float() for row in rows])


def generate(num_drafts):
    manager.clear()
    prompt = tokenizer("A person from Paris, in a few words: ")["input_ids"]
    rows, outputs = [list(prompt) for _ in formats], [[] for _ in formats]
    done = [False] * len(formats)
    rejected = 0
    for _ in range(48):
        processors = helper.get_processors(sessions, formats)
        scores = logits(rows)
        bitmask = manager.allocate_batched_bitmap(len(rows))
        bitmask.fill_(-1)
        for i, processor in processors.items():
            if not manager.is_terminated(processor):
                manager.fill_bitmap(processor, bitmask, i)
        with torch.inference_mode():
            manager.apply_batched_bitmap(scores, bitmask)
        first = scores.argmax(-1)
        if num_drafts == 0:
            for i, processor in processors.items():
                if not manager.is_terminated(processor):
                    manager.accept_token(processor, int(first[i]))
            taken = [[int(token)] for token in first]
        else:  # the last token of each row is repeated as a draft: right now and then
            drafts = first[:, None].repeat(1, num_drafts)
            longer = [row + drafts[i, :p].tolist() for p in range(num_drafts + 1) for i, row in enumerate(rows)]
            along = logits(longer).view(num_drafts + 1, len(rows), -1).transpose(0, 1).contiguous()
            asyncio.run(helper.apply_serial_bitmask(along, processors, drafts, num_drafts))
            best = along.argmax(-1)
            assert torch.equal(best[:, 0], first)
            agree = (best[:, :num_drafts] == drafts).int().cumprod(-1).sum(-1)
            rejected += int((num_drafts - agree).sum())
            bonus = best.gather(1, agree[:, None])[:, 0]
            accept = helper.accept_rejection_sampled_tokens
            asyncio.run(accept(processors, num_drafts - agree, drafts, bonus, num_drafts))
            taken = [drafts[i, : agree[i]].tolist() + [int(bonus[i])] for i in range(len(rows))]
        for i, tokens in enumerate(taken):
            for token in tokens:
                done[i] = done[i] or token == tokenizer.eos_token_id
                if not done[i]:
                    rows[i].append(token)
                    outputs[i].append(token)
        if all(done[:3]):
            break
    terminated = [manager.is_terminated(p) for p in processors.values()]
    return [tokenizer.decode(output) for output in outputs], terminated, rejected


def refusal(response_format):
    try:
        ensure_response_format_compilable(response_format)
    except ValueError as error:
        return str(error)


bad = {"type": "json_schema", "json_schema": {"schema": {"type": "object", "properties": {"a": {"type": "integr"}}}}}
print(json.dumps({
    "whose": sys.modules["xgrammar"].__file__,
    "plain": generate(0),
    "with_drafts": generate(2),
    "refusals": [refusal(bad), refusal({"type": "regex_schema", "regex_schema": "(a"}), *map(refusal, formats)],
}))
"""


@pytest.fixture(scope="module")
def told(smollm2: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "maskwright", "as-xgrammar", sys.executable, "-c", PROGRAM, str(smollm2)],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_it_is_maskwright_s(told: dict[str, Any]) -> None:
    assert Path(told["whose"]).parts[-4:] == ("maskwright", "compat", "xgrammar", "__init__.py")


@pytest.mark.parametrize("run", ["plain", "with_drafts"])
def test_outputs_have_their_formats(told: dict[str, Any], run: str) -> None:
    (person, year, tag, _), terminated, rejected = told[run]
    value = json.loads(person)
    assert len(value["city"]) <= 12
    assert 10 <= value["age"] <= 99
    assert re.fullmatch("[A-Z][a-z]{2,8} [0-9]{4}", year)
    assert re.fullmatch("<a>[0-9]{5}</a>", tag)
    assert terminated == [True, True, True]
    assert (rejected > 0) == (run == "with_drafts")


def test_drafts_change_nothing(told: dict[str, Any]) -> None:
    assert told["with_drafts"][0][:3] == told["plain"][0][:3]


def test_what_cannot_be_compiled_is_refused_before_it_is_run(told: dict[str, Any]) -> None:
    schema, regex, *others = told["refusals"]
    assert schema.startswith("Unsupported response format: at #/properties/a/type: ")
    assert "'integr'" in schema
    assert regex.startswith("Unsupported response format: 1:1: the group is not closed")
    assert others == [None] * 4
