"""mlx-lm: a logits processor for `generate`, `stream_generate` and `batch_generate`.

    processor = GrammarLogitsProcessor(compiled, max_tokens=64)
    mlx_lm.generate(model, tokenizer, prompt, logits_processors=[processor], max_tokens=64)

mlx-lm asks for the token behind a stop token before it looks at that, and with a draft model for as many as it drafts;
it gets stop tokens. The mask is computed while MLX computes the logits.
Tested by tests/engines/test_mlx.py.
"""

from __future__ import annotations

import mlx.core as mx
import numpy as np

from maskwright import CompiledGrammar, allocate_token_bitmask
from maskwright.bitmask.mlx import apply_token_bitmask
from maskwright.bitmask.only import allow_only
from maskwright.errors import BitmaskError, wrong_argument
from maskwright.integrations.following import OutputFollowers, check_width
from maskwright.support.argument_names import other_names


class GrammarLogitsProcessor:
    """Holds outputs, one after another or those of a batch, to a grammar.

    Args:
        compiled: The grammar, compiled for the model's tokenizer: `TokenizerInfo.from_huggingface(tokenizer)`.
        max_tokens: What the generating function is given as `max_tokens`: outputs are complete within it.

    Raises:
        ArgumentError: `compiled` is not a `CompiledGrammar`.
        OptionError: `max_tokens` is less than 1.
        UnsatisfiableError: No output has so few tokens.
    """

    @other_names(max_new_tokens="max_tokens")
    def __init__(self, compiled: CompiledGrammar, *, max_tokens: int | None = None) -> None:
        self._followers = OutputFollowers(compiled, max_tokens)
        self._bitmask = allocate_token_bitmask(1, self._followers.info.vocab_size)

    def reset(self) -> None:
        """Forget all outputs.

        A new output is noticed by itself, except when its prompt is an earlier prompt with its output and one token.
        """
        self._followers.reset()

    def __call__(self, tokens: mx.array, logits: mx.array) -> mx.array:
        """Return the logits, (1, vocab_size), with minus infinity for what the grammar does not allow.

        Args:
            tokens: All token ids so far, the prompt's included: (length,).
            logits: Those of the next token.

        Raises:
            BitmaskError: The logits are those of several sequences at once, or of a model with another tokenizer.
            MatcherError: A token is not allowed by the grammar, or follows the stop token.
        """
        if not isinstance(tokens, mx.array) or not isinstance(logits, mx.array):
            wrong = ("logits", logits) if isinstance(tokens, mx.array) else ("tokens", tokens)
            raise wrong_argument(*wrong, "an mlx.core.array", "pass the processor in logits_processors=[processor]")
        if logits.size != logits.shape[-1]:
            hint = "call it for each sequence of a batch, as mlx_lm.batch_generate does"
            raise BitmaskError(f"the logits must be (1, vocab_size), not {tuple(logits.shape)}", hint=hint)
        check_width(logits.shape[-1], self._followers.info)
        mx.async_eval(logits)
        matcher = self._followers.follow(np.array(tokens))
        if matcher.is_terminated():
            allow_only(self._bitmask[0], matcher.stop_token_ids)
        else:
            matcher.fill_next_token_bitmask(self._bitmask)
        return apply_token_bitmask(logits, self._bitmask[0])
