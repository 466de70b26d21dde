"""A GGUF file as a `CausalModel`, by llama-cpp-python's batches of many sequences.

    model = LlamaCppModel.load("model.gguf", num_slots=4, max_model_len=2048)

A slot is a sequence of llama.cpp's memory. A step of the loop is one batch, or several where it is longer than
`n_batch`. The chat template is the one in the file. llama.cpp keeps memory for `num_slots * max_model_len` tokens from
the start, so the default length is that of the model, but at most 4,096.
Tested by tests/engines/test_own_engine.py, equal to `Llama` itself.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt
from llama_cpp import Llama
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from maskwright.engine.models import Step
from maskwright.errors import EngineError, RequestError
from maskwright.tokenizer import TokenizerInfo

_USUAL_LENGTH = 4096
_BATCH = 512


class LlamaCppModel:
    """A model that llama.cpp runs. Make it with `load`."""

    device = None  # of the logits: llama.cpp copies them to memory

    def __init__(self, llama: Llama, *, num_slots: int, max_model_len: int, model_name: str) -> None:
        self._llama = llama
        self.num_slots, self.max_model_len, self.model_name = num_slots, max_model_len, model_name
        self.tokenizer_info = TokenizerInfo.from_llama_cpp(llama)
        self._lock = threading.Lock()
        self._template = _template_of(llama)
        self._context, self._memory = _context_for(llama, num_slots, max_model_len)
        self._batch = llama_cpp.llama_batch_init(_BATCH, 0, 1)
        self._lengths = [0] * num_slots

    @classmethod
    def load(
        cls, path: str, *, num_slots: int = 16, max_model_len: int | None = None, model_name: str | None = None
    ) -> LlamaCppModel:
        """Load a GGUF file.

        Args:
            path: The file.
            num_slots: The most sequences.
            max_model_len: The most tokens of each; by default what the model was made for, but at most 4,096.
            model_name: What to call it; by default the path.

        Raises:
            EngineError: llama.cpp cannot read it.
        """
        try:
            # Its own context is not used, and so kept small.
            llama = Llama(path, n_ctx=8, n_batch=8, n_gpu_layers=-1, verbose=False)
        except (ValueError, OSError) as error:
            raise EngineError(f"{path}: llama.cpp cannot load it: {error}") from error
        trained = llama_cpp.llama_model_n_ctx_train(llama.model)
        length = min(trained, _USUAL_LENGTH) if max_model_len is None else min(trained, max_model_len)
        return cls(llama, num_slots=num_slots, max_model_len=length, model_name=model_name or path)

    @property
    def has_chat_template(self) -> bool:
        return self._template is not None

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """Return the tokens of a text; of the empty one, that with which texts begin."""
        with self._lock:
            data = text.encode("utf-8", "surrogatepass")
            ids: list[int] = self._llama.tokenize(data, add_bos=add_special_tokens, special=False)
        if ids or not add_special_tokens:
            return ids
        begin = self._llama.token_bos()
        return [begin if begin >= 0 else self.tokenizer_info.stop_token_ids[0]]

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **options: Any
    ) -> list[int]:
        """Return the tokens of a chat; see `Engine.apply_chat_template`."""
        if self._template is None:
            hint = "encode the prompt as a text instead"
            raise RequestError("the model has no chat template, so messages cannot become a prompt", hint=hint)
        options = {"add_generation_prompt": True, **options}
        self._template.add_generation_prompt = bool(options.pop("add_generation_prompt"))
        try:
            with self._lock:
                text = self._template(messages=[dict(each) for each in messages], tools=tools or None, **options).prompt
                ids: list[int] = self._llama.tokenize(text.encode(), add_bos=False, special=True)
        except Exception as error:  # templates are programs, and raise what they like
            raise RequestError(f"the chat template refuses the messages: {error!s:.200}") from error
        return ids

    def forward(self, steps: Sequence[Step]) -> npt.NDArray[np.float32]:
        vocab_size = self.tokenizer_info.vocab_size
        rows: list[npt.NDArray[np.float32]] = []
        tokens = list(self._tokens_of(steps))
        for start in range(0, len(tokens), _BATCH):
            part = tokens[start : start + _BATCH]
            self._decode(part)
            for index, (_, _, _, is_wanted) in enumerate(part):
                if is_wanted:
                    address = llama_cpp.llama_get_logits_ith(self._context, index)
                    rows.append(np.ctypeslib.as_array(address, shape=(vocab_size,)).copy())
        for step in steps:
            self._lengths[step.slot] += len(step.token_ids)
        return np.stack(rows) if rows else np.empty((0, vocab_size), np.float32)

    def _tokens_of(self, steps: Sequence[Step]) -> Iterator[tuple[int, int, int, bool]]:
        """Each token with its position, its slot, and whether logits are wanted behind it."""
        for slot, token_ids, num_logits in steps:
            first = self._lengths[slot]
            for index, token in enumerate(token_ids):
                yield token, first + index, slot, len(token_ids) - index <= num_logits

    def _decode(self, tokens: Sequence[tuple[int, int, int, bool]]) -> None:
        batch = self._batch
        batch.n_tokens = len(tokens)
        for index, (token, position, slot, is_wanted) in enumerate(tokens):
            batch.token[index] = token
            batch.pos[index] = position
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = slot
            batch.logits[index] = is_wanted
        code = llama_cpp.llama_decode(self._context, batch)
        if code != 0:
            raise EngineError(f"llama.cpp could not read {len(tokens)} tokens (code {code})")

    def truncate(self, slot: int, length: int) -> None:
        if not llama_cpp.llama_memory_seq_rm(self._memory, slot, length, -1):
            raise EngineError("this model cannot drop its last tokens, which jump-forward and drafts require")
        self._lengths[slot] = length

    def free(self, slot: int) -> None:
        llama_cpp.llama_memory_seq_rm(self._memory, slot, -1, -1)
        self._lengths[slot] = 0

    def close(self) -> None:
        llama_cpp.llama_batch_free(self._batch)
        llama_cpp.llama_free(self._context)
        self._llama.close()


def _context_for(llama: Llama, num_slots: int, max_model_len: int) -> tuple[Any, Any]:
    """A context with room for so many tokens in each slot, and its memory."""
    params = llama_cpp.llama_context_default_params()
    params.n_seq_max = num_slots
    params.n_ctx = num_slots * max_model_len
    params.n_batch = params.n_ubatch = _BATCH
    params.n_threads = params.n_threads_batch = llama.n_threads
    context = llama_cpp.llama_init_from_model(llama.model, params)
    if context is None:
        raise EngineError(
            f"llama.cpp has no memory for {num_slots} sequences of {max_model_len} tokens",
            hint="pass a smaller num_slots or max_model_len",
        )
    return context, llama_cpp.llama_get_memory(context)


def _template_of(llama: Llama) -> Jinja2ChatFormatter | None:
    """The chat template in the file."""
    source = llama.metadata.get("tokenizer.chat_template")
    if not source:
        return None
    begin, end = llama.token_bos(), llama.token_eos()
    pieces = [llama._model.token_get_text(i) if i >= 0 else "" for i in (begin, end)]
    return Jinja2ChatFormatter(template=source, bos_token=pieces[0], eos_token=pieces[1])
