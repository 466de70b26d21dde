"""SGLang's own n-gram worker drafts from grammars: its draft trees, its masks along them, and fewer steps.

What stands in: the model (the same scores at each place of an output), the look-up in SGLang's corpus, which is
compiled when it is first used, and a kernel that the worker imports.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

pytest.importorskip("sglang", reason="SGLang is not installed: make engines")
torch = pytest.importorskip("torch")

from engines.test_sglang import Server, _torchvision, tokenizer  # noqa: E402, F401

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"inhabitants_in_millions": {"type": "integer"}, "continent": {"enum": ["Asia", "Europe"]}},
        "required": ["inhabitants_in_millions", "continent"],
        "additionalProperties": False,
    }
)
NUM_DRAFTED = 6


@pytest.fixture(scope="module")
def worker_class(_torchvision: None) -> Iterator[Any]:  # noqa: F811
    name = "sglang.kernels.ops.speculative.reconstruct_tree"
    with pytest.MonkeyPatch.context() as patch:
        if importlib.util.find_spec("sgl_kernel") is None:
            patch.setitem(sys.modules, name, MagicMock(name=name))
        from sglang.srt.speculative.ngram_worker import NGRAMWorker

        yield NGRAMWorker


@pytest.fixture(scope="module")
def server(worker_class: Any, tokenizer: Any, smollm2: Path) -> Server:  # noqa: F811
    options = ("--speculative-algorithm", "NGRAM", "--speculative-num-draft-tokens", str(NUM_DRAFTED))
    return Server(tokenizer, smollm2, *options, "--constrained-json-disable-any-whitespace")


class Corpus:
    """Finds nothing: trees of padding."""

    def synchronize(self) -> None: ...

    def batch_get(self, req_ids: list[str], tokens: list[list[int]], _lengths: list[int]) -> Any:
        found = np.zeros((len(req_ids), NUM_DRAFTED), dtype=np.int64)
        found[:, 0] = [each[-1] for each in tokens]
        mask = np.tile(np.eye(NUM_DRAFTED, dtype=np.int64), (len(req_ids), 1, 1))
        mask[:, :, 0] = 1
        return found.reshape(-1), mask.reshape(-1)


@pytest.fixture
def worker(worker_class: Any) -> Any:
    made = object.__new__(worker_class)
    made.draft_token_num, made.max_trie_depth, made.enable_overlap = NUM_DRAFTED, 18, True
    made.ngram_corpus = Corpus()
    return made


def trees(worker: Any, reqs: list[Any]) -> tuple[Any, Any]:
    """The tokens, (requests, n), and the ancestors, (requests, n, n), that the worker has the model check."""
    tokens, mask = worker._prepare_draft_tokens(SimpleNamespace(reqs=reqs, grammar_needs_sync=lambda: True))
    return tokens.reshape(len(reqs), -1), mask.reshape(len(reqs), NUM_DRAFTED, NUM_DRAFTED)


def step(server: Server, worker: Any, req: Any, scores: Any) -> None:
    """Draft, mask along the tree as SGLang does, and give the request what the likeliest tokens confirm."""
    from sglang.srt.speculative.ngram_worker import _derive_tree_links
    from sglang.srt.speculative.spec_utils import generate_token_bitmask

    tokens, mask = trees(worker, [req])
    links = _derive_tree_links(mask.reshape(-1), 1, NUM_DRAFTED)
    bitmask, grammar = generate_token_bitmask([req], *links, torch.from_numpy(tokens), server.vocab_size)
    accepted, node = [], 0
    while node >= 0:
        row = scores[len(req.output_ids) + len(accepted)].clone()[None]
        grammar.apply_vocab_mask(row, bitmask[node : node + 1])
        accepted.append(int(row.argmax()))
        node = int(links[0][0, node])
        while node >= 0 and tokens[0, node] != accepted[-1]:
            node = int(links[1][0, node])
    for token in server.accept(req, accepted):
        req.output_ids.append(token)
    req.update_finish_state()


def generate(server: Server, worker: Any, seed: int = 0, **params: Any) -> tuple[list[int], int]:
    """An output and the number of steps that it took after its first token."""
    req = server.request(**params)
    scores = torch.randn(65, server.vocab_size, generator=torch.Generator().manual_seed(seed))
    server.step([req], scores[:1].clone())
    steps = 0
    while not req.finished():
        step(server, worker, req, scores)
        steps += 1
    return list(req.output_ids), steps


def test_outputs_are_the_same_in_fewer_steps(server: Server, worker: Any) -> None:
    req = server.request(json_schema=SCHEMA)
    scores = torch.randn(65, server.vocab_size, generator=torch.Generator().manual_seed(0))
    while not req.finished():
        server.step([req], scores[len(req.output_ids)][None].clone())
    runs = [generate(server, worker, json_schema=SCHEMA) for _ in range(4)]
    assert all(output == list(req.output_ids) for output, _ in runs)
    assert runs[0][1] < len(req.output_ids) - 1  # what is forced
    assert runs[3][1] < runs[0][1]  # and what is likely
    assert list(json.loads(server.tokenizer.decode(runs[0][0][:-1]))) == ["inhabitants_in_millions", "continent"]


def test_a_chain_with_padding_behind_its_first_token(server: Server, worker: Any) -> None:
    req = server.request(regex="(a|b) continent")
    [a] = server.tokenizer.encode("a")
    req.output_ids = array("q", [a])
    server.accept(req, [a])
    tokens, mask = trees(worker, [req])
    assert tokens[0].tolist() == [a, *server.tokenizer.encode(" continent"), 0, 0, 0, 0]
    assert mask[0].tolist() == [[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]] + [
        [1, *(int(i == j) for j in range(1, 6))] for i in range(2, 6)
    ]


def test_other_requests_keep_their_trees(server: Server, worker: Any) -> None:
    free, held = server.request(), server.request(regex="(a|b) continent")
    before = trees(worker, [free])[0].tolist()
    [a] = server.tokenizer.encode("a")
    held.output_ids = array("q", [a])
    server.accept(held, [a])
    tokens, _ = trees(worker, [free, held, free])
    assert [tokens[0].tolist(), tokens[2].tolist()] == before * 2
    assert tokens[1, 1] != 0


def test_nothing_is_drafted_while_a_request_reasons(worker: Any, tokenizer: Any, smollm2: Path) -> None:  # noqa: F811
    options = ("--speculative-algorithm", "NGRAM", "--reasoning-parser", "qwen3")
    server = Server(tokenizer, smollm2, *options)
    req = server.request(regex="a continent", reasoning=True)
    assert trees(worker, [req])[0][0, 1:].tolist() == [0] * (NUM_DRAFTED - 1)
    end = tokenizer.encode("</think>")
    for token in end:
        req.grammar.accept_token(token)
        req.output_ids.append(token)
    drafted = trees(worker, [req])[0][0, 1:].tolist()
    assert tokenizer.decode([token for token in drafted if token]) == "a continent"


def test_drafts_stay_within_the_budget(server: Server, worker: Any) -> None:
    req = server.request(regex="(a|b)( continent)?( continent)?", max_new_tokens=2)
    [a] = server.tokenizer.encode("a")
    req.output_ids = array("q", [a])
    server.accept(req, [a])
    assert np.count_nonzero(trees(worker, [req])[0][0, 1:]) <= 1
