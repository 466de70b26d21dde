"""Around the engine: vLLM's configuration, the versions that are supported, structures that vLLM itself makes."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("vllm", reason="vLLM is not installed: make engines")

from maskwright import Grammar, GrammarMatcher
from maskwright.errors import TokenizerError
from maskwright.integrations.vllm import add_name, frontend, register, versions
from maskwright.integrations.vllm.config import is_chosen
from maskwright.integrations.vllm.requests import compile_structure, compiler_for

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    },
    {"type": "function", "function": {"name": "get_time"}},
]
CHOICES = ("auto", "required", {"type": "function", "function": {"name": "get_weather"}})


def configured(**options: Any) -> Any:
    from vllm.config import StructuredOutputsConfig  # imported in tests: it warns

    return StructuredOutputsConfig(**options)


@pytest.fixture
def checked_again() -> Iterator[None]:
    """Let the version be looked at in the test, and again after it."""
    versions.why_unsupported.cache_clear()
    yield
    versions.why_unsupported.cache_clear()


def test_the_configuration_takes_the_name_and_all_options() -> None:
    config = configured(backend="maskwright", disable_any_whitespace=True, disable_additional_properties=True)
    assert config.backend == "maskwright"


def test_other_names_are_checked_as_before() -> None:
    with pytest.raises(ValueError, match=r"'xgrammar', 'guidance'.* or 'maskwright'"):
        configured(backend="maskright")
    with pytest.raises(ValueError, match="disable_additional_properties"):
        configured(backend="xgrammar", disable_additional_properties=True)


def test_the_command_line_takes_the_name() -> None:
    from vllm.engine.arg_utils import EngineArgs
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    parser = EngineArgs.add_cli_args(FlexibleArgumentParser())
    args = parser.parse_args(["--structured-outputs-config.backend", "maskwright"])
    assert args.structured_outputs_config.backend == "maskwright"


def test_plugins_can_be_loaded_again() -> None:
    from vllm.v1.structured_output import StructuredOutputManager

    register()
    hooked = StructuredOutputManager.grammar_init
    register()
    add_name()
    assert StructuredOutputManager.grammar_init is hooked


@pytest.mark.parametrize("version", ["0.31.2", "0.34.0rc1", "1.0", "dev"])
def test_another_version_is_refused_where_the_backend_is_asked_for(
    version: str, monkeypatch: pytest.MonkeyPatch, checked_again: None
) -> None:
    monkeypatch.setattr("vllm.version.__version__", version)
    with pytest.raises(ValueError, match=f"supports vLLM 0.32 and 0.33, but this is vLLM {version}"):
        configured(backend="maskwright")
    assert configured(backend="guidance").backend == "guidance"


def test_another_version_is_refused_where_auto_means_the_backend(
    monkeypatch: pytest.MonkeyPatch, checked_again: None
) -> None:
    monkeypatch.setenv("MASKWRIGHT_VLLM_AUTO", "1")
    assert configured(disable_additional_properties=True).backend == "auto"
    versions.why_unsupported.cache_clear()
    monkeypatch.setattr("vllm.version.__version__", "0.34.0")
    with pytest.raises(ValueError, match=r"but this is vLLM 0\.34\.0"):
        configured()
    monkeypatch.setenv("MASKWRIGHT_VLLM_AUTO", "false")
    assert configured().backend == "auto"


def test_a_function_that_has_changed_is_named(monkeypatch: pytest.MonkeyPatch, checked_again: None) -> None:
    from vllm.v1.structured_output import StructuredOutputManager

    monkeypatch.setattr(StructuredOutputManager, "_fill_bitmasks", lambda self, batch, stream: None)
    with pytest.raises(ValueError, match="_fill_bitmasks has changed"):
        configured(backend="maskwright")


def test_auto_means_maskwright_where_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_chosen("auto")
    monkeypatch.setenv("MASKWRIGHT_VLLM_AUTO", "1")
    assert is_chosen("auto")
    assert not is_chosen("xgrammar")


def test_tags_that_tool_parsers_make_are_read() -> None:
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.tool_parsers import structural_tag_registry as registry
    from vllm.tool_parsers.tool_strict_level import ToolStrictLevel

    models = sorted(registry.SUPPORTED_STRUCTURAL_TAG_MODELS | set(registry._VLLM_STRUCTURAL_TAG_REGISTRY))
    assert len(models) > 15
    read = set()
    for model, choice, level in itertools.product(models, CHOICES, ToolStrictLevel):
        messages = [{"role": "user", "content": "?"}]
        request = ChatCompletionRequest(model="x", messages=messages, tools=TOOLS, tool_choice=choice)
        tag = registry.get_model_structural_tag(
            model, request.tools, request.tool_choice, reasoning=False, strict_level=level
        )
        if tag is not None:
            Grammar.from_structural_tag(json.dumps(tag.model_dump()))
            read.add(model)
    assert sorted(read) == models


# fmt: off
SPECIAL = [
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>",
    "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]",
]
# fmt: on


@pytest.fixture(scope="module")
def mistral(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tokenizer of Mistral with the special tokens of its reasoning models."""
    import mistral_common
    from vllm.tokenizers.mistral import MistralTokenizer

    model = json.loads((Path(mistral_common.__file__).parent / "data" / "tekken_240911.json").read_text())
    model["config"]["version"] = "v13"
    model["special_tokens"] = [{"rank": i, "token_str": name, "is_control": True} for i, name in enumerate(SPECIAL)]
    folder = tmp_path_factory.mktemp("mistral")
    (folder / "tekken.json").write_text(json.dumps(model))
    return MistralTokenizer.from_pretrained(str(folder))


def test_tokenizers_of_mistral_are_read(mistral: Any) -> None:
    compiler = compiler_for(mistral, len(mistral))
    info = compiler.tokenizer_info
    text = '{"a": "é ☃"}'
    assert info.decode(mistral.encode(text, add_special_tokens=False)) == text.encode()
    assert mistral.eos_token_id in info.stop_token_ids


def test_grammars_that_mistral_makes_for_tools_are_compiled(mistral: Any) -> None:
    from mistral_common.guidance.grammar_factory import GrammarFactory
    from mistral_common.protocol.instruct.tool_calls import Function, Tool, ToolChoiceEnum

    factory, compiler = GrammarFactory(mistral.mistral), compiler_for(mistral, len(mistral))
    template = factory.select_jinja_template()
    flags = (False, True)
    for mode, strict, parallel, forced in itertools.product(ToolChoiceEnum, flags, flags, flags):
        tools = [Tool(function=Function(**{**each["function"], "strict": strict})) for each in TOOLS[:1]]
        grammar = factory.get_lark_from_jinja(template, mode, tools, None, parallel, False, forced)
        compiled = compile_structure(compiler, "GRAMMAR", grammar, {})
        call = mistral.encode("get_weather", add_special_tokens=False)
        ids = [SPECIAL.index("[TOOL_CALLS]"), *call, SPECIAL.index("[ARGS]")]
        ids += mistral.encode('{"city": "Paris"}', add_special_tokens=False)
        taken = GrammarMatcher(compiled).accept_tokens(ids) == len(ids)
        assert taken == (mode != ToolChoiceEnum.none), (mode, grammar)
    grammar = factory.get_lark_for_json_schema(template, {"type": "object"})
    assert compile_structure(compiler, "GRAMMAR", grammar, {})


def test_a_tokenizer_of_another_model_is_refused_or_warned_of(mistral: Any, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(TokenizerError, match="it is the tokenizer of another model"):
        compiler_for(mistral, 49_152)
    with caplog.at_level("WARNING", "vllm.maskwright"):
        compiler_for(mistral, 2 * len(mistral))
    assert not caplog.records or "Is it the tokenizer of the model?" in caplog.text


def test_the_event_loop_does_not_seek_again_what_a_thread_has_found(
    mistral: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

    model = SimpleNamespace(get_vocab_size=lambda: len(mistral), max_model_len=100)
    given = model, configured(backend="maskwright"), mistral
    structure = StructuredOutputsParams(json={"type": "object", "required": ["a", "b"]})
    params = SamplingParams(max_tokens=4, structured_outputs=structure)
    structure._backend = "maskwright"
    frontend.prepare(params, *given)

    def seek(*_: Any) -> None:
        raise AssertionError("sought again")

    request = SimpleNamespace(sampling_params=params.clone(), prompt_token_ids=[1, 2], prompt_embeds=None)
    monkeypatch.setattr(frontend, "make_matcher", seek)
    with pytest.raises(VLLMValidationError, match=r"needs .*\(increase max_tokens\)"):
        frontend.check_budget(request, *given)
    request.prompt_token_ids = [1] * 98  # now the context decides
    with pytest.raises(AssertionError, match="sought again"):
        frontend.check_budget(request, *given)


def test_a_prompt_that_leaves_too_little_of_the_context_is_what_the_message_names(mistral: Any) -> None:
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

    structure = StructuredOutputsParams(regex="[0-9]{9}")
    structure._backend = "maskwright"
    params = SamplingParams(max_tokens=50, structured_outputs=structure)
    request = SimpleNamespace(sampling_params=params, prompt_token_ids=[1] * 97, prompt_embeds=None)
    model = SimpleNamespace(get_vocab_size=lambda: len(mistral), max_model_len=100)
    with pytest.raises(VLLMValidationError, match=r"\(the prompt leaves 3 of the 100 tokens of the context\)"):
        frontend.check_budget(request, model, configured(backend="maskwright"), mistral)


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        ({"grammar": "[a-z]+"}, 'use structured_outputs: {"regex": …}'),
        ({"grammar": 'root ::= "a"\n%ignore " "'}, 'use structured_outputs: {"grammar": …}'),
        ({"grammar": 'a ::= "x"'}, "rename one to 'root'"),
        ({"json": {"type": "structural_tag"}}, 'use structured_outputs: {"structural_tag": …}'),
        ({"json": {"type": "function"}}, "use the field tools"),
        (
            {"json": {"uniqueItems": True, "items": {"maxItems": 2}}},
            'write "x-guidance": {"lenient": true} in the schema',
        ),
        ({"json": "3"}, "pass an object, or its JSON text"),
        ({"json": "[]"}, "for a list of tools, use the field tools"),
        ({"json_object": False}, "json_object must be true"),
        ({"regex": "a"}, "maskwright_token_budget must be true or false, not 'no'"),
    ],
)
def test_refusals_name_fields_of_requests(mistral: Any, structure: dict[str, Any], message: str) -> None:
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

    model = SimpleNamespace(get_vocab_size=lambda: len(mistral), max_model_len=100)
    switch = {"maskwright_token_budget": "no"}
    params = SamplingParams(structured_outputs=StructuredOutputsParams(**structure), extra_args=switch)
    with pytest.raises(VLLMValidationError) as refused:
        frontend.prepare(params, model, configured(backend="maskwright"), mistral)
    assert message in str(refused.value)
    assert not re.search(r"compile_|Grammar\.|on_unsupported|root_rule_name", str(refused.value))
