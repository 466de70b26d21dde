"""The logits processor with transformers' ways of decoding: assisted generation, beams, streamers, encoder-decoder
models, static caches, other processors beside it; and what the obvious mistakes get."""

from __future__ import annotations

import json
import re
import threading
import warnings
from typing import Any

import pytest

from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, apply_token_bitmask_inplace
from maskwright.errors import BitmaskError, MatcherError, OptionError, UnsatisfiableError
from small_models import PADDED_VOCAB_SIZE, make_model

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from maskwright.integrations.transformers import GrammarLogitsProcessor  # noqa: E402
from maskwright.integrations.transformers.rows import Rows  # noqa: E402

NOTE = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}
WORDS = "(abc|ab|é){2,30}!"
PROMPT = 'abababab abcabcabc {"note": "abc"} '


@pytest.fixture(scope="module")
def compiler(info: TokenizerInfo) -> GrammarCompiler:
    return GrammarCompiler(info)


@pytest.fixture(scope="module")
def note(compiler: GrammarCompiler) -> CompiledGrammar:
    return compiler.compile_json_schema(NOTE, any_whitespace=False)


@pytest.fixture(scope="module")
def words(compiler: GrammarCompiler) -> CompiledGrammar:
    return compiler.compile_regex(WORDS)


def run(model: Any, tokenizer: Any, processor: Any, prompts: str | list[str] = PROMPT, **options: Any) -> list[str]:
    inputs = tokenizer([prompts] if isinstance(prompts, str) else prompts, return_tensors="pt", padding=True)
    inputs.pop("token_type_ids", None)
    processors = processor if isinstance(processor, list) else [processor]
    out = model.generate(
        **inputs,
        **{"max_new_tokens": 40, "do_sample": False, **options},
        logits_processor=transformers.LogitsProcessorList(processors),
    )
    return tokenizer.batch_decode(out[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


def held(compiled: Any, max_new_tokens: int = 40, **options: Any) -> GrammarLogitsProcessor:
    return GrammarLogitsProcessor(compiled, max_new_tokens=max_new_tokens, **options)


# Assisted generation.


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("do_sample", [False, True])
def test_a_draft_model(tokenizer: Any, words: CompiledGrammar, do_sample: bool, seed: int) -> None:
    model, assistant = make_model("llama", tokenizer), make_model("gpt2", tokenizer)
    transformers.set_seed(seed)
    (text,) = run(model, tokenizer, held(words), assistant_model=assistant, do_sample=do_sample)
    assert re.fullmatch(WORDS, text)


@pytest.mark.parametrize("do_sample", [False, True])
def test_prompt_lookup(tokenizer: Any, words: CompiledGrammar, note: CompiledGrammar, do_sample: bool) -> None:
    model = make_model("llama", tokenizer)
    options: dict[str, Any] = {"prompt_lookup_num_tokens": 5, "do_sample": do_sample}
    transformers.set_seed(0)
    assert re.fullmatch(WORDS, run(model, tokenizer, held(words), **options)[0])
    assert "note" in json.loads(run(model, tokenizer, held(note), **options)[0])


def test_drafts_do_not_change_greedy_outputs(tokenizer: Any, words: CompiledGrammar) -> None:
    model = make_model("llama", tokenizer)
    alone = run(model, tokenizer, held(words))
    assert run(model, tokenizer, held(words), prompt_lookup_num_tokens=5) == alone
    assert run(model, tokenizer, held(words), assistant_model=make_model("gpt2", tokenizer)) == alone


@pytest.fixture
def letters() -> TokenizerInfo:
    """a, b, c, ab, the end token, and three ids of padding."""
    return TokenizerInfo.from_vocab([b"a", b"b", b"c", b"ab", b"<end>"], stop_token_ids=[4], vocab_size=8)


def allowed(processor: Any, input_ids: Any) -> list[list[int]]:
    scores = processor(input_ids, torch.zeros(input_ids.shape[0], 8))
    return [row.isfinite().nonzero().flatten().tolist() for row in scores]


def test_a_draft_that_leaves_the_grammar_is_tolerated_until_it_is_taken_back(letters: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("abc"))
    draft = torch.tensor([[2, 0, 2, 2]])
    assert allowed(processor, draft[:, :1]) == [[0, 3]]
    assert allowed(processor, draft[:, :2]) == [[1]]
    assert allowed(processor, draft[:, :3]) == [[*range(8)]]  # c cannot follow a: what is asked here is not used
    assert allowed(processor, draft[:, :4]) == [[*range(8)]]
    assert allowed(processor, torch.tensor([[2, 0, 1]])) == [[2]]
    assert allowed(processor, torch.tensor([[2, 0, 1, 2]])) == [[4]]


def test_what_was_written_after_the_scores_were_given_is_no_draft(letters: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("abc"))
    memory = torch.tensor([[2, 0, 0]])
    allowed(processor, memory[:, :1])
    allowed(processor, memory[:, :2])
    memory[:, 2] = 2
    with pytest.raises(MatcherError, match="row 0: token 2 at output position 1 is not allowed"):
        processor(memory, torch.zeros(1, 8))


@pytest.mark.parametrize("wrong", [[[2, 0], [2, 2]], [[2, 0, 1], [2, 0, 2]]])
def test_after_an_error_the_rows_go_on_from_other_tokens(letters: TokenizerInfo, wrong: list[list[int]]) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("abc"))
    right = torch.tensor([[2, 0, 1], [2, 0, 1]])
    for length in range(1, len(wrong[0])):
        allowed(processor, right[:, :length].clone())
    with pytest.raises(MatcherError, match="not allowed by the grammar"):
        processor(torch.tensor(wrong), torch.zeros(2, 8))
    assert allowed(processor, right[:, : len(wrong[0])].clone()) == [[len(wrong[0]) - 1]] * 2


def test_two_models_in_turn_are_two_generations(letters: TokenizerInfo) -> None:
    """As with an assistant of another tokenizer: its prompt is another, and the processor is handed to it, too."""
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("abc"))
    assert allowed(processor, torch.tensor([[2, 2]])) == [[0, 3]]
    assert allowed(processor, torch.tensor([[1]])) == [[0, 3]]
    assert allowed(processor, torch.tensor([[2, 2, 0]])) == [[1]]
    assert allowed(processor, torch.tensor([[1, 3]])) == [[2]]
    assert allowed(processor, torch.tensor([[2, 2, 0, 1]])) == [[2]]


# Beams and batches.


@pytest.mark.parametrize("num_beams", [2, 5])
def test_beams_of_one_output(tokenizer: Any, compiler: GrammarCompiler, num_beams: int) -> None:
    processor = held(compiler.compile_regex("abcé!"), pad_token_id=tokenizer.pad_token_id)
    options = {"num_beams": num_beams, "num_return_sequences": num_beams}
    texts = run(make_model("llama", tokenizer), tokenizer, processor, ["a", "a longer prompt"], **options)
    assert texts[0] == texts[num_beams] == "abcé!"
    assert all("abcé!".startswith(text) for text in texts)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_beams_end_apart(tokenizer: Any, compiler: GrammarCompiler, kind: str) -> None:
    pairs = [compiler.compile_regex("a"), compiler.compile_regex("(ab|c){5,9}")]
    processor = held(pairs, pad_token_id=tokenizer.pad_token_id)
    first, second = run(make_model(kind, tokenizer), tokenizer, processor, ["x y z", "x"], num_beams=3)
    assert first == "a"
    assert re.fullmatch("(ab|c){5,9}", second)


def test_a_row_without_a_grammar_is_free(tokenizer: Any, words: CompiledGrammar) -> None:
    model = make_model("llama", tokenizer)
    inputs = tokenizer(["x", "x"], return_tensors="pt").input_ids
    out = model.generate(
        inputs, logits_processor=[held([None, words])], max_new_tokens=40, do_sample=False, eos_token_id=[256, 257]
    )
    free = model.generate(inputs[:1], max_new_tokens=40, do_sample=False)
    assert out[0, : free.shape[1]].tolist() == free[0].tolist()
    assert re.fullmatch(WORDS, tokenizer.decode(out[1, 1:], skip_special_tokens=True))


def test_a_row_that_something_else_ends_is_padded(tokenizer: Any, words: CompiledGrammar) -> None:
    class FirstRowAt(transformers.StoppingCriteria):  # type: ignore[misc, unused-ignore]
        def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
            return torch.tensor([input_ids.shape[1] > 4, False])

    model = make_model("llama", tokenizer)
    options = {"stopping_criteria": transformers.StoppingCriteriaList([FirstRowAt()])}
    processor = held(words, pad_token_id=tokenizer.pad_token_id)
    _, second = run(model, tokenizer, processor, ["a", "a"], **options)
    assert re.fullmatch(WORDS, second)
    if tokenizer.pad_token_id != tokenizer.eos_token_id:
        with pytest.raises(MatcherError, match="pass pad_token_id if another stopping criterion"):
            run(model, tokenizer, held(words), ["a", "a"], **options)


# Streamers, caches, encoder-decoder models.


def test_streamers(tokenizer: Any, words: CompiledGrammar) -> None:
    model = make_model("llama", tokenizer)
    streamer = transformers.TextIteratorStreamer(tokenizer, skip_prompt=True, skip_special_tokens=True)
    options = {"streamer": streamer}
    thread = threading.Thread(target=run, args=(model, tokenizer, held(words)), kwargs=options)
    thread.start()
    text = "".join(streamer)
    thread.join()
    assert re.fullmatch(WORDS, text)


def test_a_static_cache(tokenizer: Any, words: CompiledGrammar) -> None:
    model = make_model("llama", tokenizer)
    texts = run(model, tokenizer, held(words), ["ab", "a longer prompt"], cache_implementation="static")
    assert all(re.fullmatch(WORDS, text) for text in texts)
    assert texts == run(model, tokenizer, held(words), ["ab", "a longer prompt"])


@pytest.mark.parametrize("options", [{}, {"num_beams": 3}, {"do_sample": True}], ids=["greedy", "beams", "sampled"])
def test_an_encoder_decoder_model(tokenizer: Any, words: CompiledGrammar, options: dict[str, Any]) -> None:
    transformers.set_seed(0)
    config = transformers.T5Config(
        vocab_size=PADDED_VOCAB_SIZE,
        d_model=16,
        d_kv=8,
        d_ff=16,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = transformers.T5ForConditionalGeneration(config).eval()
    inputs = tokenizer(["ab", "a longer prompt"], return_tensors="pt", padding=True)
    inputs.pop("token_type_ids", None)
    processor = held(words, pad_token_id=tokenizer.pad_token_id)
    settings = {"max_new_tokens": 40, "do_sample": False, **options}
    out = model.generate(**inputs, **settings, logits_processor=[processor])
    for text in tokenizer.batch_decode(out, skip_special_tokens=True):
        assert re.fullmatch(WORDS, text)


# Other processors, and scores that are kept.


@pytest.mark.parametrize(
    "options",
    [
        {"top_k": 1},
        {"top_p": 0.01},
        {"temperature": 0.01},
        {"temperature": 5.0, "top_k": 3, "top_p": 0.5},
        {"repetition_penalty": 1.5},
        {"typical_p": 0.2},
        {"min_p": 0.5},
        {"renormalize_logits": True},
    ],
    ids=str,
)
def test_sampling_options(tokenizer: Any, note: CompiledGrammar, options: dict[str, Any]) -> None:
    model = make_model("llama", tokenizer)
    transformers.set_seed(0)
    for text in run(model, tokenizer, held(note), ["ab", "a longer prompt"], do_sample=True, **options):
        assert "note" in json.loads(text)


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_other_processors_on_either_side(tokenizer: Any, note: CompiledGrammar, first: bool) -> None:
    others = [transformers.TopKLogitsWarper(300), transformers.TemperatureLogitsWarper(0.1)]
    processors = [held(note), *others] if first else [*others, held(note)]
    (text,) = run(make_model("llama", tokenizer), tokenizer, processors, do_sample=True)
    assert "note" in json.loads(text)


def test_output_logits_are_the_models_own(tokenizer: Any, words: CompiledGrammar) -> None:
    model = make_model("llama", tokenizer)
    inputs = tokenizer([PROMPT], return_tensors="pt").input_ids
    out = model.generate(
        inputs,
        logits_processor=[held(words)],
        max_new_tokens=40,
        do_sample=False,
        return_dict_in_generate=True,
        output_logits=True,
        output_scores=True,
    )
    assert out.logits[0].isfinite().all()
    assert not out.scores[0].isfinite().all()


def test_min_new_tokens_is_kept_where_the_grammar_goes_on(tokenizer: Any, compiler: GrammarCompiler) -> None:
    model = make_model("llama", tokenizer)
    processor = held(compiler.compile_regex("a*"), 30)
    (text,) = run(model, tokenizer, processor, min_new_tokens=12, max_new_tokens=30)
    assert re.fullmatch("a{12,30}", text)


# What the obvious mistakes get.


@pytest.mark.parametrize("do_sample", [True, False])
def test_min_new_tokens_beyond_the_longest_output(tokenizer: Any, compiler: GrammarCompiler, do_sample: bool) -> None:
    processor = held(compiler.compile_regex("a{3}"))
    with pytest.raises(MatcherError, match=r"row 0: none of the tokens .* has a finite score\n.*min_new_tokens"):
        run(make_model("llama", tokenizer), tokenizer, processor, min_new_tokens=12, do_sample=do_sample)


def test_a_budget_makes_outputs_complete(tokenizer: Any, note: CompiledGrammar) -> None:
    model = make_model("llama", tokenizer)
    for n in (12, 20, 33):
        for text in run(model, tokenizer, held(note, n), ["a", "b"], do_sample=True, max_new_tokens=n):
            assert "note" in json.loads(text)


def test_a_budget_that_is_too_small(note: CompiledGrammar) -> None:
    with pytest.raises(UnsatisfiableError, match=r"the shortest output needs \d+ tokens, but max_new_tokens is 3"):
        held(note, 3)
    with pytest.raises(OptionError, match="max_new_tokens must be >= 1"):
        held(note, 0)
    with pytest.raises(OptionError, match="cannot be combined"):
        held(note, 30, make_matcher=GrammarMatcher)


def test_scores_with_fewer_columns_than_the_tokenizer_has_ids(letters: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("a"))
    with pytest.raises(BitmaskError, match=r"have 7 columns, but .* has 8 ids\n.*pass vocab_size=7"):
        processor(torch.tensor([[1]]), torch.zeros(1, 7))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_scores_that_nothing_can_be_sampled_from(letters: TokenizerInfo, value: float) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("ab"))
    scores = torch.zeros(1, 8)
    scores[0, [0, 3]] = value
    with pytest.raises(MatcherError, match=r"row 0: .*(finite score|NaN)"):
        processor(torch.tensor([[1]]), scores)


def test_a_temperature_of_zero_by_division(letters: TokenizerInfo) -> None:
    """It makes infinities: before the mask they are refused, behind it the token that comes of them is."""
    compiled = GrammarCompiler(letters).compile_regex("bc")
    scores = torch.full((1, 8), -1.0)
    with pytest.raises(MatcherError, match=r"finite score\n.*a temperature of zero comes before"):
        GrammarLogitsProcessor(compiled)(torch.tensor([[1]]), scores / 0)
    processor = GrammarLogitsProcessor(compiled)
    token = int((processor(torch.tensor([[1]]), scores) / 0).argmax())
    with pytest.raises(MatcherError, match=f"token {token} at output position 0 is not allowed .*\n.*processor last"):
        processor(torch.tensor([[1, token]]), scores)


def test_a_stop_token_that_the_model_does_not_stop_at(tokenizer: Any, compiler: GrammarCompiler) -> None:
    model = make_model("llama", tokenizer)
    with pytest.warns(UserWarning, match=r"outputs are complete, but generate goes on: .*pass eos_token_id=\[\d+\]"):
        (text,) = run(model, tokenizer, held(compiler.compile_regex("ab?c")), eos_token_id=7)
    assert re.fullmatch("ab?c", text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(model, tokenizer, held([compiler.compile_regex(p) for p in ("ab?c", "a{35}")]), ["x", "x"])


def test_the_tokenizer_of_another_model(tokenizer: Any) -> None:
    larger = TokenizerInfo.from_vocab([bytes([i % 256]) for i in range(500)] + [b"<end>"], stop_token_ids=[500])
    processor = GrammarLogitsProcessor(GrammarCompiler(larger).compile_regex("a"))
    with pytest.raises(BitmaskError, match="320 columns, but the grammar's tokenizer has 501 ids"):
        run(make_model("llama", tokenizer), tokenizer, processor)


def test_ids_of_one_dimension_as_in_continuous_batching(letters: TokenizerInfo) -> None:
    processor = GrammarLogitsProcessor(GrammarCompiler(letters).compile_regex("a"))
    with pytest.raises(BitmaskError, match=r"input_ids must be two-dimensional[\s\S]*add_grammars"):
        processor(torch.tensor([1, 2]), torch.zeros(2, 8))


def test_masks_of_a_batch_are_those_of_its_rows(letters: TokenizerInfo) -> None:
    compiler = GrammarCompiler(letters)
    grammars = [compiler.compile_regex(pattern) for pattern in ("a+", "bc", "(ab)+c")]
    expected = torch.zeros(3, 8)
    for index, compiled in enumerate(grammars):
        bitmask = torch.zeros(1, 1, dtype=torch.int32)
        GrammarMatcher(compiled).fill_next_token_bitmask(bitmask)
        apply_token_bitmask_inplace(expected[index : index + 1], bitmask)
    rows = Rows(torch.zeros(3, 1, dtype=torch.long), [GrammarMatcher(g) for g in grammars], [4])
    bitmask = torch.zeros(3, 1, dtype=torch.int32)
    rows.fill(bitmask)
    scores = torch.zeros(3, 8)
    apply_token_bitmask_inplace(scores, bitmask)
    assert scores.equal(expected)
