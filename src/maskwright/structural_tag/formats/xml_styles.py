"""The styles other than JSON in which models write arguments: tables, no code.

A style spells a member as `open value close`. `Kind`s say how values of certain types are spelled:

    raw      a string, without quotes or escapes, up to where `close` first occurs
    quoted   a string between two quote texts, without escapes
    json     any value, as JSON
    members  an object, member by member in the same style
    items    an array, item by item
    literal, constant   a string, and true, false or null, as in Python
    boolean  true or false, as in JSON or as in Python
    null     null or None

    qwen_xml     <parameter=city>\nParis\n</parameter>
    mimo_xml     <parameter=city>Paris</parameter>
    deepseek_xml <｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>
    cohere_xml   <cofl:value name="o" type="dict"><cofl:value name="x" type="json">1.5</cofl:value></cofl:value>
    gemma        {city:<|"|>Paris<|"|>,days:3}
    python       city="Paris", days=3                                                   see python_calls.py
    python_any   city='Paris', dry=true

Between members and around objects and arrays in JSON there may be white space. Where `padded`, all other values may
have a newline before and one after them which do not count, as readers of that format take them off. Numbers, booleans
and null have no other white space around them unless a label says that they are JSON: servers' parsers take ` true` for
a string, or for false. The chat templates of Qwen and MiMo write `True`, `False` and `None`.
Sources: the chat templates that come with the models; for the newest styles, the outputs that XGrammar 0.2.8 accepts.
Tested by tests/structural_tag/arguments/test_xml.py.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from maskwright.structural_tag.texts.tokens import Pieces, Token, Tokens


class Kind(NamedTuple):
    """How values of these types are spelled; `label` stands for {kind}."""

    types: tuple[str, ...]
    spelling: str
    label: str = ""


class Style(NamedTuple):
    """In `open`, `close` and `open_item`, {name} is the member's name, {kind} the kind's label, {ws} white space.

    With a `separator`, members stand in braces and items in brackets, and there is no white space. In names, characters
    are written as `escapes` say, `&` first. `any_quotes`: strings also stand in single quotes, and true, false and null
    are also spelled as in JSON. Without escapes, names hold none of `not_in_names`, by which readers tell their end.
    Where it `sorts`, declared members come in the order of their names without regard to case, as Jinja's `dictsort`
    has them, and undeclared ones anywhere.
    """

    open: str
    close: str
    kinds: tuple[Kind, ...]
    padded: bool = False
    open_item: str = ""
    separator: str = ""
    quote: str = ""
    is_python: bool = False
    escapes: tuple[tuple[str, str], ...] = ()
    any_quotes: bool = False
    not_in_names: tuple[str, ...] = ("<", ">", '"')
    sorts: bool = False

    def spelled(self, tokens: Tokens) -> SpelledStyle:
        """Split all texts at special tokens."""
        return SpelledStyle(
            _template(self.open, tokens),
            _template(self.close, tokens),
            _template(self.open_item, tokens),
            self.kinds,
            self.padded,
            self.separator,
            tokens.pieces(self.quote),
            self.is_python,
            self.escapes,
            self.any_quotes,
            self.not_in_names,
            self.sorts,
        )


class SpelledStyle(NamedTuple):
    """A style whose texts are pieces; the pieces {name}, {kind} and {ws} stand for themselves."""

    open: Pieces
    close: Pieces
    open_item: Pieces
    kinds: tuple[Kind, ...]
    padded: bool
    separator: str
    quote: Pieces
    is_python: bool
    escapes: tuple[tuple[str, str], ...]
    any_quotes: bool
    not_in_names: tuple[str, ...]
    sorts: bool

    @property
    def string_end(self) -> str:
        """What no string without escapes contains, or how that begins; "" if that is a token, which none contains."""
        end = self.quote or self.close
        is_text = len(end) == 1 or any(piece in HOLES for piece in end)
        return str(end[0]) if end and is_text and isinstance(end[0], str) else ""

    @property
    def repeats_names(self) -> bool:
        """Whether a member ends with its name, so that a grammar of members of any name remembers text."""
        return "{name}" in self.close

    @property
    def most_around(self) -> int:
        """In how many bytes, or tokens, the marks around a value can be written, and what stands between two values."""
        marks = [*self.open, *self.close, *self.open_item, *self.quote, *self.quote, self.separator, "\n\n"]
        marks.append(max((kind.label for kind in self.kinds), key=len))
        return sum(len(mark.encode()) if isinstance(mark, str) else 1 for mark in marks)


HOLES: Final = ("{name}", "{kind}", "{ws}")


def _template(text: str, tokens: Tokens) -> Pieces:
    pieces: list[str | Token] = []
    while text:
        at, hole = min((text.find(hole) % (len(text) + 1), hole) for hole in HOLES)
        pieces += tokens.pieces(text[:at])
        pieces += (hole,) if at < len(text) else ()
        text = text[at + len(hole) :]
    return tuple(pieces)


_OTHERS: Final = ("number", "boolean", "null", "object", "array")
SCALARS: Final = ("number", "boolean", "null")
_PLAIN: Final = (Kind(("string",), "raw"), Kind(_OTHERS, "json"))
_WITH_BOOLEANS: Final = (
    Kind(("string",), "raw"),
    Kind(("boolean",), "boolean"),
    Kind(("null",), "null"),
    Kind(("number", "object", "array"), "json"),
)
_BY_STRING: Final = (Kind(("string",), "raw", "true"), Kind(_OTHERS, "json", "false"))
# Readers look for the end of a name, some for the next element before that.
_BEFORE_BRACKET: Final = (">", "</", "<parameter", "<function", "<tool_call")
_BEFORE_QUOTE: Final = ('"', ">", "</", "<parameter", "<invoke")
_BEFORE_COLON: Final = (":", ",", "{", "}", "[", "]", "<", ">", '"')
_IN_ELEMENT: Final = ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<tool_call>", "</tool_call>")
_M3: Final = "]<]minimax[>["

_GEMMA: Final = Style(
    "{name}:",
    "",
    (
        Kind(("string",), "quoted"),
        Kind(("number", "boolean"), "json"),
        Kind(("null",), "null"),
        Kind(("object",), "members"),
        Kind(("array",), "items"),
    ),
    separator=",",
    quote='<|"|>',
    not_in_names=_BEFORE_COLON,
    sorts=True,
)
_PYTHON: Final = Style(
    "{name}=",
    "",
    (
        Kind(("string",), "literal"),
        Kind(("number",), "json"),
        Kind(("boolean", "null"), "constant"),
        Kind(("object",), "members"),
        Kind(("array",), "items"),
    ),
    separator=", ",
    is_python=True,
)

STYLES: Final = {
    "qwen_xml": Style("<parameter={name}>", "</parameter>", _WITH_BOOLEANS, padded=True, not_in_names=_BEFORE_BRACKET),
    "mimo_xml": Style("<parameter={name}>", "</parameter>", _WITH_BOOLEANS, not_in_names=_BEFORE_BRACKET),
    "minimax_xml": Style('<parameter name="{name}">', "</parameter>", _PLAIN, not_in_names=_BEFORE_QUOTE),
    "minimax_m3_xml": Style(
        f"{_M3}<{{name}}>",
        f"{_M3}</{{name}}>",
        (
            Kind(("string",), "raw"),
            Kind(SCALARS, "json"),
            Kind(("object",), "members"),
            Kind(("array",), "items"),
        ),
        open_item=f"{_M3}<item>",
    ),
    "step_xml": Style('<steptml:parameter name="{name}">', "</steptml:parameter>", _PLAIN),
    "deepseek_xml": Style('<｜DSML｜parameter name="{name}" string="{kind}">', "</｜DSML｜parameter>", _BY_STRING),
    "deepseek_v4_1_xml": Style(
        '<｜DSML｜ parameter name="{name}" string="{kind}">', "</｜DSML｜ parameter>", _BY_STRING
    ),
    "glm_xml": Style("<arg_key>{name}</arg_key>{ws}<arg_value>", "</arg_value>", _PLAIN, not_in_names=_IN_ELEMENT),
    "cohere_xml": Style(
        '<cofl:value name="{name}" type="{kind}">',
        "</cofl:value>",
        (
            Kind(("string",), "raw", "raw"),
            Kind(SCALARS, "json", "json"),
            Kind(("object",), "members", "dict"),
            Kind(("array",), "items", "list"),
        ),
        open_item='<cofl:value type="{kind}">',
        escapes=(("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")),
    ),
    "gemma": _GEMMA,
    "function_gemma": _GEMMA._replace(quote="<escape>"),
    "python": _PYTHON,
    "python_any": _PYTHON._replace(any_quotes=True),
    "kimi_k3_xml": Style(
        '<|open|>argument key="{name}" type="{kind}"<|sep|>',
        "<|close|>argument<|sep|>",
        tuple(Kind((name,), "raw" if name == "string" else "json", name) for name in ("string", *_OTHERS)),
        escapes=(("&", "&amp;"), ('"', "&quot;")),
    ),
}


def spelled_style(name: str, tokens: Tokens) -> SpelledStyle:
    """Return the style with this name as a tokenizer's special tokens split it, made once."""
    known = tokens.styles.get(name)
    if known is None:
        known = tokens.styles[name] = STYLES[name].spelled(tokens)
    assert isinstance(known, SpelledStyle)
    return known
