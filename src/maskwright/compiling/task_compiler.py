"""`TaskCompiler`: makes the compiled grammar of a task, with what is on disk.

    TaskCompiler(info, grammar_limit_bytes, kept, workers).compile(task)

An entry on disk is read instead of compiling. What took longer to compile than it takes to read is written there by the
workers, after the structures that they are asked for already.
Tested by tests/saved/test_kept_grammars.py.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from maskwright.compiling.cache import Workers
from maskwright.compiling.compiled_grammar import CompiledGrammar, has_captures
from maskwright.compiling.tasks import Task
from maskwright.errors import GrammarError, Span, UnsatisfiableError
from maskwright.frontends.regex.refused import without_slashes
from maskwright.frontends.warnings.issuing import issue
from maskwright.frontends.warnings.schema_warnings import warn_of
from maskwright.grammar import Grammar
from maskwright.ir import GrammarIR, TokenSet, has_deferred, spelled_out
from maskwright.report.sources import Source
from maskwright.support.interruption import compiling
from maskwright.support.untracked import untrack
from maskwright.tokenizer import TokenizerInfo
from maskwright.tokenizer.token_sets import token_ids

if TYPE_CHECKING:
    from maskwright.compiling.kept_grammars import KeptGrammars
    from maskwright.saved_grammars import Notes

# To read a grammar takes a third of the time of compiling it, and some tenths of a millisecond.
_WORTH_KEEPING_S = 0.002
_WHOLE_OUTPUT = "the pattern must match the whole output; ^, $, \\b and lookarounds see no text outside it"


class TaskCompiler:
    """Makes compiled grammars for one tokenizer. Thread-safe.

    Args:
        info: The tokenizer.
        grammar_limit_bytes: What one grammar may remember.
        kept: The grammars on disk; None for none.
        workers: Who writes to the disk.
    """

    def __init__(
        self, info: TokenizerInfo, grammar_limit_bytes: int, kept: KeptGrammars | None, workers: Workers
    ) -> None:
        self._info, self._grammar_limit_bytes = info, grammar_limit_bytes
        self._kept, self._workers = kept, workers

    def compile(self, task: Task) -> CompiledGrammar:
        """Load a grammar from the disk if it is there, or else make it, and write it if that took long."""
        with compiling:
            compiled = self._loaded_or_made(task)
        if task.key is not None and task.is_by_content:  # so it holds nothing of the caller's, which might lead back
            untrack(compiled, CompiledGrammar, Grammar, Source)
        return compiled

    def _loaded_or_made(self, task: Task) -> CompiledGrammar:
        key = self._kept.key(task.key) if self._kept is not None and task.is_by_content else None
        if self._kept is not None and key is not None:
            loaded = self._kept.load(key, partial(self._loaded, task))
            if loaded is not None:
                return loaded
        began = time.thread_time()
        grammar = task.read()
        compiled = self._made(task, grammar)
        if key is not None and time.thread_time() - began >= _WORTH_KEEPING_S and not has_deferred(grammar.compact_ir):
            self._keep(key, grammar.compact_ir, grammar.notes())
        if task.read_again is not None:
            grammar.release_ir(task.read_again, task.source)
        return compiled

    def _made(self, task: Task, grammar: Grammar) -> CompiledGrammar:
        try:
            compiled = CompiledGrammar(grammar, self._info, memory_budget_bytes=self._grammar_limit_bytes)
        except UnsatisfiableError as error:
            if task.why_unsatisfiable is not None:
                raise task.why_unsatisfiable() from None
            if grammar.source is not None and grammar.source.kind == "regex":
                hint = without_slashes(grammar.source.text) or _WHOLE_OUTPUT
                raise UnsatisfiableError("no text matches this regular expression", hint=hint) from None
            raise _why_nothing(grammar, self._info) or error from None
        except GrammarError as error:
            raise _placed(error, grammar, self._info) from None
        if self._info.missing_bytes:
            from maskwright.report.missing_bytes import check_spellable

            check_spellable(grammar.bound_to(self._info).compact_ir, self._info)
        return compiled

    def _loaded(self, task: Task, data: bytes, notes: Notes) -> CompiledGrammar:
        """Make a grammar of an entry on disk. What it was read from is at hand, for when somebody asks for it."""
        grammar = Grammar.saved(notes)
        grammar.release_ir(task.read_again or task.read, task.source)
        limit = self._grammar_limit_bytes
        compiled = CompiledGrammar(
            grammar, self._info, memory_budget_bytes=limit, saved=data, has_captures=notes.captures
        )
        issue(notes.warnings)
        warn_of(notes.report)
        return compiled

    def _keep(self, key: str, ir: GrammarIR, notes: Notes) -> None:
        """Write a grammar to the disk, after what the workers are asked for already."""
        kept = self._kept
        assert kept is not None

        def keep() -> None:
            with compiling:
                kept.store(key, ir, replace(notes, captures=has_captures(spelled_out(ir))))

        with suppress(RuntimeError):  # the interpreter is on its way out
            self._workers.run(keep)


def _why_nothing(grammar: Grammar, info: TokenizerInfo) -> UnsatisfiableError | None:
    """The error that names a rule of a text in EBNF or Lark which admits nothing, as it is or within its budget."""
    from maskwright.compiling.rule_budgets import why_over_budget
    from maskwright.ir.emptiness import admits_nothing
    from maskwright.report.unproductive import why_nothing

    if grammar.source is None or grammar.source.kind not in ("ebnf", "lark"):
        return None
    if not admits_nothing(grammar.compact_ir):
        return why_over_budget(grammar, grammar.source, info)
    return why_nothing(grammar.compact_ir, grammar.source)


def _placed(error: GrammarError, grammar: Grammar, info: TokenizerInfo) -> GrammarError:
    """An error about a token that a text in EBNF or Lark names, with the place where it does."""
    source = grammar.source
    if error.source is not None or source is None or source.kind not in ("ebnf", "lark"):
        return error
    for name in [name for _, token_set in grammar.compact_ir.token_sets for name in token_set.names]:
        found = _why_unknown(name, info)
        if found is not None:
            # Where the name stands, but not in a string or a comment.
            anywhere = re.compile(rf'"(?:\\.|[^"\\\n])*"|(?:#|//)[^\n]*|({re.escape(name)})')
            at = next((match.span(1) for match in anywhere.finditer(source.text) if match[1]), None)
            return GrammarError(
                found.message, hint=found.hint, source=source.text, span=None if at is None else Span(*at)
            )
    return error


def _why_unknown(name: str, info: TokenizerInfo) -> GrammarError | None:
    try:
        token_ids(info, TokenSet(names=(name,)))
    except GrammarError as error:
        return error
    return None
