"""What the formats of many families are made of: reasoning, free text with calls in it, and calls in one section.

A builder returns `output(request, thinking, answer)`: reasoning as the request wants it, then the answer.
With `must_call` the first call comes at once, but for white space; with `content` there is no free text.
Tested by tests/structural_tag/test_families.py.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from maskwright.structural_tag.formats.base import Format, altered
from maskwright.structural_tag.formats.classes import (
    AnyTextFormat,
    ConstStringFormat,
    OptionalFormat,
    OrFormat,
    PlusFormat,
    RegexFormat,
    SequenceFormat,
    TagFormat,
    TagsWithSeparatorFormat,
    TriggeredTagsFormat,
)
from maskwright.structural_tag.formats.defaults import remade
from maskwright.structural_tag.request import ToolRequest
from maskwright.structural_tag.tools import Tool

_JSON: Final = json.JSONEncoder(ensure_ascii=False)
WHITE = RegexFormat("[ \\n]{0,8}")
THINK = ("<think>", "</think>")
_NO_LIST = RegexFormat(r"\s*(?:[^\s\[](?:.|\n)*)?")


_STRING: Final = ConstStringFormat("")
_SEQUENCE: Final = SequenceFormat((_STRING,))


def exactly(text: str) -> Format:
    """Return the format of a string that is known to be right: parts of calls are made anew for each tool."""
    return altered(_STRING, value=text)


def in_order(*elements: Format) -> Format:
    """Return the sequence of formats that are known to be right."""
    return altered(_SEQUENCE, elements=elements)


def quoted(name: str) -> str:
    """A name as a JSON string."""
    return _JSON.encode(name)


def bare_calls(
    request: ToolRequest, before: str, after: str, end: str, style: str = "json", *excludes: str
) -> tuple[TagFormat, ...]:
    """Return the calls of all tools whose names stand as they are, between two texts and before the arguments."""
    return request.calls(_bare_call, before, after, end, style, excludes)


def _bare_call(
    request: ToolRequest, tool: Tool, before: str, after: str, end: str, style: str, excludes: tuple[str, ...]
) -> TagFormat:
    return request.call(tool, f"{before}{tool.name}{after}", request.arguments(tool, style, *excludes), end)


def json_calls(request: ToolRequest, before: str, after: str, end: str) -> tuple[TagFormat, ...]:
    """Return the calls of all tools whose names are JSON strings, between two texts and before arguments in JSON."""
    return request.calls(_json_call, before, after, end)


def _json_call(request: ToolRequest, tool: Tool, before: str, after: str, end: str) -> TagFormat:
    return request.call(tool, f"{before}{quoted(tool.name)}{after}", request.arguments(tool), end)


def text_of(request: ToolRequest, excludes: Sequence[str] = (), ends: Sequence[str] = ()) -> Format:
    """The answer where nothing is called: what the request says, before one of the ends, or free text."""
    if request.content is None:
        return AnyTextFormat(excludes=tuple(excludes), capture="content")
    return SequenceFormat((WHITE, canonical_bytes(request.content, *ends)))


def canonical_bytes(format_: Format, *ends: str) -> Format:
    """A format that is the answer's content; a regex does not hold what ends it."""
    if isinstance(format_, RegexFormat) and ends:
        format_ = altered(format_, excludes=(*format_.excludes, *ends))
    return TagFormat("", format_, "", capture="content")


def marked(request: ToolRequest, answer: Format, *marks: tuple[str, str]) -> Format:
    """The answer, or its text between two marks; where it stands without them, `answer` must exclude them."""
    if request.must_call:
        return answer
    every = [mark for pair in marks for mark in pair]
    content = text_of(request, every, every)
    return OrFormat((answer, *[SequenceFormat((WHITE, TagFormat(begin, content, end), WHITE)) for begin, end in marks]))


def list_or_text(request: ToolRequest, calls: Format) -> Format:
    """Calls in brackets and nothing else, or an answer, which does not begin with `[`, even after white space.

    No white space stands before the calls, since some parsers look for them at the very start.
    """
    section = SequenceFormat((TagFormat("[", calls, "]"), WHITE))
    if request.must_call:
        return section
    return OrFormat((section, text_of(request) if request.content else canonical_bytes(_NO_LIST)))


def output(
    request: ToolRequest, answer: Format, think: tuple[str, str] = THINK, excludes: Sequence[str] = ()
) -> Format:
    """Reasoning between `think`, in which nothing of `excludes` occurs, then the answer.

    Where reasoning is enabled its begin may be missing, as some chat templates put it into the prompt; where it is
    disabled they put an empty one there. White space before the begin is not counted as reasoning.
    """
    begin, end = think
    opening = SequenceFormat((WHITE, ConstStringFormat(begin)))
    thought = request.thought("", end, begin, *excludes)
    if request.reasoning == "enabled":
        return SequenceFormat((OptionalFormat(opening), thought, answer))
    if request.reasoning == "auto":
        return SequenceFormat((OptionalFormat(SequenceFormat((opening, thought))), answer))
    return answer


def calls_in_text(
    request: ToolRequest,
    triggers: Sequence[str],
    tags: Sequence[TagFormat],
    excludes: Sequence[str] = THINK,
    separator: str = "",
    before: Format = WHITE,
) -> Format:
    """Free text with calls in it, each a tag of its own. Where nothing may be called, no call begins.

    Calls without text before them may have `before` there.
    A call may have `separator` behind it, which is no text. Text may follow a call where others may; after the only
    one there is white space.
    """
    if not tags:
        return text_of(request, [*excludes, *triggers])
    if request.content is not None and not request.must_call:
        between = SequenceFormat((OptionalFormat(ConstStringFormat(separator)), WHITE)) if separator else WHITE
        call = SequenceFormat((OrFormat(tuple(tags)), between))
        return OrFormat((SequenceFormat((before, PlusFormat(call) if request.parallel else call)), text_of(request)))
    if request.must_call and not request.parallel:
        return SequenceFormat((before, OrFormat(tuple(tags)), WHITE))
    calls = TriggeredTagsFormat(
        tuple(triggers),
        tuple(tags if request.parallel else [remade(tag, _then_white, _then_white) for tag in tags]),
        at_least_one=request.must_call,
        stop_after_first=not request.parallel,
        excludes=tuple(excludes),
        capture="content",
        separator=separator,
    )
    return SequenceFormat((before, calls)) if request.must_call else calls


def _then_white(tag: TagFormat) -> TagFormat:
    """A tag with white space behind it."""
    whole = TagFormat("", tag.content, tag.end, capture=tag.capture)
    return TagFormat(tag.begin, SequenceFormat((whole, WHITE)), "")


def calls_in_section(
    request: ToolRequest,
    begin: str | Sequence[str],
    tags: Sequence[TagFormat],
    end: str,
    *,
    opening: Format | None = None,
    separator: str = "",
    trigger: str | None = None,
    excludes: Sequence[str] = THINK,
) -> Format:
    """Free text, then all calls in one section, after which white space may follow; it may have several begins.

    `opening` stands before the calls; `trigger` is what the begin begins with, where text ends. Where nothing may be
    called, no section begins.
    """
    begins = (begin,) if isinstance(begin, str) else tuple(begin)
    triggers = (trigger,) if trigger else begins
    if not tags:
        return text_of(request, [*excludes, *triggers])
    calls: Format = TagsWithSeparatorFormat(
        tuple(tags), separator, at_least_one=True, stop_after_first=not request.parallel
    )
    sections = [TagFormat(each, SequenceFormat((opening, calls)) if opening else calls, end) for each in begins]
    at_once = SequenceFormat((WHITE, OrFormat(tuple(sections)), WHITE))
    if request.must_call:
        return at_once
    if request.content is not None:
        return OrFormat((at_once, text_of(request)))
    return TriggeredTagsFormat(
        triggers, tuple(map(_then_white, sections)), stop_after_first=True, excludes=tuple(excludes), capture="content"
    )
