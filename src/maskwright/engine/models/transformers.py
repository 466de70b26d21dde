"""Any causal language model of transformers as a `CausalModel`, with one cache for sequences of all lengths.

    model = TransformersModel.load("path/to/folder", num_slots=16)

Keys and values of all slots lie in one tensor a layer, (slots, heads, capacity, size), each token at its position:

    slot 0  ■ ■ ■ ■ ■ ■ · · · ·        a step writes behind the last token and reads the slots up to the longest;
    slot 1  ■ ■ ■ □ · · · · · ·        a mask of the attention hides what is not a slot's own past
    slot 2  ■ ■ ■ ■ ■ ■ ■ ■ · ·

So nothing is copied when a sequence grows, joins or leaves, cutting it back is a smaller number (□ is hidden, and
overwritten), and steps may append different numbers of tokens: rows are padded on the right, behind what counts. Slots
in between that take no part are read along, which costs less than leaving them out; long prompts are read alone.

Positions and masks are given to the model explicitly, so any model will do whose layers all attend to a cache, all
of it or a sliding window. Others (Mamba, RWKV) cannot be cut back and are refused.
Tested by tests/engine/test_models.py, equal to `model.generate`.
"""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from transformers import Cache

from maskwright.engine.models import Step
from maskwright.errors import EngineError, MaskwrightError, RequestError
from maskwright.integrations.transformers.model_facts import facts_of
from maskwright.integrations.transformers.prompts import encode
from maskwright.tokenizer import TokenizerInfo

_FIRST_CAPACITY = 256
_FEW = 16  # tokens of a step that are read together with those of others
_ATTENTION_KINDS = {"full_attention", "sliding_attention"}
_DEFAULT_LENGTH = 4096


class TransformersModel:
    """A model and its tokenizer.

    Args:
        model: A causal language model, on any device.
        tokenizer: Its tokenizer.
        num_slots: The most sequences.
        max_model_len: The most tokens of one; by default what the model was made for.
        model_name: What to call it.

    Raises:
        EngineError: The model cannot be cut back to fewer tokens.
        TokenizerError: The tokenizer does not belong to the model, or nothing says where an output ends.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        num_slots: int = 16,
        max_model_len: int | None = None,
        model_name: str = "transformers",
    ) -> None:
        facts = facts_of(model, tokenizer)
        self._model, self._tokenizer = model.eval(), tokenizer
        self._lock = threading.Lock()  # tokenizers are not for several threads at a time
        self._windows = _windows_of(model)
        self._keep, self._cache_argument = _keep_argument(model), _cache_argument(model)
        self._is_eager = _is_eager(model)
        self._cache = SlotCache(num_slots)
        self._lengths = [0] * num_slots
        self.device = None if model.device.type == "cpu" else model.device
        self.num_slots, self.model_name = num_slots, model_name
        limit = facts.num_positions or _DEFAULT_LENGTH
        self.max_model_len = limit if max_model_len is None else min(limit, max_model_len)
        self.tokenizer_info = TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=facts.vocab_size, stop_token_ids=list(facts.stop_token_ids)
        )

    @classmethod
    def load(cls, name: str, **options: Any) -> TransformersModel:
        """Load a model by its folder or hub id, in the precision that it is stored in, on a GPU if there is one.

        Args:
            name: The folder or hub id.
            **options: Those of the class.

        Raises:
            EngineError: transformers cannot load it.
        """
        import transformers

        library: Any = transformers
        device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            tokenizer = library.AutoTokenizer.from_pretrained(name)
            model = library.AutoModelForCausalLM.from_pretrained(name, dtype="auto").to(device)
        except (OSError, ValueError, KeyError, ImportError, AttributeError) as error:
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            is_here = os.path.exists(name)
            hint = None if is_here else "there is no such folder here, so it was looked up on the hub; check the name"
            raise EngineError(f"{name}: transformers cannot load it: {reason}", hint=hint) from error
        return cls(model, tokenizer, **{"model_name": name, **options})

    @property
    def has_chat_template(self) -> bool:
        return bool(getattr(self._tokenizer, "chat_template", None))

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """Return the tokens of a text; of the empty one, that with which texts begin."""
        with self._lock:
            ids: list[int] = self._tokenizer(text, add_special_tokens=add_special_tokens)["input_ids"]
        if ids or not add_special_tokens:
            return ids
        begin = self._tokenizer.bos_token_id
        return [self.tokenizer_info.stop_token_ids[0] if begin is None else int(begin)]

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **options: Any
    ) -> list[int]:
        """Return the tokens of a chat; see `Engine.apply_chat_template`."""
        try:
            with self._lock:
                return encode(self._tokenizer, list(messages), tools, options)
        except MaskwrightError as error:
            raise RequestError(error.message, hint=error.hint) from error
        except Exception as error:  # templates are programs, and raise what they like
            raise RequestError(f"the chat template refuses the messages: {error!s:.200}") from error

    @torch.inference_mode()
    def forward(self, steps: Sequence[Step]) -> Any:
        found = self._forward(steps)
        return found.numpy() if self.device is None else found

    def _forward(self, steps: Sequence[Step]) -> torch.Tensor:
        long = [[i] for i, step in enumerate(steps) if len(step.token_ids) > _FEW]
        few = [i for i, step in enumerate(steps) if len(step.token_ids) <= _FEW]
        groups = [*long, few] if few else long
        found = [self._forward_group([steps[i] for i in group]) for group in groups]
        if len(groups) == 1:
            return found[0]
        rows = dict[int, torch.Tensor]()
        for group, logits in zip(groups, found, strict=True):
            rows |= zip(group, torch.split(logits, [steps[i].num_logits for i in group]), strict=True)
        return torch.cat([rows[i] for i in range(len(steps))])

    def _forward_group(self, steps: Sequence[Step]) -> torch.Tensor:
        """Read steps together, padded to the longest."""
        slots = _slots_to_read([step.slot for step in steps])
        place = {slot: row for row, slot in enumerate(slots)}
        width = max(len(step.token_ids) for step in steps)
        ids = torch.zeros((len(slots), width), dtype=torch.long)
        for step in steps:
            ids[place[step.slot], : len(step.token_ids)] = torch.tensor(step.token_ids)
        starts = torch.tensor([self._lengths[slot] for slot in slots])
        positions = starts[:, None] + torch.arange(width)
        num_visible = max(self._lengths[step.slot] + len(step.token_ids) for step in steps)
        device = self._model.device
        self._cache.begin(slots, positions.to(device), num_visible)
        wanted = sorted({at for step in steps for at in _wanted(step)} or {width - 1})
        keep: Any = 1 if wanted == [width - 1] else torch.tensor(wanted, device=device)
        logits = self._model(
            input_ids=ids.to(device),
            attention_mask=self._attention_mask(positions, num_visible),
            position_ids=positions.clamp(max=self.max_model_len - 1).to(device),
            use_cache=True,
            **{self._cache_argument: self._cache},
            **({} if self._keep is None else {self._keep: keep}),
        ).logits
        for step in steps:
            self._lengths[step.slot] += len(step.token_ids)
        columns = {at: column for column, at in enumerate(range(width) if self._keep is None else wanted)}
        pairs = [(place[step.slot], columns[at]) for step in steps for at in _wanted(step)]
        if pairs == [(row, 0) for row in range(logits.shape[0])]:
            chosen = logits[:, 0]
        else:
            chosen = logits[[row for row, _ in pairs], [column for _, column in pairs]]
        return chosen.float()  # type: ignore[no-any-return, unused-ignore]

    def _attention_mask(self, positions: torch.Tensor, num_visible: int) -> Any:
        """What each token attends to, (rows, 1, width, num_visible), by the kind of layer if there are several."""
        at = torch.arange(num_visible)
        masks = {}
        for kind, window in self._windows.items():
            mask = at <= positions[:, None, :, None]
            if window is not None:
                mask &= at > positions[:, None, :, None] - window
            if self._is_eager:
                lowest = torch.finfo(self._model.dtype).min
                mask = torch.zeros(mask.shape, dtype=self._model.dtype).masked_fill_(~mask, lowest)
            masks[kind] = mask.to(self._model.device)
        return masks if len(masks) > 1 else next(iter(masks.values()))

    def truncate(self, slot: int, length: int) -> None:
        self._lengths[slot] = length

    def free(self, slot: int) -> None:
        self._lengths[slot] = 0

    def close(self) -> None:
        self._cache.clear()


class SlotCache(Cache):  # type: ignore[misc, unused-ignore]
    """Keys and values of all slots: a (slots, capacity, heads, size) tensor each a layer. Grows by doubling."""

    def __init__(self, num_slots: int) -> None:
        super().__init__(layers=[])
        self._num_slots = num_slots
        self._stores: dict[int, list[torch.Tensor]] = {}

    def begin(self, slots: list[int], positions: torch.Tensor, num_visible: int) -> None:
        """Say where the tokens of the next step go.

        Args:
            slots: The slot of each row.
            positions: (rows, width), the place of each token in its slot.
            num_visible: How many tokens of each slot the model is to see.
        """
        self._rows = torch.tensor(slots, device=positions.device)
        self._range = slice(slots[0], slots[-1] + 1) if slots[-1] - slots[0] + 1 == len(slots) else None
        self._positions, self._num_visible = positions, num_visible
        self._capacity = int(positions.max()) + 1

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write keys and values, (rows, heads, width, size) each, and return all that are visible."""
        key_store, value_store = self._grown(layer_idx, key_states, value_states)
        for store, new in ((key_store, key_states), (value_store, value_states)):
            store[self._rows[:, None], self._positions] = new.transpose(1, 2)
        return self._visible(key_store), self._visible(value_store)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Where the next token would be; not asked for, as positions are given to the model."""
        return 0

    def clear(self) -> None:
        """Free all memory."""
        self._stores.clear()

    def _grown(self, layer_idx: int, *states: torch.Tensor) -> list[torch.Tensor]:
        stores = self._stores.get(layer_idx)
        if stores is not None and stores[0].shape[1] >= self._capacity:
            return stores
        capacity = _FIRST_CAPACITY if stores is None else stores[0].shape[1]
        while capacity < self._capacity:
            capacity *= 2
        # Zeros, since what is hidden is still multiplied by zero, and must be finite.
        grown = [each.new_zeros((self._num_slots, capacity, each.shape[1], each.shape[3])) for each in states]
        for new, old in zip(grown, stores or [], strict=False):
            new[:, : old.shape[1]] = old
        self._stores[layer_idx] = grown
        return grown

    def _visible(self, store: torch.Tensor) -> torch.Tensor:
        seen = store[:, : self._num_visible]
        rows = seen.index_select(0, self._rows) if self._range is None else seen[self._range]
        return rows.transpose(1, 2)


def _slots_to_read(slots: list[int]) -> list[int]:
    """The slots of the rows: a range, which can be read without copying, unless most of it takes no part."""
    first, last = min(slots), max(slots)
    return list(range(first, last + 1)) if last + 1 - first <= 2 * len(slots) else sorted(slots)


def _wanted(step: Step) -> range:
    """The places of a step's tokens behind which logits are wanted."""
    return range(len(step.token_ids) - step.num_logits, len(step.token_ids))


def _keep_argument(model: Any) -> str | None:
    """The name of the argument that limits for which tokens a model calculates logits; None if it has none."""
    known = inspect.signature(model.forward).parameters
    return "logits_to_keep" if "logits_to_keep" in known else None


def _cache_argument(model: Any) -> str:
    """The name of the argument for what was read before; transformers 5.24 renamed it.

    Raises:
        EngineError: The model has no such argument, or does not take positions.
    """
    known = inspect.signature(model.forward).parameters
    name = "past_key_values" if "past_key_values" in known else "cache"
    for needed in (name, "position_ids"):
        if needed not in known:
            raise EngineError(
                f"{type(model).__name__}.forward has no argument {needed}, which batches with a cache need",
                hint="use maskwright.generate, which does not require that",
            )
    return name


def _is_eager(model: Any) -> bool:
    """Whether masks are added, not looked at as booleans.

    Raises:
        EngineError: The attention takes no masks.
    """
    name = getattr(model.config, "_attn_implementation", "eager")
    if name not in ("eager", "sdpa"):
        raise EngineError(
            f"the model's attention is {name}, which takes no mask of its own",
            hint='load the model with attn_implementation="sdpa"',
        )
    return bool(name == "eager")


def _windows_of(model: Any) -> dict[str, int | None]:
    """The kinds of a model's layers, and how far each attends.

    Raises:
        EngineError: Some of them do not keep what they have read by position.
    """
    config = model.config
    if getattr(config, "is_encoder_decoder", False):
        raise EngineError(f"{type(model).__name__} has an encoder", hint="use maskwright.generate for such models")
    text = config.get_text_config(decoder=True)
    window = getattr(text, "sliding_window", None)
    kinds = set(getattr(text, "layer_types", None) or ["full_attention" if window is None else "sliding_attention"])
    if getattr(model, "_is_stateful", False) or not kinds <= _ATTENTION_KINDS:
        raise EngineError(
            f"{type(model).__name__} has layers that cannot drop their last tokens",
            hint="use maskwright.generate, which does not require that",
        )
    return {kind: window if kind == "sliding_attention" else None for kind in sorted(kinds)}
