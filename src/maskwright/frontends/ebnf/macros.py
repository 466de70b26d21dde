r"""The macros of EBNF: what they mean. What stands between their parentheses is read in arguments.py.

    Regex("[a-z]+", flags="i")                      texts that the regular expression matches as a whole
    Regex("[a-z\"]+", json_string=true)             the same within a JSON string: these characters in all spellings
    Substring("a ", "bc")                           any run of these chunks
    Token(1, 2)   Token("<think>")                  one of these tokens
    ExcludeToken(1, 2)                              one token that is none of these
    TagDispatch(("<a>", rule), …, options)          free text in which a tag starts its rule
    TokenTagDispatch((1, rule), …, options)         the same with tokens
    Distinct(name, ", ", min=1, max=9)             matches of a rule with separators between them, no two the same text
    Byte("80-bf,c2")                                one byte of a set, in hexadecimal, where it is not a character

Tested by tests/frontends/test_ebnf_macros.py, tests/corpus/ebnf.toml.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from maskwright.errors import EbnfSyntaxError, Span
from maskwright.frontends.dispatch import tag_dispatch, token_dispatch
from maskwright.frontends.ebnf.arguments import Arguments, RuleName, Value
from maskwright.frontends.ebnf.terminals import regex_expr
from maskwright.frontends.substrings import substrings
from maskwright.ir import Expr, IRBuilder, TokenSet, byte_set, distinct, text

MAX_ID: Final = 2**31 - 1

_BYTES: Final = re.compile(r"([0-9a-fA-F]{2})(?:-([0-9a-fA-F]{2}))?")


class Context(NamedTuple):
    """What macros need of the grammar around them."""

    source: str
    builder: IRBuilder
    rule: Callable[[str, int], Expr]  # the reference to a rule, by its name and the place where it stands


def regex_macro(arguments: Arguments, span: Span, source: str) -> Expr:
    """`Regex("…", flags="…", json_string=false)`."""
    named = arguments.named
    pattern: Any = arguments.positional[0].value if len(arguments.positional) == 1 else None
    flags = named["flags"].value if "flags" in named else ""
    in_json = named["json_string"].value if "json_string" in named else False
    is_known = named.keys() <= {"flags", "json_string"} and isinstance(in_json, bool)
    if not (is_known and _is_text(pattern) and _is_text(flags)):
        hint = 'write Regex("…"), Regex("…", flags="i") or Regex("…", json_string=true)'
        raise EbnfSyntaxError("malformed Regex", source=source, span=span, hint=hint)
    place = arguments.positional[0].span
    return regex_expr(pattern, place, flags, named["flags"].span if flags else place, in_json, source)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not isinstance(value, RuleName)


def substring_macro(arguments: Arguments, context: Context) -> Expr:
    """`Substring("a", "b", …)`: chunks that follow each other."""
    _options(arguments, {}, context)
    return substrings([_text(value, context) for value in arguments.positional], context.builder)


def token_macro(arguments: Arguments, context: Context) -> Expr:
    """`Token(id, "name", …)`."""
    _options(arguments, {}, context)
    if not arguments.positional:
        raise _error(
            "expected at least one token", Span(arguments.end - 1, arguments.end), context, 'write Token(1, "<think>")'
        )
    return context.builder.add_tokens(_tokens(arguments.positional, context))


def exclude_token_macro(arguments: Arguments, context: Context) -> Expr:
    """`ExcludeToken(id, "name", …)`."""
    _options(arguments, {}, context)
    return context.builder.add_tokens(_tokens(arguments.positional, context)._replace(negated=True))


def tag_dispatch_macro(arguments: Arguments, context: Context) -> Expr:
    """`TagDispatch(("tag", rule), …, loop_after_dispatch=, stop_eos=, stop_str=, excludes=)`."""
    options = _options(
        arguments, {"loop_after_dispatch": True, "stop_eos": True, "stop_str": (), "excludes": ()}, context
    )
    tags = []
    for value in arguments.positional:
        tag, rule = _pair(value, context)
        tags.append((_string(tag, context), _rule(rule, context)))
    return tag_dispatch(
        tags,
        loops=options["loop_after_dispatch"],
        ends_anywhere=options["stop_eos"],
        endings=[_string(value, context) for value in options["stop_str"]],
        excluded=[_string(value, context) for value in options["excludes"]],
    )


def token_tag_dispatch_macro(arguments: Arguments, context: Context) -> Expr:
    """`TokenTagDispatch((token, rule), …, loop_after_dispatch=, excludes=)`."""
    options = _options(arguments, {"loop_after_dispatch": True, "excludes": ()}, context)
    tags = []
    for value in arguments.positional:
        tag, rule = _pair(value, context)
        tags.append((_tokens([tag], context), _rule(rule, context)))
    excluded = _tokens(options["excludes"], context)
    return token_dispatch(tags, context.builder, loops=options["loop_after_dispatch"], excluded=excluded)


def byte_macro(arguments: Arguments, context: Context) -> Expr:
    """`Byte("80-bf,c2")`; an empty set matches nothing."""
    _options(arguments, {}, context)
    mask = 0
    for value in arguments.positional:
        for member in value.value.split(",") if isinstance(value.value, str) and value.value else ():
            match = _BYTES.fullmatch(member.strip())
            if match is None:
                raise _error("malformed set of bytes", value.span, context, 'write "80-bf,c2"')
            first, last = int(match[1], 16), int(match[2] or match[1], 16)
            mask |= (1 << (last + 1)) - (1 << first) if first <= last else 0
    return byte_set(mask)


def distinct_macro(arguments: Arguments, context: Context) -> Expr:
    """`Distinct(rule, separator, min=1, max=)`: the separator is a string or a rule."""
    hint = 'write Distinct(name, ", "), Distinct(name, comma, min=2, max=9)'
    unknown = [value for name, value in arguments.named.items() if name not in ("min", "max")]
    if unknown:
        raise _error("unknown option", unknown[0].span, context, hint)
    if len(arguments.positional) != 2:
        raise _error("expected a rule and a separator", Span(arguments.end - 1, arguments.end), context, hint)
    element, separator = arguments.positional
    least, most = [_count(arguments.named.get(name), default, context) for name, default in (("min", 1), ("max", -1))]
    if 0 <= most < least:
        raise _error("max is below min", arguments.named["max"].span, context)
    between = text(separator.value) if _is_text(separator.value) else _rule(separator, context)
    return distinct(_rule(element, context), between, least, most)


def _count(value: Value | None, default: int, context: Context) -> int:
    if value is None:
        return default
    if isinstance(value.value, int) and not isinstance(value.value, bool):
        return value.value
    raise _error("expected a number", value.span, context)


MACROS: Final[Mapping[str, Callable[[Arguments, Context], Expr]]] = {
    "Substring": substring_macro,
    "Token": token_macro,
    "ExcludeToken": exclude_token_macro,
    "TagDispatch": tag_dispatch_macro,
    "TokenTagDispatch": token_tag_dispatch_macro,
    "Byte": byte_macro,
    "Distinct": distinct_macro,
}
MACRO_NAMES: Final = ("Regex", *MACROS)


def _error(message: str, span: Span, context: Context, hint: str | None = None) -> EbnfSyntaxError:
    return EbnfSyntaxError(message, source=context.source, span=span, hint=hint)


def _options(arguments: Arguments, defaults: dict[str, Any], context: Context) -> dict[str, Any]:
    """The options by name: a bool where the default is one, else a tuple of values, for which one will do."""
    options = dict(defaults)
    for name, value in arguments.named.items():
        if name not in defaults:
            known = f"known: {', '.join(defaults)}" if defaults else "it takes none"
            raise _error(f"unknown option {name[:40]!r}", value.span, context, known)
        is_flag = isinstance(defaults[name], bool)
        if is_flag != isinstance(value.value, bool):
            needed = "true or false" if is_flag else "a list in parentheses"
            raise _error(f"the option {name} takes {needed}", value.span, context)
        options[name] = value.value if is_flag or isinstance(value.value, tuple) else (value,)
    return options


def _pair(value: Value, context: Context) -> tuple[Value, Value]:
    if isinstance(value.value, tuple) and len(value.value) == 2:
        return value.value[0], value.value[1]
    raise _error("expected a tag and a rule", value.span, context, 'write ("tag", rule)')


def _text(value: Value, context: Context) -> str:
    if _is_text(value.value):
        text: str = value.value
        return text
    raise _error("expected a string", value.span, context, 'write "…"')


def _string(value: Value, context: Context) -> str:
    if _is_text(value.value) and value.value:
        text: str = value.value
        return text
    raise _error("expected a non-empty string", value.span, context, 'write "…"')


def _rule(value: Value, context: Context) -> Expr:
    if isinstance(value.value, RuleName):
        return context.rule(value.value, value.span.start)
    raise _error("expected the name of a rule", value.span, context)


def _tokens(values: list[Value] | tuple[Value, ...], context: Context) -> TokenSet:
    names, ranges = [], []
    for value in values:
        if isinstance(value.value, int) and not isinstance(value.value, bool) and value.value <= MAX_ID:
            ranges.append((value.value, value.value))
        elif isinstance(value.value, str) and not isinstance(value.value, RuleName) and value.value:
            names.append(value.value)
        else:
            raise _error("expected a token", value.span, context, 'write its id, or its text in "…"')
    return TokenSet(tuple(names), tuple(ranges))
