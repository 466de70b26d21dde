"""Helpers for tests of grammars and masks, by XGrammar's names.

    >>> _is_grammar_accept_string('root ::= "a"+', "aaa")
    True
    >>> _regex_to_ebnf("a+")
    'root ::= "a"+\\n'

What XGrammar's helpers show of its own internals (its rules, automata and passes) is shown of Maskwright's as far as it
has a meaning here; the passes of `GrammarFunctor` return the grammar as it is.
Tested by tests/compat/test_xgrammar_testing.py.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Literal

import torch

from maskwright.bitmask.expressions import allowed_columns
from maskwright.compat.xgrammar.bitmask import as_rows, get_bitmask_shape
from maskwright.compat.xgrammar.bitmask import bitmask_dtype as bitmask_dtype
from maskwright.compat.xgrammar.compiler import CompiledGrammar, GrammarCompiler
from maskwright.compat.xgrammar.exception import as_xgrammar_errors
from maskwright.compat.xgrammar.grammar import Grammar, checked_grammar
from maskwright.compat.xgrammar.matcher import GrammarMatcher
from maskwright.compat.xgrammar.reading import schema_data, schema_options
from maskwright.compat.xgrammar.tokenizer_info import TokenizerInfo
from maskwright.errors import BitmaskError
from maskwright.grammar import Grammar as _Native
from maskwright.ir import GrammarIR
from maskwright.ir.rule_facts import nullable_rules
from maskwright.matcher import GrammarMatcher as _Matcher
from maskwright.support.arguments import as_integer


@as_xgrammar_errors()
def _json_schema_to_ebnf(
    schema: str | type | dict[str, Any],
    *,
    any_whitespace: bool = True,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    max_whitespace_cnt: int | None = None,
    strict_mode: bool = True,
    json_format: Literal[
        "json",
        "qwen_xml",
        "minimax_xml",
        "minimax_m3_xml",
        "deepseek_xml",
        "glm_xml",
        "cohere_xml",
        "kimi_k3_xml",
        "deepseek_v4_1_xml",
    ] = "json",
    any_order: bool = False,
) -> str:
    """Return the EBNF that a JSON Schema stands for, as JSON or in a style in which models write arguments."""
    options = schema_options(any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order)
    content = {"type": "json_schema", "json_schema": schema_data(schema, strict_mode), "style": json_format, **options}
    return f"{Grammar.from_structural_tag({'format': content})}\n"


def _regex_to_ebnf(regex: str, with_rule_name: bool = True) -> str:
    """Return the EBNF that a regular expression stands for, as a rule `root` or as the body alone."""
    text = f"{Grammar.from_regex(regex)}\n"
    return text if with_rule_name else text.removeprefix("root ::= ").removesuffix("\n")


def _ebnf_to_grammar_no_normalization(ebnf_string: str, root_rule_name: str = "root") -> Grammar:
    """Read a grammar in EBNF."""
    return Grammar.from_ebnf(ebnf_string, root_rule_name=root_rule_name)


@as_xgrammar_errors()
def _generate_range_regex(start: int | None = None, end: int | None = None) -> str:
    """Return a regular expression for the integers of a range."""
    bounds = {name: bound for name, bound in (("minimum", start), ("maximum", end)) if bound is not None}
    return f"^({_Native.from_json_schema({'type': 'integer', **bounds}).to_regex()})$"


def _get_matcher_from_grammar(grammar: Grammar | str, **kwargs: Any) -> GrammarMatcher:
    """Return a matcher for texts, without a vocabulary, that terminates without a stop token."""
    return _get_matcher_from_grammar_and_tokenizer_info(grammar, None, terminate_without_stop_token=True, **kwargs)


def _get_matcher_from_grammar_and_tokenizer_info(
    grammar: Grammar | str, tokenizer_info: TokenizerInfo | None = None, **kwargs: Any
) -> GrammarMatcher:
    """Return a matcher; `kwargs` are those of `GrammarMatcher`."""
    info = TokenizerInfo([]) if tokenizer_info is None else tokenizer_info
    return GrammarMatcher(GrammarCompiler(info, cache_enabled=False).compile_grammar(grammar), **kwargs)


def _is_grammar_accept_string(
    grammar: Grammar | str,
    input_str: str,
    *,
    debug_print: bool = False,
    print_time: bool = False,
    require_termination: bool = True,
) -> bool:
    """Return whether a text is an output of a grammar; with `require_termination=False`, or the beginning of one."""
    matcher = _get_matcher_from_grammar(grammar)
    begin = time.perf_counter()
    accepted = matcher.accept_string(input_str, debug_print=debug_print)
    if print_time:
        print(f"accept_string took {(time.perf_counter() - begin) * 1e6:.0f} us", file=sys.stderr)
    return accepted and (not require_termination or matcher.is_completed())


@as_xgrammar_errors()
def _is_rule_fsm_accept_string(grammar: Grammar, rule_id: int, input_str: str) -> bool:
    """Return whether a text is an output of one of the grammar's rules, by its index."""
    ir = checked_grammar("grammar", grammar)._grammar.ir
    rule = as_integer("rule_id", rule_id, at_least=0)
    if rule >= len(ir.rules):
        raise IndexError(f"rule {rule} is out of range for {len(ir.rules)} rules")
    compiler = GrammarCompiler(TokenizerInfo([]), cache_enabled=False)
    alone = _Native(GrammarIR(ir.rules, rule, ir.token_sets))
    matcher = _Matcher(compiler._compiler.compile_grammar(alone), override_stop_tokens=[])
    return matcher.accept_string(input_str) and matcher.is_completed()


def _get_allow_empty_rule_ids(compiled_grammar: CompiledGrammar) -> list[int]:
    """Return the indices of the rules that match the empty text."""
    ir = compiled_grammar._compiled.grammar.ir
    return [index for index, empty in enumerate(nullable_rules(rule.body for rule in ir.rules)) if empty]


@as_xgrammar_errors()
def _print_grammar_fsms(grammar: Grammar) -> str:
    """Return the grammar's rules, one a line."""
    return checked_grammar("grammar", grammar)._grammar.dump()


@as_xgrammar_errors()
def _get_masked_tokens_from_bitmask(bitmask: torch.Tensor, vocab_size: int, index: int = 0) -> list[int]:
    """Return the ids that a row of a bitmask does not allow."""
    row = bitmask_to_bool_mask(_row(bitmask, index), vocab_size)[0]
    return torch.nonzero(~row).flatten().tolist()


@as_xgrammar_errors()
def _is_single_token_bitmask(bitmask: torch.Tensor, vocab_size: int, index: int = 0) -> tuple[bool, int]:
    """Return whether a row of a bitmask allows exactly one id, and which; -1 if not."""
    allowed = torch.nonzero(bitmask_to_bool_mask(_row(bitmask, index), vocab_size)[0]).flatten().tolist()
    return (True, allowed[0]) if len(allowed) == 1 else (False, -1)


@as_xgrammar_errors()
def bitmask_to_bool_mask(bit_mask: torch.Tensor, vocab_size: int | None = None) -> torch.Tensor:
    """Return a bool for each bit of a bitmask, or for the first `vocab_size` of each row."""
    if not isinstance(bit_mask, torch.Tensor) or bit_mask.dtype != bitmask_dtype or bit_mask.dim() != 2:
        raise BitmaskError("the bitmask must be a two-dimensional torch.Tensor of dtype int32")
    covered = bit_mask.shape[1] * 32
    return allowed_columns(bit_mask, covered if vocab_size is None else min(vocab_size, covered))


@as_xgrammar_errors()
def bool_mask_to_bitmask(bool_mask: torch.Tensor) -> torch.Tensor:
    """Return the bitmask of bools, a row for each row; bits beyond the last are 1."""
    if not isinstance(bool_mask, torch.Tensor) or bool_mask.dtype != torch.bool or bool_mask.dim() != 2:
        raise BitmaskError("the mask must be a two-dimensional torch.Tensor of dtype bool")
    rows, words = get_bitmask_shape(*bool_mask.shape)
    bits = torch.ones(rows, words * 32, dtype=torch.int64, device=bool_mask.device)
    bits[:, : bool_mask.shape[1]] = bool_mask
    weights = 2 ** torch.arange(32, dtype=torch.int64, device=bool_mask.device)
    return (bits.view(rows, words, 32) * weights).sum(-1).to(bitmask_dtype)


def _traverse_draft_tree(
    retrieve_next_token: torch.Tensor,
    retrieve_next_sibling: torch.Tensor,
    draft_tokens: torch.Tensor,
    matcher: GrammarMatcher,
    allocate_token_bitmask: torch.Tensor,
    time_threshold: float = -1.0,
) -> bool:
    """Write the masks of a tree of drafted tokens; see `GrammarMatcher.traverse_draft_tree`."""
    return matcher.traverse_draft_tree(
        retrieve_next_token, retrieve_next_sibling, draft_tokens, allocate_token_bitmask, time_threshold
    )


def _row(bitmask: torch.Tensor, index: int) -> torch.Tensor:
    rows = as_rows(bitmask)
    if not 0 <= index < rows.shape[0]:
        raise BitmaskError(f"row {index} is out of range for {rows.shape[0]} rows")
    return rows.narrow(0, index, 1)


class GrammarFunctor:
    """The passes that XGrammar makes over a grammar. Here the kernel makes its own, so each returns the grammar."""

    @staticmethod
    def structure_normalizer(grammar: Grammar) -> Grammar:
        """Return the grammar."""
        return checked_grammar("grammar", grammar)

    rule_inliner = structure_normalizer
    byte_string_fuser = structure_normalizer
    dead_code_eliminator = structure_normalizer
    lookahead_assertion_analyzer = structure_normalizer
    grammar_optimizer = structure_normalizer
    repetition_normalizer = structure_normalizer
    fsm_builder = structure_normalizer
