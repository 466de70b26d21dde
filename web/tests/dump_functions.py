"""What the functions of the Python package return, for the functions of the npm package to be compared with.

    python web/tests/dump_functions.py OUT

runs the calls of function_scripts.py natively and writes `OUT/functions.json`: each with its result or its error.
functions.js runs the same calls, under their names in camel case, in Node and in Chromium.
"""

from __future__ import annotations

import base64
import json
import random
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tiktoken
import tokenizers
from function_scripts import (
    CALL,
    END,
    INFO,
    STOP,
    TOKENS,
    TOOLS,
    Step,
    batch_cases,
    event_cases,
    matcher_cases,
)
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, trainers

from maskwright import (
    BatchGrammarMatcher,
    Grammar,
    GrammarCompiler,
    GrammarMatcher,
    TokenizerInfo,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
)
from maskwright.errors import MaskwrightError
from maskwright.events import EventReader
from maskwright.ir.portable import to_bytes
from maskwright.structural_tag import get_model_structural_tag

COMPILER = GrammarCompiler(INFO)
FIELDS = ("hint", "argument", "option", "limit", "pointer")


def main(out: Path) -> None:
    """Write the file."""
    data = {
        "tokens": [base64.b64encode(t.encode() if isinstance(t, str) else t).decode() for t in TOKENS],
        "special": [STOP, CALL, END],
        "stop": [STOP],
        "vocabSize": 290,
        "matchers": [run_matcher(*case) for case in matcher_cases()],
        "batches": [run_batch(steps) for steps in batch_cases()],
        "events": [run_events(family, texts) for family, texts in event_cases()],
        "apply": apply_cases(),
        "tokenizers": tokenizer_cases(),
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / "functions.json").write_text(json.dumps(data))
    print(
        f"{sum(len(each) for each in data.values() if isinstance(each, list) and each is not data['tokens'])} scripts"
    )


def run_matcher(name: str, grammar: Grammar, options: dict[str, Any], steps: list[Step]) -> dict[str, Any]:
    """A case with its results."""
    compiled = COMPILER.compile_grammar(grammar)
    made = attempt(lambda: GrammarMatcher(compiled, **options))
    case: dict[str, Any] = {"name": name, "file": file_of(grammar), "options": options}
    if isinstance(made, dict):
        return case | {"error": made, "steps": []}
    return case | {"steps": run_steps(made, steps)}


def run_batch(steps: list[Step]) -> dict[str, Any]:
    grammar = Grammar.from_regex("[ab]{2,5}|xyz")
    compiled = COMPILER.compile_grammar(grammar)
    batch = BatchGrammarMatcher([GrammarMatcher(compiled) for _ in range(3)])
    return {"file": file_of(grammar), "steps": run_steps(batch, steps)}


def run_steps(target: Any, steps: list[Step]) -> list[list[Any]]:
    """Each call, what it returned or raised, and what it wrote."""
    out = []
    for method, *arguments in steps:
        if method == "fork":
            target = target.fork()
            out.append([method, [], None, None])
            continue
        bitmask: Any = None
        given: list[Any] = []
        keywords: dict[str, Any] = {}
        for each in arguments:
            if isinstance(each, dict) and "rows" in each:
                bitmask = allocate_token_bitmask(each["rows"], INFO.vocab_size)
                given.append(bitmask)
            elif isinstance(each, dict) and "b64" in each:
                given.append(base64.b64decode(each["b64"]))
            elif isinstance(each, dict):
                keywords = each
            else:
                given.append(each)
        found = getattr(target, method)
        result = (
            attempt(lambda found=found, given=given, keywords=keywords: found(*given, **keywords))
            if callable(found)
            else found
        )
        written = None if bitmask is None else zlib.crc32(np.asarray(bitmask).tobytes())
        out.append([method, arguments, plain(result), written])
    return out


def run_events(family: str, pieces: list[Any]) -> dict[str, Any]:
    tag = get_model_structural_tag(family, TOOLS, "auto")
    grammar = Grammar.from_structural_tag(tag, tokenizer_info=INFO)
    matcher = GrammarMatcher(COMPILER.compile_grammar(grammar))
    reader = EventReader(matcher)
    steps = []
    for piece in pieces:
        if isinstance(piece, dict):
            matcher.rollback(piece["rollback"])
            accepted = True
        else:
            accepted = matcher.accept_token(piece) if isinstance(piece, int) else matcher.accept_string(piece)
        assert accepted, (family, piece)
        steps.append([piece, [described(event) for event in reader.read()]])
    events = [described(event) for event in reader.events]
    return {"name": family, "file": file_of(grammar), "steps": steps, "events": events}


def described(event: Any) -> dict[str, Any]:
    kind = type(event).__name__
    return {"type": kind[0].lower() + kind[1:], **event._asdict()}


def apply_cases() -> list[dict[str, Any]]:
    """Rows of logits and of masks, and the logits after."""
    rng = np.random.default_rng(5)
    out = []
    sizes = ((1, 64, 2), (3, 70, 3), (2, 290, 10), (1, 100, 3), (2, 40, 2), (4, 1000, 32), (3, 1030, 32))
    for num_rows, size, words in sizes:
        logits = rng.standard_normal((num_rows, size)).astype(np.float32)
        bitmask = rng.integers(-(2**31), 2**31, (num_rows, words)).astype(np.int32)
        bitmask[rng.random(bitmask.shape) < 0.3] = 0
        bitmask[rng.random(bitmask.shape) < 0.2] = -1
        bitmask[0, 0], bitmask[-1, -1] = -1, 0
        before = logits.tolist()
        apply_token_bitmask_inplace(logits, bitmask)
        after = [[None if value == -np.inf else value for value in row] for row in logits.tolist()]
        out.append({"size": size, "logits": before, "bitmask": bitmask.tolist(), "after": after})
    return out


def tokenizer_cases() -> list[dict[str, Any]]:
    """tokenizer.json and tiktoken files, and what is read from them."""
    cases = []
    for name, it in {"byte level": byte_level(), "llama 2": pieces(prefix=True), "gemma": pieces(prefix=False)}.items():
        for options in ({"stop_token_ids": [1]}, {"stop_token_ids": [], "vocab_size": 400}, {}):
            result = attempt(lambda it=it, options=options: TokenizerInfo.from_huggingface(it, **options))
            cases.append(
                {
                    "name": name,
                    "kind": "fromTokenizerJson",
                    "source": it.to_str(),
                    "options": options,
                    "result": read_info(result),
                }
            )
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"y" * 2000: 258}
    text = "".join(f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in ranks.items())
    for special, options in (
        ({"<|endoftext|>": 262}, {}),
        ({"<a>": 260, "<b>": 259}, {"stop_token_ids": [260, 65], "vocab_size": 300}),
        ({"<|eot_id|>": 260}, {}),
        ({"<|endoftext|>": 262}, {"vocab_size": 250, "stop_token_ids": [3]}),
        ({"<|endoftext|>": 262}, {"stop_token_ids": [900]}),
    ):
        encoding = tiktoken.Encoding("small", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens=special)
        result = attempt(lambda encoding=encoding, options=options: TokenizerInfo.from_tiktoken(encoding, **options))
        cases.append(
            {
                "name": "tiktoken",
                "kind": "fromTiktoken",
                "source": text,
                "result": read_info(result),
                "options": {**options, "special_tokens": special},
            }
        )
    return cases


def read_info(info: Any) -> Any:
    if isinstance(info, dict):
        return info
    rng = random.Random(3)
    ids = [rng.randrange(info.vocab_size) for _ in range(50)]
    return {
        "tokens": [base64.b64encode(token).decode() for token in info.token_bytes],
        "vocabSize": info.vocab_size,
        "specialTokenIds": list(info.special_token_ids),
        "stopTokenIds": list(info.stop_token_ids),
        "dropsLeadingSpace": info.drops_leading_space,
        "decoded": [ids, base64.b64encode(info.decode(ids)).decode()],
    }


def byte_level() -> Any:
    it = tokenizers.Tokenizer(models.BPE())
    it.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    it.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, initial_alphabet=alphabet, special_tokens=["</s>"], show_progress=False
    )
    it.train_from_iterator(
        ['{"name": "value", "number": 12}', "Größe 日本 été", "the thing that they think"] * 5, trainer
    )
    it.add_tokens([AddedToken("<think> é", special=False)])
    return it


def pieces(*, prefix: bool) -> Any:
    words = ["▁", "a", "e", "t", "▁the", "▁▁", '"', "{", "}", ":", "日"]
    vocab = [("<unk>", 0.0), ("</s>", 0.0), *((f"<0x{b:02X}>", -9.0) for b in range(256)), *((w, -2.0) for w in words)]
    it = tokenizers.Tokenizer(models.Unigram(vocab, unk_id=0, byte_fallback=True))
    start = [normalizers.Prepend("▁")] if prefix else []
    it.normalizer = normalizers.Sequence([*start, normalizers.Replace(" ", "▁")])
    end = [decoders.Strip(" ", 1, 0)] if prefix else []
    it.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *end])
    it.add_special_tokens(["<unk>", "</s>"])
    return it


def file_of(grammar: Grammar) -> str:
    return base64.b64encode(to_bytes(grammar.bound_to(INFO).compact_ir)).decode()


def attempt(action: Callable[[], Any]) -> Any:
    """What it returns, or its error as data."""
    try:
        return action()
    except MaskwrightError as error:
        fields = {name: value for name in FIELDS if (value := getattr(error, name, None)) is not None}
        return {"error": type(error).__name__, "message": error.message, **fields}


def plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"b64": base64.b64encode(value).decode()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


if __name__ == "__main__":
    main(Path(sys.argv[1]))
