"""`maskwright.generate`: prompts in, objects out, whatever the decoding; and what is refused in words."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from typing import Any, Literal, NewType

import pytest

import maskwright as mw
from maskwright.errors import ArgumentError, MatcherError, OptionError, RequestError, TokenizerError, UnsatisfiableError
from small_models import PADDED_VOCAB_SIZE, make_model, make_tokenizer

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pydantic = pytest.importorskip("pydantic")
from typing_extensions import TypeAliasType  # noqa: E402

from maskwright.integrations.transformers import ToolCall, pipeline, stream  # noqa: E402
from maskwright.integrations.transformers.prompts import encode, read_prompts  # noqa: E402

TEMPLATE = (
    "{% for tool in tools or [] %}<{{ tool.function.name }}>{% endfor %}"
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}{{ opening or 'assistant: ' }}{% endif %}"
)
CHAT = [{"role": "user", "content": "abc"}]


class City(pydantic.BaseModel):  # type: ignore[misc, unused-ignore]
    name: str
    population: int


@dataclasses.dataclass
class Point:
    x: int


def shout(word: Literal["abc", "ab"], times: int) -> str:
    return word * times


@pytest.fixture(scope="module")
def llama(tokenizer: Any) -> Any:
    return make_model("llama", tokenizer)


def generate(model: Any, tokenizer: Any, prompts: Any, output_type: Any, **options: Any) -> Any:
    return mw.generate(model, tokenizer, prompts, output_type, **{"max_new_tokens": 48, **options})


@pytest.mark.parametrize(
    ("output_type", "kind"),
    [
        (City, City),
        (Point, Point),
        (int, int),
        (bool, bool),
        (list[int], list),
        (Literal["abc", "ab"], str),
        (str, str),
        (re.compile("(abc|é){3}"), str),
        (mw.Grammar.from_lark('start: "ab" "c"+'), str),
        ({"type": "object", "required": ["a"]}, dict),
        (mw.Grammar.from_choices(["a"]) | mw.Grammar.from_choices(["b"]), str),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_output_types(model: Any, tokenizer: Any, output_type: Any, kind: type) -> None:
    made = generate(model, tokenizer, ["ab", "a longer prompt"], output_type)
    assert [type(each) for each in made] == [kind, kind]
    assert type(generate(model, tokenizer, "ab", output_type)) is kind


def test_regular_expressions_match(llama: Any, tokenizer: Any) -> None:
    for text in generate(llama, tokenizer, ["a", "b c"], re.compile(r"[A-C]{3,8}\d", re.I), temperature=2.0):
        assert re.fullmatch(r"[A-C]{3,8}\d", text, re.I)


@pytest.mark.parametrize("max_new_tokens", [14, 15, 17, 20, 30])
@pytest.mark.parametrize("seed", range(3))
def test_every_output_is_complete_within_its_budget(llama: Any, tokenizer: Any, max_new_tokens: int, seed: int) -> None:
    transformers.set_seed(seed)
    schema = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}
    made = generate(
        llama, tokenizer, ["ab", "abc"], schema, max_new_tokens=max_new_tokens, temperature=1.5, num_return_sequences=4
    )
    assert all("note" in each for several in made for each in several)


def test_a_budget_too_small_for_any_output(llama: Any, tokenizer: Any) -> None:
    with pytest.raises(UnsatisfiableError, match=r"the shortest output needs \d+ tokens, but max_new_tokens is 4"):
        generate(llama, tokenizer, "ab", City, max_new_tokens=4)
    with pytest.raises(OptionError, match="max_new_tokens must be >= 1"):
        generate(llama, tokenizer, "ab", City, max_new_tokens=0)


def test_the_models_context_bounds_the_budget(llama: Any, tokenizer: Any) -> None:
    prompt = "x" * 490
    unlikely = {tuple(tokenizer("!").input_ids): -100.0}
    made = generate(llama, tokenizer, prompt, re.compile("(abc)*!"), max_new_tokens=1000, sequence_bias=unlikely)
    assert made.endswith("!")
    assert len(tokenizer(made).input_ids) <= 512 - 490
    with pytest.raises(ArgumentError, match="prompt has 512 tokens, which fill the model's context of 512"):
        generate(llama, tokenizer, "x" * 512, int)
    with pytest.raises(UnsatisfiableError) as refused:
        generate(llama, tokenizer, "x" * 509, City)
    assert "max_new_tokens is 3, as the prompt has 509 tokens and the model's context 512" in refused.value.message
    assert refused.value.hint == "shorten the prompt"


def test_the_budget_of_a_generation_config(llama: Any, tokenizer: Any) -> None:
    given = llama, tokenizer, "ab", re.compile("x{10}")
    config = transformers.GenerationConfig(max_new_tokens=9)
    with pytest.raises(UnsatisfiableError, match="max_new_tokens is 9"):
        mw.generate(*given, generation_config=config)
    assert mw.generate(*given, generation_config=config, max_new_tokens=10) == "x" * 10
    assert len(mw.generate(llama, tokenizer, "ab", re.compile("[xyz]*"), generation_config=config)) <= 9


@pytest.mark.parametrize(
    "options",
    [
        {"num_return_sequences": 3, "do_sample": True},
        {"num_return_sequences": 2, "num_beams": 3},
        {"num_beams": 2},
        {"temperature": 0},
        {"temperature": 0.7, "top_p": 0.9, "top_k": 5},
        {"cache_implementation": "static"},
        {"repetition_penalty": 1.3},
    ],
    ids=str,
)
def test_decoding_options(llama: Any, tokenizer: Any, options: dict[str, Any]) -> None:
    made = generate(llama, tokenizer, ["ab", "a longer prompt"], re.compile("(abc|é|b){3,9}!"), **options)
    copies = options.get("num_return_sequences", 1)
    assert len(made) == 2
    for several in made if copies > 1 else [[each] for each in made]:
        assert len(several) == copies
        assert all(re.fullmatch("(abc|é|b){3,9}!", text) for text in several)


@pytest.mark.parametrize("draft", ["assistant_model", "prompt_lookup_num_tokens"])
def test_assisted_generation(llama: Any, tokenizer: Any, draft: str) -> None:
    options = {draft: make_model("gpt2", tokenizer) if draft == "assistant_model" else 4}
    made = generate(llama, tokenizer, "abab abcabc", re.compile("(abc|ab){5,30}!"), temperature=0, **options)
    assert made == generate(llama, tokenizer, "abab abcabc", re.compile("(abc|ab){5,30}!"), temperature=0)


def test_beams_do_not_sample_whatever_the_generation_config_says(tokenizer: Any) -> None:
    model = make_model("llama", tokenizer)
    model.generation_config.do_sample = True
    first, second = (generate(model, tokenizer, "ab", re.compile("abc|abé"), num_beams=4) for _ in range(2))
    assert first == second


def test_beams_of_the_generation_config(tokenizer: Any) -> None:
    model = make_model("llama", tokenizer)
    model.generation_config.num_beams = 4
    with pytest.raises(OptionError, match=r"num_beams cannot be combined with sampling\n.*pass num_beams=1"):
        generate(model, tokenizer, "ab", re.compile("abc|abé"), temperature=0.7)
    assert generate(model, tokenizer, "ab", re.compile("abc|abé"), temperature=0.7, num_beams=1) in ("abc", "abé")


def test_what_the_generation_config_returns_does_not_matter(tokenizer: Any) -> None:
    model = make_model("llama", tokenizer)
    model.generation_config.return_dict_in_generate = True
    assert type(generate(model, tokenizer, "ab", bool)) is bool


def test_prompts_do_not_change_each_other(llama: Any, tokenizer: Any) -> None:
    """Rows are padded on the left, with a mask, whatever the tokenizer would do."""
    right = make_tokenizer()
    right.padding_side, right.pad_token = "right", None
    prompts = ["ab", "a much longer prompt than the others", "x y z"]
    together = generate(llama, right, prompts, re.compile("(abc|é|b){3,9}!"))
    assert together == [generate(llama, tokenizer, prompt, re.compile("(abc|é|b){3,9}!")) for prompt in prompts]


def test_no_prompts(llama: Any, tokenizer: Any) -> None:
    assert generate(llama, tokenizer, [], City) == []


def test_chats(llama: Any) -> None:
    tokenizer = make_tokenizer()
    with pytest.raises(ArgumentError, match="the tokenizer has no chat template"):
        generate(llama, tokenizer, CHAT, int)
    tokenizer.chat_template = TEMPLATE
    as_text = generate(llama, tokenizer, "user: abc\nassistant: ", re.compile("(abc|é|b){3,9}!"))
    assert generate(llama, tokenizer, CHAT, re.compile("(abc|é|b){3,9}!")) == as_text
    assert generate(llama, tokenizer, [CHAT, "user: abc\nassistant: "], re.compile("(abc|é|b){3,9}!")) == [as_text] * 2
    other = generate(llama, tokenizer, "user: abc\n!", re.compile("(abc|é|b){3,9}!"))
    options = {"template_options": {"opening": "!"}}
    assert generate(llama, tokenizer, CHAT, re.compile("(abc|é|b){3,9}!"), **options) == other


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (None, "user: abc\nassistant: a\nassistant: "),
        ({"tokenize": True}, "user: abc\nassistant: a\nassistant: "),
        ({"add_generation_prompt": False}, "user: abc\nassistant: a\n"),
        ({"continue_final_message": True}, "user: abc\nassistant: a"),
    ],
    ids=str,
)
def test_template_options(options: Any, expected: str) -> None:
    tokenizer = make_tokenizer()
    tokenizer.chat_template = TEMPLATE
    chat = [*CHAT, {"role": "assistant", "content": "a"}]
    assert tokenizer.decode(encode(tokenizer, chat, template_options=options)) == expected


def test_tools(llama: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = make_tokenizer()
    tokenizer.chat_template = TEMPLATE
    with pytest.raises(OptionError, match="tools require tool_format"):
        generate(llama, tokenizer, CHAT, [shout])
    (call, *_) = generate(llama, tokenizer, CHAT, [shout], tool_format="hermes", max_new_tokens=120)
    assert isinstance(call, ToolCall)
    assert call.tool(**call.arguments) == call.arguments["word"] * call.arguments["times"]
    monkeypatch.setattr(llama.config, "name_or_path", "Qwen/Qwen3-0.6B", raising=False)
    assert generate(llama, tokenizer, CHAT, [City], max_new_tokens=160)[0].name == "City"


def test_tools_after_reasoning(llama: Any) -> None:
    tokenizer = make_tokenizer()
    tokenizer.chat_template = TEMPLATE
    options = {"tool_format": "qwen_3", "reasoning": "enabled", "thinking_token_budget": 4, "max_new_tokens": 140}
    job = pipeline.prepare(
        llama,
        tokenizer,
        CHAT,
        [shout],
        max_new_tokens=140,
        tool_options=pipeline.ToolOptions("required", "qwen_3", "enabled", False, 4),
        schema_options=None,
        template_options=None,
    )
    matcher = mw.GrammarMatcher(job.compiled)
    call = '<tool_call>\n{"name": "shout", "arguments": {"word": "ab", "times": 1}}\n</tool_call>'
    assert matcher.accept_string("ab</think>\n\n" + call)
    assert not matcher.accept_string(call)
    calls = generate(llama, tokenizer, CHAT, [shout], parallel_tool_calls=False, **options)
    assert [each.name for each in calls] == ["shout"]
    with pytest.raises(RequestError, match="'enabled', 'disabled' or 'auto'"):
        generate(llama, tokenizer, CHAT, [shout], tool_format="qwen_3", reasoning="maybe")


OF_TOOLS = ["tool_choice", "tool_format", "reasoning", "parallel_tool_calls", "thinking_token_budget"]


@pytest.mark.parametrize("option", OF_TOOLS)
def test_options_of_tools_are_refused_in_streams(llama: Any, tokenizer: Any, option: str) -> None:
    with pytest.raises(OptionError, match=f"{option} requires tools") as caught:
        stream(llama, tokenizer, "ab", int, **{option: "auto"})
    assert caught.value.option == option


@pytest.mark.parametrize("option", OF_TOOLS)
@pytest.mark.parametrize("output_type", [int, City, {"type": "integer"}])
def test_options_of_tools_are_refused_without_tools(llama: Any, tokenizer: Any, output_type: Any, option: str) -> None:
    with pytest.raises(OptionError, match=f"{option} requires tools") as caught:
        generate(llama, tokenizer, "ab", output_type, **{option: "auto"})
    assert caught.value.option == option


def test_an_encoder_decoder_model(tokenizer: Any) -> None:
    transformers.set_seed(0)
    config = transformers.BartConfig(
        vocab_size=PADDED_VOCAB_SIZE,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=128,
        decoder_start_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        forced_bos_token_id=tokenizer.bos_token_id,
        forced_eos_token_id=None,
    )
    model = transformers.BartForConditionalGeneration(config).eval()
    model.generation_config.forced_bos_token_id = tokenizer.bos_token_id
    made = generate(model, tokenizer, ["ab", "a longer prompt"], list[int])
    assert all(type(each) is list for each in made)
    assert generate(model, tokenizer, "a" * 128, int) is not None
    with pytest.raises(ArgumentError, match="prompt has 129 tokens; the model's encoder takes 128"):
        generate(model, tokenizer, ["ab", "a" * 129], int)


def test_streamers_get_the_text(llama: Any, tokenizer: Any, capsys: pytest.CaptureFixture[str]) -> None:
    streamer = transformers.TextStreamer(tokenizer, skip_prompt=True, skip_special_tokens=True)
    made = generate(llama, tokenizer, "ab", re.compile("(abc|é|b){3,9}!"), streamer=streamer)
    assert capsys.readouterr().out.strip() == made


def test_processors_of_the_callers_come_first(llama: Any, tokenizer: Any) -> None:
    class Only(transformers.LogitsProcessor):  # type: ignore[misc, unused-ignore]
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            kept = torch.full_like(scores, -torch.inf)
            ids = [*tokenizer("7").input_ids, tokenizer.eos_token_id]
            kept[:, ids] = scores[:, ids]
            return kept

    made = generate(llama, tokenizer, "ab", int, logits_processor=[Only()], max_new_tokens=5)
    assert set(str(made)) == {"7"}


def test_named_types_are_what_they_stand_for(llama: Any, tokenizer: Any) -> None:
    count, word = NewType("Count", int), TypeAliasType("Word", Literal["abc", "b"])
    assert type(generate(llama, tokenizer, "ab", count)) is int
    assert generate(llama, tokenizer, "ab", word) in ("abc", "b")
    assert type(generate(llama, tokenizer, "ab", TypeAliasType("Counts", list[count]))) is list


def test_tokens_that_become_special_are_no_longer_text(llama: Any) -> None:
    tokenizer = make_tokenizer()
    facts = pipeline.facts_of(llama, tokenizer)
    before = pipeline._compiler_of(tokenizer, facts)
    assert pipeline._compiler_of(tokenizer, facts._replace(num_positions=7)) is before
    tokenizer.add_special_tokens({"additional_special_tokens": ["abc"]})
    after = pipeline._compiler_of(tokenizer, facts)
    special = tokenizer.convert_tokens_to_ids("abc")
    assert special not in before.tokenizer_info.special_token_ids
    assert special in after.tokenizer_info.special_token_ids


def test_end_tokens(llama: Any, tokenizer: Any) -> None:
    """Those of the model and of the tokenizer end an output, unless others are given."""
    other = tokenizer.bos_token_id
    model = make_model("llama", tokenizer)
    model.generation_config.eos_token_id = [other]
    assert generate(model, tokenizer, "ab", re.compile("abc")) == "abc"
    assert generate(model, tokenizer, "ab", re.compile("abc"), eos_token_id=other) == "abc"
    assert generate(model, tokenizer, "ab", re.compile("abc"), eos_token_id=[5]) == "abc"  # a text token
    model.generation_config.eos_token_id = None
    narrow = make_model("llama", tokenizer)
    narrow.resize_token_embeddings(tokenizer.eos_token_id)
    narrow.generation_config.eos_token_id = None
    with pytest.raises(TokenizerError, match=r"is outside the model's output layer, .*\n.*resize_token_embeddings"):
        generate(narrow, tokenizer, "ab", int)
    endless = make_tokenizer()
    endless.eos_token = None
    with pytest.raises(TokenizerError, match=r"declares an end token\n.*eos_token_id="):
        generate(model, endless, "ab", int)
    with pytest.raises(OptionError, match=r"eos_token_id must be from 0 to 319, not \[5, 320\]"):
        generate(model, tokenizer, "ab", int, eos_token_id=[5, 320])


def test_options_of_the_wrong_type_or_of_other_functions(llama: Any, tokenizer: Any) -> None:
    with pytest.raises(ArgumentError, match=r"pass GenerationConfig\(\*\*generation_config\)"):
        generate(llama, tokenizer, "ab", int, generation_config={"max_new_tokens": 4})
    with pytest.raises(ArgumentError, match="temperature must be a number, not str"):
        generate(llama, tokenizer, "ab", int, temperature="0")
    with pytest.raises(ArgumentError, match="logits_processor must be a list of logits processors"):
        generate(llama, tokenizer, "ab", int, logits_processor=transformers.TemperatureLogitsWarper(0.5))
    with pytest.raises(OptionError, match=r"response_format cannot be passed .*\n.*as output_type"):
        generate(llama, tokenizer, "ab", int, response_format={"type": "json_object"})


def test_an_output_that_something_else_ends_is_an_error(llama: Any, tokenizer: Any) -> None:
    class Early(transformers.StoppingCriteria):  # type: ignore[misc, unused-ignore]
        def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
            return torch.ones(input_ids.shape[0], dtype=torch.bool)

    with pytest.raises(MatcherError, match=r"output 0 was ended after 1 tokens, before it was complete\n.*criteria"):
        generate(llama, tokenizer, "ab", City, stopping_criteria=transformers.StoppingCriteriaList([Early()]))
    with pytest.raises(MatcherError, match=r"before it was complete\n.*stop_strings"):
        generate(llama, tokenizer, "ab", re.compile("abab!"), stop_strings=["ab"])


def test_an_output_without_a_budget_may_be_cut_off(llama: Any, tokenizer: Any) -> None:
    schema = {"type": "array", "items": {}, "uniqueItems": True, "minItems": 2}
    with (
        pytest.warns(UserWarning, match="a list of distinct items has no token budget"),
        pytest.raises(MatcherError, match=r"ended after 9 tokens[\s\S]*hint: raise max_new_tokens"),
    ):
        generate(llama, tokenizer, "x", schema, max_new_tokens=9, temperature=0)


def test_the_tokenizer_of_another_model(llama: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    larger = make_tokenizer()
    larger.add_tokens([f"<{i}>" for i in range(200)])
    with pytest.raises(TokenizerError, match="has 467 ids, but the model's output layer has 320"):
        generate(llama, larger, "ab", int)
    slightly = make_tokenizer()
    slightly.add_tokens([f"<{i}>" for i in range(60)])
    assert type(generate(llama, slightly, "ab", bool)) is bool
    with pytest.raises(TokenizerError, match="the prompt has the token id 326, but the model knows 320 ids"):
        generate(llama, slightly, "ab<59>", int)
    monkeypatch.setattr("maskwright.integrations.transformers.model_facts._MANY", 40)
    for run in (mw.generate, lambda *args: list(stream(*args))):
        with pytest.warns(UserWarning, match="has 267 ids, but the model's output layer has 320: it may be") as caught:
            run(llama, tokenizer, "ab", bool)
        assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_length": 5}, "use max_new_tokens"),
        ({"max_tokens": 5}, "use max_new_tokens"),
        ({"n": 2}, "use num_return_sequences"),
        ({"seed": 1}, "call transformers.set_seed"),
        ({"any_whitespace": False}, "pass schema_options={'any_whitespace': …}"),
        ({"enable_thinking": False}, "pass template_options={'enable_thinking': …}"),
        ({"return_dict_in_generate": True}, "use GrammarLogitsProcessor"),
        ({"assistant_tokenizer": 1}, "same tokenizer, or prompt_lookup_num_tokens"),
        ({"num_beams": 2, "do_sample": True}, "num_beams cannot be combined with sampling"),
        ({"num_beams": 2, "temperature": 0.7}, r"num_beams cannot be combined with sampling\n.*num_return_sequences"),
        ({"temperature": 0, "do_sample": True}, "requires a temperature above 0"),
    ],
    ids=str,
)
def test_options_that_would_break_the_structure(llama: Any, tokenizer: Any, options: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        generate(llama, tokenizer, "ab", int, **options)


@pytest.mark.parametrize("prompts", [3, None, {"role": "user"}, [3], [[{"content": "x"}]], ["a", ["b"]]], ids=repr)
def test_what_is_no_prompt(prompts: Any) -> None:
    with pytest.raises(ArgumentError, match=r"prompts must be .*\n.*'role': 'user'"):
        read_prompts(prompts)


def test_arguments_in_the_wrong_places(llama: Any, tokenizer: Any) -> None:
    with pytest.raises(ArgumentError, match=r"model must be a model of transformers, not str\n.*from_pretrained"):
        generate("gpt2", tokenizer, "ab", int)
    with pytest.raises(ArgumentError, match=r"tokenizer must be a tokenizer of transformers, not str"):
        generate(llama, "gpt2", "ab", int)
    with pytest.raises(ArgumentError, match="schema_options must be a dict, not int"):
        generate(llama, tokenizer, "ab", City, schema_options=3)
    with pytest.raises(ArgumentError, match="eos_token_id must be an int, not str"):
        generate(llama, tokenizer, "ab", int, eos_token_id="</s>")
    with pytest.raises(ArgumentError, match="max_new_tokens must be an int, not str"):
        generate(llama, tokenizer, "ab", int, max_new_tokens="5")
    for texts in (["yes", "no"], ("yes", "no")):
        with pytest.raises(
            ArgumentError, match=r"of texts, not of tools\n.*Literal\['yes', 'no'\] or Grammar.from_choices"
        ):
            generate(llama, tokenizer, "ab", texts)
    with pytest.raises(
        ArgumentError, match="each of output_type must be a tool: a function, a class or a dict, not int"
    ):
        generate(llama, tokenizer, "ab", [1])
    with pytest.raises(ArgumentError, match="a list of at least one tool"):
        generate(llama, tokenizer, "ab", [])
    with pytest.raises(TokenizerError, match="a prompt has no tokens"):
        generate(llama, tokenizer, "", int)


def test_what_has_no_effect_in_a_schema_is_a_warning(llama: Any, tokenizer: Any) -> None:
    for schema, reason in (
        ({"type": "integer", "maximun": 5}, "did you mean 'maximum'"),
        ({"name": "str"}, "no keyword of JSON Schema is used"),
    ):
        with pytest.warns(UserWarning, match=reason) as caught:
            generate(llama, tokenizer, "ab", schema)
        assert caught[0].filename == __file__


def test_a_model_that_writes_no_text(tokenizer: Any) -> None:
    config = transformers.BertConfig(
        vocab_size=PADDED_VOCAB_SIZE, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
    )
    with pytest.raises(ArgumentError, match=r"that generates text, not .*BertModel\n.*AutoModelForCausalLM"):
        generate(transformers.BertModel(config), tokenizer, "ab", int)


def test_vocabularies_are_read_once(llama: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    generate(llama, tokenizer, "ab", bool)
    monkeypatch.setattr(pipeline, "TokenizerInfo", None)
    assert type(generate(llama, tokenizer, "ab", int)) is int


def test_importing_the_package_imports_neither_torch_nor_transformers() -> None:
    program = (
        "import sys, json, maskwright; known = 'generate' in dir(maskwright);"
        "print(json.dumps([known, sorted({'torch', 'transformers', 'pydantic'} & set(sys.modules))]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert json.loads(done.stdout) == [True, []]
