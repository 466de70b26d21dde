"""vLLM with its own backend `xgrammar`, unchanged, while `MASKWRIGHT_AS_XGRAMMAR=1` makes that Maskwright.

One engine in a process of its own takes every kind of request; what it wrote is judged here: finished outputs are
valid, and those that `max_tokens` cut off are the beginning of a valid one.
"""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest

from engines.programs import run_program

pytest.importorskip("vllm", reason="vLLM is not installed: make engines")
import maskwright.compat.xgrammar as xgr

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 3},
        "home": {"type": "object", "properties": {"city": {"type": "string", "maxLength": 8}}, "required": ["city"]},
    },
    "required": ["name", "age", "tags"],
}
EITHER = {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 5}]}
SMALL = {"type": "object", "properties": {"ok": {"type": "boolean"}, "why": EITHER}, "required": ["ok", "why"]}
TREE = {
    "$defs": {
        "t": {"type": "object", "properties": {"v": {"enum": [1, 2]}, "l": {"$ref": "#/$defs/t"}}, "required": ["v"]}
    },
    "$ref": "#/$defs/t",
}
EBNF = 'root ::= "SELECT " name (", " name){0,2} " FROM " name\nname ::= [a-d]{1,3}'
LARK = 'start: "<" NUM ("," NUM)? ">"\nNUM: /[0-9]{2}/'
TAG = {
    "type": "structural_tag",
    "format": {"type": "tag", "begin": "<x>", "content": {"type": "json_schema", "json_schema": SMALL}, "end": "</x>"},
}
LEGACY = {"structures": [{"begin": "<f=", "schema": SMALL, "end": "</f>"}], "triggers": ["<f="]}
REQUESTS: list[dict[str, Any]] = [
    *({"json": schema} for schema in (PERSON, SMALL, TREE, EITHER)),
    {"json": json.dumps(PERSON)},
    {"json_object": True},
    *({"regex": pattern} for pattern in (r"\d{3}-\d{4}", r"(abc|x\w){2,4}!", r"[A-Z][a-z]{2,6} \d\d?")),
    {"choice": ["yes", "no", "maybe"]},
    {"grammar": EBNF},
    {"grammar": LARK},
    {"structural_tag": json.dumps(TAG)},
    {"structural_tag": json.dumps(LEGACY)},
]
BAD: list[dict[str, Any]] = [
    {"json": {"type": "object", "properties": {"a": {"type": "foo"}}}},
    {"regex": "(a"},
    {"grammar": 'root ::= "a'},
    {"structural_tag": '{"type": "structural_tag", "format": {"type": "no such"}}'},
]
PROGRAM = f"""
import json, os

os.environ.update(VLLM_ENABLE_V1_MULTIPROCESSING="0", MASKWRIGHT_AS_XGRAMMAR="1")
from vllm import LLM, SamplingParams
from vllm.sampling_params import StructuredOutputsParams

llm = LLM(model="HuggingFaceTB/SmolLM2-135M-Instruct", dtype="bfloat16", max_model_len=512, enforce_eager=True,
          max_num_seqs=8, structured_outputs_config={{"backend": "xgrammar"}})
import vllm.v1.structured_output.backend_xgrammar as backend
import vllm.v1.structured_output.utils as utils

requests, bad = json.loads({json.dumps(json.dumps(REQUESTS))}), json.loads({json.dumps(json.dumps(BAD))})
prompt = [{{"role": "user", "content": "Describe a person you know."}}]
found = {{"modules": [module.Grammar.__module__ for module in (backend.xgr, utils.xgr)], "outputs": [], "refused": []}}
params = [SamplingParams(max_tokens=60, temperature=0.7, seed=1,
                         structured_outputs=StructuredOutputsParams(**request)) for request in requests]
for request, output in zip(requests, llm.chat([prompt] * len(params), params, use_tqdm=False)):
    found["outputs"].append([request, output.outputs[0].finish_reason, output.outputs[0].text])
for request in bad:
    try:
        params = SamplingParams(structured_outputs=StructuredOutputsParams(**request))
        llm.generate(["x"], params, use_tqdm=False)
        found["refused"].append("")
    except Exception as error:
        found["refused"].append(str(error))
print("FOUND", json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    printed = run_program(PROGRAM, tmp_path_factory.mktemp("vllm"), name="as_xgrammar")
    lines = [line for line in printed.splitlines() if line.startswith("FOUND ")]
    return json.loads(lines[-1].removeprefix("FOUND "))  # type: ignore[no-any-return]


def test_the_backend_runs_on_maskwright(found: dict[str, Any]) -> None:
    assert found["modules"] == ["maskwright.compat.xgrammar.grammar"] * 2


def test_finished_outputs_are_valid_and_others_are_the_beginning_of_one(found: dict[str, Any]) -> None:
    finished = 0
    for request, reason, text in found["outputs"]:
        if reason == "stop":
            finished += 1
            assert is_valid(request, text), (request, text)
        else:
            assert begins(request, text), (request, text)
    assert len(found["outputs"]) == len(REQUESTS)
    assert finished > len(REQUESTS) // 2


def test_bad_requests_are_refused_and_the_engine_goes_on(found: dict[str, Any]) -> None:
    assert len(found["refused"]) == len(BAD)
    assert all(found["refused"])
    assert "#/properties/a/type" in found["refused"][0]


def is_valid(request: dict[str, Any], text: str) -> bool:
    if "json" in request:
        schema = request["json"] if isinstance(request["json"], dict) else json.loads(request["json"])
        jsonschema.validate(json.loads(text), schema)
        return True
    if "regex" in request:
        return re.fullmatch(request["regex"], text, re.ASCII) is not None
    if "choice" in request:
        return text in request["choice"]
    if "json_object" in request:
        return isinstance(json.loads(text), dict)
    return xgr.testing._is_grammar_accept_string(grammar_of(request), text)


def begins(request: dict[str, Any], text: str) -> bool:
    return xgr.testing._is_grammar_accept_string(grammar_of(request), text.rstrip("\ufffd"), require_termination=False)


def grammar_of(request: dict[str, Any]) -> xgr.Grammar:
    if "json" in request:
        return xgr.Grammar.from_json_schema(request["json"])
    if "json_object" in request:
        return xgr.Grammar.from_json_schema({"type": "object"})
    if "regex" in request:
        return xgr.Grammar.from_regex(request["regex"])
    if "structural_tag" in request:
        tag = json.loads(request["structural_tag"])
        if "structures" in tag:
            items = [xgr.StructuralTagItem(**each) for each in tag["structures"]]
            return xgr.Grammar.from_structural_tag(items, tag["triggers"])
        return xgr.Grammar.from_structural_tag(tag)
    text = request["grammar"]
    return xgr.Grammar.from_ebnf(text) if "::=" in text else xgr.Grammar.from_lark(text)
