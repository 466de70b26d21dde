"""The code blocks of README.md and docs/*.md are run, page by page, in order.

    python   executed in one namespace per page, which begins with the names of `_Readers`: a tokenizer, a model, …
    sh       each line that begins with `maskwright` is run as a command and must succeed
    json     read; structural tags are compiled as well
    ebnf, lark, regex   compiled

Two things are not real: `from_pretrained` returns a tiny model with random weights, since no hub is asked for one, and
`sample` takes the likeliest token of random logits. Blocks of `text` and blocks without a language are not looked at.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwright as mw
from maskwright.structural_tag.families import registry
from small_models import make_model, make_tokenizer

sybil = pytest.importorskip("sybil", reason="needs sybil, of the extra `test`")
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser  # noqa: E402

REPOSITORY = Path(__file__).resolve().parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": _SCHEMA}}]
_FILES = {
    "my.lark": 'start: "a" | "b"',
    "schema.json": json.dumps(_SCHEMA),
    "schemas/city.json": json.dumps(_SCHEMA),
    "tokenizer.json": json.dumps({"added_tokens": [], "model": {}}),
    "tools.json": json.dumps(_TOOLS),
}


class _Reader:
    """What a reader of the page has at hand: the names that its Python blocks may use."""

    def __init__(self, tokenizer: Any, model: Any, info: mw.TokenizerInfo) -> None:
        self._random = np.random.default_rng(0)
        self._info = info
        self.names: dict[str, Any] = {
            "tokenizer": tokenizer,
            "model": model,
            "tokenizer_info": info,
            "info": info,
            "compiler": mw.GrammarCompiler(info),
            "tools": _TOOLS,
            "schema": _SCHEMA,
            "prompt": "The city: ",
            "draft_tokens": [5, 6, 7],
            "next_logits": self.next_logits,
            "batch_logits": self.batch_logits,
            "sample": lambda logits: int(np.argmax(logits)),
        }

    def next_logits(self) -> Any:
        return self._random.normal(size=(1, self._info.vocab_size)).astype(np.float32)

    def batch_logits(self, batch: mw.BatchGrammarMatcher) -> Any:
        return self._random.normal(size=(len(batch), self._info.vocab_size)).astype(np.float32)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> _Reader:
    pytest.importorskip("torch", reason="an optional dependency")
    transformers = pytest.importorskip("transformers", reason="an optional dependency")
    tokenizer = make_tokenizer()
    model = make_model("llama", tokenizer)
    # Pages register families of their own; other tests of the process look at all that there are.
    monkeypatch.setattr(registry, "_FAMILIES", dict(registry._FAMILIES))

    def returning(what: Any) -> Callable[..., Any]:
        return lambda *_args, **_options: what

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", returning(tokenizer))
    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", returning(model))
    info = mw.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    return _Reader(tokenizer, model, info)


def test_the_first_page_says_which_functions_it_leaves_out(reader: _Reader) -> None:
    """What its programs call, but nothing on the page makes."""
    text = PAGES[0].read_text("utf-8")
    blocks = [ast.parse(block) for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]
    names = [node for block in blocks for node in ast.walk(block) if isinstance(node, ast.Name)]
    made = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    left_out = {name.id for name in names} & set(reader.names) - made
    assert left_out >= {"next_logits", "sample", "batch_logits"}
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    assert [name for name in left_out if f"`{name}`" not in prose] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks(page: Path, reader: _Reader, tmp_path: Path) -> None:
    for name, text in _FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    parsers = [
        PythonCodeBlockParser(),
        CodeBlockParser("sh", lambda example: _run_commands(str(example.parsed), tmp_path)),
        CodeBlockParser("json", lambda example: _read_json(str(example.parsed))),
        CodeBlockParser("ebnf", lambda example: _compile(mw.Grammar.from_ebnf, example, reader)),
        CodeBlockParser("lark", lambda example: _compile(mw.Grammar.from_lark, example, reader)),
        CodeBlockParser("regex", lambda example: _compile(mw.Grammar.from_regex, example, reader)),
    ]
    document = sybil.Sybil(parsers=parsers).parse(page)
    document.namespace.update(reader.names)
    for example in document.examples():
        example.evaluate()


def _run_commands(block: str, folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for line in block.splitlines():
        for command in line.split("&&"):
            words = shlex.split(command, comments=True)
            if words[:1] == ["maskwright"]:
                done = subprocess.run(
                    [sys.executable, "-m", *words],
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=120,
                )
                assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


def _read_json(block: str) -> None:
    data = json.loads(block)
    if isinstance(data, dict) and data.get("type") == "structural_tag":
        mw.Grammar.from_structural_tag(data)


def _compile(read: Callable[[str], mw.Grammar], example: Any, reader: _Reader) -> None:
    reader.names["compiler"].compile_grammar(read(str(example.parsed).strip()))
