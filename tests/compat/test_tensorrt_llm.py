"""TensorRT-LLM's PyTorch backend under `maskwright as-xgrammar`: the calls it makes, in its workers' processes.

TensorRT-LLM needs a GPU and is not run. What stands for it follows its `grammar_matcher.py` (how a grammar and its
matcher are made from a request), `guided_decoder.py` (a step: accept, fill a row, go along the draft, roll back what
was rejected) and `tokenizer.py` (what is passed on of a vocabulary). Its MPI workers are processes of their own, which
get the environment, as a spawned process of `multiprocessing` does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="an optional dependency")
pytest.importorskip("transformers", reason="an optional dependency")
TESTS = Path(__file__).resolve().parents[1]
SCRIPT = """
import json
import multiprocessing
import sys
import torch
import xgrammar
from small_models import make_tokenizer

DRAFTS = 4


class Decoder:
    def __init__(self, tokenizer):
        entries = sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])
        text = tokenizer.backend_tokenizer.to_str()
        facts = xgrammar.TokenizerInfo._detect_metadata_from_hf(text)
        info = xgrammar.TokenizerInfo(
            [token for token, _ in entries],
            vocab_type=facts["vocab_type"],
            vocab_size=len(entries) + 40,
            stop_token_ids=[tokenizer.eos_token_id],
            add_prefix_space=facts["add_prefix_space"],
        )
        self.padding = len(entries)  # an id that is no token
        self.compiler = xgrammar.GrammarCompiler(info, cache_enabled=True, cache_limit_bytes=1 << 30)
        self.bitmask = torch.empty(DRAFTS + 1, (info.vocab_size + 31) // 32, dtype=torch.int32)

    def matcher(self, kind, guide):
        compile = {
            "json": lambda _: self.compiler.compile_builtin_json_grammar(),
            "json_schema": self.compiler.compile_json_schema,
            "regex": self.compiler.compile_regex,
            "grammar": self.compiler.compile_grammar,
            "structural_tag": self.compiler.compile_structural_tag,
        }[kind]
        return xgrammar.GrammarMatcher(compile(guide), max_rollback_tokens=DRAFTS)

    def allows(self, row, token):
        return bool(self.bitmask[row, token // 32] >> token % 32 & 1)

    def step(self, matcher, new_token, draft):
        # how many tokens of the draft were taken, after the new one; each was allowed by the row before it
        if new_token is not None:
            assert self.allows(0, new_token) and matcher.accept_token(new_token)
        advanced = 0
        if not matcher.is_terminated():
            matcher.fill_next_token_bitmask(self.bitmask, 0)
            for row, token in enumerate(draft):
                if not matcher.accept_token(token):
                    assert not self.allows(row, token)
                    break
                assert self.allows(row, token)
                advanced += 1
                if matcher.is_terminated():
                    break
                matcher.fill_next_token_bitmask(self.bitmask, row + 1)
        return advanced


def decode(request):
    # the text token by token, each after a draft of which the model keeps nothing
    tokenizer = make_tokenizer()
    decoder = Decoder(tokenizer)
    matcher = decoder.matcher(request["kind"], request["guide"])
    tokens = tokenizer.encode(request["text"], add_special_tokens=False) + [tokenizer.eos_token_id]
    taken = []
    new_token = None
    for at in range(len(tokens)):
        draft = tokens[at : at + DRAFTS - 1] + [decoder.padding]
        advanced = decoder.step(matcher, new_token, draft)
        assert advanced == min(DRAFTS - 1, len(tokens) - at)
        matcher.rollback(advanced)
        matcher.fill_next_token_bitmask(decoder.bitmask, 0)
        new_token = tokens[at]
        taken.append(new_token)
    assert matcher.accept_token(new_token) and matcher.is_terminated()
    return tokenizer.decode(taken[:-1]), xgrammar.GrammarMatcher.__module__, __name__


if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as workers:
        print(json.dumps(workers.apply(decode, (json.loads(sys.argv[1]),))))
"""
REASONING = {
    "type": "sequence",
    "elements": [
        {"type": "tag", "begin": "<think>", "content": {"type": "any_text"}, "end": "</think>"},
        {"type": "json_schema", "json_schema": {"type": "integer"}},
    ],
}
REQUESTS = {
    "JSON": ("json", None, '{"a": [1, null]}'),
    "JSON Schema": (
        "json_schema",
        json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}}),
        '{"a": 12}',
    ),
    "unique items": ("json_schema", json.dumps({"items": {"enum": [1, 2]}, "uniqueItems": True}), "[2, 1]"),
    "regex": ("regex", "[0-9]{4}-[0-9]{2}", "2024-11"),
    "EBNF": ("grammar", 'root ::= "a" root "b" | "c"', "aaacbbb"),
    "reasoning": ("structural_tag", json.dumps({"type": "structural_tag", "format": REASONING}), "<think>a b</think>7"),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_worker_follows_the_structure(name: str, tmp_path: Path) -> None:
    kind, guide, text = REQUESTS[name]
    script = tmp_path / "generate.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "maskwright",
            "as-xgrammar",
            sys.executable,
            str(script),
            json.dumps({"kind": kind, "guide": guide, "text": text}),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    written, module, name_of_script = json.loads(done.stdout)
    assert written == text
    assert module == "maskwright.compat.xgrammar.matcher"
    assert name_of_script == "__mp_main__"
