"""`maskwright.generate`: prompts in, objects out.

    class City(pydantic.BaseModel):
        name: str
        population: int

    city = maskwright.generate(model, tokenizer, "The largest city of Japan, as JSON: ", City)
    city.population

One call of `model.generate` for all prompts. `max_new_tokens` is the budget of every output, so each of them is
complete and can be read; that is checked again before it is. Compilers are kept for the tokenizers that were used last.
Tested by tests/integrations/test_transformers_generate.py and tests/engines/test_transformers_smollm2.py.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch

from maskwright import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from maskwright.errors import ArgumentError, MatcherError, OptionError, TokenizerError, wrong_argument
from maskwright.frontends.json_schema import JsonSchemaKeywords
from maskwright.integrations.budgets import budget_of_context
from maskwright.integrations.transformers.model_facts import Facts, facts_of
from maskwright.integrations.transformers.processor import GrammarLogitsProcessor
from maskwright.integrations.transformers.prompts import Prompts, encode, padded, read_prompts
from maskwright.matcher import MAX_TOKEN_BUDGET
from maskwright.outputs.output_types import output_type_of
from maskwright.outputs.tool_outputs import ToolOutput
from maskwright.support.arguments import as_integer

_MOST_COMPILERS = 4
_USUAL_BUDGET = 1024
_OURS: Mapping[str, str] = {  # options of `generate` that would not do what they say
    "max_length": "use max_new_tokens",
    "max_tokens": "use max_new_tokens",
    "enable_thinking": "pass template_options={'enable_thinking': …}",
    "input_ids": "pass the text as prompts",
    "inputs": "pass the text as prompts",
    "inputs_embeds": "use GrammarLogitsProcessor with model.generate",
    "attention_mask": "pass the text as prompts; rows are padded by themselves",
    "decoder_input_ids": "use GrammarLogitsProcessor with model.generate",
    "return_dict_in_generate": "use GrammarLogitsProcessor with model.generate",
    "assistant_tokenizer": "transformers would hand the grammar of one tokenizer to the model of the other; use an "
    "assistant_model with the same tokenizer, or prompt_lookup_num_tokens",
    "response_format": "pass it as output_type",
    "n": "use num_return_sequences",
    "seed": "call transformers.set_seed first",
    "custom_generate": "use GrammarLogitsProcessor with model.generate",
}


class ToolOptions(NamedTuple):
    """The options of `generate` that only tools have; None where one is left out."""

    tool_choice: Any = None
    tool_format: str | None = None
    reasoning: Any = None
    parallel_tool_calls: bool | None = None
    thinking_token_budget: int | None = None


class Job(NamedTuple):
    """What is to be generated, as `model.generate` wants it."""

    prompts: Prompts
    compiled: CompiledGrammar
    read: Callable[[GrammarMatcher, str], Any]  # of an output that is complete
    read_partial: Callable[[str], Any]  # of the text so far; None if it has no value yet
    arguments: dict[str, Any]  # of `model.generate`
    prompt_length: int  # of each row that it returns


def generate(
    model: Any,
    tokenizer: Any,
    prompts: Any,
    output_type: Any,
    *,
    max_new_tokens: int | None = None,
    tool_choice: Any = None,
    tool_format: str | None = None,
    reasoning: Any = None,
    parallel_tool_calls: bool | None = None,
    thinking_token_budget: int | None = None,
    schema_options: Mapping[str, Any] | None = None,
    template_options: Mapping[str, Any] | None = None,
    **generate_options: Any,
) -> Any:
    """Generate outputs of a type with a transformers model, and return them as objects.

    Args:
        model: A model that generates text, decoder-only or encoder-decoder.
        tokenizer: Its tokenizer, or a processor that has one.
        prompts: A str, a list of messages (which goes through the chat template), or a list of either.
        output_type: A pydantic model, dataclass, TypedDict, or a type such as `int`, `bool`, `list[int]`, `Literal` or
            an Enum: returns an instance, validated by pydantic. `str`: any text. A JSON Schema as a dict: returns what
            `json.loads` does. A compiled `re.Pattern`, a `Grammar` or `CompiledGrammar`: returns the text. A list of
            tools (functions, classes or OpenAI tools): returns a list of `ToolCall`s.
        max_new_tokens: The largest number of tokens of an output, or less if the model's context has less room. Each
            output is complete within it. By default that of `generation_config`, or else 1,024.
        tool_choice: For tools, as in Chat Completions; "required" by default. With "auto", the answer is returned
            if no tool is called.
        tool_format: For tools, the model family whose tool call format to use, if it is not known from the model's
            name; see docs/model_families.md.
        reasoning: For tools, whether the output begins with reasoning: "enabled", "disabled" or "auto", as
            `get_model_structural_tag` takes it. None means what the family's models do with the defaults of their chat
            template; where `template_options` turn reasoning on or off, pass the same here. Families whose format has
            no reasoning ignore it.
        parallel_tool_calls: For tools, whether there may be more than one call; True by default.
        thinking_token_budget: For tools, the largest number of tokens of reasoning.
        schema_options: The fields of `JsonSchemaOptions`, such as `{"any_whitespace": False}`, for outputs that are
            JSON and for arguments of tools.
        template_options: Arguments of the chat template, such as `{"enable_thinking": False}`.
        **generate_options: Options of `model.generate`, such as `temperature` (0 for the likeliest token), `top_p`,
            `num_beams`, `num_return_sequences`, `assistant_model`, `streamer`. `temperature`, `top_k` or `top_p` turn
            on sampling.

    Returns:
        An object for a single prompt, a list for a list of prompts. With `num_return_sequences` above 1, each is a list
        of objects.

    Raises:
        ArgumentError: An argument has the wrong type.
        MatcherError: An output was ended before it was complete, by `stopping_criteria` or the like, or as it has no
            token budget, of which a warning tells.
        OptionError: An option is out of range, or would break the structure.
        TokenizerError: The tokenizer belongs to another model, or has no end token.
        UnsatisfiableError: No output fits into `max_new_tokens`; the message says how many tokens the shortest has.
        GrammarError, RequestError, SchemaError, StructuralTagError: `output_type` is malformed or cannot be enforced.
        pydantic.ValidationError: A validator of the type refuses a value that its JSON Schema allows.

    Warns:
        UserWarning: A keyword of a schema looks misspelled, or a schema uses none, so that it has no effect.
    """
    job = prepare(
        model,
        tokenizer,
        prompts,
        output_type,
        max_new_tokens=max_new_tokens,
        tool_options=ToolOptions(tool_choice, tool_format, reasoning, parallel_tool_calls, thinking_token_budget),
        schema_options=schema_options,
        template_options=template_options,
        **generate_options,
    )
    num_prompts = len(job.prompts.prompts)
    if not num_prompts:
        return []
    with torch.no_grad():
        rows = model.generate(**job.arguments)[:, job.prompt_length :].tolist()
    outputs = [read_output(job, row, index) for index, row in enumerate(rows)]
    copies = len(outputs) // num_prompts
    if copies > 1:
        outputs = [outputs[start : start + copies] for start in range(0, len(outputs), copies)]
    return outputs[0] if job.prompts.is_single else outputs


def prepare(
    model: Any,
    tokenizer: Any,
    prompts: Any,
    output_type: Any,
    *,
    max_new_tokens: int | None,
    tool_options: ToolOptions,
    schema_options: Mapping[str, Any] | None,
    template_options: Mapping[str, Any] | None,
    **generate_options: Any,
) -> Job:
    """Check and translate all that `generate` takes, short of generating."""
    _check_model(model)
    _check_options(generate_options)
    for option, value in {"schema_options": schema_options, "template_options": template_options}.items():
        if value is not None and not isinstance(value, Mapping):
            raise wrong_argument(option, value, "a dict")
    budget = _budget(max_new_tokens, generate_options.get("generation_config"))
    tokenizer = _tokenizer_of(tokenizer)
    wanted = read_prompts(prompts)
    structure = _structure_of(output_type, model, tokenizer, tool_options, schema_options)
    facts = facts_of(model, tokenizer, generate_options.pop("eos_token_id", None))
    compiled = structure.compile(_compiler_of(tokenizer, facts))
    rows = [encode(tokenizer, each, structure.tools, template_options) for each in wanted.prompts]
    arguments = _sampling(generate_options, generate_options.get("generation_config") or model.generation_config)
    if arguments.get("stop_strings"):
        arguments["tokenizer"] = tokenizer
    if not rows:
        return Job(wanted, compiled, structure.read, structure.read_partial, arguments, 0)
    _check_ids(model, rows)
    is_encoder_decoder = bool(model.config.is_encoder_decoder)
    arguments.update(padded(rows, facts.pad_token_id, left=not is_encoder_decoder, device=model.device))
    prompt_length = max(map(len, rows))
    if is_encoder_decoder:
        _check_encoder(prompt_length, facts)
        begin = _decoder_begin(model)
        prompt_length = len(begin)
        arguments["decoder_input_ids"] = torch.tensor([begin] * len(rows), device=model.device)
    room = _room(prompt_length, facts)
    with budget_of_context(prompt_length, room) if room < budget else nullcontext():
        budget = min(budget, room)
        processor = GrammarLogitsProcessor(compiled, max_new_tokens=budget, pad_token_id=facts.pad_token_id)
    arguments.update(
        max_new_tokens=budget,
        eos_token_id=list(facts.stop_token_ids),
        pad_token_id=facts.pad_token_id,
        return_dict_in_generate=False,  # whatever a generation config says
        logits_processor=[*(generate_options.get("logits_processor") or ()), processor],
    )
    return Job(wanted, compiled, structure.read, structure.read_partial, arguments, prompt_length)


class _Structure(NamedTuple):
    """An output type or tools: the grammar, what is made of an output, and the tools for the chat template."""

    compile: Callable[[GrammarCompiler], CompiledGrammar]
    read: Callable[[GrammarMatcher, str], Any]
    read_partial: Callable[[str], Any]
    tools: Sequence[Any] | None = None


def _structure_of(
    output_type: Any,
    model: Any,
    tokenizer: Any,
    tool_options: ToolOptions,
    schema_options: Mapping[str, Any] | None,
) -> _Structure:
    if isinstance(output_type, list | tuple):
        _check_tools(output_type)
        choice, name, *request = tool_options
        choice = "required" if choice is None else choice
        named = dict(zip(ToolOptions._fields[2:], request, strict=True))
        tools = ToolOutput(output_type, name or _name_of(model, tokenizer), choice, schema_options, **named)
        return _Structure(tools.compile, lambda matcher, _text: tools.read(matcher), str, tools.tools)
    for option, value in tool_options._asdict().items():
        if value is not None:
            hint = "leave it out, or pass a list of tools as output_type"
            raise OptionError(f"{option} requires tools", option=option, hint=hint)
    plain = output_type_of(output_type, schema_options)
    return _Structure(plain.compile, lambda _matcher, text: plain.read(text), plain.read_partial)


def _check_tools(given: Sequence[Any]) -> None:
    """Refuse lists that hold something else than tools, such as the texts to choose from."""
    if not given:
        raise wrong_argument("output_type", given, "a type, or a list of at least one tool")
    texts = [each for each in given if isinstance(each, str)]
    if texts:
        shown = ", ".join(map(repr, texts[:3])) + (", …" if len(texts) > 3 else "")
        hint = f"to choose one of these texts, pass Literal[{shown}] or Grammar.from_choices([{shown}])"
        raise ArgumentError("output_type is a list, but of texts, not of tools", argument="output_type", hint=hint)
    for each in given:
        if not callable(each) and not hasattr(each, "keys"):
            raise wrong_argument("each of output_type", each, "a tool: a function, a class or a dict")


def read_output(job: Job, row: list[int], index: int) -> Any:
    """Return the object of an output, given its tokens and whatever pads them."""
    matcher = GrammarMatcher(job.compiled)
    accepted = row[: matcher.accept_tokens(row)]
    if not matcher.is_terminated() and not (matcher.is_completed() and len(accepted) == len(row)):
        raise MatcherError(
            f"output {index} was ended after {len(accepted)} tokens, before it was complete",
            hint="raise max_new_tokens: a list of distinct items has no token budget"
            if len(accepted) == job.arguments["max_new_tokens"]
            else "leave out stopping_criteria, stop_strings and max_time; with num_beams, ask for no more "
            "num_return_sequences than there are outputs",
        )
    info = job.compiled.tokenizer_info
    text = info.decode(accepted[:-1] if matcher.is_terminated() else accepted).decode("utf-8", "replace")
    return job.read(matcher, text)


def _check_model(model: Any) -> None:
    if not callable(getattr(model, "generate", None)) or not hasattr(model, "config"):
        hint = "load it first: transformers.AutoModelForCausalLM.from_pretrained(name)"
        if hasattr(model, "config"):
            expected = "a model of transformers that generates text"
            hint = "load one with AutoModelForCausalLM or AutoModelForSeq2SeqLM; encoders such as BERT write no text"
            raise wrong_argument("model", model, expected, hint)
        raise wrong_argument("model", model, "a model of transformers", hint)


def _tokenizer_of(given: Any) -> Any:
    inner = getattr(given, "tokenizer", given)  # of a processor
    if not callable(inner) or not hasattr(inner, "eos_token_id"):
        hint = "load it first: transformers.AutoTokenizer.from_pretrained(name)"
        raise wrong_argument("tokenizer", given, "a tokenizer of transformers", hint)
    return inner


def _check_options(options: Mapping[str, Any]) -> None:
    for name in options:
        is_of_schemas = name in JsonSchemaKeywords.__annotations__
        hint = f"pass schema_options={{{name!r}: …}}" if is_of_schemas else _OURS.get(name)
        if hint is not None:
            raise OptionError(f"{name} cannot be passed to maskwright.generate", option=name, hint=hint)
    if isinstance(config := options.get("generation_config"), Mapping):
        hint = "pass GenerationConfig(**generation_config)"
        raise wrong_argument("generation_config", config, "a transformers.GenerationConfig", hint)
    if callable(processor := options.get("logits_processor")):
        raise wrong_argument("logits_processor", processor, "a list of logits processors", "pass [logits_processor]")
    if isinstance(temperature := options.get("temperature"), str):
        raise wrong_argument("temperature", temperature, "a number")


def _budget(max_new_tokens: int | None, generation_config: Any) -> int:
    """What was passed, whether as an argument or in a generation config."""
    if max_new_tokens is None:
        max_new_tokens = getattr(generation_config, "max_new_tokens", None)
    return as_integer("max_new_tokens", _USUAL_BUDGET if max_new_tokens is None else max_new_tokens, at_least=1)


def _sampling(options: Mapping[str, Any], declared: Any) -> dict[str, Any]:
    """The options, with a temperature of 0 as greedy decoding, others as sampling, and beams without it.

    The number of beams may be declared by a generation config, too.
    """
    made = dict(options)
    temperature = made.get("temperature")
    if temperature is not None and temperature == 0:
        if made.get("do_sample"):
            raise OptionError(
                "do_sample=True requires a temperature above 0", option="temperature", hint="leave out do_sample"
            )
        return {**{k: v for k, v in made.items() if k not in ("temperature", "top_k", "top_p")}, "do_sample": False}
    if any(made.get(name) is not None for name in ("temperature", "top_k", "top_p")):
        made.setdefault("do_sample", True)
    if (made.get("num_beams") or getattr(declared, "num_beams", None) or 1) > 1:
        if made.get("do_sample"):
            raise OptionError(
                "num_beams cannot be combined with sampling",
                option="num_beams",
                hint="transformers draws more candidates than a structure leaves; pass num_beams=1, with "
                "num_return_sequences for several outputs, or leave out do_sample, temperature, top_k and top_p",
            )
        made["do_sample"] = False  # whatever the model's generation config says
    return made


def _name_of(model: Any, tokenizer: Any) -> str:
    for holder in (model.config, tokenizer):
        name = getattr(holder, "name_or_path", None)
        if isinstance(name, str) and name:
            return name
    raise OptionError(
        "tools require tool_format: the model has no name that tells how it calls tools",
        option="tool_format",
        hint="pass the name of a family, such as 'hermes'; maskwright.structural_tag.model_families() lists them",
    )


def _check_ids(model: Any, rows: Sequence[Sequence[int]]) -> None:
    known = getattr(model.get_input_embeddings(), "num_embeddings", None)
    highest = max(map(max, rows))
    if known is not None and highest >= known:
        raise TokenizerError(
            f"the prompt has the token id {highest}, but the model knows {known} ids",
            hint="load the tokenizer of this model, or call model.resize_token_embeddings after adding tokens",
        )


def _room(prompt_length: int, facts: Facts) -> int:
    """How many tokens the model's context has behind the prompt."""
    if facts.num_positions is None:
        return MAX_TOKEN_BUDGET
    left = facts.num_positions - prompt_length
    if left < 1:
        raise ArgumentError(
            f"the longest prompt has {prompt_length} tokens, which fill the model's context of {facts.num_positions}",
            argument="prompts",
            hint="shorten the prompt",
        )
    return left


def _check_encoder(prompt_length: int, facts: Facts) -> None:
    if facts.num_encoder_positions is not None and prompt_length > facts.num_encoder_positions:
        raise ArgumentError(
            f"the longest prompt has {prompt_length} tokens; the model's encoder takes {facts.num_encoder_positions}",
            argument="prompts",
            hint="shorten the prompt",
        )


def _decoder_begin(model: Any) -> list[int]:
    """The tokens with which an encoder-decoder model begins its output."""
    config = model.generation_config
    candidates = (
        config.decoder_start_token_id,
        getattr(model.config, "decoder_start_token_id", None),
        config.bos_token_id,
    )
    start = next((i for i in candidates if isinstance(i, int)), None)
    if start is None:
        raise ArgumentError(
            "the model does not declare a decoder_start_token_id",
            argument="model",
            hint="set model.generation_config.decoder_start_token_id",
        )
    forced = config.forced_bos_token_id
    return [start] if forced is None else [start, forced]


_compilers: OrderedDict[Hashable, tuple[Any, GrammarCompiler]] = OrderedDict()
_lock = threading.Lock()


def _compiler_of(tokenizer: Any, facts: Facts) -> GrammarCompiler:
    """The compiler for a tokenizer, kept for the next call: reading a large vocabulary takes half a second.

    Tokens may be added to a tokenizer, or become special ones, from one call to the next.
    """
    key = (id(tokenizer), len(tokenizer), tuple(tokenizer.all_special_ids), facts.vocab_size, facts.stop_token_ids)
    with _lock:
        known = _compilers.get(key)
        if known is None:  # the tokenizer is kept with it, so its id stays its own
            info = TokenizerInfo.from_huggingface(
                tokenizer, vocab_size=facts.vocab_size, stop_token_ids=facts.stop_token_ids
            )
            known = _compilers[key] = (tokenizer, GrammarCompiler(info))
            while len(_compilers) > _MOST_COMPILERS:
                _compilers.popitem(last=False)
        _compilers.move_to_end(key)
        return known[1]
