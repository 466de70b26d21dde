"""Grammar-aware drafts for assisted generation: what the grammar forces, and what its outputs usually contain there.

    drafting = with_drafts(model, GrammarDrafts())
    drafting.generate(**inputs, logits_processor=[GrammarLogitsProcessor(compiled, max_new_tokens=100)], ...)

    {"na|                the grammar forces `me": "`, which the model checks in one step instead of three

transformers takes drafts from a candidate generator: an assistant model, or prompt lookup. Here it is a generator that
follows the output by the processor's grammar (`drafting.py`), and drafts what outputs of the same grammar went on with
where they agreed, else forced text. Where there is neither, and where there is no grammar, transformers' own prompt
lookup drafts.

transformers chooses the generator in `_get_candidate_generator`, by the generation config. `with_drafts` returns a
shallow copy of the model, with the same weights, on which that method is replaced; the model itself does not change.

Invariants: a draft leaves room for the token that the model adds to it.
Cost: some microseconds a drafted token. Tested by tests/integrations/test_transformers_drafts.py, with a real model by
tests/engines/test_transformers_smollm2.py.
Source: Leviathan et al., "Fast inference from transformers via speculative decoding" (2023).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from transformers.generation.candidate_generator import CandidateGenerator

from maskwright import CompiledGrammar
from maskwright.errors import OptionError, wrong_argument
from maskwright.integrations.drafting import OutputDrafter
from maskwright.integrations.transformers.processor import GrammarLogitsProcessor
from maskwright.outputs.grammar_drafts import GrammarDrafts


def with_drafts(model: Any, drafts: GrammarDrafts) -> Any:
    """Return a model with the same weights that generates with drafts wherever there is a grammar.

    Its `generate` takes one prompt at a time, greedy or sampled, and writes what `model` would have written; samples
    are of the same distribution. For `maskwright.generate`, too.

    Args:
        model: A model of transformers that generates text. It is not changed.
        drafts: What outputs went on with; it learns from every output. For any number of models with the same
            tokenizer, but for one thread.

    Raises:
        ArgumentError: An argument has the wrong type.
    """
    if not isinstance(drafts, GrammarDrafts):
        raise wrong_argument("drafts", drafts, "a GrammarDrafts", "pass maskwright.engine.GrammarDrafts()")
    choose = getattr(model, "_get_candidate_generator", None)
    if not callable(choose):
        hint = "load it first: transformers.AutoModelForCausalLM.from_pretrained(name)"
        raise wrong_argument("model", model, "a model of transformers that generates text", hint)
    twin = copy.copy(model)
    twin._get_candidate_generator = _with_grammar(choose, drafts)
    twin.generation_config = copy.deepcopy(model.generation_config)
    twin.generation_config.prompt_lookup_num_tokens = drafts.num_tokens  # turns on assisted generation
    return twin


def _with_grammar(choose: Callable[..., Any], drafts: GrammarDrafts) -> Callable[..., Any]:
    def get_candidate_generator(**given: Any) -> Any:
        num_rows = given["input_ids"].shape[0]
        if num_rows > 1:
            raise OptionError(
                f"drafts are made for one prompt at a time, not for {num_rows}",
                option="drafts",
                hint="pass the prompts one after the other, or all of them to the model without drafts",
            )
        processors = given.get("logits_processor") or ()
        held = next((each for each in processors if isinstance(each, GrammarLogitsProcessor)), None)
        compiled = None if held is None else held.grammars[0]
        if compiled is None or given.get("assistant_model") is not None:
            return choose(**given)
        return GrammarCandidates(drafts, compiled, given["input_ids"].shape[1], choose(**given))

    return get_candidate_generator


class GrammarCandidates(CandidateGenerator):  # type: ignore[misc, unused-ignore]
    """Drafts for one output; transformers asks before each step of the model.

    Args:
        drafts: What outputs went on with.
        compiled: The grammar of this output.
        prompt_length: The number of tokens before it.
        otherwise: What drafts where nothing was learnt and nothing is forced: prompt lookup, or earlier drafts.
    """

    requires_model_outputs = False

    def __init__(self, drafts: GrammarDrafts, compiled: CompiledGrammar, prompt_length: int, otherwise: Any) -> None:
        self._drafter, self._otherwise = OutputDrafter(drafts, compiled), otherwise
        self._prompt_length = prompt_length
        self.max_length = otherwise.max_length  # of prompt and output

    def get_candidates(self, input_ids: torch.Tensor, **_: Any) -> Any:
        """Return the ids so far with a draft behind them, (1, length), and None for its scores."""
        self._read(input_ids)
        room = self.max_length - input_ids.shape[1] - 1
        draft = self._drafter.draft()[: max(room, 0)]
        if not draft:
            return self._otherwise.get_candidates(input_ids)
        return torch.cat((input_ids, input_ids.new_tensor([draft])), dim=1), None

    def update_candidate_strategy(self, input_ids: torch.Tensor, scores: torch.Tensor, num_matches: int) -> None:
        """Read what the model has written, the end of the output included."""
        self._read(input_ids)

    def _read(self, input_ids: torch.Tensor) -> None:
        self._drafter.read(input_ids[0, self._prompt_length :].tolist())
