"""Continuous batching in transformers' own manager: a grammar a request, and requests that fail alone."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from maskwright import CompiledGrammar, GrammarCompiler, TokenizerInfo
from maskwright.errors import ArgumentError, BitmaskError, MatcherError, OptionError
from small_models import make_model

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip(
    "transformers.generation.continuous_batching.cb_logits_processors",
    reason="this transformers does not tell processors about requests",
)
from maskwright.integrations.transformers import add_grammars  # noqa: E402
from maskwright.integrations.transformers.continuous import RequestGrammars  # noqa: E402

PATTERNS = ["(abc|é){3,30}!", "[0-9]{4}", "[a-c]+", '"[^"]*"']


@pytest.fixture(scope="module")
def compiled(info: TokenizerInfo) -> list[CompiledGrammar]:
    return [GrammarCompiler(info).compile_regex(pattern) for pattern in PATTERNS]


@pytest.fixture
def make_manager(tokenizer: Any) -> Iterator[Any]:
    """Makes managers that are stopped at the end."""
    made = []
    logging.getLogger("ContinuousBatchingLogger").setLevel(logging.CRITICAL)

    def make(config: dict[str, Any] | None = None, **options: Any) -> Any:
        ids = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
        generation = transformers.GenerationConfig(**{**ids, "do_sample": True, "temperature": 1.5, **options})
        sizes = {"num_blocks": 64, "max_batch_tokens": 64, "use_cuda_graph": False, **(config or {})}
        manager = make_model("llama", tokenizer).init_continuous_batching(
            generation_config=generation, continuous_batching_config=transformers.ContinuousBatchingConfig(**sizes)
        )
        made.append(manager)
        return manager

    yield make
    for manager in made:
        if manager.is_running():
            manager.stop(block=True, timeout=10)


def results(manager: Any, num_expected: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(600):
        result = manager.get_result(timeout=0.1)
        if result is not None and result.is_finished():
            found[result.request_id] = result
        if len(found) == num_expected or not manager.is_running():
            break
    assert len(found) == num_expected
    return found


def text_of(tokenizer: Any, result: Any) -> str:
    return str(tokenizer.decode(result.generated_tokens, skip_special_tokens=True))


def test_a_grammar_a_request(make_manager: Any, tokenizer: Any, compiled: list[CompiledGrammar]) -> None:
    """More requests than fit in a step, some with prompts that are split between steps, free ones among them."""
    manager = make_manager()
    add_grammars(manager)
    manager.start()
    wanted: dict[str, str | None] = {}
    for index in range(12):
        prompt = tokenizer("ab " * (1 + 3 * index)).input_ids
        pattern = PATTERNS[index % 4] if index != 5 else None
        options = {} if pattern is None else {"grammar": compiled[index % 4]}
        wanted[manager.add_request(prompt, max_new_tokens=12, **options)] = pattern
    for request_id, result in results(manager, 12).items():
        pattern = wanted[request_id]
        assert result.error is None
        assert len(result.generated_tokens) <= 12
        if pattern is not None:
            assert re.fullmatch(pattern, text_of(tokenizer, result))
            assert result.generated_tokens[-1] == tokenizer.eos_token_id


def test_requests_that_fail_alone(make_manager: Any, tokenizer: Any, compiled: list[CompiledGrammar]) -> None:
    manager = make_manager()
    add_grammars(manager)
    manager.start()
    prompt = tokenizer("ab").input_ids
    good = manager.add_request(prompt, max_new_tokens=10, grammar=compiled[0])
    short = manager.add_request(prompt, max_new_tokens=2, grammar=compiled[0])
    wrong = manager.add_request(prompt, max_new_tokens=10, grammar="[0-9]+")
    endless = manager.add_request(prompt, max_new_tokens=3, grammar=compiled[1], eos_token_id=-1)
    found = results(manager, 4)
    assert re.fullmatch(PATTERNS[0], text_of(tokenizer, found[good]))
    assert found[short].error.startswith("UnsatisfiableError: the shortest output needs")
    assert found[short].generated_tokens == [tokenizer.eos_token_id]
    assert "grammar" in found[wrong].error
    assert "CompiledGrammar" in found[wrong].error
    assert found[endless].error.startswith("OptionError: a request with a grammar requires an end token")


def test_children_of_a_request(make_manager: Any, tokenizer: Any, compiled: list[CompiledGrammar]) -> None:
    manager = make_manager(num_return_sequences=4)
    add_grammars(manager)
    manager.start()
    manager.add_request(tokenizer("ab c d").input_ids, max_new_tokens=20, grammar=compiled[0])
    texts = {text_of(tokenizer, result) for result in results(manager, 4).values()}
    assert len(texts) > 1
    assert all(re.fullmatch(PATTERNS[0], text) for text in texts)


def test_requests_that_are_set_aside(make_manager: Any, tokenizer: Any, compiled: list[CompiledGrammar]) -> None:
    """A cache that holds few requests at a time, so that some are begun again from their tokens."""
    manager = make_manager({"num_blocks": 6, "page_size": 4, "max_batch_tokens": 8})
    add_grammars(manager)
    manager.start()
    ids = [manager.add_request(tokenizer("ab c").input_ids, max_new_tokens=14, grammar=compiled[0]) for _ in range(5)]
    found = results(manager, 5)
    for request_id in ids:
        assert found[request_id].error is None
        assert re.fullmatch(PATTERNS[0], text_of(tokenizer, found[request_id]))


@pytest.mark.parametrize("options", [{"do_sample": False, "temperature": None}, {"top_k": 3, "top_p": 0.5}], ids=str)
def test_sampling_options(
    make_manager: Any, tokenizer: Any, compiled: list[CompiledGrammar], options: dict[str, Any]
) -> None:
    manager = make_manager({"per_request_processors": True}, **options)
    add_grammars(manager)
    add_grammars(manager)  # does nothing
    manager.start()
    own = {"temperature": 0.5, "top_k": 1} if "top_k" in options else {}
    manager.add_request(tokenizer("ab").input_ids, max_new_tokens=20, grammar=compiled[3], **own)
    manager.add_request(tokenizer("ab").input_ids, max_new_tokens=20, grammar=compiled[3])
    for result in results(manager, 2).values():
        assert re.fullmatch(PATTERNS[3], text_of(tokenizer, result))


def test_what_comes_too_late_or_cannot_be_combined(make_manager: Any) -> None:
    manager = make_manager()
    manager.start()
    with pytest.raises(MatcherError, match=r"has been started or warmed up already\n.*between"):
        add_grammars(manager)
    with pytest.raises(OptionError, match=r"cannot be combined with use_async_batching[\s\S]*use_async_batching=False"):
        add_grammars(make_manager({"use_async_batching": True}))
    with pytest.raises(OptionError, match="cannot be combined with default_compile_level"):
        add_grammars(make_manager({"default_compile_level": 1}))
    with pytest.raises(
        ArgumentError, match=r"must be a manager for continuous batching[\s\S]*init_continuous_batching"
    ):
        add_grammars(make_model)


def request(generated: list[int], position: int, **options: Any) -> Any:
    """What a processor sees of a request with a prompt of two tokens."""
    state = SimpleNamespace(
        request_id="held" if options else "free",
        initial_tokens=[1, 1],
        generated_tokens=generated,
        position_offset=position,
        max_new_tokens=None,
        error=None,
        _true_initial_tokens=0,
        _eos_token_ids={4},
        logit_processor_kwargs=options,
    )
    return SimpleNamespace(state=state)


def test_masks_are_those_of_the_tokens_so_far() -> None:
    info = TokenizerInfo.from_vocab([b"a", b"b", b"c", b"ab", b"<end>"], stop_token_ids=[4], vocab_size=8)
    grammar = GrammarCompiler(info).compile_regex("ab?c")
    processor = RequestGrammars()

    def allowed(*requests: Any, rows: int = 1) -> list[list[int]]:
        argument = processor.prepare_tensor_args(requests)
        assert argument.shape == (len(requests),)
        masked = processor(torch.zeros(rows, 10), argument)
        return [row.isfinite().nonzero().flatten().tolist() for row in masked]

    assert allowed(request([], 2, grammar=grammar)) == [[0, 3]]
    assert allowed(request([0], 3, grammar=grammar), rows=2) == [[1, 2], [*range(10)]]
    assert allowed(request([0, 2], 4, grammar=grammar)) == [[4]]
    assert allowed(request([], 2)) == [[*range(10)]]
    late = request([0], 4, grammar=grammar)  # a token further than what is known, as in asynchronous batching
    assert allowed(late) == [[4]]
    assert "use_async_batching=False" in late.state.error
    wrong = request([2], 3, grammar=grammar)
    assert allowed(wrong) == [[4]]
    assert "token 2 at output position 0 is not allowed" in wrong.state.error
    processor.prepare_tensor_args([request([], 2), request([], 2, grammar=grammar)])
    masked = processor(torch.zeros(2, 100), torch.zeros(2))  # logits that are padded beyond the tokenizer
    assert masked.isfinite().sum(dim=1).tolist() == [100, 2]
    with pytest.raises(BitmaskError, match="1 rows of logits for 2 requests"):
        processor(torch.zeros(1, 8), torch.zeros(1))
