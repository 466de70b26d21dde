"""The logits processor inside transformers' own `generate`: batches, sampling, beams, several calls, and misuse."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import ArgumentError, MatcherError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from maskwright.integrations.transformers import GrammarLogitsProcessor  # noqa: E402

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 99}, "b": {"enum": ["x", "yé"]}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
DATE = r"20[0-9]{2}-(0[1-9]|1[0-2])"
WORDS = r"(abc|ab|é){2,5}!"
PROMPTS = ["Give me JSON: ", "ab", "A date, please, and nothing else: "]


def is_record(text: str) -> bool:
    record = json.loads(text)
    return list(record) == ["a", "b"] and 0 <= record["a"] <= 99 and record["b"] in ("x", "yé")


CHECKS = [is_record, lambda text: re.fullmatch(WORDS, text), lambda text: re.fullmatch(DATE, text)]


@pytest.fixture(scope="module")
def grammars(info: TokenizerInfo) -> list[CompiledGrammar]:
    compiler = GrammarCompiler(info)
    return [compiler.compile_json_schema(SCHEMA), compiler.compile_regex(WORDS), compiler.compile_regex(DATE)]


def run(model: Any, tokenizer: Any, processor: Any, prompts: list[str], **options: Any) -> list[str]:
    inputs = tokenizer(prompts, return_tensors="pt", padding=True)
    inputs.pop("token_type_ids", None)
    settings = {"max_new_tokens": 400, "do_sample": False, **options}
    out = model.generate(**inputs, **settings, logits_processor=transformers.LogitsProcessorList([processor]))
    return tokenizer.batch_decode(out[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


def assert_all_follow(texts: list[str]) -> None:
    for index, text in enumerate(texts):
        assert CHECKS[index * len(CHECKS) // len(texts)](text), (index, text)


def test_greedy_batch_with_a_grammar_a_row(model: Any, tokenizer: Any, grammars: list[CompiledGrammar]) -> None:
    assert_all_follow(run(model, tokenizer, GrammarLogitsProcessor(grammars), PROMPTS))


@pytest.mark.parametrize("seed", range(3))
def test_sampled_batch_on_one_processor(model: Any, tokenizer: Any, grammars: list[CompiledGrammar], seed: int) -> None:
    processor = GrammarLogitsProcessor(grammars)
    transformers.set_seed(seed)
    first, second = (run(model, tokenizer, processor, PROMPTS, do_sample=True, temperature=2.0) for _ in range(2))
    assert_all_follow(first)
    assert_all_follow(second)
    assert first != second


@pytest.mark.parametrize("seed", range(3))
def test_outputs_are_complete_within_their_budget(model: Any, tokenizer: Any, info: TokenizerInfo, seed: int) -> None:
    schema = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}
    grammar = GrammarCompiler(info).compile_json_schema(schema)
    processor = GrammarLogitsProcessor(grammar, make_matcher=lambda compiled: GrammarMatcher(compiled, max_tokens=24))
    torch.manual_seed(seed)
    for text in run(model, tokenizer, processor, PROMPTS, do_sample=True, max_new_tokens=25):
        assert "note" in json.loads(text)


def test_a_new_call_is_noticed_whatever_its_shape(model: Any, tokenizer: Any, info: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(info).compile_regex(DATE))
    for prompts in (["a"], ["a"], ["a b"], ["other prompt", "a"], ["a", "a"], ["a much longer prompt than before"]):
        for text in run(model, tokenizer, processor, prompts):
            assert re.fullmatch(DATE, text)


def test_reset_before_a_prompt_that_continues_the_last_output(model: Any, tokenizer: Any, info: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(info).compile_regex(DATE))
    run(model, tokenizer, processor, ["x"], max_new_tokens=3)
    processor.reset()
    assert re.fullmatch(DATE, run(model, tokenizer, processor, ["x20"])[0])


def test_beams_are_reordered_and_replayed(model: Any, tokenizer: Any, grammars: list[CompiledGrammar]) -> None:
    processor = GrammarLogitsProcessor(grammars, pad_token_id=tokenizer.pad_token_id)
    texts = run(model, tokenizer, processor, PROMPTS, num_beams=4, num_return_sequences=2)
    assert len(texts) == 6
    assert_all_follow(texts)


def test_several_sequences_a_prompt(model: Any, tokenizer: Any, grammars: list[CompiledGrammar]) -> None:
    transformers.set_seed(1)
    processor = GrammarLogitsProcessor(grammars)
    assert_all_follow(run(model, tokenizer, processor, PROMPTS, do_sample=True, num_return_sequences=3))


def test_the_last_row_to_end_does_not_disturb_the_others(model: Any, tokenizer: Any, info: TokenizerInfo) -> None:
    compiler = GrammarCompiler(info)
    processor = GrammarLogitsProcessor([compiler.compile_regex("a"), compiler.compile_regex("(abc){20}")])
    assert run(model, tokenizer, processor, ["x", "x"]) == ["a", "abc" * 20]


def ids(*rows: list[int]) -> Any:
    return torch.tensor(rows)


def allowed(processor: Any, input_ids: Any, width: int) -> list[list[int]]:
    scores = processor(input_ids, torch.zeros(input_ids.shape[0], width))
    return [row.isfinite().nonzero().flatten().tolist() for row in scores]


@pytest.fixture
def letters() -> TokenizerInfo:
    """a, b, c, ab, the end token, and three ids of padding."""
    return TokenizerInfo.from_vocab([b"a", b"b", b"c", b"ab", b"<end>"], stop_token_ids=[4], vocab_size=8)


def test_step_by_step(letters: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("ab?c"))
    assert allowed(processor, ids([2, 2]), 8) == [[0, 3]]
    assert allowed(processor, ids([2, 2, 0]), 8) == [[1, 2]]
    assert allowed(processor, ids([2, 2, 0, 2]), 8) == [[4]]
    assert allowed(processor, ids([2, 2, 0, 2, 4]), 8) == [[4]]
    assert allowed(processor, ids([2, 2, 0, 2, 4, 4]), 8) == [[4]]


def test_after_its_end_a_row_may_only_repeat_stop_or_pad(letters: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("a+"), pad_token_id=7)
    assert allowed(processor, ids([2], [2]), 8) == [[0], [0]]
    assert allowed(processor, ids([2, 0], [2, 0]), 8) == [[0, 4], [0, 4]]
    assert allowed(processor, ids([2, 0, 4], [2, 0, 0]), 8) == [[4, 7], [0, 4]]
    assert allowed(processor, ids([2, 0, 4, 7], [2, 0, 0, 0]), 8) == [[4, 7], [0, 4]]


def test_scores_wider_than_the_vocabulary_are_masked_too(letters: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("a"))
    assert allowed(processor, ids([2]), 100) == [[0]]


def test_the_scores_that_come_in_are_not_changed(letters: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("a"))
    scores = torch.zeros(1, 8)
    assert processor(ids([2]), scores).isfinite().tolist() == [[True, *[False] * 7]]
    assert scores.equal(torch.zeros(1, 8))


def test_rows_that_change_their_past_are_replayed(letters: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("(ab|cb)c"))
    allowed(processor, ids([1], [1]), 8)
    assert allowed(processor, ids([1, 0], [1, 2]), 8) == [[1], [1]]
    assert allowed(processor, ids([1, 0, 1], [1, 0, 1]), 8) == [[2], [2]]  # the second row now has the first one's past
    assert allowed(processor, ids([1, 2], [1, 0]), 8) == [[1], [1]]  # tokens taken back
    assert allowed(processor, ids([1, 3], [1, 3]), 8) == [[2], [2]]
    assert allowed(processor, ids([1, 3, 2], [1, 3, 2]), 8) == [[4], [4]]


def test_an_end_that_is_taken_back_is_forgotten(letters: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("a+"))
    allowed(processor, ids([1]), 8)
    allowed(processor, ids([1, 0]), 8)
    assert allowed(processor, ids([1, 0, 4]), 8) == [[4]]
    assert allowed(processor, ids([1, 0, 0]), 8) == [[0, 4]]


def test_a_token_that_is_not_allowed_is_a_typed_error(letters: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("abc"))
    allowed(processor, ids([1], [1]), 8)
    with pytest.raises(MatcherError, match=r"row 1: token 2 at output position 0 is not allowed[\s\S]*hint: .*reset"):
        processor(ids([1, 0], [1, 2]), torch.zeros(2, 8))


def test_rows_that_cannot_be_divided_among_grammars_are_a_typed_error(letters: TokenizerInfo) -> None:
    compiled = GrammarCompiler(letters).compile_regex("a")
    with pytest.raises(MatcherError, match="3 rows cannot be divided among 2 grammars"):
        GrammarLogitsProcessor([compiled, compiled])(ids([1], [1], [1]), torch.zeros(3, 8))
    with pytest.raises(MatcherError, match="no grammar"):
        GrammarLogitsProcessor([])


def test_grammars_of_different_tokenizers_are_a_typed_error(letters: TokenizerInfo, info: TokenizerInfo) -> None:
    with pytest.raises(MatcherError, match="different tokenizers"):
        GrammarLogitsProcessor([GrammarCompiler(i).compile_regex("a") for i in (letters, info)])


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_the_usual_types_of_scores(letters: TokenizerInfo, dtype: str) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("b"))
    scores = processor(ids([1]), torch.zeros(1, 8, dtype=getattr(torch, dtype)))
    assert scores.isfinite().tolist() == [[False, True, *[False] * 6]]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_scores_on_a_gpu(letters: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("b"))
    scores = processor(ids([1]).cuda(), torch.zeros(1, 8, device="cuda"))
    assert scores.isfinite().tolist() == [[False, True, *[False] * 6]]


def test_the_budget_by_the_name_of_another_engine() -> None:
    compiled = GrammarCompiler(TokenizerInfo.from_vocab(["a", "</s>"], stop_token_ids=[1])).compile_regex("a")
    with pytest.raises(ArgumentError, match=r"GrammarLogitsProcessor\(\) has no argument max_tokens\n  hint: use"):
        GrammarLogitsProcessor(compiled, max_tokens=9)
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_token'"):
        GrammarLogitsProcessor(compiled, max_token=9)
