"""Generating with a model: a batched decoding loop in which masks cost no time.

    engine = load_engine()                                    the embedded model; or a folder, a .gguf file, "smollm2"
    compiled = GrammarCompiler(engine.tokenizer_info).compile_json_schema(schema)
    request = Request(engine.encode("A person: "), SamplingParams(max_tokens=64), grammar=compiled)
    print(complete(engine, request).text)

`requests` and `outputs` are what goes in and comes out, `interface` what an engine is. `loop` is the loop itself, on
`sequence` (one output), `masks`, `sampling`, `forced` (jump-forward), `speculation` and `beside` (a thread); `local`
runs it on a thread of its own. `models/` has a module per library. `vllm_client` asks a vLLM server instead. Names are
imported when they are first used.
Tested by tests/engine/.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from maskwright.engine.interface import Completion as Completion
    from maskwright.engine.interface import Engine as Engine
    from maskwright.engine.interface import EngineStats as EngineStats
    from maskwright.engine.interface import Handle as Handle
    from maskwright.engine.interface import complete as complete
    from maskwright.engine.interface import generate as generate
    from maskwright.engine.loading import load_engine as load_engine
    from maskwright.engine.local import LocalEngine as LocalEngine
    from maskwright.engine.outputs import FinishReason as FinishReason
    from maskwright.engine.outputs import Output as Output
    from maskwright.engine.outputs import Timing as Timing
    from maskwright.engine.outputs import TokenLogprobs as TokenLogprobs
    from maskwright.engine.outputs import Usage as Usage
    from maskwright.engine.requests import Request as Request
    from maskwright.engine.requests import SamplingParams as SamplingParams
    from maskwright.engine.speculation import prompt_lookup as prompt_lookup
    from maskwright.engine.vllm_client import VllmEngine as VllmEngine
    from maskwright.outputs.grammar_drafts import GrammarDrafts as GrammarDrafts

_HOMES = {  # from here
    **dict.fromkeys(("Completion", "Engine", "EngineStats", "Handle", "complete", "generate"), "interface"),
    **dict.fromkeys(("FinishReason", "Output", "Timing", "TokenLogprobs", "Usage"), "outputs"),
    **dict.fromkeys(("Request", "SamplingParams"), "requests"),
    "GrammarDrafts": ".outputs.grammar_drafts",  # above: the integrations use it as well
    "LocalEngine": "local",
    "VllmEngine": "vllm_client",
    "load_engine": "loading",
    "prompt_lookup": "speculation",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> _Any:
    if name in _HOMES:
        return getattr(_import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module 'maskwright.engine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
