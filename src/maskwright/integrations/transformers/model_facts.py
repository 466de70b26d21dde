"""What generation needs to know of a model and its tokenizer, and whether the two belong together.

    facts = facts_of(model, tokenizer)
    facts.vocab_size, facts.stop_token_ids, facts.pad_token_id

The vocabulary is as wide as the model's output layer, which may be padded beyond the tokenizer. Generation stops at the
end tokens of the model's generation config and at the tokenizer's, both: fine-tuned models often declare one of them
only. Tested by tests/integrations/test_transformers_generate.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

from maskwright.errors import OptionError, TokenizerError
from maskwright.support.arguments import as_integer

_FEW = 64  # tokens that somebody may have added to a tokenizer, such as one for padding
_MANY = 1024  # more ids than output layers are padded by, unless they are a tenth of the vocabulary


class Facts(NamedTuple):
    """Of a model with its tokenizer."""

    vocab_size: int  # columns of the logits
    stop_token_ids: tuple[int, ...]  # sorted
    pad_token_id: int
    num_positions: int | None  # of prompt and output together; None where the model sets no limit
    num_encoder_positions: int | None  # of the prompt alone, in an encoder-decoder model


def facts_of(model: Any, tokenizer: Any, eos_token_id: int | Iterable[int] | None = None) -> Facts:
    """Look at a model and its tokenizer.

    Args:
        model: A model that generates.
        tokenizer: Its tokenizer.
        eos_token_id: End tokens to use instead of those that the two declare.

    Raises:
        ArgumentError: `eos_token_id` is not a token id or a list of them.
        OptionError: One of these ids is not one of the model's.
        TokenizerError: The tokenizer has far more ids than the model, or nothing says where an output ends.

    Warns:
        UserWarning: The tokenizer has far fewer ids than the model: it probably belongs to another one.
    """
    width, num_ids = _width_of(model), len(tokenizer)
    if num_ids > width + max(_FEW, width // 100):
        raise TokenizerError(
            f"the tokenizer has {num_ids} ids, but the model's output layer has {width}",
            hint="load the tokenizer of this model, or call model.resize_token_embeddings after adding tokens",
        )
    if width - num_ids > max(_MANY, width // 10):
        warnings.warn(
            f"the tokenizer has {num_ids} ids, but the model's output layer has {width}: "
            "it may belong to another model",
            UserWarning,
            stacklevel=4,  # where `generate` or `stream` is called
        )
    declared = (getattr(model.generation_config, "eos_token_id", None), tokenizer.eos_token_id)
    if eos_token_id is None:
        stops = {i for given in declared for i in _ids(given) if 0 <= i < width}
    else:
        stops = set(_ids(eos_token_id))
        if any(not 0 <= i < width for i in stops):
            raise OptionError(
                f"eos_token_id must be from 0 to {width - 1}, not {eos_token_id!r:.60}", option="eos_token_id"
            )
    outside = sorted({i for given in declared for i in _ids(given)} - stops)
    if not stops and outside:
        raise TokenizerError(
            f"the end token {outside[0]} is outside the model's output layer, which has {width} ids; "
            f"the tokenizer has {num_ids}",
            hint="load the tokenizer of this model, or call model.resize_token_embeddings after adding tokens",
        )
    if not stops:
        raise TokenizerError(
            "neither the model's generation config nor the tokenizer declares an end token",
            hint="pass eos_token_id=, the ids of the tokens that end an output",
        )
    padding = (getattr(model.generation_config, "pad_token_id", None), tokenizer.pad_token_id, *sorted(stops))
    pad_token_id = next(i for i in padding if i is not None and 0 <= i < width)
    return Facts(width, tuple(sorted(stops)), pad_token_id, _num_positions(model), _num_encoder_positions(model))


def _width_of(model: Any) -> int:
    head = model.get_output_embeddings()
    width = getattr(head, "out_features", None)
    return int(_text_config(model).vocab_size if width is None else width)


def _num_positions(model: Any) -> int | None:
    return _limit(_text_config(model), "max_decoder_position_embeddings", "max_position_embeddings")


def _num_encoder_positions(model: Any) -> int | None:
    config = getattr(model.config, "encoder", None) or model.config
    return _limit(config, "max_encoder_position_embeddings", "max_position_embeddings")


def _limit(config: Any, *names: str) -> int | None:
    """The first of these numbers that a config has; models with relative positions have none."""
    found = [getattr(config, name, None) for name in names]
    return next((limit for limit in found if isinstance(limit, int) and limit > 0), None)


def _text_config(model: Any) -> Any:
    find = getattr(model.config, "get_text_config", None)
    return model.config if find is None else find(decoder=True)


def _ids(given: Any) -> list[int]:
    several = () if given is None else given if isinstance(given, list | tuple | set) else (given,)
    return [as_integer("eos_token_id", each, hint="pass token ids") for each in several]
