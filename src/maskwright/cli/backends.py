"""Models that `maskwright generate` can run, behind one small interface.

`embedded` runs the loop of `maskwright.generation`; anything else is loaded by transformers and runs its `generate`
with our logits processor.

Invariants: a model that cannot be loaded is a `CommandError` that says what to do; foreign progress bars and
warnings are off.
Tested by tests/cli/test_backends.py.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from maskwright import CompiledGrammar, TokenizerInfo
from maskwright.generation import GenerationStats, LanguageModel, MeasuredMatcher, SamplingOptions, generate

from .errors import CommandError

EMBEDDED = "embedded"

_HINT = f"  hint: give a model directory, a hub id, or {EMBEDDED!r}"
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
_MAX_REASON = 300

Emit = Callable[[bytes], None]


class Backend(Protocol):
    """A model and its tokenizer."""

    @property
    def tokenizer_info(self) -> TokenizerInfo: ...

    def run(
        self, prompt: str, compiled: CompiledGrammar, options: SamplingOptions, stats: GenerationStats, emit: Emit
    ) -> None:
        """Generate, calling `emit` with the bytes of each token, and fill `stats`."""
        ...


def load_backend(name: str) -> Backend:
    """Load a model by name.

    Raises:
        CommandError: transformers is missing, or has no such model.
    """
    if name == EMBEDDED:
        from maskwright.lm import load_embedded_model

        return LoopBackend(load_embedded_model())
    return TransformersBackend(name)


class LoopBackend:
    """A model that gives logits, run by our own loop."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.tokenizer_info = model.tokenizer_info

    def run(
        self, prompt: str, compiled: CompiledGrammar, options: SamplingOptions, stats: GenerationStats, emit: Emit
    ) -> None:
        for chunk in generate(self._model, prompt, compiled, options=options, stats=stats):
            emit(chunk.data)


class TransformersBackend:
    """A causal language model of transformers, run by its own `generate`."""

    def __init__(self, name: str) -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            raise CommandError(
                f"--model {name}: needs torch and transformers ({error})\n  hint: pip install torch transformers"
            ) from error
        _require_model_directory_or_hub_id(name)
        library: Any = transformers
        library.logging.set_verbosity_error()
        library.logging.disable_progress_bar()
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
        try:
            self._tokenizer: Any = library.AutoTokenizer.from_pretrained(name)
            model: Any = library.AutoModelForCausalLM.from_pretrained(name, dtype="auto")
        except (OSError, ValueError, KeyError, ImportError) as error:
            reason = " ".join(str(error).split())[:_MAX_REASON] or type(error).__name__
            raise CommandError(f"--model {name}: transformers cannot load it: {reason}\n{_HINT}") from error
        self._model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        self.tokenizer_info = TokenizerInfo.from_huggingface(self._tokenizer, vocab_size=model.config.vocab_size)

    def run(
        self, prompt: str, compiled: CompiledGrammar, options: SamplingOptions, stats: GenerationStats, emit: Emit
    ) -> None:
        import transformers

        from maskwright.integrations.transformers import GrammarLogitsProcessor

        if options.seed is not None:
            transformers.set_seed(options.seed % (1 << 32))
        inputs = self._inputs(prompt)
        settings = self._settings(options, prompt_length=inputs["input_ids"].shape[1])
        matcher = MeasuredMatcher(compiled, stats, settings["max_new_tokens"])
        processor = GrammarLogitsProcessor(compiled, make_matcher=lambda _: matcher)
        streamer = _Streamer(self.tokenizer_info, stats, emit)
        started = time.perf_counter()
        self._model.generate(
            **inputs,
            **settings,
            logits_processor=transformers.LogitsProcessorList([processor]),
            streamer=streamer,
        )
        stats.seconds = time.perf_counter() - started
        # The processor is not called after the last token, so the matcher has not seen it.
        complete = streamer.stopped or (matcher.accept_token(streamer.last_token) and matcher.is_completed())
        stats.finish_reason = "stop" if complete else "length"

    def _inputs(self, prompt: str) -> dict[str, Any]:
        tokenizer = self._tokenizer
        if prompt and getattr(tokenizer, "chat_template", None):
            messages = [{"role": "user", "content": prompt}]
            prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
            inputs = tokenizer(prompt, add_special_tokens=False, return_tensors="pt")
        elif prompt:
            inputs = tokenizer(prompt, return_tensors="pt")
        else:
            start = tokenizer.bos_token or tokenizer.eos_token or "\n"
            inputs = tokenizer(start, add_special_tokens=False, return_tensors="pt")
        return {name: inputs[name].to(self._model.device) for name in ("input_ids", "attention_mask")}

    def _settings(self, options: SamplingOptions, prompt_length: int) -> dict[str, Any]:
        context_length = getattr(self._model.config, "max_position_embeddings", None)
        room = options.max_tokens if context_length is None else context_length - prompt_length
        if room < 1:
            raise CommandError(f"--prompt: {prompt_length} tokens fill the model's context of {context_length}")
        stop_ids = list(self.tokenizer_info.stop_token_ids)
        settings: dict[str, Any] = {
            "max_new_tokens": min(options.max_tokens, room),
            "do_sample": options.temperature > 0,
        }
        if stop_ids:
            settings |= {"eos_token_id": stop_ids, "pad_token_id": stop_ids[0]}
        if options.temperature > 0:
            settings |= {"temperature": options.temperature, "top_p": options.top_p, "top_k": 0}
        return settings


def _require_model_directory_or_hub_id(name: str) -> None:
    """Refuse at once what would otherwise be looked for on the network, at length."""
    path = Path(name)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise CommandError(f"--model {name}: the directory has no config.json\n{_HINT}")
    elif path.exists() or not _HUB_ID.fullmatch(name) or name.startswith("."):
        raise CommandError(f"--model {name}: no such directory\n{_HINT}")


class _Streamer:
    """Receives tokens from transformers' `generate`; the first call brings the prompt."""

    def __init__(self, info: TokenizerInfo, stats: GenerationStats, emit: Emit) -> None:
        self._info, self._stats, self._emit = info, stats, emit
        self._prompt_seen = False
        self.last_token = -1
        self.stopped = False

    def put(self, value: Any) -> None:
        if not self._prompt_seen:
            self._prompt_seen = True
            return
        for token in value.tolist():
            self.last_token = token
            self.stopped = token in self._info.stop_token_ids
            if not self.stopped:
                self._stats.num_tokens += 1
                self._emit(self._info.token_bytes[token])

    def end(self) -> None:
        pass
