"""The parts of vLLM's backend that need no vLLM: grammars of requests, budgets, masks on a CPU."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import Future, wait
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from maskwright import CompiledGrammar, GrammarCompiler, TokenizerInfo, allocate_token_bitmask
from maskwright.errors import LimitError, OptionError, UnsatisfiableError
from maskwright.integrations import vllm as integration
from maskwright.integrations.vllm import hooks, versions
from maskwright.integrations.vllm.backend import LateGrammar, MaskwrightBackend, RequestGrammar, drafts_of, fill_rows
from maskwright.integrations.vllm.budget import make_matcher, most_tokens
from maskwright.integrations.vllm.worker import apply_on_cpu
from maskwright.outputs.grammar_drafts import GrammarDrafts

STOP = 5
INFO = TokenizerInfo.from_vocab(
    [b"a", b"b", b"(", b")", b"c", b"</s>"], special_token_ids=[STOP], stop_token_ids=[STOP]
)
A, B, OPEN, CLOSE = range(4)


@pytest.fixture(scope="module")
def nested() -> CompiledGrammar:
    return GrammarCompiler(INFO).compile_grammar('root ::= "a" | "(" root ")"')


def allowed(bitmask: Any, row: int = 0) -> list[int]:
    return [i for i in range(INFO.vocab_size) if bitmask[row, i // 32] >> (i % 32) & 1]


def mask_of(grammar: RequestGrammar) -> list[int]:
    bitmask = allocate_token_bitmask(1, INFO.vocab_size)
    grammar.fill_bitmask(bitmask, 0)
    return allowed(bitmask)


def sampling(max_tokens: int | None, **extra_args: Any) -> Any:
    return SimpleNamespace(max_tokens=max_tokens, extra_args=extra_args or None)


def test_the_most_tokens_are_those_asked_for_or_what_the_context_leaves() -> None:
    assert most_tokens(sampling(10), 90, 200) == 10
    assert most_tokens(sampling(10), 195, 200) == 5
    assert most_tokens(sampling(None), 150, 200) == 50


def test_the_budget_is_switched_off_by_a_request_or_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    assert most_tokens(sampling(10, maskwright_token_budget=False), 90, 200) is None
    monkeypatch.setenv("MASKWRIGHT_VLLM_TOKEN_BUDGET", "0")
    assert most_tokens(sampling(10), 90, 200) is None
    assert most_tokens(sampling(10, maskwright_token_budget=True), 90, 200) == 10


def test_a_switch_that_is_neither_on_nor_off_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert most_tokens(sampling(10, maskwright_token_budget=0), 90, 200) is None
    with pytest.raises(OptionError, match="maskwright_token_budget must be true or false, not 'false'"):
        most_tokens(sampling(10, maskwright_token_budget="false"), 90, 200)
    monkeypatch.setenv("MASKWRIGHT_VLLM_TOKEN_BUDGET", "never")
    with pytest.raises(OptionError, match="MASKWRIGHT_VLLM_TOKEN_BUDGET must be 1 or 0"):
        most_tokens(sampling(10), 90, 200)


@pytest.fixture
def old_vllm(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A vLLM that keeps its configuration elsewhere, or has not imported it yet."""
    vllm, version = ModuleType("vllm"), ModuleType("vllm.version")
    vllm.__path__ = []
    version.__version__ = "0.9.2"  # type: ignore[attr-defined]
    modules = {"vllm": vllm, "vllm.version": version, "vllm.config": None, "vllm.config.structured_outputs": None}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    versions.why_unsupported.cache_clear()
    yield
    versions.why_unsupported.cache_clear()


def test_a_vllm_with_another_configuration_goes_on_with_a_warning(
    old_vllm: None, caplog: pytest.LogCaptureFixture
) -> None:
    """vLLM ends where a general plugin raises an error, whatever its backend."""
    with caplog.at_level("WARNING", "vllm.maskwright"):
        integration.register()
    assert "supports vLLM 0.32 and 0.33, but this is vLLM 0.9.2; the other backends work as usual" in caplog.text


def test_a_vllm_that_is_still_being_imported_is_not_judged(old_vllm: None, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ImportError):  # which vLLM passes over
        integration.add_name()
    assert versions.why_unsupported.cache_info().currsize == 0
    assert not caplog.records


def test_one_token_is_kept_for_the_stop_token_where_there_is_room(nested: CompiledGrammar) -> None:
    assert mask_of(RequestGrammar(make_matcher(nested, [STOP], 3))) == [A]  # "(a)" would leave none
    assert mask_of(RequestGrammar(make_matcher(nested, [STOP], 4))) == [A, OPEN]
    assert mask_of(RequestGrammar(make_matcher(nested, [STOP], 1))) == [A]
    only_word = GrammarCompiler(INFO).compile_regex("ab")
    assert mask_of(RequestGrammar(make_matcher(only_word, [STOP], 2))) == [A]
    with pytest.raises(UnsatisfiableError, match="needs 2 tokens, but max_tokens is 1"):
        make_matcher(only_word, [STOP], 1)


def test_accepting_says_whether_all_were_allowed_and_ignores_what_comes_after_the_end(nested: CompiledGrammar) -> None:
    grammar = RequestGrammar(make_matcher(nested, [STOP], None))
    assert grammar.validate_tokens([OPEN, A, B]) == [OPEN, A]
    assert grammar.accept_tokens("r", [OPEN, A])
    grammar.rollback(1)
    assert not grammar.accept_tokens("r", [CLOSE])
    assert grammar.accept_tokens("r", [A, CLOSE, STOP, B, B])
    assert grammar.is_terminated()
    assert grammar.accept_tokens("r", [B])
    assert grammar.validate_tokens([B]) == []
    grammar.reset()
    assert not grammar.is_terminated()


def test_drafts_are_what_earlier_outputs_went_on_with(nested: CompiledGrammar) -> None:
    drafts = GrammarDrafts()
    for _ in range(3):
        grammar = RequestGrammar(make_matcher(nested, [STOP], None))
        for token in (OPEN, OPEN, A, CLOSE, CLOSE, STOP):
            grammar.draft(drafts)
            assert grammar.accept_tokens("r", [token])
    grammar = RequestGrammar(make_matcher(nested, [STOP], None))
    assert grammar.accept_tokens("r", [OPEN, OPEN, OPEN])
    grammar.rollback(1)
    assert grammar.draft(drafts) == [A, CLOSE, CLOSE]
    assert grammar.validate_tokens([A, CLOSE, CLOSE, STOP]) == [A, CLOSE, CLOSE, STOP]  # it has not moved


def test_drafts_fit_the_budget(nested: CompiledGrammar) -> None:
    drafts = GrammarDrafts()
    for _ in range(3):
        drafts.learn(nested, [OPEN, OPEN, A, CLOSE, CLOSE, STOP])
    grammar = RequestGrammar(make_matcher(nested, [STOP], 4))
    assert grammar.draft(drafts) == [OPEN]  # "((a))" has 5 tokens


def test_drafts_are_made_where_vllm_looks_them_up(nested: CompiledGrammar) -> None:
    def config(method: str, asynchronous: bool = False) -> Any:
        return SimpleNamespace(
            speculative_config=SimpleNamespace(method=method, num_speculative_tokens=3),
            scheduler_config=SimpleNamespace(async_scheduling=asynchronous),
        )

    for vllm_config in (config("eagle"), config("ngram", True), SimpleNamespace(speculative_config=None)):
        assert drafts_of(vllm_config) is None
    drafts = drafts_of(config("ngram"))
    assert drafts is not None
    assert drafts.num_tokens == 3


def test_a_grammar_too_ambiguous_for_a_mask_ends_its_own_request_alone(nested: CompiledGrammar) -> None:
    class TooAmbiguous(RequestGrammar):
        def matcher(self, num_new_tokens: int = 0) -> Any:
            def fill(bitmask: Any, row: int) -> None:
                raise LimitError("the grammar is too ambiguous", limit="work")

            return SimpleNamespace(
                fill_next_token_bitmask=fill,
                stop_token_ids=[STOP],
                is_terminated=lambda: False,
            )

    torch = pytest.importorskip("torch")
    bitmask = torch.full((1, 1), -1, dtype=torch.int32)
    grammar = TooAmbiguous(None)
    fill_rows(bitmask, [(grammar, 0)])
    assert allowed(bitmask) == [STOP]
    assert not grammar.accept_tokens("r", [STOP])


class Request:
    """What a grammar sees of a request whose output begins with reasoning."""

    def __init__(self) -> None:
        self.num_output_tokens = 0
        self.structured_output_request = SimpleNamespace(reasoning_ended=False)


def reasoning(nested: CompiledGrammar, most: int, *, num_drafts: int = 0) -> tuple[Request, LateGrammar]:
    request = Request()
    return request, LateGrammar(nested, [STOP], most, request, num_drafts)


def test_after_reasoning_the_budget_is_what_is_left(nested: CompiledGrammar) -> None:
    request, grammar = reasoning(nested, 10)
    request.num_output_tokens = 5
    assert grammar.validate_tokens([OPEN, OPEN, A]) == [OPEN]  # 5 left, one for the stop token: (a), no more
    request.num_output_tokens, request.structured_output_request.reasoning_ended = 7, True
    assert grammar.accept_tokens("r", [])
    assert mask_of(grammar) == [A]
    assert grammar.accept_tokens("r", [A, STOP])


def test_tokens_of_the_step_that_ends_the_reasoning_count_for_the_structure(nested: CompiledGrammar) -> None:
    request, grammar = reasoning(nested, 10)
    request.num_output_tokens, request.structured_output_request.reasoning_ended = 6, True
    assert grammar.accept_tokens("r", [OPEN, OPEN])  # begun after 4: 6 left, one for the stop token
    assert mask_of(grammar) == [A]


def test_drafts_before_the_end_of_reasoning_do_not_move_the_structure(nested: CompiledGrammar) -> None:
    request, grammar = reasoning(nested, 40, num_drafts=3)
    request.num_output_tokens = 4
    assert grammar.accept_tokens("r", [OPEN])
    grammar.rollback(1)
    request.num_output_tokens, request.structured_output_request.reasoning_ended = 6, True
    assert grammar.accept_tokens("r", [A])
    assert mask_of(grammar) == [STOP]


def test_a_structure_for_which_reasoning_left_too_few_tokens_is_followed_all_the_same(nested: CompiledGrammar) -> None:
    request, grammar = reasoning(nested, 10)
    request.num_output_tokens, request.structured_output_request.reasoning_ended = 10, True
    assert mask_of(grammar) == [A, OPEN]


def test_a_structure_of_which_it_is_not_found_out_whether_it_still_fits_is_followed_all_the_same() -> None:
    """Reasoning may leave a number of tokens between what is needed and what is enough, where a search is too long."""
    texts = [*(bytes((b,)) for b in range(256)), b"aaaa", b"a" * 40, b"</s>"]
    stop = len(texts) - 1
    info = TokenizerInfo.from_vocab(texts, special_token_ids=[stop], stop_token_ids=[stop])
    compiled = GrammarCompiler(info).compile_grammar('root ::= ("a"{1,50} "b" | "c"{3}){200000}')
    with pytest.raises(LimitError, match="are enough"):
        make_matcher(compiled, [stop], 300_000)
    request = Request()
    grammar = LateGrammar(compiled, [stop], 1_000_000, request, 0)
    request.num_output_tokens, request.structured_output_request.reasoning_ended = 700_000, True
    assert grammar.accept_tokens("r", [ord("a"), ord("b"), ord("c")])


@pytest.mark.parametrize("stride", [None, 3])
def test_masks_go_to_the_rows_of_their_requests(stride: int | None) -> None:
    """Two versions of vLLM lay out the masks of drafts in two ways."""
    drafts = {"x": [1, 2], "z": [3]}
    counts = {"z": 2, "x": 3, "gone": 1}
    masks = allocate_token_bitmask(sum(counts.values()) if stride is None else 3 * stride, 32)
    start = 0
    for index, count in enumerate(counts.values()):
        masks[start : start + count, 0] = [1 << (4 * index + i) for i in range(count)]
        start += count if stride is None else stride
    logits = np.zeros((6, 32), dtype=np.float32)
    apply_on_cpu(
        SimpleNamespace(scheduled_spec_decode_tokens=drafts),
        SimpleNamespace(structured_output_request_ids=list(counts), grammar_bitmask=masks),
        ["x", "y", "z"],
        logits,
    )
    finite = [np.flatnonzero(np.isfinite(row)).tolist() for row in logits]
    assert finite == [[4], [5], [6], list(range(32)), [0], [1]]


def test_masks_in_the_order_of_the_rows() -> None:
    masks = allocate_token_bitmask(2, 32)
    masks[:, 0] = [1, 2]
    logits = np.zeros((3, 32), dtype=np.float32)
    apply_on_cpu(
        SimpleNamespace(scheduled_spec_decode_tokens={}),
        SimpleNamespace(structured_output_request_ids=["x", "y"], grammar_bitmask=masks),
        ["x", "y", "z"],
        logits,
    )
    assert [np.flatnonzero(np.isfinite(row)).tolist() for row in logits] == [[0], [1], list(range(32))]


def test_only_one_grammar_that_is_late_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "READY_WITHIN_S", 0.001)
    waited = []
    monkeypatch.setattr(hooks, "wait", lambda futures, seconds: (waited.append(futures[0]), wait(futures, seconds))[1])
    init = hooks._grammar_init(lambda manager, request: None)
    manager = SimpleNamespace(backend=object.__new__(MaskwrightBackend))
    first, second, third = Future[Any](), Future[Any](), Future[Any]()
    for grammar in (first, second):
        init(manager, SimpleNamespace(structured_output_request=SimpleNamespace(_grammar=grammar)))
    assert waited == [first]
    first.set_result(None)
    init(manager, SimpleNamespace(structured_output_request=SimpleNamespace(_grammar=third)))
    assert waited == [first, third]
