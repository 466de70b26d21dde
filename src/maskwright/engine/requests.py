"""What an engine is asked for: `Request` and its `SamplingParams`.

    Request(engine.encode("Once"), SamplingParams(max_tokens=64, temperature=0.7, seed=1), grammar=compiled)

Names and defaults are those of vLLM and OpenAI. Everything is checked when it is made, so an engine need not.
Tested by tests/engine/test_requests.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from maskwright.compiling.compiled_grammar import CompiledGrammar, checked_compiled
from maskwright.errors import LimitError, OptionError, TokenizerError, wrong_argument
from maskwright.outputs.grammar_drafts import GrammarDrafts
from maskwright.support.arguments import as_integer, as_number, as_tuple, instance

Propose: TypeAlias = Callable[[Sequence[int]], Sequence[int]]

MAX_STOP_STRINGS = 64
MAX_STOP_LENGTH = 4096
MAX_LOGPROBS = 64
MAX_BIASED_TOKENS = 4096
_MOST_TOKENS = 10**9
_numbers = itertools.count(1)


@dataclass(frozen=True)
class SamplingParams:
    """How to choose tokens, and when to stop.

    Attributes:
        max_tokens: The most tokens of the output, its stop token apart; None for as many as the context has room for.
            An output that is held to a grammar is complete within it.
        temperature: 0 takes the most likely token. A grammar's own temperatures come first.
        top_p: Choose from the most likely tokens whose probabilities add up to this.
        top_k: The most tokens to choose from; 0 or -1 for all.
        min_p: Leave out tokens that are less likely than this share of the most likely one.
        seed: For the same output again, whatever else is in the batch; None draws one.
        repetition_penalty: Divides the logits of tokens of the prompt and the output, where they are positive, and
            multiplies the others.
        presence_penalty: Taken off the logits of tokens of the output.
        frequency_penalty: The same, times their number.
        logit_bias: Added to the logits of these tokens.
        logprobs: How many of the most likely tokens to report beside the chosen ones, by the model's own probabilities,
            before masks, penalties and temperature; None reports none. Forced text is then not inserted, but sampled.
        stop: Texts that end the output where they appear in it.
        stop_token_ids: Further tokens that end it.
        include_stop: Whether the output ends with the text of `stop` that ended it, or before.
        ignore_eos: Go on at the model's end tokens. Without effect on outputs with a grammar: they end where it does.
        skip_special_tokens: Whether special tokens add no bytes to the output.

    Raises:
        ArgumentError: An argument has the wrong type.
        LimitError: There are too many stop strings or biased tokens, or a stop string is too long.
        OptionError: A number is out of range.
    """

    max_tokens: int | None = None
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    logprobs: int | None = None
    stop: Sequence[str] = ()
    stop_token_ids: Sequence[int] = ()
    include_stop: bool = False
    ignore_eos: bool = False
    skip_special_tokens: bool = True

    def __post_init__(self) -> None:
        self._set("max_tokens", _optional_integer("max_tokens", self.max_tokens, 1, _MOST_TOKENS))
        self._set("temperature", _number("temperature", self.temperature, 0.0, math.inf))
        self._set("top_p", _number("top_p", self.top_p, 0.0, 1.0, above=True))
        self._set("top_k", max(0, _integer("top_k", self.top_k, -1, _MOST_TOKENS)))
        self._set("min_p", _number("min_p", self.min_p, 0.0, 1.0))
        self._set("seed", _optional_integer("seed", self.seed, -(1 << 63), (1 << 64) - 1))
        self._set("repetition_penalty", _number("repetition_penalty", self.repetition_penalty, 0.0, 1e6, above=True))
        for name in ("presence_penalty", "frequency_penalty"):
            self._set(name, _number(name, getattr(self, name), -1e6, 1e6))
        self._set("logprobs", _optional_integer("logprobs", self.logprobs, 0, MAX_LOGPROBS))
        self._set("logit_bias", _biases(self.logit_bias))
        self._set("stop", _stop_strings(self.stop))
        ids = as_tuple("stop_token_ids", self.stop_token_ids, "a list of token ids")
        self._set("stop_token_ids", tuple(_integer("stop_token_ids", each, 0, _MOST_TOKENS) for each in ids))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def has_penalties(self) -> bool:
        """Whether logits depend on the tokens so far, or are biased."""
        penalties = (self.repetition_penalty - 1.0, self.presence_penalty, self.frequency_penalty)
        return bool(self.logit_bias) or any(penalties)


@dataclass(frozen=True)
class Request:
    """One output to generate.

    Attributes:
        prompt_ids: What it follows: token ids, at least one.
        params: How to choose tokens.
        grammar: What to hold it to: a compiled grammar, or the future of one, from an `_async` method of
            `GrammarCompiler`: the engine reads the prompt meanwhile. None leaves the output free.
        request_id: Comes back with every output; made up if empty.
        read_events: Whether to report tool calls, reasoning and other captures as events (`maskwright.events`).
        jump_forward: Whether text that the grammar forces is inserted without asking the model.
        propose: Drafts the tokens that come next: a function of all token ids so far, or `GrammarDrafts`, which learns
            from outputs of the same grammar; see `maskwright.engine.speculation`.

    Raises:
        ArgumentError: An argument has the wrong type.
        OptionError: The prompt is empty, or holds a negative id.
    """

    prompt_ids: Sequence[int]
    params: SamplingParams = field(default_factory=SamplingParams)
    grammar: CompiledGrammar | Future[CompiledGrammar] | None = None
    request_id: str = ""
    read_events: bool = False
    jump_forward: bool = True
    propose: Propose | GrammarDrafts | None = None

    def __post_init__(self) -> None:
        given = as_tuple("prompt_ids", self.prompt_ids, "a list of token ids", "encode the text: engine.encode(text)")
        ids = tuple(as_integer("prompt_ids", each, at_least=0) for each in given)
        if not ids:
            raise OptionError("the prompt has no tokens", option="prompt_ids", hint="pass at least one token id")
        instance("params", self.params, SamplingParams, "pass SamplingParams(max_tokens=…, temperature=…)")
        instance("request_id", self.request_id, str)
        if self.grammar is not None and not isinstance(self.grammar, Future):
            checked_compiled("grammar", self.grammar)
        if self.propose is not None and not isinstance(self.propose, GrammarDrafts) and not callable(self.propose):
            raise wrong_argument("propose", self.propose, "a function from token ids to token ids, or GrammarDrafts")
        object.__setattr__(self, "prompt_ids", ids)
        if not self.request_id:
            object.__setattr__(self, "request_id", f"req-{next(_numbers)}")


def check_token_ids(request: Request, vocab_size: int) -> None:
    """Refuse token ids that the model does not have.

    Raises:
        TokenizerError: One is in the prompt.
        OptionError: One is in the parameters.
    """
    highest = max(request.prompt_ids)
    if highest >= vocab_size:
        raise TokenizerError(
            f"token {highest} of the prompt is outside the vocabulary of {vocab_size}",
            hint="encode the prompt with the model's own tokenizer: engine.encode(text)",
        )
    params = request.params
    for name, ids in (("logit_bias", params.logit_bias), ("stop_token_ids", params.stop_token_ids)):
        highest = max(ids, default=0)
        if highest >= vocab_size:
            raise OptionError(
                f"{name} names token {highest}, which is outside the vocabulary of {vocab_size:,}",
                option=name,
                hint="use token ids of this model's own tokenizer",
            )


def _integer(name: str, value: Any, least: int, most: int) -> int:
    number = as_integer(name, value)
    if not least <= number <= most:
        raise OptionError(f"{name} must be from {least} to {most}, not {number}", option=name)
    return number


def _optional_integer(name: str, value: Any, least: int, most: int) -> int | None:
    return None if value is None else _integer(name, value, least, most)


def _number(name: str, value: Any, least: float, most: float, *, above: bool = False) -> float:
    number = as_number(name, value)
    if not (least < number if above else least <= number) or not number <= most or math.isinf(number):
        low = f"{'>' if above else '>='} {least:g}"
        limits = f"finite and {low}" if math.isinf(most) else f"{low} and <= {most:g}"
        raise OptionError(f"{name} must be {limits}, not {number:g}", option=name)
    return number


def _biases(given: Any) -> Mapping[int, float]:
    if not isinstance(given, Mapping):
        raise wrong_argument("logit_bias", given, "a dict from token ids to numbers")
    if len(given) > MAX_BIASED_TOKENS:
        hint = "bias fewer tokens"
        raise LimitError(
            f"logit_bias names {len(given)} tokens, the most are {MAX_BIASED_TOKENS}", limit="logit_bias", hint=hint
        )
    return MappingProxyType(
        {
            _integer("logit_bias", token, 0, _MOST_TOKENS): _number("logit_bias", bias, -1e6, 1e6)
            for token, bias in given.items()
        }
    )


def _stop_strings(given: str | Iterable[str]) -> tuple[str, ...]:
    texts = (given,) if isinstance(given, str) else as_tuple("stop", given, "a str or a list of them")
    for text in texts:
        if not instance("each of stop", text, str):
            raise OptionError("a stop string must not be empty", option="stop", hint="leave it out")
        if len(text) > MAX_STOP_LENGTH:
            hint = "use a shorter stop string"
            raise LimitError(
                f"a stop string has {len(text)} characters, the most are {MAX_STOP_LENGTH}", limit="stop", hint=hint
            )
    if len(texts) > MAX_STOP_STRINGS:
        hint = "use fewer stop strings"
        raise LimitError(
            f"there are {len(texts)} stop strings, the most are {MAX_STOP_STRINGS}", limit="stop", hint=hint
        )
    return texts
