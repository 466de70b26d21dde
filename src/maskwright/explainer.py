"""`Explainer`: why a text or a token is not allowed, and what in the caller's structure says so.

A compiled grammar knows nothing of keywords and rule names. When the first question comes, its source is read again:

    JSON Schema       which keyword rejects the text is found by leaving keywords out (json_schema/report/blame)
    EBNF, Lark        each rule becomes a capture; the innermost one that is open is the rule
    structural tags   formats that can be captured are, under their pointer; in a schema, its keywords follow

Nothing of this is made before it is asked for. What is made is kept with the compiled grammar, and grows no further
than the bounds of `Blame`. Thread-safe: questions about one grammar wait for each other.
Tested by tests/report/test_rejection.py and test_explain.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from maskwright import _kernel
from maskwright.errors import LimitError, MaskwrightError
from maskwright.grammar import Grammar
from maskwright.ir import GrammarIR, Rule, capture
from maskwright.report.continuation import Continuation, Continuations, History
from maskwright.report.left_recursion import left_recursive
from maskwright.report.rejection import (
    NOWHERE,
    Explanation,
    Origin,
    Reason,
    Rejection,
    expected,
    place_of,
    shortened,
)
from maskwright.report.sources import Source, rule_places
from maskwright.token_sets import token_ids
from maskwright.tokenizer import TokenizerInfo


class Explainer:
    """Answers questions about one compiled grammar."""

    def __init__(self, native: _kernel.CompiledGrammar, grammar: Grammar, info: TokenizerInfo) -> None:
        self._native, self._grammar, self._info = native, grammar, info
        self._lock = threading.Lock()
        self._continuations = Continuations(native, info)
        self._finder: Callable[[_kernel.Matcher, bytes], Origin] | None = None

    def rejection(self, data: bytes) -> Rejection | None:
        """Explain why a text is rejected, from the beginning of an output; None if it is a whole output.

        Raises:
            LimitError: The grammar is too ambiguous.
        """
        matcher = _kernel.Matcher(self._native, list(self._info.stop_token_ids), False)
        offset = _accepted(matcher, data)
        if offset == len(data) and matcher.is_completed():
            return None
        with self._lock:
            end = self._continuations.find(matcher, [data[:offset]])
            origin = self._origin(matcher, data[offset:])
        line, column, found = place_of(data, offset)
        text, ids = (None, None) if end is None else end
        return Rejection(offset, line, column, found, expected(matcher), text, ids, origin)

    def explanation(self, matcher: _kernel.Matcher, asked: int | bytes) -> Explanation:
        """Explain whether a token or a text is allowed where a matcher stands, which does not move.

        Raises:
            LimitError: The grammar is too ambiguous.
        """
        twin = _kernel.Matcher(matcher)
        data = asked if isinstance(asked, bytes) else self._info.decode([asked])
        token_id = None if isinstance(asked, bytes) else asked
        is_over = matcher.is_terminated()
        allowed = twin.accept_bytes(asked) if isinstance(asked, bytes) else twin.accept_token(asked)
        if allowed and not (is_over and asked):
            with self._lock:
                origin = self._taken_by(_kernel.Matcher(matcher), twin, data[:1])
            after = self._end(twin)
            return _explained(True, "allowed", token_id, data, len(data), twin, after, origin)
        if is_over:
            return Explanation(False, "terminated", token_id, data, 0, (), b"", ())
        free = self._without_budget(matcher)
        fits = _kernel.Matcher(free)
        if fits.accept_bytes(asked) if isinstance(asked, bytes) else fits.accept_token(asked):
            return _explained(False, "budget", token_id, data, 0, matcher, self._end(matcher), NOWHERE)
        reason: Reason = "structure"
        if token_id is not None and token_id in matcher.stop_token_ids:
            reason, data = "end", b""
        elif not data:
            reason = "special_token"
        offset = _accepted(free, data)
        with self._lock:
            origin = self._origin(free, data[offset:]) if data else NOWHERE
        return _explained(False, reason, token_id, data, offset, free, self._end(free), origin)

    def _end(self, matcher: _kernel.Matcher) -> Continuation | None:
        if matcher.is_terminated():
            return Continuation(b"", ())
        with self._lock:
            return self._continuations.find(matcher, matcher.history())

    def _without_budget(self, matcher: _kernel.Matcher) -> _kernel.Matcher:
        free = _kernel.Matcher(self._native, matcher.stop_token_ids, False)
        for each in matcher.history():
            _ = free.accept_bytes(each) if isinstance(each, bytes) else free.accept_token(each)
        return free

    def _origin(self, matcher: _kernel.Matcher, rest: bytes) -> Origin:
        """What rejects the rest of a text, which begins where the matcher stands."""
        if self._finder is None:
            self._finder = self._finder_of_source()
        try:
            return self._finder(_kernel.Matcher(matcher), rest)
        except LimitError:
            return NOWHERE  # where it is too ambiguous to say what decides, the rest of the answer still holds

    def _taken_by(self, before: _kernel.Matcher, after: _kernel.Matcher, first: bytes) -> Origin:
        """What takes a byte: the sub-schema of the value that it belongs to, or the rule."""
        if self._finder is None:
            self._finder = self._finder_of_source()
        try:
            if isinstance(self._finder, _InRules):
                return self._finder.taking(after, len(self._text(before.history())))
            return Origin(pointer=self._finder(before, b"").pointer) if first else NOWHERE
        except LimitError:
            return NOWHERE

    def _text(self, history: History) -> bytes:
        return b"".join(each if isinstance(each, bytes) else self._info.decode([each]) for each in history)

    def _finder_of_source(self) -> Callable[[_kernel.Matcher, bytes], Origin]:
        source = self._grammar.source
        try:
            if source is None:
                return _nowhere
            if source.kind == "json_schema":
                return self._in_schema(source)
            if source.kind == "structural_tag":
                return _InTag(source, self._info)
            return _InRules(source, self._grammar.ir, self._info)
        except MaskwrightError:  # such as a schema that its owner has changed since
            return _nowhere

    def _in_schema(self, source: Source) -> Callable[[_kernel.Matcher, bytes], Origin]:
        from maskwright.frontends.json_schema import read_options, schema_to_ir
        from maskwright.frontends.json_schema.report.blame import Blame

        options = read_options(source.options)
        if schema_to_ir(source.text, options, []) != self._grammar.compact_ir:
            return _nowhere  # its owner has changed it since
        blame = Blame(source.text, options)

        def find(matcher: _kernel.Matcher, rest: bytes) -> Origin:
            before = self._text(matcher.history())
            return _blamed(blame, before, rest)

        return find


class _InRules:
    """The rule that a place lies in: the innermost one that the source has a name for."""

    def __init__(self, source: Source, ir: GrammarIR, info: TokenizerInfo) -> None:
        self._places = rule_places(source)
        skipped = left_recursive(ir)
        rules = tuple(
            Rule(rule.name, capture(rule.name, rule.body))
            if rule.name in self._places and i not in skipped and all(i != index for index, _ in ir.token_sets)
            else rule
            for i, rule in enumerate(ir.rules)
        )
        self._program = _program(GrammarIR(rules, ir.root, ir.token_sets), info)

    def __call__(self, matcher: _kernel.Matcher, rest: bytes) -> Origin:
        names = [name for name, _, _, rank in matcher.captures(self._program) if rank < 0 and name in self._places]
        return self._of(names)

    def taking(self, after: _kernel.Matcher, position: int) -> Origin:
        """The rule that took the byte at this position of the output that a matcher has accepted."""
        found = _kernel.Matcher(after).captures(self._program)
        return self._of(
            [name for name, data, start, _ in found if start <= position < start + len(data) and name in self._places]
        )

    def _of(self, names: list[str]) -> Origin:
        if not names:
            return NOWHERE
        line, column = self._places[names[-1]]
        return Origin(rule=names[-1], line=line, column=column)


class _InTag:
    """The format of a structural tag that a place lies in; in one with a schema, what `Blame` finds."""

    def __init__(self, source: Source, info: TokenizerInfo) -> None:
        data = source.text.to_dict(captures=False)
        self._schemas: dict[str, Any] = {}
        self._blames: dict[str, Any] = {}
        _name_formats(data["format"], "/format", self._schemas)
        self._program = _program(Grammar.from_structural_tag(data, tokenizer_info=info).compact_ir, info)

    def __call__(self, matcher: _kernel.Matcher, rest: bytes) -> Origin:
        found = matcher.captures(self._program)
        named = [(name, data) for name, data, _, rank in found if rank < 0 and name.startswith("/")]
        if not named:
            return NOWHERE
        pointer, data = named[-1]
        if pointer not in self._schemas:
            return Origin(pointer=pointer)
        inner = _blamed(self._blame(pointer), data, rest)
        if inner.pointer is None:
            return Origin(pointer=pointer)
        at = f"{pointer}/json_schema{inner.pointer}"
        return Origin(at, inner.keyword, inner.value, inner.instance, inner.by_order)

    def _blame(self, pointer: str) -> Any:
        from maskwright.frontends.json_schema.report.blame import Blame
        from maskwright.structural_tag.formats.classes import JSONSchemaFormat
        from maskwright.structural_tag.formats.kept_schemas import kept

        if pointer not in self._blames:
            format_ = JSONSchemaFormat(**{k: v for k, v in self._schemas[pointer].items() if k != "type"})
            self._blames[pointer] = Blame(kept(format_.json_schema).data, format_.options)
        return self._blames[pointer]


def _name_formats(data: Any, pointer: str, schemas: dict[str, Any]) -> None:
    """Let formats that can be captured be captured under their pointer; gather those whose text is JSON."""
    waiting = [(data, pointer)]
    while waiting:
        it, at = waiting.pop()
        if isinstance(it, list):
            waiting += [(each, f"{at}/{i}") for i, each in enumerate(it)]
        elif isinstance(it, dict):
            kind = it.get("type")
            if kind in ("json_schema", "any_text", "tag", "triggered_tags"):
                it["capture"] = at
            if kind == "json_schema":
                if it.get("style", "json") == "json":
                    schemas[at] = it
                continue
            waiting += [(each, f"{at}/{key}") for key, each in it.items() if isinstance(each, (dict, list))]


def _blamed(blame: Any, before: bytes, rest: bytes) -> Origin:
    found = blame.find(before + rest, len(before))
    if found is None:
        return NOWHERE
    value = None if found.keyword is None else shortened(found.value)
    return Origin(found.pointer, found.keyword, value, found.instance, found.by_order)


def _program(ir: GrammarIR, info: TokenizerInfo) -> _kernel.CaptureProgram:
    known = ir.with_tokens(partial(token_ids, info))
    return _kernel.CaptureProgram(info.kernel_vocabulary, known.rules, known.root)


def _nowhere(matcher: _kernel.Matcher, rest: bytes) -> Origin:
    return NOWHERE


def _accepted(matcher: _kernel.Matcher, data: bytes) -> int:
    """Accept as much of a text as is allowed, and return how much."""
    if matcher.accept_bytes(data):
        return len(data)
    offset = 0
    while offset < len(data) and matcher.accept_bytes(data[offset : offset + 1]):
        offset += 1
    return offset


def _explained(
    allowed: bool,
    reason: Reason,
    token_id: int | None,
    text: bytes,
    offset: int,
    at: _kernel.Matcher,
    end: Continuation | None,
    origin: Origin,
) -> Explanation:
    words = () if at.is_terminated() else expected(at)
    data, ids = (None, None) if end is None else end
    return Explanation(allowed, reason, token_id, text, offset, words, data, ids, origin)
