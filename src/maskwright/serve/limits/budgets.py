"""What a request may ask for: outputs and tokens.

Tested by tests/serve/test_serve_limits.py.
"""

from __future__ import annotations

from maskwright.serve.errors import invalid
from maskwright.serve.settings import Settings


def check_outputs(settings: Settings, num_outputs: int) -> None:
    """Check how many outputs a request asks for.

    Raises:
        ApiError: They are too many.
    """
    most = min(settings.max_choices, settings.max_running)
    if num_outputs > most:
        message = f"the request asks for {num_outputs} outputs, and at most {most} are allowed"
        raise invalid(message, "/n", code="too_many_outputs", hint="send several requests")


def output_tokens(
    settings: Settings, max_model_len: int, num_prompt_tokens: int, wanted: int | None, at: str, prompt_at: str
) -> int:
    """Return the budget of an output, in tokens.

    Args:
        settings: The server's limits.
        max_model_len: How many tokens the model's context has.
        num_prompt_tokens: How many of them the prompt takes.
        wanted: What the request says, if it does.
        at: The JSON pointer of that.
        prompt_at: The JSON pointer of the prompt.

    Raises:
        ApiError: The prompt fills the context, or the request wants more tokens than are left or allowed.
    """
    left = max_model_len - num_prompt_tokens
    if left < 1:
        message = f"the prompt has {num_prompt_tokens:,} tokens, and the model's context {max_model_len:,}"
        raise invalid(message, prompt_at, code="context_length_exceeded", hint="shorten the prompt")
    most = min(left, settings.max_output_tokens)
    if wanted is None:
        return min(most, settings.default_output_tokens)
    if wanted > left:
        message = (
            f"{wanted:,} tokens of output do not fit: the prompt has {num_prompt_tokens:,} tokens, "
            f"and the model's context {max_model_len:,}"
        )
        raise invalid(message, at, code="context_length_exceeded", hint=f"ask for at most {left:,}")
    if wanted > most:
        message = f"{wanted:,} tokens of output are more than this server allows"
        raise invalid(message, at, code="too_many_tokens", hint=f"ask for at most {most:,}")
    return wanted
