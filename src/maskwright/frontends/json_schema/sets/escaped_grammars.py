r"""Grammars of texts, rewritten to what their texts are inside a JSON string.

    "a" [^]* "\n"   →   "a" (… | "\\\"" | "\\\\" | "\\n" | …)* "\\n"

Each byte becomes its one spelling, that of `json.dumps(ensure_ascii=False)`, or with `ensure_ascii` that of
`json.dumps`. No spelling begins another, so texts and their spellings correspond one to one: intersections,
repetitions, remembered texts and parameters mean the same as before. A complement stands for all other texts, and so
is held to those in valid UTF-8. The letters that `x-guidance` allows behind a backslash are kept to: what
they leave without a spelling is left out of sets, and refused in literals.
Cost: one walk over the grammar. Tested by tests/frontends/json_schema/sets/test_grammars_in_strings.py.
"""

from __future__ import annotations

from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Final, NamedTuple

from maskwright.frontends.charset import ALL_CHARACTERS, CodePointSet, utf8
from maskwright.frontends.json_schema.sets.one_spelling import BEYOND_ASCII, SHORT_ESCAPES
from maskwright.frontends.json_schema.sets.whole_characters import are_whole
from maskwright.frontends.json_schema.text.escapes import LETTERS
from maskwright.frontends.regular import ASCII
from maskwright.ir import (
    OP_AND,
    OP_CAPTURE,
    OP_DISTINCT,
    OP_LITERAL,
    OP_NOT,
    OP_SET,
    OP_SUBSTRINGS,
    OP_TOKENS,
    OP_VALUE,
    Expr,
    GrammarIR,
    Rule,
    alt,
    and_,
    byte_set,
    capture,
    literal,
    never,
    operands,
    postorder,
    rebuilt,
    star,
)
from maskwright.ir.subgrammars import spelled_out

_BEYOND: Final = utf8(ALL_CHARACTERS - CodePointSet.from_ranges([(0, 0x7F)]))


class NotInStringsError(Exception):
    """A grammar has texts that cannot be written in a JSON string; the argument says why."""


class Spelling(NamedTuple):
    """How strings are written: `letters` may stand behind a backslash."""

    letters: str = LETTERS
    ensure_ascii: bool = False


def escaped_grammar(grammar: GrammarIR, spelling: Spelling) -> GrammarIR:
    """Return the grammar of the same texts inside a JSON string, without quotes.

    Raises:
        NotInStringsError: Some of its texts cannot be written there.
    """
    if grammar.token_sets:
        raise NotInStringsError("it names tokens, which are no text")
    whole = spelled_out(grammar)
    if not are_whole(whole):
        raise NotInStringsError("it matches bytes that are no text")
    rules = [Rule(rule.name, escaped(rule.body, spelling)) for rule in whole.rules]
    return GrammarIR(tuple(rules), whole.root)


def escaped(root: Expr, spelling: Spelling) -> Expr:
    """Return what an expression's texts, which are UTF-8, are inside a JSON string; else as `escaped_grammar`."""
    known: dict[int, Expr] = {}
    for part in postorder(root):
        known[id(part)] = _escaped(part, [known[id(inner)] for inner in operands(part)], spelling)
    return held_to(any_text(spelling), known[id(root)])


@lru_cache(maxsize=64)
def any_text(spelling: Spelling) -> Expr:
    """All texts that strings can hold, without quotes, each in its one spelling."""
    beyond = _BEYOND
    if spelling.ensure_ascii:
        beyond = BEYOND_ASCII if "u" in spelling.letters else never()
    return star(alt(_of_set(ASCII, spelling), beyond))


def _escaped(expr: Expr, parts: list[Expr], spelling: Spelling) -> Expr:
    """An expression whose parts are escaped."""
    op = expr[0]
    if op == OP_NOT:
        return rebuilt(expr, parts)
    if op == OP_AND:
        return held_to(any_text(spelling), rebuilt(expr, parts))
    parts = [held_to(any_text(spelling), part) for part in parts]
    if op == OP_LITERAL:
        return literal(_of_literal(expr[1], spelling))
    if op == OP_SET:
        return _of_set(expr[1], spelling)
    if op == OP_SUBSTRINGS:
        return Expr((OP_SUBSTRINGS, tuple([_of_literal(chunk, spelling) for chunk in expr[1]])))
    if op == OP_CAPTURE:
        return capture(expr[2], parts[0], _ends(expr[3], spelling))
    if op == OP_TOKENS:
        raise NotInStringsError("it names tokens, which are no text")
    if op == OP_VALUE or (op == OP_DISTINCT and len(parts) > 2):
        raise NotInStringsError("it compares JSON values, and in a string they are no values")
    return rebuilt(expr, parts)


def held_to(texts: Expr, expr: Expr) -> Expr:
    """Return the same expression; a complement, among these texts."""
    if expr[0] == OP_NOT or (expr[0] == OP_AND and all(part[0] == OP_NOT for part in expr[1:])):
        return and_(texts, expr)
    return expr


def _of_set(mask: int, spelling: Spelling) -> Expr:
    plain, escapes = 0, _escapes(spelling)
    others: list[Expr] = []
    for byte in range(0x80):
        if not mask >> byte & 1:
            continue
        escape = escapes[byte]
        if escape is None:
            continue
        if len(escape) == 1:
            plain |= 1 << byte
        else:
            others.append(literal(escape))
    beyond = mask & ~ASCII
    if beyond and spelling.ensure_ascii:
        raise NotInStringsError("it has sets of characters beyond ASCII, which ensure_ascii excludes")
    return alt(byte_set(plain | beyond), *others)


def _of_literal(data: bytes, spelling: Spelling) -> bytes:
    escapes = _escapes(spelling)
    out = []
    for byte in data:
        escape = escapes[byte] if byte < 0x80 else bytes((byte,))
        if escape is None:
            raise NotInStringsError(f"json_allowed_escapes leaves out the escape of {chr(byte)!r}")
        out.append(escape)
    spelled = b"".join(out)
    return _in_ascii(spelled, spelling) if spelling.ensure_ascii and not spelled.isascii() else spelled


def _in_ascii(data: bytes, spelling: Spelling) -> bytes:
    if "u" not in spelling.letters:
        raise NotInStringsError("json_allowed_escapes leaves out the escapes of characters beyond ASCII")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise NotInStringsError("it has sets of characters beyond ASCII, which ensure_ascii excludes") from None
    return "".join([c if c.isascii() else encode_basestring_ascii(c)[1:-1] for c in text]).encode()


@lru_cache(maxsize=64)
def _escapes(spelling: Spelling) -> tuple[bytes | None, ...]:
    """The spelling of each character of ASCII; None where it has none."""
    return tuple([_escape(byte, spelling) for byte in range(0x80)])


def _escape(byte: int, spelling: Spelling) -> bytes | None:
    if byte >= 0x20 and byte not in SHORT_ESCAPES and not (byte == 0x7F and spelling.ensure_ascii):
        return bytes((byte,))
    short = SHORT_ESCAPES.get(byte)
    if short is not None and short in spelling.letters:
        return f"\\{short}".encode()
    return b"\\u%04x" % byte if "u" in spelling.letters else None


def _ends(ends: tuple[bytes, ...], spelling: Spelling) -> tuple[bytes, ...]:
    r"""The ends that a capture leaves out. `\n` ends in "n", and a text that does so in no line feed."""
    made = tuple([_of_literal(end, spelling) for end in ends])
    for end, spelled in zip(ends, made, strict=True):
        for other, other_spelled in zip(ends, made, strict=True):
            if spelled.endswith(other_spelled) and not end.endswith(other):
                raise NotInStringsError("in a string, it is not clear which of several stop texts ends a capture")
    return made
