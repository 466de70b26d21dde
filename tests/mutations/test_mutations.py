"""Every input to every entrance ends in a result or a MaskwrightError, in time: seeded mutations of valid inputs.

Schemas, grammars, regular expressions, structural tags and requests are changed at random (`mutate.py`) and given to
all that reads them; what compiles is used for a few tokens. MASKWRIGHT_MUTATIONS=100 tries a hundred times as many,
MASKWRIGHT_SEED, any text, draws others. Real schemas (`shared/corpora` beside the checkout) join if they are there.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import maskwright as mw
from maskwright import openai_shapes
from maskwright.lint import lint
from maskwright.structural_tag import get_model_structural_tag, model_families
from mutations.mutate import mutated_data, mutated_text
from mutations.seeds import REQUESTS, SCHEMAS, TAGS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SIZE = int(os.environ.get("MASKWRIGHT_MUTATIONS", "1"))
SECONDS = 2 * (20 if "LD_PRELOAD" in os.environ else 1)
CORPUS = Path(__file__).parents[1] / "corpus"
REAL = Path(__file__).resolve().parents[3] / "shared" / "corpora" / "maskbench-dev.jsonl.gz"
TOKENS = [*(bytes((b,)) for b in range(256)), b'{"', b'":', b'", "', b"  ", b"aa", b"</", b"<tool_call>", b"</s>"]
SPECIAL = [len(TOKENS) - 2, len(TOKENS) - 1]
INFO = mw.TokenizerInfo.from_vocab(TOKENS, special_token_ids=SPECIAL, stop_token_ids=SPECIAL[1:])
FAMILIES = model_families()
Case = tuple[str, Callable[[], object]]


def use(compiled: mw.CompiledGrammar, rng: random.Random) -> None:
    matcher = mw.GrammarMatcher(compiled)
    bitmask = mw.allocate_token_bitmask(1, INFO.vocab_size)
    for _ in range(4):
        matcher.fill_next_token_bitmask(bitmask)
        allowed = [t for t in range(INFO.vocab_size) if bitmask[0, t // 32] >> (t % 32) & 1]
        if not allowed:
            return
        assert matcher.accept_token(rng.choice(allowed))
    matcher.find_jump_forward_string()


def schemas() -> list[Any]:
    found = list(SCHEMAS)
    if SIZE > 1 and REAL.exists():
        with gzip.open(REAL, "rt", encoding="utf-8") as lines:
            found += [json.loads(line)["schema"] for line in lines if len(line) < 20_000]
    return found


def texts(language: str) -> list[str]:
    cases = [case for path in sorted(CORPUS.glob("*.toml")) for case in tomllib.loads(path.read_text("utf-8"))["case"]]
    return [c["grammar"] for c in cases if c["language"] == language and len(c.get("grammar", "x" * 999)) < 900]


def from_schema(data: Any, rng: random.Random, compiler: mw.GrammarCompiler) -> list[Case]:
    options = {"on_unsupported": "relax"} if rng.random() < 0.3 else {}
    return [
        ("check", lambda: json.dumps(mw.check(data, **options).to_dict())),
        ("from_json_schema", lambda: mw.Grammar.from_json_schema(data, **options)),
        ("compile_json_schema", lambda: use(compiler.compile_json_schema(data, **options), rng)),
    ]


def from_tag(data: Any, rng: random.Random, compiler: mw.GrammarCompiler) -> list[Case]:
    return [("compile_structural_tag", lambda: use(compiler.compile_structural_tag(data), rng))]


def from_request(data: Any, rng: random.Random, compiler: mw.GrammarCompiler) -> list[Case]:
    family = rng.choice(FAMILIES)

    def tag() -> None:
        request = data if isinstance(data, dict) else {"tools": data}
        tools, choice = request.get("tools"), request.get("tool_choice", "auto")
        use(compiler.compile_structural_tag(get_model_structural_tag(family, tools, tool_choice=choice)), rng)

    return [
        (f"get_model_structural_tag {family}", tag),
        (f"chat_completion {family}", lambda: openai_shapes.chat_completion(data, model=family)),
        (f"responses {family}", lambda: openai_shapes.responses(data, model=family)),
    ]


def from_text(language: str) -> Callable[[str, random.Random, mw.GrammarCompiler], list[Case]]:
    def cases(text: str, rng: random.Random, compiler: mw.GrammarCompiler) -> list[Case]:
        grammar = getattr(mw.Grammar, f"from_{language}")
        return [
            (f"from_{language}", lambda: lint(grammar(text))),
            (f"compile of {language}", lambda: use(compiler.compile_grammar(grammar(text)), rng)),
        ]

    return cases


KINDS: dict[
    str, tuple[int, Callable[[], list[Any]], Callable[[Any, random.Random], Any], Callable[..., list[Case]]]
] = {
    "schema": (250, schemas, mutated_data, from_schema),
    "tag": (150, lambda: list(TAGS), mutated_data, from_tag),
    "request": (150, lambda: list(REQUESTS), mutated_data, from_request),
    "ebnf": (300, lambda: texts("ebnf"), mutated_text, from_text("ebnf")),
    "lark": (300, lambda: texts("lark"), mutated_text, from_text("lark")),
    "regex": (300, lambda: texts("regex"), mutated_text, from_text("regex")),
}


def wrong_with(run: Callable[[], object]) -> str | None:
    """Run it; what it did that it must not do."""
    begin = time.thread_time()
    try:
        run()
    except mw.MaskwrightError:
        pass
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:120]
    seconds = time.thread_time() - begin
    return f"took {seconds:.1f} s" if seconds > SECONDS else None


@pytest.mark.parametrize("kind", KINDS)
def test_mutations(kind: str) -> None:
    count, seeds, mutate, cases = KINDS[kind]
    sources = seeds()
    faults: dict[str, str] = {}
    compiler = mw.GrammarCompiler(INFO)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(count * SIZE):
            rng = random.Random(f"{kind} {number} {os.environ.get('MASKWRIGHT_SEED', '')}")
            data = rng.choice(sources)
            for _ in range(rng.choice((1, 1, 2, 4))):
                data = mutate(data, rng)
            for entrance, run in cases(data, rng, compiler):
                if wrong := wrong_with(run):
                    faults.setdefault(f"{entrance.split()[0]}: {wrong}", f"{number}: {data!r}"[:700])
    assert not faults, "\n".join(f"{what}\n    {where}" for what, where in faults.items())
