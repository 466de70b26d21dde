"""Maskwright: exact and fast structured generation.

Given a structure (JSON Schema, regular expression, EBNF, Lark, tools), Maskwright computes at every decoding step which
tokens may come next, as a packed bitmask that an inference engine applies to the logits before it samples.

    import maskwright as mw

    info = mw.TokenizerInfo.from_huggingface(tokenizer)
    grammar = mw.GrammarCompiler(info).compile_json_schema({"type": "integer"})
    matcher = mw.GrammarMatcher(grammar)
    bitmask = mw.allocate_token_bitmask(1, info.vocab_size)
    while not matcher.is_terminated():
        matcher.fill_next_token_bitmask(bitmask)
        mw.apply_token_bitmask_inplace(logits, bitmask)
        if not matcher.accept_token(sample(logits)):
            raise RuntimeError("the token was not sampled from the masked logits")

With a transformers model, `mw.generate(model, tokenizer, prompts, output_type)` does all of this and returns objects.

The submodules `grammars`, `openai_shapes` and `structural_tag`, two names of the last, `StructuralTag` and
`get_model_structural_tag`, and `generate`, which needs transformers, are imported on first use.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from maskwright.bitmask import allocate_token_bitmask as allocate_token_bitmask
from maskwright.bitmask import apply_token_bitmask_inplace as apply_token_bitmask_inplace
from maskwright.compiling.compiled_grammar import CompiledGrammar as CompiledGrammar
from maskwright.compiling.compiler import GrammarCompiler as GrammarCompiler
from maskwright.errors import ArgumentError as ArgumentError
from maskwright.errors import BitmaskError as BitmaskError
from maskwright.errors import EbnfSyntaxError as EbnfSyntaxError
from maskwright.errors import EngineError as EngineError
from maskwright.errors import GrammarError as GrammarError
from maskwright.errors import GrammarWarning as GrammarWarning
from maskwright.errors import LarkSyntaxError as LarkSyntaxError
from maskwright.errors import LimitError as LimitError
from maskwright.errors import MaskwrightError as MaskwrightError
from maskwright.errors import MatcherError as MatcherError
from maskwright.errors import MissingPackageError as MissingPackageError
from maskwright.errors import OptionError as OptionError
from maskwright.errors import RegexSyntaxError as RegexSyntaxError
from maskwright.errors import RequestError as RequestError
from maskwright.errors import SchemaError as SchemaError
from maskwright.errors import SchemaWarning as SchemaWarning
from maskwright.errors import StructuralTagError as StructuralTagError
from maskwright.errors import TokenizerError as TokenizerError
from maskwright.errors import UnsatisfiableError as UnsatisfiableError
from maskwright.errors import UnsupportedSchemaError as UnsupportedSchemaError
from maskwright.explaining.grammar_report import GrammarProblem as GrammarProblem
from maskwright.explaining.grammar_report import GrammarReport as GrammarReport
from maskwright.explaining.grammar_report import lint as lint
from maskwright.grammar import Grammar as Grammar
from maskwright.matcher import BatchGrammarMatcher as BatchGrammarMatcher
from maskwright.matcher import GrammarMatcher as GrammarMatcher
from maskwright.report.rejection import Explanation as Explanation
from maskwright.report.rejection import Origin as Origin
from maskwright.report.rejection import Rejection as Rejection
from maskwright.report.schema_report import SchemaReport as SchemaReport
from maskwright.report.schema_report import check as check
from maskwright.tokenizer import TokenizerInfo as TokenizerInfo

if _TYPE_CHECKING:
    from maskwright import grammars as grammars
    from maskwright import openai_shapes as openai_shapes
    from maskwright import structural_tag as structural_tag
    from maskwright.integrations.transformers import generate as generate
    from maskwright.structural_tag import StructuralTag as StructuralTag
    from maskwright.structural_tag import get_model_structural_tag as get_model_structural_tag

__version__ = "0.1.0"
__all__ = [
    "ArgumentError",
    "BatchGrammarMatcher",
    "BitmaskError",
    "CompiledGrammar",
    "EbnfSyntaxError",
    "EngineError",
    "Explanation",
    "Grammar",
    "GrammarCompiler",
    "GrammarError",
    "GrammarMatcher",
    "GrammarProblem",
    "GrammarReport",
    "GrammarWarning",
    "LarkSyntaxError",
    "LimitError",
    "MaskwrightError",
    "MatcherError",
    "MissingPackageError",
    "OptionError",
    "Origin",
    "RegexSyntaxError",
    "Rejection",
    "RequestError",
    "SchemaError",
    "SchemaReport",
    "SchemaWarning",
    "StructuralTagError",
    "TokenizerError",
    "TokenizerInfo",
    "UnsatisfiableError",
    "UnsupportedSchemaError",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "check",
    "lint",
]

_OF_STRUCTURAL_TAGS = ("StructuralTag", "get_model_structural_tag")
_SUBMODULES = ("grammars", "openai_shapes", "structural_tag")


def __getattr__(name: str) -> _Any:
    if name in _SUBMODULES:
        return _import_module(f"maskwright.{name}")
    if name in _OF_STRUCTURAL_TAGS:
        return getattr(_import_module("maskwright.structural_tag"), name)
    if name == "generate":
        return _import_module("maskwright.integrations.transformers").generate
    raise AttributeError(f"module 'maskwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_SUBMODULES, *_OF_STRUCTURAL_TAGS, "generate"]
