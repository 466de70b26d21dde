r"""The named sets of characters that regular expressions speak of: `\d \w \s`, `.`, POSIX classes, `\p{…}`, and case
folding.

    >>> property_set("Script=Greek") & CodePointSet.from_string("aα")
    CodePointSet(3B1)
    >>> fold(CodePointSet.from_string("k"))
    CodePointSet(4B, 6B, 212A)

Properties come from `unicode.txt` next to this file (made by tools/make_unicode_data.py), so that a pattern means the
same on every version of Python. The file is read when a property is first needed, and each set is built when first
asked for. Names of properties match loosely, as UTS 18 section 1.2 has it: case, spaces, `-` and `_` do not count.
Case folding is simple folding (CaseFolding.txt, statuses C and S): one character folds to one, so `ß` equals `ẞ`,
not `ss`.
Tested by tests/frontends/regex/test_regex.py.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from maskwright.frontends.charset import ALL_CHARACTERS, NO_CHARACTERS, CodePointSet

_set = CodePointSet.from_ranges

ASCII: Final = _set([(0, 0x7F)])
LINE_FEED: Final = CodePointSet.from_string("\n")
ASCII_DIGIT: Final = CodePointSet.from_string("0123456789")
_LOWER, _UPPER = _set([(0x61, 0x7A)]), _set([(0x41, 0x5A)])
ASCII_WORD: Final = _LOWER | _UPPER | ASCII_DIGIT | CodePointSet.from_string("_")
ASCII_SPACE: Final = CodePointSet.from_string("\t\n\v\f\r ")
# ECMA-262 sections 12.2 (WhiteSpace) and 12.3 (LineTerminator).
ECMA_NEWLINES: Final = CodePointSet.from_string("\n\r\u2028\u2029")
_SPACES: Final = "\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
ECMA_SPACE: Final = ASCII_SPACE | CodePointSet.from_string(_SPACES + "\ufeff")
# What str.isspace() says: the property White_Space, and the separators U+001C to U+001F.
UNICODE_SPACE: Final = ASCII_SPACE | CodePointSet.from_string(_SPACES + "\x1c\x1d\x1e\x1f\x85")

POSIX: Final = {
    "alnum": _LOWER | _UPPER | ASCII_DIGIT,
    "alpha": _LOWER | _UPPER,
    "ascii": ASCII,
    "blank": CodePointSet.from_string("\t "),
    "cntrl": _set([(0, 0x1F), (0x7F, 0x7F)]),
    "digit": ASCII_DIGIT,
    "graph": _set([(0x21, 0x7E)]),
    "lower": _LOWER,
    "print": _set([(0x20, 0x7E)]),
    "punct": _set([(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)]),
    "space": ASCII_SPACE,
    "upper": _UPPER,
    "word": ASCII_WORD,
    "xdigit": CodePointSet.from_string("0123456789abcdefABCDEF"),
}


class Shorthands(NamedTuple):
    r"""What `\d`, `\w`, `\s` and the complement of `.` mean."""

    digit: CodePointSet
    word: CodePointSet
    space: CodePointSet
    newlines: CodePointSet


ASCII_SHORTHANDS: Final = Shorthands(ASCII_DIGIT, ASCII_WORD, ASCII_SPACE, LINE_FEED)
ECMA_SHORTHANDS: Final = Shorthands(ASCII_DIGIT, ASCII_WORD, ECMA_SPACE, ECMA_NEWLINES)
# What WordCharacters says under the flag i: with the long s and the Kelvin sign, which equal s and k.
ECMA_CASELESS_SHORTHANDS: Final = ECMA_SHORTHANDS._replace(word=ASCII_WORD | CodePointSet.from_string("\u017f\u212a"))


@lru_cache(maxsize=1)
def unicode_shorthands() -> Shorthands:
    """Shorthands as Python has them: `\\w` is letters, numbers and the underscore."""
    word = _category("L") | _category("N") | CodePointSet.from_string("_")
    return Shorthands(_category("Nd"), word, UNICODE_SPACE, LINE_FEED)


_CATEGORY_NAMES: Final = """C Other,Cc Control,Cc cntrl,Cf Format,Cn Unassigned,Co Private_Use,Cs Surrogate,L Letter,
LC Cased_Letter,L& Cased_Letter,Ll Lowercase_Letter,Lm Modifier_Letter,Lo Other_Letter,Lt Titlecase_Letter,
Lu Uppercase_Letter,M Mark,M Combining_Mark,Mc Spacing_Mark,Me Enclosing_Mark,Mn Nonspacing_Mark,N Number,
Nd Decimal_Number,Nd digit,Nl Letter_Number,No Other_Number,P Punctuation,P punct,Pc Connector_Punctuation,
Pd Dash_Punctuation,Pe Close_Punctuation,Pf Final_Punctuation,Pi Initial_Punctuation,Po Other_Punctuation,
Ps Open_Punctuation,S Symbol,Sc Currency_Symbol,Sk Modifier_Symbol,Sm Math_Symbol,So Other_Symbol,Z Separator,
Zl Line_Separator,Zp Paragraph_Separator,Zs Space_Separator"""
_SHORT_SCRIPTS: Final = """Arab Arabic,Armn Armenian,Beng Bengali,Bopo Bopomofo,Brai Braille,Cans Canadian_Aboriginal,
Cher Cherokee,Copt Coptic,Cyrl Cyrillic,Deva Devanagari,Egyp Egyptian_Hieroglyphs,Ethi Ethiopic,Geor Georgian,
Goth Gothic,Grek Greek,Gujr Gujarati,Guru Gurmukhi,Hang Hangul,Hani Han,Hebr Hebrew,Hira Hiragana,Kana Katakana,
Khmr Khmer,Knda Kannada,Laoo Lao,Latn Latin,Mlym Malayalam,Mong Mongolian,Mymr Myanmar,Orya Oriya,Qaac Coptic,
Qaai Inherited,Runr Runic,Sinh Sinhala,Syrc Syriac,Taml Tamil,Telu Telugu,Tfng Tifinagh,Thaa Thaana,Tibt Tibetan,
Yiii Yi,Zinh Inherited,Zyyy Common,Zzzz Unknown"""
_SHORT_BINARIES: Final = """Alpha Alphabetic,AHex ASCII_Hex_Digit,Hex Hex_Digit,IDC ID_Continue,IDS ID_Start,
Ideo Ideographic,Lower Lowercase,Upper Uppercase,space White_Space,WSpace White_Space,XIDC XID_Continue,
XIDS XID_Start,EPres Emoji_Presentation,EMod Emoji_Modifier,EBase Emoji_Modifier_Base,EComp Emoji_Component,
ExtPict Extended_Pictographic,RI Regional_Indicator,Pat_WS Pattern_White_Space,Pat_Syn Pattern_Syntax,
CI Case_Ignorable,DI Default_Ignorable_Code_Point,NChar Noncharacter_Code_Point,QMark Quotation_Mark,
STerm Sentence_Terminal,Term Terminal_Punctuation,UIdeo Unified_Ideograph,VS Variation_Selector,Join_C Join_Control,
Bidi_C Bidi_Control,Bidi_M Bidi_Mirrored,Dep Deprecated,Dia Diacritic,Ext Extender,SD Soft_Dotted"""


def _loose(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


@lru_cache(maxsize=1)
def _lines() -> dict[str, str]:
    """Load the lines of unicode.txt, by kind and loose name: `gc:lu`, `sc:greek`, `bin:dash`."""
    out = {}
    text = files("maskwright.frontends.regex").joinpath("unicode.txt").read_text("ascii")
    for line in text.splitlines():
        if not line.startswith("#"):
            key, _, value = line.partition("\t")
            kind, _, name = key.partition(":")
            out[f"{kind}:{_loose(name)}"] = value
    return out


@lru_cache(maxsize=1)
def _aliases() -> dict[str, str]:
    """Return full keys by kind and loose alias."""
    out = {}
    for kind, table in (("gc", _CATEGORY_NAMES), ("sc", _SHORT_SCRIPTS), ("bin", _SHORT_BINARIES)):
        for pair in table.replace("\n", "").split(","):
            short, _, full = pair.partition(" ")
            name, alias = (short, full) if kind == "gc" else (full, short)
            out[f"{kind}:{_loose(alias)}"] = out[f"{kind}:{_loose(name)}"] = f"{kind}:{_loose(name)}"
    return out


def _parse(ranges: str) -> CodePointSet:
    pairs = (part.partition("-") for part in ranges.split())
    return CodePointSet.from_ranges([(int(a, 16), int(b or a, 16)) for a, _, b in pairs])


def _category(name: str) -> CodePointSet:
    found = _lookup(f"gc:{name.lower()}")
    assert found is not None
    return found


@lru_cache(maxsize=512)
def _lookup(key: str) -> CodePointSet | None:
    key = _aliases().get(key, key)
    kind, _, name = key.partition(":")
    if kind == "gc":
        return _lookup_category(name)
    if kind == "scx":
        base = _lookup(f"sc:{name}")
        if base is None:
            return None
        # Scripts whose two properties differ have a line of their own: what to add, and what to take.
        canonical = _aliases().get(f"sc:{name}", f"sc:{name}")
        added, _, taken = _lines().get(canonical.replace("sc:", "scx:"), "").partition("|")
        return (base | _parse(added)) - _parse(taken)
    line = _lines().get(key)
    return None if line is None else _parse(line)


def _lookup_category(name: str) -> CodePointSet | None:
    if not name:
        return None
    if name == "cs":
        return NO_CHARACTERS
    if name in ("lc", "l&"):
        return _category("Lu") | _category("Ll") | _category("Lt")
    parts = [line for key, line in _lines().items() if key.startswith("gc:" + name)] if len(name) <= 2 else []
    return _parse(" ".join(parts)) if parts else None


def property_set(name: str) -> CodePointSet | None:
    r"""The characters with a property, named as within `\p{…}`; None when the property is unknown."""
    kind, equals, value = name.replace(":", "=").partition("=")
    if equals:
        kinds = {
            "gc": "gc",
            "generalcategory": "gc",
            "sc": "sc",
            "script": "sc",
            "scx": "scx",
            "scriptextensions": "scx",
        }
        prefix = kinds.get(_loose(kind))
        return _lookup(f"{prefix}:{_loose(value)}") if prefix else None
    loose = _loose(name)
    if loose == "any":
        return ALL_CHARACTERS
    if loose == "ascii":
        return ASCII
    if loose == "assigned":
        return ~_category("Cn")
    for prefix in ("gc", "sc", "bin"):
        found = _lookup(f"{prefix}:{loose}")
        if found is not None:
            return found
    return None


@lru_cache(maxsize=1)
def _fold_classes() -> dict[int, tuple[int, ...]]:
    out = {}
    for group in _lines()["fold:"].split():
        members = tuple(int(c, 16) for c in group.split("="))
        out.update(dict.fromkeys(members, members))
    return out


_SIMPLE_ASCII: Final[dict[int, tuple[int, ...]]] = {
    **{c: (c, c ^ 0x20) for c in map(ord, "abcdefghijlmnopqrtuvwxyzABCDEFGHIJLMNOPQRTUVWXYZ")},
    **{ord(c): (0x4B, 0x6B, 0x212A) for c in "kK"},
    **{ord(c): (0x53, 0x73, 0x17F) for c in "sS"},
}


@lru_cache(maxsize=256)
def fold(characters: CodePointSet, ascii_only: bool = False) -> CodePointSet:
    """The characters that are equal to one of a set when case is ignored, of all letters or only those of ASCII."""
    if not characters:
        return characters
    if ascii_only:
        return characters | (fold(characters & ASCII) & ASCII)
    classes = _SIMPLE_ASCII if characters.ranges[-1][1] <= 0x7F else _fold_classes()
    members = characters if len(characters) < len(classes) else [c for c in classes if c in characters]
    return characters | CodePointSet.from_code_points(f for c in members for f in classes.get(c, ()))
