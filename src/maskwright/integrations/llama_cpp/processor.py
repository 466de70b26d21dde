"""llama-cpp-python: a logits processor for `create_chat_completion`, `create_completion` and `generate`.

    with GrammarLogitsProcessor(compiled, llama, max_tokens=64) as processor:
        llama.create_chat_completion(messages, logits_processor=processor, max_tokens=64)

llama.cpp calls the processor through ctypes, which prints exceptions and goes on without a mask. So an error here makes
the output end at once, is kept as `error`, and is raised when the `with` block ends, or by `check()`. What can be
checked beforehand is checked when the processor is made.

With a draft model, the ids that llama-cpp-python passes go on behind the token to be sampled. As each call samples one
token, counting calls tells where that is. A `GrammarDraftModel` is told of each.
Tested by tests/engines/test_llama_cpp.py.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from llama_cpp import (
    Llama,
    LogitsProcessorList,
    llama_sampler_chain_get,
    llama_sampler_chain_n,
    llama_sampler_name,
    llama_vocab_is_eog,
)

from maskwright import CompiledGrammar, TokenizerInfo, allocate_token_bitmask, apply_token_bitmask_inplace
from maskwright.errors import OptionError, TokenizerError, wrong_argument
from maskwright.integrations.following import OutputFollower, check_choices, check_stop_tokens, check_width
from maskwright.integrations.llama_cpp.drafts import GrammarDraftModel
from maskwright.support.argument_names import other_names

_NUM_COMPARED = 256


class GrammarLogitsProcessor(LogitsProcessorList):  # type: ignore[misc, unused-ignore]
    """Holds a model's outputs, one after another, to a grammar. It is the list that llama-cpp-python asks for.

    Args:
        compiled: The grammar, compiled for this model's tokenizer: `TokenizerInfo.from_llama_cpp(llama)`.
        llama: The model.
        max_tokens: What the generating function is given as `max_tokens`: outputs are complete within it, or within
            what the prompt leaves of the context.

    Attributes:
        error: What went wrong while an output was generated; None so far.

    Raises:
        ArgumentError: An argument has the wrong type.
        BitmaskError: The grammar was compiled for a vocabulary of another size.
        TokenizerError: It was compiled for other tokens, or for stop tokens at which llama.cpp does not stop.
        UnsatisfiableError: No output has so few tokens.
    """

    @other_names(max_new_tokens="max_tokens")
    def __init__(self, compiled: CompiledGrammar, llama: Llama, *, max_tokens: int | None = None) -> None:
        super().__init__([self._process])
        if not isinstance(llama, Llama):
            raise wrong_argument("llama", llama, "a llama_cpp.Llama", "pass the model that will generate")
        self.error: Exception | None = None
        self._llama = llama
        self._follower = OutputFollower(compiled, max_tokens, context=llama.n_ctx())
        _check_vocabulary(self._follower.info, llama)
        self._bitmask = allocate_token_bitmask(1, self._follower.info.vocab_size)

    def reset(self) -> None:
        """Forget the output: the next call is the first of a new one.

        A new output is noticed by itself, except when its prompt is an earlier prompt with its output and one token.
        """
        self._follower.reset()
        self.error = None

    def check(self) -> None:
        """Raise the error of the last output, if there was one."""
        if self.error is not None:
            raise self.error

    def __enter__(self) -> GrammarLogitsProcessor:
        self.reset()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.check()

    def extend(self, processors: Iterable[Any]) -> LogitsProcessorList:  # type: ignore[override, unused-ignore]
        """Return a list with more processors. `create_completion(logit_bias=...)` goes on with what is returned."""
        return LogitsProcessorList([*self, *processors])

    def _process(self, input_ids: npt.NDArray[np.intc], scores: npt.NDArray[np.single]) -> npt.NDArray[np.single]:
        masked = np.array(scores)  # they are fields of an array of structures, and must be adjacent
        try:
            if _has_grammar(self._llama):  # it ends the process where it allows nothing of what is left
                self.error = OptionError(
                    "llama.cpp holds the output to a grammar of its own, so this one had no effect",
                    option="grammar",
                    hint="leave out grammar and response_format",
                )
                return masked
            self._mask(input_ids, masked)
        except Exception as error:  # those of another llama-cpp-python included
            self.error = error
            logging.getLogger(__name__).error("the output was ended: %s", error)
            masked.fill(-np.inf)
            masked[list(self._follower.info.stop_token_ids)] = 0
        return masked

    def _mask(self, input_ids: npt.NDArray[np.intc], scores: npt.NDArray[np.single]) -> None:
        follower, draft_model = self._follower, self._llama.draft_model
        if draft_model is not None:
            input_ids = self._without_drafts(input_ids)
        follower.follow(input_ids)
        if isinstance(draft_model, GrammarDraftModel):
            draft_model.follow(follower)
        follower.matcher.fill_next_token_bitmask(self._bitmask)
        apply_token_bitmask_inplace(scores, self._bitmask[0])
        check_choices(float(scores.max()))

    def _without_drafts(self, input_ids: npt.NDArray[np.intc]) -> npt.NDArray[np.intc]:
        """Leave out what was drafted behind the token sampled last; what is behind a stop token is a new prompt."""
        known = self._follower.num_known
        if not 0 < known < input_ids.size or input_ids[known] in self._follower.info.stop_token_ids:
            return input_ids
        return input_ids[: known + 1]


def _has_grammar(llama: Llama) -> bool:
    """Whether the sampler of the output has a grammar of llama.cpp's."""
    sampler = llama._sampler
    if sampler is None:
        return False
    nameless = [i for i, _ in sampler.custom_samplers]  # to ask for their names would end the process
    named = (i for i in range(llama_sampler_chain_n(sampler.sampler)) if i not in nameless)
    return any(llama_sampler_name(llama_sampler_chain_get(sampler.sampler, i)) == b"grammar" for i in named)


def _check_vocabulary(info: TokenizerInfo, llama: Llama) -> None:
    """Refuse a grammar for another model, or with other stop tokens."""
    width = llama.n_vocab()
    check_width(width, info)
    known = TokenizerInfo.from_llama_cpp(llama)
    compared = [i for i in range(0, width, max(1, width // _NUM_COMPARED)) if i < len(info.token_bytes)]
    differing = [i for i in compared if info.token_bytes[i] != known.token_bytes[i]]
    if len(differing) > len(compared) // 2:
        i = differing[0]
        raise TokenizerError(
            f"the grammar was compiled for another tokenizer: token {i} is {known.token_bytes[i]!r:.60} in the model, "
            f"but {info.token_bytes[i]!r:.60} in the grammar's tokenizer",
            hint="compile it for TokenizerInfo.from_llama_cpp(llama)",
        )
    vocab = llama._model.vocab
    check_stop_tokens(info, [i for i in range(width) if llama_vocab_is_eog(vocab, i)])
