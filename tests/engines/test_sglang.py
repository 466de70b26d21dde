"""SGLang's own manager of grammars, requests, sampling and speculative decoding, with the backend `maskwright`.

A server needs a GPU. Everything on the way of a grammar is SGLang's own: its plugins, its arguments, `GrammarManager`,
`Req`, `SamplingBatchInfo`, the processing of results, and the masks of draft trees. What stands in for the rest is the
scheduler, with the attributes that the manager reads, and torchvision, which SGLang imports for its vision models.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

from timing import processor_seconds

sglang = pytest.importorskip("sglang", reason="SGLang is not installed: make engines")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

_TORCHVISION = (
    "",
    ".io",
    ".ops",
    ".transforms",
    ".transforms.functional",
    ".transforms.v2",
    ".transforms.v2.functional",
)
SCHEMA = json.dumps(
    {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}, "required": ["city", "n"]}
)


@pytest.fixture(scope="module", autouse=True)
def _torchvision() -> Iterator[None]:
    """A stand-in where it is missing, as it is where only the CPU is there: nothing here sees pictures."""
    try:
        import torchvision  # noqa: F401
    except ImportError:
        pass
    else:
        yield
        return
    for name in ("torchvision" + part for part in _TORCHVISION):
        module = MagicMock(name=name, __path__=[], __version__="0")
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        sys.modules[name] = module
    yield
    for name in _TORCHVISION:
        del sys.modules["torchvision" + name]


@pytest.fixture(scope="module")
def tokenizer(smollm2: Path) -> Any:
    from sglang.srt.utils.hf_transformers_utils import get_tokenizer

    return get_tokenizer(str(smollm2))


class Server:
    """What a server is to its grammars."""

    def __init__(self, tokenizer: Any, smollm2: Path, *options: str) -> None:
        from sglang.srt.plugins import load_plugins
        from sglang.srt.runtime_context import publish
        from sglang.srt.server_args import ServerArgs

        load_plugins()  # finds the entry point
        parser = argparse.ArgumentParser()
        ServerArgs.add_cli_args(parser)
        line = ["--model-path", str(smollm2), "--device", "cpu", "--grammar-backend", "maskwright", *options]
        args = ServerArgs.from_cli_args(parser.parse_args(line))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ServerArgs, "resolve_once", lambda _: None)  # it looks at the hardware
            publish(args, role="scheduler")
        from sglang.srt.constrained.grammar_manager import GrammarManager

        group = SimpleNamespace(world_size=1, first_rank=0, is_first_rank=True)
        self.tokenizer = tokenizer
        self.vocab_size = 49_152
        config = SimpleNamespace(vocab_size=self.vocab_size, hf_eos_token_id={tokenizer.eos_token_id})
        config.think_end_ids = None
        with _ranks():
            self.manager = GrammarManager(
                SimpleNamespace(
                    server_args=args,
                    tokenizer=tokenizer,
                    model_config=config,
                    dp_tp_cpu_group=None,
                    dp_tp_group=group,
                    pp_group=None,
                )
            )

    def request(self, *, wait: bool = True, reasoning: bool = False, **params: Any) -> Any:
        """A request with its grammar, or with the error that it ends with."""
        from sglang.srt.managers.schedule_batch import Req
        from sglang.srt.sampling.sampling_params import SamplingParams

        sampling = SamplingParams(**{"max_new_tokens": 64, **params})
        sampling.normalize(self.tokenizer)
        sampling.verify(self.vocab_size)
        req = Req("1", "", self.tokenizer.encode("A city:"), sampling, eos_token_ids={self.tokenizer.eos_token_id})
        req.tokenizer, req.vocab_size, req.require_reasoning = self.tokenizer, self.vocab_size, reasoning
        with _ranks():
            if self.manager.process_req_with_grammar(req) and wait:
                deadline = time.monotonic() + 30
                while req not in self.manager.get_ready_grammar_requests():
                    assert time.monotonic() < deadline
        return req

    def step(self, reqs: list[Any], logits: Any) -> list[int]:
        """Mask, choose the likeliest tokens, and give them to the requests, as a batch does."""
        from sglang.srt.sampling.sampling_batch_info import SamplingBatchInfo

        info = object.__new__(SamplingBatchInfo)
        info.grammars, info.vocab_size, info.device = [req.grammar for req in reqs], self.vocab_size, "cpu"
        info.temperatures = torch.ones(len(reqs), 1)
        info.acc_additive_penalties = info.acc_scaling_penalties = info.logit_bias = None
        info.penalizer_orchestrator = None
        info.update_regex_vocab_mask()
        info.apply_logits_bias(logits)
        chosen: list[int] = logits.argmax(-1).tolist()
        for req, token in zip(reqs, chosen, strict=True):
            if req.finished():
                continue
            req.output_ids.append(token)
            if req.grammar is not None:
                self.accept(req, token)
            req.update_finish_state()
            if req.grammar is not None:
                req.grammar.finished = req.finished()
        return chosen

    def accept(self, req: Any, tokens: int | list[int]) -> list[int]:
        from sglang.srt.managers.scheduler_components.batch_result_processor import SchedulerBatchResultProcessor

        kept: list[int] = SchedulerBatchResultProcessor._accept_grammar_tokens(None, req, tokens)
        return kept

    def run(self, reqs: list[Any], seed: int = 0, most: int = 400) -> list[str]:
        """Generate from random logits until all requests are finished; return their texts."""
        random = torch.Generator().manual_seed(seed)
        for _ in range(most):
            if all(req.finished() for req in reqs):
                break
            self.step(reqs, torch.randn(len(reqs), self.vocab_size, generator=random))
        stop = self.tokenizer.eos_token_id
        return [self.tokenizer.decode([i for i in req.output_ids if i != stop]) for req in reqs]


def _ranks() -> Any:
    from sglang.srt.runtime_context import get_parallel

    return get_parallel().override(tp_rank=0, pp_rank=0, pp_size=1)


@pytest.fixture(scope="module")
def server(tokenizer: Any, smollm2: Path) -> Server:
    return Server(tokenizer, smollm2)


def reason(req: Any) -> str:
    return type(req.finished_reason).__name__


def test_one_argument_is_all_a_user_writes(server: Server) -> None:
    from maskwright.integrations.sglang.backend import MaskwrightBackend

    assert type(server.manager.grammar_backend) is MaskwrightBackend


@pytest.mark.parametrize("seed", range(3))
def test_schemas_end_complete_within_max_new_tokens(server: Server, seed: int) -> None:
    reqs = [server.request(json_schema=SCHEMA, max_new_tokens=most) for most in (12, 24, 64, 64)]
    for req, text in zip(reqs, server.run(reqs, seed), strict=True):
        assert isinstance(json.loads(text)["n"], int)
        assert len(req.output_ids) <= req.sampling_params.max_new_tokens
        assert reason(req) == "FINISH_MATCHED_TOKEN"


def test_every_kind_of_constraint(server: Server) -> None:
    tag = {
        "type": "structural_tag",
        "format": {"type": "tag", "begin": "<a>", "content": {"type": "regex", "pattern": "[0-9]{3}"}, "end": "</a>"},
    }
    older = {"structures": [{"begin": "<f>", "schema": {"type": "boolean"}, "end": "</f>"}], "triggers": ["<f>"]}
    requests = {
        "regex": server.request(regex="(yes|no), [0-9]{4}"),
        "ebnf": server.request(ebnf='root ::= "a" root "b" | "c"', max_new_tokens=9),
        "json": server.request(json_schema="$$ANY$$", max_new_tokens=9),
        "tag": server.request(structural_tag=json.dumps(tag)),
        "older": server.request(structural_tag=json.dumps(older), max_new_tokens=30),
        "none": server.request(max_new_tokens=5),
    }
    texts = dict(zip(requests, server.run(list(requests.values())), strict=True))
    assert [text.split(", ")[0] in ("yes", "no") for text in [texts["regex"]]] == [True]
    assert texts["ebnf"].count("a") == texts["ebnf"].count("b")
    assert "c" in texts["ebnf"]
    json.loads(texts["json"])
    assert texts["tag"].startswith("<a>")
    assert texts["tag"].endswith("</a>")
    assert len(requests["older"].output_ids) <= 30
    assert len(requests["none"].output_ids) == 5
    assert reason(requests["none"]) == "FINISH_LENGTH"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"json_schema": '{"properties": {"a": {"type": "strin"}}}'}, "at #/properties/a/type:"),
        ({"json_schema": '{"type": '}, "is not valid JSON"),
        ({"json_schema": '{"type": "integer", "minimum": 3, "maximum": 2}'}, "no value"),
        ({"regex": "(a"}, "1:1: "),
        ({"ebnf": 'root ::= "a" missing'}, "missing"),
        ({"ebnf": "root ::= ("}, "1:10: "),
        ({"structural_tag": '{"format": {"type": "tagg"}}'}, "did you mean 'tag'?"),
        ({"json_schema": json.dumps({"$ref": "http://x/y"})}, "at #/$ref:"),
        ({"json_schema": "[" * 100_000}, "Failed to compile json grammar"),
        ({"json_schema": '{"type": "structural_tag"}'}, "use the field structural_tag"),
        (
            {"json_schema": '{"uniqueItems": true, "items": {"maxItems": 2}}'},
            'write "x-guidance": {"lenient": true} in the schema',
        ),
        ({"ebnf": 'start: "a"'}, "write it in EBNF, as name ::= body"),
        ({"ebnf": "[a-z]+"}, "use the field regex"),
    ],
)
def test_a_wrong_grammar_ends_its_request_with_a_message(server: Server, params: Any, message: str) -> None:
    good = server.request(json_schema=SCHEMA)
    for _ in range(2):  # compiled, and from what SGLang keeps
        bad = server.request(**params)
        assert bad.to_finish.status_code == 400
        assert message in bad.to_finish.message
        assert not re.search(r"compile_|Grammar\.|on_unsupported", bad.to_finish.message)
    assert json.loads(server.run([good])[0])


def test_too_few_tokens_are_refused_with_the_number_that_is_needed(server: Server) -> None:
    for _ in range(2):
        req = server.request(json_schema=SCHEMA, max_new_tokens=3)
        assert "within max_new_tokens=3: the shortest output needs" in req.to_finish.message


def test_an_output_of_just_max_new_tokens_is_complete(server: Server) -> None:
    req = server.request(regex="y", max_new_tokens=1)
    assert server.run([req]) == ["y"]


def test_the_budget_can_be_switched_off(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from sglang.srt.plugins.hook_registry import HookRegistry

    from maskwright.integrations import sglang as plugin

    seen: list[str] = []
    monkeypatch.setattr(HookRegistry, "register", lambda target, *_: seen.append(target))
    plugin.register()
    assert len(seen) == 2
    monkeypatch.setenv("MASKWRIGHT_SGLANG_TOKEN_BUDGET", "0")
    plugin.register()
    assert len(seen) == 2


def test_a_batch_is_filled_in_one_call(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from maskwright.integrations.sglang import grammar

    calls = []

    class Counting(grammar.BatchGrammarMatcher):
        def fill_next_token_bitmask(self, *args: Any) -> bool:
            calls.append(len(self))
            return super().fill_next_token_bitmask(*args)

    reqs = [server.request(json_schema=SCHEMA) for _ in range(5)] + [server.request()]
    monkeypatch.setattr(grammar, "BatchGrammarMatcher", Counting)
    logits = torch.zeros(6, server.vocab_size)
    server.step(reqs, logits)
    assert calls == [5]
    allowed = logits.isfinite().sum(-1).tolist()
    assert allowed[5] == server.vocab_size
    assert len(set(allowed[:5])) == 1
    assert allowed[0] < 100


def test_copies_are_independent_and_cheap(server: Server) -> None:
    template = server.request(json_schema=SCHEMA).grammar
    [opening] = server.tokenizer.encode("{")
    twin = template.copy()
    twin.accept_token(opening)
    template.accept_token(opening)
    assert twin.grammar_stats.is_cache_hit
    with pytest.raises(ValueError, match=r"token .* at output position 1 is not allowed"):
        twin.accept_token(server.tokenizer.eos_token_id)
    assert processor_seconds(template.copy, runs=1000) < 1e-4


def test_a_token_that_was_not_allowed_ends_its_request_alone(server: Server) -> None:
    good, bad = server.request(json_schema=SCHEMA), server.request(json_schema=SCHEMA)
    server.accept(bad, server.tokenizer.eos_token_id)
    assert "is not allowed by the grammar" in bad.to_finish.message
    assert json.loads(server.run([good, bad])[0])


def test_a_mask_that_cannot_be_computed_ends_its_request_alone(server: Server) -> None:
    doubling = [f"r{i} ::= r{i + 1}? r{i + 1}?" for i in range(60)]
    ambiguous = "\n".join(["root ::= r0", *doubling, 'r60 ::= " "'])
    good, bad = server.request(json_schema=SCHEMA), server.request(ebnf=ambiguous, max_new_tokens=None)
    bad.sampling_params.max_new_tokens = 64
    server.step([good, bad], torch.zeros(2, server.vocab_size))
    assert reason(bad) == "FINISH_ABORT"
    assert "too ambiguous" in bad.finished_reason.message
    assert json.loads(server.run([good])[0])


def test_masks_of_draft_trees(server: Server) -> None:
    from sglang.srt.speculative.spec_utils import generate_token_bitmask

    req = server.request(regex="(abc|abd)x")
    encode = server.tokenizer.encode
    [a], [ab], [b], [z] = encode("a"), encode("ab"), encode("b"), encode("z")
    # 0 -> a -> b; 0 -> ab; 0 -> z
    draft = torch.tensor([[0, a, b, ab, z]])
    next_token = torch.tensor([[1, 2, -1, -1, -1]])
    sibling = torch.tensor([[-1, 3, -1, 4, -1]])
    mask, grammar = generate_token_bitmask([req], next_token, sibling, draft, server.vocab_size)
    assert grammar is req.grammar
    assert req.grammar.matcher.num_accepted_tokens == 0
    c = encode("c")[0]
    assert [bool(mask[row, c // 32] >> c % 32 & 1) for row in range(5)] == [False, False, True, True, True]
    assert mask[2].equal(mask[3])
    assert bool((mask[4] == -1).all())


def test_what_was_drafted_beyond_the_end_is_dropped(server: Server) -> None:
    req = server.request(regex="y")
    [y], stop = server.tokenizer.encode("y"), server.tokenizer.eos_token_id
    assert server.accept(req, [y, stop, y, y]) == [y, stop]
    req.grammar.accept_token(y)  # after the end, as SGLang's older versions do
    req.grammar.rollback(2)
    assert not req.grammar.is_terminated()
    assert server.accept(req, [stop]) == [stop]


def test_jump_forward(server: Server) -> None:
    req = server.request(regex='\\{"temperature": [0-9]\\}', max_new_tokens=None)
    helper = req.grammar.try_jump_forward(server.tokenizer)
    tokens, text = helper[0], req.grammar.jump_forward_str_state(helper)[0]
    assert (server.tokenizer.decode(tokens) + text).startswith('{"temperature":')
    req.grammar.jump_and_retokenize([], tokens, -1)
    again = server.tokenizer.encode('{"temperature": 4}')
    req.grammar.jump_and_retokenize(tokens, again, -1)
    assert req.grammar.try_jump_forward(server.tokenizer) is None
    with pytest.raises(ValueError, match="is not allowed"):
        req.grammar.jump_and_retokenize(again, [*again, again[0]], -1)


@pytest.mark.parametrize(
    ("options", "text", "good"),
    [
        (["--constrained-json-disable-any-whitespace"], '{"a":1}', True),
        (["--constrained-json-disable-any-whitespace"], '{"a": 1}', False),
        (["--constrained-json-whitespace-pattern", "[ ]"], '{ "a" : 1 }', True),
    ],
)
def test_white_space_in_json(tokenizer: Any, smollm2: Path, options: list[str], text: str, good: bool) -> None:
    server = Server(tokenizer, smollm2, *options)
    schema = '{"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": false}'
    assert server.request(json_schema=schema, max_new_tokens=None).grammar.matcher.accept_string(text) is good


def reasoning_server(tokenizer: Any, smollm2: Path, *options: str) -> Server:
    return Server(tokenizer, smollm2, "--reasoning-parser", "qwen3", *options)


@pytest.mark.parametrize("options", [[], ["--enable-strict-thinking"]])
def test_reasoning_ends_in_time_and_the_structure_follows(tokenizer: Any, smollm2: Path, options: list[str]) -> None:
    server = reasoning_server(tokenizer, smollm2, *options)
    plain = server.request(json_schema=SCHEMA, max_new_tokens=40)
    for seed in range(2):
        reqs = [server.request(json_schema=SCHEMA, max_new_tokens=most, reasoning=True) for most in (18, 40, 100)]
        for req, text in zip(reqs, server.run(reqs, seed), strict=True):
            reasoned, answer = text.split("</think>")
            assert reasoned
            assert isinstance(json.loads(answer)["n"], int)
            assert len(req.output_ids) <= req.sampling_params.max_new_tokens
    assert json.loads(server.run([plain])[0])
    refused = server.request(json_schema=SCHEMA, max_new_tokens=9, reasoning=True)
    assert "for the end of reasoning before it" in refused.to_finish.message


def test_what_is_left_of_the_budget_is_the_structures(tokenizer: Any, smollm2: Path) -> None:
    server = reasoning_server(tokenizer, smollm2)
    req = server.request(json_schema=SCHEMA, max_new_tokens=40, reasoning=True)
    early = tokenizer.encode("Well.</think>", add_special_tokens=False)
    assert server.accept(req, early) == early
    req.output_ids.extend(early)
    req.grammar.rollback(2)  # back into the reasoning, as after a draft
    server.accept(req, early[-2:])
    assert json.loads(server.run([req])[0].split("</think>")[1])
    assert len(req.output_ids) <= 40


def test_reasoning_and_structures_in_one_batch(tokenizer: Any, smollm2: Path) -> None:
    server = reasoning_server(tokenizer, smollm2)
    reqs = [server.request(json_schema=SCHEMA, reasoning=reasoning) for reasoning in (True, False, True)]
    logits = torch.zeros(3, server.vocab_size)
    server.step(reqs, logits)
    allowed = logits.isfinite().sum(-1).tolist()
    assert allowed[0] == allowed[2] == server.vocab_size
    assert allowed[1] < 100


def test_few_compile_at_once_and_all_are_served(tokenizer: Any, smollm2: Path) -> None:
    import threading

    for server in (Server(tokenizer, smollm2), reasoning_server(tokenizer, smollm2)):
        reqs = [server.request(regex=f"[a-z]{{{n}}}x", wait=False) for n in range(1, 30)]
        compiling = [each.name for each in threading.enumerate() if each.name.startswith("ThreadPoolExecutor")]
        assert len({name.rsplit("_", 1)[1] for name in compiling}) <= 2
        deadline = time.monotonic() + 30
        with _ranks():
            while server.manager.has_waiting_grammars():
                server.manager.get_ready_grammar_requests()
                assert time.monotonic() < deadline
        assert all(req.grammar.limit for req in reqs)


def test_what_is_kept_of_grammars_is_bounded(server: Server) -> None:
    from maskwright.integrations.sglang.cache import BoundedCache

    assert isinstance(server.manager.grammar_backend.cache, BoundedCache)
    grammars = [server.request(regex=f"a{{{n}}}").grammar for n in range(1, 5)]
    cache = BoundedCache(most_bytes=3 * max(grammar.compiled.memory_size_bytes for grammar in grammars) - 1)
    for n, grammar in enumerate(grammars):
        cache[n] = grammar
        cache.get(0)
    assert 0 in cache
    assert 3 in cache
    assert len(cache) < 4
    few = BoundedCache(most_entries=2)
    for n in range(5):
        few[n] = None
    assert list(few) == [3, 4]


def test_a_frame_around_the_answer(server: Server) -> None:
    backend = server.manager.grammar_backend
    [mark] = server.tokenizer.encode("<|im_start|>")
    inner = backend.dispatch_json('{"type": "boolean"}')
    backend.reserve_framing_tokens([mark])

    def frame(content: dict[str, Any]) -> dict[str, Any]:
        elements = [{"type": "token", "token": mark}, content]
        return {"type": "structural_tag", "format": {"type": "sequence", "elements": elements}}

    framed = backend.compile_framed_grammar(inner, frame)
    framed.accept_token(mark)
    assert framed.matcher.accept_string("true")
    assert framed.matcher.is_completed()


def test_a_tokenizer_that_cannot_be_read(server: Server) -> None:
    from maskwright import TokenizerError
    from maskwright.integrations.sglang import create_backend

    with pytest.raises(TokenizerError, match="--grammar-backend maskwright cannot read the tokenizer"):
        create_backend(SimpleNamespace(), object(), 100)
    with pytest.raises(TokenizerError, match="stop token id 60000 is not in the vocabulary"):
        create_backend(SimpleNamespace(), server.tokenizer, 49_152, {60_000})


def test_another_version_is_refused_by_name(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from sglang.srt.constrained.base_grammar_backend import BaseGrammarObject

    from maskwright import OptionError
    from maskwright.integrations.sglang import create_backend

    monkeypatch.delattr(BaseGrammarObject, "fill_vocab_mask_batched")
    with pytest.raises(
        OptionError, match=r"SGLang 0\.5\.23 has a different interface .* has no fill_vocab_mask_batched"
    ):
        create_backend(SimpleNamespace(), server.tokenizer, 49_152, {2})


def test_a_version_without_what_the_plugin_registers_with_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from maskwright import OptionError
    from maskwright.integrations import sglang as plugin

    monkeypatch.setitem(sys.modules, "sglang.srt.arg_groups.choices", None)
    with pytest.raises(OptionError, match=r"SGLang 0\.5\.23 has a different interface [\s\S]*use SGLang 0\.5\.23"):
        plugin.register()


def test_masks_are_those_of_a_matcher(server: Server) -> None:
    from maskwright import GrammarMatcher

    grammar = server.request(json_schema=SCHEMA, max_new_tokens=None).grammar
    ours = grammar.allocate_vocab_mask(server.vocab_size, 2, "cpu")
    grammar.reset_vocab_mask(ours)
    grammar.fill_vocab_mask(ours, 1)
    expected = np.full((1, (server.vocab_size + 31) // 32), -1, np.int32)
    GrammarMatcher(grammar.compiled).fill_next_token_bitmask(expected)
    assert bool((ours[0] == -1).all())
    assert ours[1].numpy().tolist() == expected[0].tolist()
