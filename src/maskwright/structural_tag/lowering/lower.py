"""Lower: from formats to rules over bytes and tokens.

`Lowering.lower(format, pointer, ends)` gives the expression for a format and what ends it. Most formats know nothing of
their end, and it is put behind them. Free text does: as the content of a tag it stops where the tag's end first occurs,
also as the last element of a sequence or a list, inside `or` and `optional`, between tags, and in tags without an end.

    tag("<a>", any_text, "</a>")   →   "<a>" (text "</a>" & ~(.* "</a>" .+))

A regex that may go on with its end is an error. Everywhere else the meaning is that of a context-free grammar: content
that can contain its end string is ambiguous, and every reading counts.
Invariant: recursion goes no deeper than formats nest, which is limited to MAX_DEPTH.
Tested by tests/structural_tag/lowering/test_lower.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from maskwright.errors import GrammarError, LimitError, SchemaError, StructuralTagError
from maskwright.frontends.json_schema import Finding
from maskwright.frontends.json_schema.normalise.findings import (
    blank_count_in_pattern,
    lone_posix_class_in_pattern,
    lost_in_pattern,
    of_warnings,
)
from maskwright.frontends.regex.refused import without_slashes
from maskwright.frontends.texts import ANY_TEXT
from maskwright.ir import (
    OP_REF,
    UNBOUNDED,
    Expr,
    GrammarIR,
    alt,
    capture,
    optional,
    repeat,
    seq,
    star,
    subgrammar,
)
from maskwright.ir.emptiness import admits_nothing
from maskwright.report.sources import Source
from maskwright.report.unproductive import why_nothing
from maskwright.structural_tag.arguments.snippets import arguments
from maskwright.structural_tag.custom_tools import in_request
from maskwright.structural_tag.formats import classes as f
from maskwright.structural_tag.formats.base import Format, Known
from maskwright.structural_tag.formats.kept import KEPT
from maskwright.structural_tag.formats.named_tag import NAME, NamedTagFormat
from maskwright.structural_tag.formats.partial_tag import PartialTag
from maskwright.structural_tag.formats.reading import MAX_DEPTH
from maskwright.structural_tag.formats.tag import StructuralTag
from maskwright.structural_tag.lowering.named_tags import named_tag
from maskwright.structural_tag.lowering.tag_rules import TagRules
from maskwright.structural_tag.lowering.triggers import (
    Started,
    Triggers,
    any_of,
    text_with_triggers,
    tokens_with_triggers,
)
from maskwright.structural_tag.texts.ends import NO_ENDS, Ends
from maskwright.structural_tag.texts.patterns import may_go_on_with, texts_of
from maskwright.structural_tag.texts.tokens import Pieces, Token, Tokens, one_token
from maskwright.support import entrances

_IN_TAGS: Final = (  # the ways out of a grammar's field
    (entrances.USE_LARK, "write EBNF here"),
    (entrances.USE_REGEX, 'use {"type": "regex", "pattern": …}'),
    (entrances.USE_SCHEMA, 'use {"type": "json_schema", "json_schema": …}'),
    (entrances.USE_TAG, "put its format here"),
    *entrances.ONLY_IN_PYTHON,
)


def lower_tag(tag: StructuralTag, known: Tokens) -> tuple[GrammarIR, tuple[Finding, ...]]:
    """Return the grammar of a structural tag, and the findings about its schemas.

    Raises:
        StructuralTagError: The tag contradicts itself, or names an unknown token.
        SchemaError: A schema in it cannot be enforced; the pointer starts at the tag, or at the request
            that the schema came with.
        LimitError: It is nested too deeply.
    """
    low = Lowering(known)
    root = low.lower(tag.format, "/format", NO_ENDS)
    if root[0] != OP_REF:
        root = low.builder.add("root", root)
    return low.builder.build(root), tuple(dict.fromkeys(low.report))


def _of_tool(tag: f.TagFormat, message: str) -> str:
    """The message of an error inside a tag, with the tool's name if the tag is a call."""
    name = (tag.capture or "").removeprefix("call:")
    return message if name == (tag.capture or "") else f"tool {name!r}: {message}"


_END_THEMSELVES: Final = (
    f.ConstStringFormat,
    f.GrammarFormat,
    f.JSONSchemaFormat,
    f.QwenXMLParameterFormat,
    f.RegexFormat,
    f.TokenFormat,
    NamedTagFormat,
)


def _ends_itself(it: Format) -> bool:
    """Whether nothing in a format depends on what ends it."""
    if isinstance(it, f.TagFormat):
        return bool(it.ends) and not it.may_stay_open
    return isinstance(it, _END_THEMSELVES)


class Lowering(TagRules):
    """Makes the rules of one structural tag."""

    def __init__(self, known: Tokens) -> None:
        super().__init__(known)
        self.report: list[Finding] = []
        self._ends: dict[Any, Ends] = {}
        # By the identity of the format, with the format, and whether it took rules of this grammar.
        self._in_several_places: dict[tuple[int, Ends], tuple[Expr, Format, bool]] = {}
        self._num_taken_again = 0  # of those that did
        self._depth = 0
        self._origin: str | None = None  # of the known tag that is being lowered

    def lower(self, format_: Format, pointer: str, ends: Ends) -> Expr:
        """Return the expression for a format and what ends it."""
        known = format_.known if type(format_) is not f.TagFormat else None
        if known is not None and ends is NO_ENDS:
            return self._shared(format_, known, pointer)
        if known is not None or type(format_) is f.OrFormat:
            return self._once(self._lower, format_, pointer, ends)
        return self._lower(format_, pointer, ends)

    def _shared(self, it: Format, known: Known, pointer: str) -> Expr:
        """Lower a part that stands in many tags, once for a tokenizer unless it needs rules of this grammar."""
        found, before = self._find(known), self._state()
        return (found or self._kept(known, PartialTag((), self._lower(it, pointer, NO_ENDS)), before)).rest

    def _once(self, lower: Callable[[Any, str, Ends], Expr], it: Format, pointer: str, ends: Ends) -> Expr:
        """Lower what may stand in several places of this grammar before the same ends."""
        place = id(it), ends
        known = self._in_several_places.get(place)
        if known is None:
            before = self._state()
            expr = lower(it, pointer, ends)
            self._in_several_places[place] = expr, it, before != self._state()
            return expr
        self._num_taken_again += known[2]
        return known[0]

    def _lower(self, format_: Format, pointer: str, ends: Ends) -> Expr:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            hint = "nest fewer formats in each other"
            raise LimitError(
                f"formats are nested deeper than {MAX_DEPTH} levels", limit="structural tag depth", hint=hint
            )
        expr = _LOWER[type(format_)](self, format_, pointer, ends)
        self._depth -= 1
        return expr

    def ends_of(self, tag: f.TagFormat, pointer: str) -> Ends:
        known = self._ends.get(tag.end)
        if known is None:
            known = self._ends[tag.end] = Ends.of([self._edge(end, f"{pointer}/end") for end in tag.ends])
        return known

    def _edge(self, edge: str | f.TokenFormat, pointer: str) -> Pieces:
        if isinstance(edge, f.TokenFormat):
            return (self.token_of(edge.token, f"{pointer}/token"),)
        return self.tokens.pieces(edge)

    # One method a format, named after its type.

    def const_string(self, it: f.ConstStringFormat, pointer: str, ends: Ends) -> Expr:
        return ends.after(self.tokens.spell(it.value))

    def json_schema(self, it: f.JSONSchemaFormat, pointer: str, ends: Ends) -> Expr:
        origin = self._origin or it.origin or f"{pointer}/json_schema"
        try:
            snippet = arguments(it, self.tokens, pointer)
        except SchemaError as error:
            raise type(error)(
                error.message, pointer=in_request(origin, error.pointer), keyword=error.keyword, hint=error.hint
            ) from error
        except GrammarError as error:
            raise StructuralTagError(error.message, pointer=origin, hint=error.hint) from error
        except UnicodeEncodeError as error:
            raise StructuralTagError(
                "the schema contains a lone surrogate, which is not valid Unicode text", pointer=origin
            ) from error
        if snippet.report:
            self.report += [found._replace(pointer=in_request(origin, found.pointer)) for found in snippet.report]
        return ends.after(capture(it.capture, snippet.expr) if it.style == "json" else snippet.expr)

    def qwen_xml_parameter(self, it: f.QwenXMLParameterFormat, pointer: str, ends: Ends) -> Expr:
        return self.json_schema(it.as_json_schema, pointer, ends)

    def any_text(self, it: f.AnyTextFormat, pointer: str, ends: Ends) -> Expr:
        if it.max_tokens == 0:
            return ends.alone
        return ends.closing(self.plain(it.excludes), ANY_TEXT, it.capture, it.max_tokens, (0, it.max_chars))

    def grammar(self, it: f.GrammarFormat, pointer: str, ends: Ends) -> Expr:
        from maskwright.frontends.ebnf import ebnf_to_ir
        from maskwright.frontends.warnings.grammar_warnings import warnings_of
        from maskwright.frontends.warnings.notes import no_notes

        pointer = it.origin or f"{pointer}/grammar"
        notes = no_notes()
        try:
            ir = it.rules or ebnf_to_ir(it.grammar, notes=notes)
        except GrammarError as error:
            message = f"invalid grammar: {error.message_with_place}"
            hint = None if error.hint is None else entrances.in_words_of(_IN_TAGS, error.hint)
            raise StructuralTagError(message, pointer=pointer, hint=hint) from error
        if admits_nothing(ir):
            why = why_nothing(ir, Source("ebnf" if "::=" in it.grammar else "lark", it.grammar))
            message = f"invalid grammar: {why.message_with_place}"
            raise StructuralTagError(message, pointer=pointer, hint=why.hint)
        if it.rules is None:  # who has read the text has its warnings
            self.report += of_warnings(warnings_of(ir, it.grammar, "::=", notes), pointer, "grammar")
        return ends.after(self.builder.include(ir) if ir.token_sets else subgrammar(ir))

    def regex(self, it: f.RegexFormat, pointer: str, ends: Ends) -> Expr:
        pointer = it.origin or f"{pointer}/pattern"
        excluded = self.plain(it.excludes)
        try:
            texts = texts_of(it.pattern, excluded)
        except GrammarError as error:
            message = f"invalid pattern: {error.message_with_place}"
            raise StructuralTagError(message, pointer=pointer, hint=error.hint) from error
        found = (
            lost_in_pattern(it.pattern, pointer, "pattern", "python"),
            lone_posix_class_in_pattern(it.pattern, pointer, "pattern"),
            blank_count_in_pattern(it.pattern, pointer, "pattern"),
        )
        self.report += [finding for finding in found if finding is not None]
        if texts.is_empty:
            without = " without an excluded text" if excluded else ""
            message = f"no text matches this pattern{without}"
            raise StructuralTagError(message, pointer=pointer, hint=without_slashes(it.pattern))
        for text, end in zip(ends.texts, ends.encoded, strict=True):
            if may_go_on_with(it.pattern, excluded, end):
                raise StructuralTagError(
                    f"the end of this pattern is ambiguous: a match may continue with the end string {text[:60]!r}",
                    pointer=pointer,
                    hint="use any_text, which stops at the end string, or exclude what the end string begins with",
                )
        return ends.after(texts.expr)

    def token(self, it: f.TokenFormat, pointer: str, ends: Ends) -> Expr:
        return ends.after(one_token(self.token_of(it.token, f"{pointer}/token")))

    def exclude_token(self, it: f.ExcludeTokenFormat, pointer: str, ends: Ends) -> Expr:
        excluded = self.tokens_of(it.exclude_tokens, f"{pointer}/exclude_tokens").union(ends.tokens)
        return ends.after(self.all_but(excluded))

    def any_tokens(self, it: f.AnyTokensFormat, pointer: str, ends: Ends) -> Expr:
        excluded = self.tokens_of(it.exclude_tokens, f"{pointer}/exclude_tokens").union(ends.tokens)
        most = UNBOUNDED if it.max_tokens is None else it.max_tokens
        return ends.after(repeat(self.all_but(excluded), 0, most))

    def sequence(self, it: f.SequenceFormat, pointer: str, ends: Ends) -> Expr:
        last = len(it.elements) - 1
        return seq(
            *[
                self.lower(each, f"{pointer}/elements/{i}", ends if i == last else NO_ENDS)
                for i, each in enumerate(it.elements)
            ]
        )

    def or_(self, it: f.OrFormat, pointer: str, ends: Ends) -> Expr:
        return any_of([self.lower(each, f"{pointer}/elements/{i}", ends) for i, each in enumerate(it.elements)])

    def optional(self, it: f.OptionalFormat, pointer: str, ends: Ends) -> Expr:
        return alt(self.lower(it.content, f"{pointer}/content", ends), ends.alone)

    def plus(self, it: f.PlusFormat, pointer: str, ends: Ends) -> Expr:
        return self._repeated(it.content, pointer, ends, 1, UNBOUNDED)

    def star(self, it: f.StarFormat, pointer: str, ends: Ends) -> Expr:
        return self._repeated(it.content, pointer, ends, 0, UNBOUNDED)

    def repeat(self, it: f.RepeatFormat, pointer: str, ends: Ends) -> Expr:
        return self._repeated(it.content, pointer, ends, it.min, it.max)

    def _repeated(self, it: Format, pointer: str, ends: Ends, least: int, most: int) -> Expr:
        """Lower a format that comes so often; the last one stops at the ends."""
        where = f"{pointer}/content"
        each = self.lower(it, where, NO_ENDS)
        if ends is NO_ENDS or not most or _ends_itself(it):
            return ends.after(repeat(each, least, most))
        before = repeat(each, max(least - 1, 0), most if most == UNBOUNDED else most - 1)
        listed = seq(before, self.lower(it, where, ends))
        return listed if least else alt(ends.alone, listed)

    def tag(self, it: f.TagFormat, pointer: str, ends: Ends) -> Expr:
        return self.partial_tag(it, pointer, ends).after(0)

    def named_tag(self, it: NamedTagFormat, pointer: str, ends: Ends) -> Expr:
        return ends.after(named_tag(it, pointer, self.tokens, self.lower).after(0))

    def partial_tag(self, tag: f.TagFormat, pointer: str, ends: Ends) -> PartialTag:
        """Return a tag, its own end and what ends it included; of a known tag, what was made of it before."""
        if ends is not NO_ENDS:
            apart = _ends_itself(tag)
            return self.partial_tag(tag, pointer, NO_ENDS).before(ends) if apart else self._begin(tag, pointer, ends)
        return (self._find(tag.known) if tag.known is not None else None) or self._begin(tag, pointer, NO_ENDS)

    def _begin(self, tag: f.TagFormat, pointer: str, ends: Ends) -> PartialTag:
        """Make what `partial_tag` returns."""
        before = self._state()
        is_rule = tag.may_stay_open and tag.known is None
        rest = self._once(self._open_tag, tag, pointer, ends) if is_rule else self._rest(tag, pointer, ends)
        made = PartialTag(self._edge(tag.begin, f"{pointer}/begin"), rest)
        return self._kept(tag.known, made, before) if ends is NO_ENDS else made

    def _rest(self, tag: f.TagFormat, pointer: str, ends: Ends) -> Expr:
        """Lower the content of a tag, with its own end, if it has one, and the ends."""
        if not tag.ends:
            return self._content(tag, pointer, ends)
        own = self.ends_of(tag, pointer)
        closed = ends.after(self._content(tag, pointer, own))
        return alt(closed, self._content(tag, pointer, ends.without(own))) if tag.may_stay_open else closed

    def _open_tag(self, tag: f.TagFormat, pointer: str, ends: Ends) -> Expr:
        """The same as a rule, for a tag that may hold others: its content twice, at each level, would be a lot."""
        return self.builder.add("tag", self._rest(tag, pointer, ends))

    def _find(self, known: Known) -> PartialTag | None:
        return cast("PartialTag | None", KEPT.find((known.content, known.made_by, self.tokens.number)))

    def _kept(self, known: Known | None, made: PartialTag, before: tuple[int, int, int, int]) -> PartialTag:
        """Keep what was made of a known format, unless that took rules of this grammar, or there are reports."""
        if known is None or before != self._state():
            return made
        key = known.content, known.made_by, self.tokens.number
        return cast(PartialTag, KEPT.keep(key, made))

    def _state(self) -> tuple[int, int, int, int]:
        """What changes when something is lowered to what is of no use to other grammars."""
        return self.builder.num_rules, len(self.report), self.num_unknown, self._num_taken_again

    def _content(self, tag: f.TagFormat, pointer: str, ends: Ends) -> Expr:
        before = self._origin
        self._origin = before if tag.known is None else tag.known.origin
        try:
            content = self.lower(tag.content, f"{pointer}/content", ends)
        except SchemaError as error:
            message = _of_tool(tag, error.message)
            raise type(error)(message, pointer=error.pointer, keyword=error.keyword, hint=error.hint) from error
        except StructuralTagError as error:
            raise StructuralTagError(_of_tool(tag, error.message), pointer=error.pointer, hint=error.hint) from error
        self._origin = before
        return capture(tag.capture, content, ends.as_bytes)

    def triggered_tags(self, it: f.TriggeredTagsFormat, pointer: str, ends: Ends) -> Expr:
        triggers = Triggers(
            self._started(it, pointer, ends if it.stop_after_first else NO_ENDS),
            excluded=it.excludes,
            at_once=it.at_least_one,
            once=it.stop_after_first,
            pointer=pointer,
            where=lambda i: f"{pointer}/tags/{i}",
            name=it.capture,
            separator=it.separator,
            closed=it.stop_after_first,
        )
        return text_with_triggers(self, triggers, ends)

    def _started(self, it: f.TriggeredTagsFormat, pointer: str, ends: Ends) -> list[Started]:
        lengths = sorted({len(trigger) for trigger in it.triggers})
        started: list[Started] = []
        idle = dict.fromkeys(it.triggers, True)
        for i, tag in enumerate(it.tags):
            begin = tag.begin.split(NAME)[0] if isinstance(tag, NamedTagFormat) else tag.begin
            if not isinstance(begin, str):
                raise StructuralTagError(
                    "the begin of a tag in triggered_tags must be a string",
                    pointer=f"{pointer}/tags/{i}/begin",
                    hint="use token_triggered_tags for tags that begin with a token",
                )
            shortest = None  # which is met first
            for length in lengths:
                beginning = begin[:length]
                if beginning in idle:
                    idle[beginning] = False
                    shortest = shortest or beginning
            if shortest is None:
                raise StructuralTagError(
                    f"no trigger is a prefix of this tag's begin, {begin[:60]!r}",
                    pointer=f"{pointer}/tags/{i}/begin",
                    hint=f"let it begin with one of the triggers, such as {it.triggers[0][:60]!r}, or add a trigger",
                )
            where = f"{pointer}/tags/{i}"
            if isinstance(tag, NamedTagFormat):
                started.append((shortest, named_tag(tag, where, self.tokens, self.lower).before(ends)))
            else:
                started.append((shortest, self.partial_tag(tag, where, ends)))
        for i, trigger in enumerate(it.triggers):
            if idle[trigger]:
                raise StructuralTagError(
                    f"no tag begins with the trigger {trigger[:60]!r}",
                    pointer=f"{pointer}/triggers/{i}",
                    hint="remove the trigger, or let a tag begin with it",
                )
        return started

    def token_triggered_tags(self, it: f.TokenTriggeredTagsFormat, pointer: str, ends: Ends) -> Expr:
        triggers = self.tokens_of(it.trigger_tokens, f"{pointer}/trigger_tokens")
        once, last = it.stop_after_first, ends if it.stop_after_first else NO_ENDS
        started = []
        for i, tag in enumerate(it.tags):
            where = f"{pointer}/tags/{i}"
            if not isinstance(tag.begin, f.TokenFormat):
                raise StructuralTagError(
                    "the begin of a tag in token_triggered_tags must be a token",
                    pointer=f"{where}/begin",
                    hint='use {"type": "token", "token": …}, or triggered_tags',
                )
            token = self.token_of(tag.begin.token, f"{where}/begin/token")
            if token not in triggers and self._are_distinct((token, *triggers)):
                raise StructuralTagError("no trigger token is this tag's begin", pointer=f"{where}/begin")
            started.append((token, self.partial_tag(tag, where, last).rest))
        begins = [token for token, _ in started]
        for i, trigger in enumerate(it.trigger_tokens):
            token = self.token_of(trigger, f"{pointer}/trigger_tokens/{i}")
            if token not in begins and self._are_distinct((token, *begins)):
                shown = str(trigger)[:60]
                raise StructuralTagError(
                    f"no tag begins with the trigger token {shown}", pointer=f"{pointer}/trigger_tokens"
                )
        return tokens_with_triggers(
            self,
            started,
            ends,
            excluded=tuple(self.tokens_of(it.exclude_tokens, f"{pointer}/exclude_tokens")),
            at_once=it.at_least_one,
            once=once,
            closed=once,
        )

    def _are_distinct(self, given: Sequence[Token]) -> bool:
        """Whether unequal tokens are certainly different; without a tokenizer, an id and a name may be the same."""
        return len({isinstance(token, int) for token in given}) == 1

    def tags_with_separator(self, it: f.TagsWithSeparatorFormat, pointer: str, ends: Ends) -> Expr:
        def any_tag(ends: Ends) -> Expr:
            return any_of([self.lower(tag, f"{pointer}/tags/{i}", ends) for i, tag in enumerate(it.tags)])

        each, separator = any_tag(NO_ENDS), self.tokens.spell(it.separator)
        if not it.stop_after_first:
            each = self.builder.add("tag", each)
        if ends is NO_ENDS or all(map(_ends_itself, it.tags)):
            listed = each if it.stop_after_first else seq(each, star(seq(separator, each)))
            return ends.after(listed if it.at_least_one else optional(listed))
        listed = any_tag(ends) if it.stop_after_first else seq(star(seq(each, separator)), any_tag(ends))
        return listed if it.at_least_one else alt(ends.alone, listed)

    def dispatch(self, it: f.DispatchFormat, pointer: str, ends: Ends) -> Expr:
        once, last = not it.loop, NO_ENDS if it.loop else ends
        started = [
            (pattern, PartialTag(self.tokens.pieces(pattern), self.lower(each, f"{pointer}/rules/{i}/1", last)))
            for i, (pattern, each) in enumerate(it.rules)
        ]
        triggers = Triggers(
            started,
            excluded=it.excludes,
            at_once=False,
            once=once,
            pointer=pointer,
            where=lambda i: f"{pointer}/rules/{i}/0",
            closed=once,
        )
        return text_with_triggers(self, triggers, ends)

    def token_dispatch(self, it: f.TokenDispatchFormat, pointer: str, ends: Ends) -> Expr:
        once, last = not it.loop, NO_ENDS if it.loop else ends
        started = []
        for i, (token, each) in enumerate(it.rules):
            where = f"{pointer}/rules/{i}"
            started.append((self.token_of(token, f"{where}/0"), self.lower(each, f"{where}/1", last)))
        excluded = tuple(self.tokens_of(it.exclude_tokens, f"{pointer}/exclude_tokens"))
        return tokens_with_triggers(self, started, ends, excluded=excluded, at_once=False, once=once, closed=once)


_LOWER: Final[dict[type[Format], Callable[[Lowering, Any, str, Ends], Expr]]] = {
    each: getattr(Lowering, "or_" if each.type == "or" else each.type) for each in Format.__subclasses__()
}
