"""`origins_of`: what in the caller's structure decides at a place of an output.

A compiled grammar knows nothing of keywords and rule names, so its source is read again:

    JSON Schema       which keyword rejects the text is found by leaving keywords out (json_schema/report/blame)
    EBNF, Lark        each rule becomes a capture; the innermost one that is open is the rule
    regexes           each character and class becomes a capture; the one that takes the next byte of a way to go on
    structural tags   formats that can be captured are, under their pointer; in a schema, its keywords follow

It grows no further than the bounds of `Blame`. One question at a time: `Explainer` sees to that.
Tested by tests/report/test_explain.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from maskwright import _kernel
from maskwright.errors import MaskwrightError
from maskwright.grammar import Grammar
from maskwright.ir import GrammarIR, Rule, capture, spelled_out
from maskwright.report.left_recursion import left_recursive
from maskwright.report.regex_places import located, place_in
from maskwright.report.rejection import MAX_SHOWN, NOWHERE, Origin, shortened
from maskwright.report.sources import Source, rule_places
from maskwright.tokenizer import TokenizerInfo
from maskwright.tokenizer.token_sets import token_ids

History: TypeAlias = "list[int | bytes]"  # token ids, and text that was accepted as such


class Origins:
    """Where nothing is known of the source. The matchers that are passed do not move, and are of no use afterwards."""

    def rejecting(self, matcher: _kernel.Matcher, rest: bytes, end: bytes | None) -> Origin:
        """What rejects the rest of a text, which begins where a matcher stands; with `end` in its place, the output
        would be complete.

        Raises:
            LimitError: It is too ambiguous.
        """
        return NOWHERE

    def taking(self, before: _kernel.Matcher, after: _kernel.Matcher, text: bytes) -> Origin:
        """What takes the first byte of a text that leads from one matcher to another.

        Raises:
            LimitError: It is too ambiguous.
        """
        found = self.rejecting(before, b"", None) if text else NOWHERE
        return Origin(pointer=found.pointer, is_format=found.is_format)


def origins_of(grammar: Grammar, info: TokenizerInfo) -> Origins:
    """Read the source of a grammar again."""
    source = grammar.source
    try:
        if source is None:
            return Origins()
        if source.kind == "json_schema":
            return _schema_origins(source, grammar, info)
        if source.kind == "structural_tag":
            return _InTag(source, info)
        if source.kind == "regex":
            return _InPattern(source, info)
        return _InRules(source, grammar.ir, info)
    except MaskwrightError:  # such as a schema that its owner has changed since
        return Origins()


def _schema_origins(source: Source, grammar: Grammar, info: TokenizerInfo) -> Origins:
    from maskwright.frontends.json_schema import read_options, schema_to_ir
    from maskwright.frontends.json_schema.report.blame import Blame

    options = read_options(source.options)
    if not source.is_certain and spelled_out(schema_to_ir(source.text, options, [])) != grammar.ir:
        return Origins()  # its owner has changed it since
    return _InSchema(Blame(source.text, options), info)


class _InSchema(Origins):
    """The keyword of a JSON Schema."""

    def __init__(self, blame: Any, info: TokenizerInfo) -> None:
        self._blame, self._info = blame, info

    def rejecting(self, matcher: _kernel.Matcher, rest: bytes, end: bytes | None) -> Origin:
        return _blamed(self._blame, _text(matcher.history(), self._info), rest)


class _InRules(Origins):
    """The rule that a place lies in: the innermost one that the source has a name for."""

    def __init__(self, source: Source, ir: GrammarIR, info: TokenizerInfo) -> None:
        self._places, self._info = rule_places(source), info
        skipped = left_recursive(ir)
        rules = tuple(
            Rule(rule.name, capture(rule.name, rule.body))
            if rule.name in self._places and i not in skipped and all(i != index for index, _ in ir.token_sets)
            else rule
            for i, rule in enumerate(ir.rules)
        )
        self._program = _program(GrammarIR(rules, ir.root, ir.token_sets), info)

    def rejecting(self, matcher: _kernel.Matcher, rest: bytes, end: bytes | None) -> Origin:
        names = [
            name for name, _, _, rank in _kernel.captures(matcher, self._program) if rank < 0 and name in self._places
        ]
        return self._of(names)

    def taking(self, before: _kernel.Matcher, after: _kernel.Matcher, text: bytes) -> Origin:
        found = _names_at(after, self._program, len(_text(before.history(), self._info)))
        return self._of([name for name in found if name in self._places])

    def _of(self, names: list[str]) -> Origin:
        if not names:
            return NOWHERE
        line, column = self._places[names[-1]]
        return Origin(rule=names[-1], line=line, column=column)


class _InPattern(Origins):
    """The part of a regular expression: of an output that goes on in a shortest way, the part that takes that."""

    def __init__(self, source: Source, info: TokenizerInfo) -> None:
        self._pattern: str = source.text
        self._info = info
        ir = located(self._pattern, source.options["flags"])
        self._program = None if ir is None else _program(ir, info)

    def rejecting(self, matcher: _kernel.Matcher, rest: bytes, end: bytes | None) -> Origin:
        if end is None:
            return NOWHERE
        if not end:
            return self._at(len(self._pattern))
        after = _kernel.Matcher(matcher)
        after.accept_bytes(end)
        return self.taking(matcher, after, end)

    def taking(self, before: _kernel.Matcher, after: _kernel.Matcher, text: bytes) -> Origin:
        if self._program is None:
            return NOWHERE
        found = _names_at(after, self._program, len(_text(before.history(), self._info)))
        return self._at(int(found[-1])) if found else NOWHERE

    def _at(self, offset: int) -> Origin:
        line, column = place_in(self._pattern, offset)
        return Origin(part=self._pattern[offset:][:MAX_SHOWN], line=line, column=column)


class _InTag(Origins):
    """The format of a structural tag that a place lies in; in one with a schema, what `Blame` finds."""

    def __init__(self, source: Source, info: TokenizerInfo) -> None:
        data = source.text.to_dict(captures=False)
        self._schemas: dict[str, Any] = {}
        self._blames: dict[str, Any] = {}
        _name_formats(data["format"], "/format", self._schemas)
        self._program = _program(Grammar.from_structural_tag(data, tokenizer_info=info).compact_ir, info)

    def rejecting(self, matcher: _kernel.Matcher, rest: bytes, end: bytes | None) -> Origin:
        found = _kernel.captures(matcher, self._program)
        named = [(name, data) for name, data, _, rank in found if rank < 0 and name.startswith("/")]
        if not named:
            return NOWHERE
        pointer, data = named[-1]
        if pointer not in self._schemas:
            return Origin(pointer=pointer, is_format=True)
        inner = _blamed(self._blame(pointer), data, rest)
        if inner.pointer is None:
            return Origin(pointer=pointer, is_format=True)
        return replace(inner, pointer=f"{pointer}/json_schema{inner.pointer}")

    def _blame(self, pointer: str) -> Any:
        from maskwright.frontends.json_schema.report.blame import Blame
        from maskwright.structural_tag.formats.classes import JSONSchemaFormat

        if pointer not in self._blames:
            format_ = JSONSchemaFormat(**{k: v for k, v in self._schemas[pointer].items() if k != "type"})
            self._blames[pointer] = Blame(format_.json_schema, format_.options)
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
    return Origin(
        found.pointer, found.keyword, value, found.instance, found.by_order, by_strict_mode=found.by_strict_mode
    )


def _program(ir: GrammarIR, info: TokenizerInfo) -> _kernel.CaptureProgram:
    known = ir.with_tokens(partial(token_ids, info))
    return _kernel.CaptureProgram(info.kernel_vocabulary, known.rules, known.root)


def _names_at(matcher: _kernel.Matcher, program: _kernel.CaptureProgram, position: int) -> list[str]:
    """The captures that the byte at a position of the output belongs to, the outermost first."""
    return [
        name for name, data, start, _ in _kernel.captures(matcher, program) if start <= position < start + len(data)
    ]


def _text(history: History, info: TokenizerInfo) -> bytes:
    return b"".join(each if isinstance(each, bytes) else info.decode([each]) for each in history)
