"""XGrammar 0.2.8's Python interface, on Maskwright's engine.

    import maskwright.compat.xgrammar as xgr

    compiler = xgr.GrammarCompiler(xgr.TokenizerInfo.from_huggingface(tokenizer))
    matcher = xgr.GrammarMatcher(compiler.compile_json_schema(schema))

Names, arguments, defaults and exceptions are XGrammar's; what outputs match is Maskwright's: every constraint is
enforced or refused. docs/engines/xgrammar.md lists the differences. `maskwright.compat.install()` makes
`import xgrammar` be this package.

The files follow XGrammar's modules, so that its import paths exist: `tokenizer_info`, `grammar`, `compiler`, `matcher`,
`structural_tag`, `builtin_structural_tag`, `testing`, `kernels`, `contrib`.
It needs torch and pydantic, `contrib.hf` transformers: `pip install ".[xgrammar]"`.
Tested by tests/compat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maskwright.compat.xgrammar import contrib as contrib
from maskwright.compat.xgrammar import exception as exception
from maskwright.compat.xgrammar import kernels as kernels
from maskwright.compat.xgrammar import structural_tag as structural_tag
from maskwright.compat.xgrammar import testing as testing
from maskwright.compat.xgrammar._version import __version__ as __version__
from maskwright.compat.xgrammar.builtin_structural_tag import get_builtin_structural_tag as get_builtin_structural_tag
from maskwright.compat.xgrammar.builtin_structural_tag import get_model_structural_tag as get_model_structural_tag
from maskwright.compat.xgrammar.builtin_structural_tag import normalize_tool_choice as normalize_tool_choice
from maskwright.compat.xgrammar.builtin_structural_tag import (
    register_model_structural_tag as register_model_structural_tag,
)
from maskwright.compat.xgrammar.compiler import CompiledGrammar as CompiledGrammar
from maskwright.compat.xgrammar.compiler import GrammarCompiler as GrammarCompiler
from maskwright.compat.xgrammar.config import get_max_recursion_depth as get_max_recursion_depth
from maskwright.compat.xgrammar.config import get_serialization_version as get_serialization_version
from maskwright.compat.xgrammar.config import max_recursion_depth as max_recursion_depth
from maskwright.compat.xgrammar.config import set_max_recursion_depth as set_max_recursion_depth
from maskwright.compat.xgrammar.exception import DeserializeFormatError as DeserializeFormatError
from maskwright.compat.xgrammar.exception import DeserializeVersionError as DeserializeVersionError
from maskwright.compat.xgrammar.exception import InvalidJSONError as InvalidJSONError
from maskwright.compat.xgrammar.exception import InvalidStructuralTagError as InvalidStructuralTagError
from maskwright.compat.xgrammar.grammar import Grammar as Grammar
from maskwright.compat.xgrammar.matcher import BatchGrammarMatcher as BatchGrammarMatcher
from maskwright.compat.xgrammar.matcher import GrammarMatcher as GrammarMatcher
from maskwright.compat.xgrammar.matcher import allocate_token_bitmask as allocate_token_bitmask
from maskwright.compat.xgrammar.matcher import apply_token_bitmask_inplace as apply_token_bitmask_inplace
from maskwright.compat.xgrammar.matcher import bitmask_dtype as bitmask_dtype
from maskwright.compat.xgrammar.matcher import get_bitmask_shape as get_bitmask_shape
from maskwright.compat.xgrammar.matcher import reset_token_bitmask as reset_token_bitmask
from maskwright.compat.xgrammar.structural_tag import StructuralTag as StructuralTag
from maskwright.compat.xgrammar.structural_tag import StructuralTagItem as StructuralTagItem
from maskwright.compat.xgrammar.tokenizer_info import TokenizerInfo as TokenizerInfo
from maskwright.compat.xgrammar.tokenizer_info import VocabType as VocabType

if TYPE_CHECKING:
    from maskwright.compat.xgrammar.contrib import hf as hf

__all__ = [
    "BatchGrammarMatcher",
    "CompiledGrammar",
    "DeserializeFormatError",
    "DeserializeVersionError",
    "Grammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "InvalidJSONError",
    "InvalidStructuralTagError",
    "StructuralTag",
    "StructuralTagItem",
    "TokenizerInfo",
    "VocabType",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "exception",
    "get_bitmask_shape",
    "get_builtin_structural_tag",
    "get_max_recursion_depth",
    "get_model_structural_tag",
    "get_serialization_version",
    "hf",
    "max_recursion_depth",
    "normalize_tool_choice",
    "register_model_structural_tag",
    "reset_token_bitmask",
    "set_max_recursion_depth",
    "structural_tag",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name == "hf":  # which imports transformers
        return contrib.hf
    raise AttributeError(f"module 'xgrammar' has no attribute {name!r}")
