"""The values of `format`, as regular expressions over the characters of the string.

A format is one regular expression, or a function that puts it together from some: pieces that stand in many places, or
in many formats, are read once, and are the same object wherever they stand. What is written with `text` has characters
that every encoding spells as they are; a slash has two spellings in JSON, so it is read like the pieces.

Dates know their calendar (29 February in leap years only). Each expression matches exactly what its source defines, or
a part of it where the whole is not regular or not worth its size:
  * a leap second only where the offset is of whole quarters of an hour;
  * a host name's labels have no `--` in their third and fourth place, so no punycode, whose validity is not regular;
  * local times have no leap second;
  * a network of IPv6 is written as address_formats.py says, and an interface has the length of a prefix, no mask;
  * base64 has its padding, and no line breaks;
  * an internationalized label has up to 12 letters out of alphabets that IDNA takes without conditions;
  * a regular expression has groups in groups, but no deeper, a name at most for a group that it begins with, ranges of
    characters from the start of an alphabet only, and references to a group only if its name is a lower-case letter.
A format that is not listed is an annotation, as the standard has it.
Some formats are not the standard's: `date-time-local` and `time-local` are in OpenAPI's registry of formats; `uuid4`,
`base64` and those of networks and interfaces are what Pydantic writes for its types. Those of integers, such as
OpenAPI's `int64`, are bounds.
Sources: RFC 3339 (dates, times, durations), address_formats.py, RFC 5321 (email), RFC 1123 (host names), RFC 5890 to
5892 and 6531 (their international forms), RFC 3986 and 3987 (URI, IRI), ECMA-262 (regex), RFC 9562 (UUID), RFC 4648
(base64), RFC 6570 (templates), RFC 6901 (pointers).
Tested by tests/frontends/json_schema/sets/test_schema_formats.py, test_pydantic_formats.py and test_integer_formats.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from string import ascii_lowercase
from typing import Any, Final, TypeAlias

from maskwright.frontends.charset import Encoding
from maskwright.frontends.json_schema.sets.address_formats import (
    IPV4,
    IPV4_INTERFACE,
    IPV4_NETWORK,
    IPV6,
    IPV6_INTERFACE,
    IPV6_NETWORK,
)
from maskwright.frontends.regex import regex_to_expr
from maskwright.ir import EMPTY, Expr, alt, optional, plus, seq, star, text

Read: TypeAlias = Callable[[str], Expr]  # gives the expression of a piece
Format: TypeAlias = "str | Callable[[Read], Expr]"

_LEAP_YEAR: Final = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE: Final = (
    "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    f"|{_LEAP_YEAR}-02-29)"
)
_HOUR_MINUTE: Final = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_SECOND_FRACTION: Final = "(?:\\.[0-9]+)?"
_LOCAL_TIME: Final = f"{_HOUR_MINUTE}:[0-5][0-9]{_SECOND_FRACTION}"


def _time(read: Read) -> Expr:
    fraction = read(_SECOND_FRACTION)
    at_hours = [seq(text("23:59:60"), fraction, read("[Zz]"))]
    for hour in range(24):  # 23:59:60 in UTC, as offsets of quarters of an hour have it
        at_minutes = []
        for minute in (14, 29, 44, 59):
            ahead, behind = divmod(hour * 60 + minute + 1, 60), (23 - hour, 59 - minute)
            offsets = text(f"+{ahead[0] % 24:02}:{ahead[1]:02}"), text("-{:02}:{:02}".format(*behind))
            at_minutes.append(seq(text(f"{minute}:60"), fraction, alt(*offsets)))
        at_hours.append(seq(text(f"{hour:02}:"), alt(*at_minutes)))
    return alt(read(f"{_LOCAL_TIME}(?:[Zz]|[+-]{_HOUR_MINUTE})"), *at_hours)


def _date_time(read: Read) -> Expr:
    return seq(read(_DATE), read("[Tt]"), _time(read))


_DURATION_TIME: Final = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DURATION_DATE: Final = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
_DURATION: Final = f"P(?:[0-9]+W|{_DURATION_DATE}(?:{_DURATION_TIME})?|{_DURATION_TIME})"

_ALNUM, _LDH = "[A-Za-z0-9]", "[A-Za-z0-9-]"
_UP_TO_58: Final = f"{_LDH}?" * 58  # written out, it is part of one automaton; counted, a rule that all letters call
_LABEL: Final = (
    f"(?:{_ALNUM}|{_ALNUM}{_LDH}{{0,2}}{_ALNUM}|{_ALNUM}{_LDH}(?:{_ALNUM}{_LDH}|-{_ALNUM}){_UP_TO_58}{_ALNUM})"
)
_HOSTNAME: Final = f"{_LABEL}(?:\\.{_LABEL})*"

_ATOM: Final = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_QUOTED: Final = '"(?:[ !#-\\[\\]-~]|\\\\[ -~])*"'
_LOCAL_PART: Final = f"(?:{_ATOM}(?:\\.{_ATOM})*|{_QUOTED})"


def _mail(local_part: str, domain: str) -> Format:
    def address(read: Read) -> Expr:
        literal = seq(text("["), alt(read(IPV4), seq(read("[Ii][Pp][Vv]6:"), read(IPV6))), text("]"))
        return seq(read(local_part), text("@"), alt(read(domain), literal))

    return address


# Lower-case Latin-1, Greek and Cyrillic; kana; Han; Hangul: valid in IDNA 2008, left to right, stable in NFC.
_IDN_LETTERS: Final = "à-öø-ÿα-ωа-я\\u3041-\\u3096\\u30A1-\\u30FA\\u4E00-\\u9FFF\\uAC00-\\uD7A3"
_IDN_LABEL: Final = f"(?:{_LABEL}|[a-z0-9{_IDN_LETTERS}]{{1,12}})"
_IDN_HOSTNAME: Final = f"(?:{_HOSTNAME}|{_IDN_LABEL}(?:[.\\u3002\\uFF0E\\uFF61]{_IDN_LABEL}){{0,2}})"
_IDN_ATOM: Final = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10FFFF}-]+"
_IDN_QUOTED: Final = '"(?:[ !#-\\[\\]-~\\u0080-\\u{10FFFF}]|\\\\[ -~])*"'
# Addresses, unlike names of hosts, may have accents that are characters of their own: the official tests have it so.
_ACCENTED_LABEL: Final = f"(?:[a-z{_IDN_LETTERS}][\\u0300-\\u036F]?){{1,6}}"
_IDN_DOMAIN: Final = f"(?:{_IDN_HOSTNAME}|{_ACCENTED_LABEL}(?:\\.{_ACCENTED_LABEL}){{0,2}})"
_IDN_LOCAL_PART: Final = f"(?:{_IDN_ATOM}(?:\\.{_IDN_ATOM})*|{_IDN_QUOTED})"

_HEX: Final = "[0-9A-Fa-f]"
_UUID: Final = f"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}"
_UUID_VERSIONS: Final = {
    f"uuid{version}": f"{_HEX}{{8}}-{_HEX}{{4}}-{version}{_HEX}{{3}}-[89ABab]{_HEX}{{3}}-{_HEX}{{12}}"
    for version in range(1, 9)
}


def _base64(alphabet: str) -> str:
    """Groups of four characters, with padding, and no bits left over that are set."""
    one = f"[{alphabet}]"
    return f"(?:{one}{{4}})*(?:{one}[AQgw]==|{one}{{2}}[AEIMQUYcgkosw048]=)?"


_UCS: Final = (
    "\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF"
    + "".join(f"\\u{{{plane:X}0000}}-\\u{{{plane:X}FFFD}}" for plane in range(1, 14))
    + "\\u{E1000}-\\u{EFFFD}"
)
_PRIVATE: Final = "\\uE000-\\uF8FF\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}"


def _uri(ucs: str = "", private: str = "", *, may_be_relative: bool = False) -> Format:
    plain = f"A-Za-z0-9._~!$&'()*+,;={ucs}-"

    def characters(more: str) -> str:
        return f"(?:[{more}{plain}]|%[0-9A-Fa-f]{{2}})"

    def reference(read: Read) -> Expr:
        character = read(characters(":@"))
        future = read("[Vv][0-9A-Fa-f]+\\.[:A-Za-z0-9._~!$&'()*+,;=-]+")
        host = alt(seq(text("["), alt(read(IPV6), future), text("]")), star(read(characters(""))))
        user = optional(seq(star(read(characters(":"))), text("@")))
        authority = seq(read("//"), user, host, read("(?::[0-9]*)?"))
        segments = star(read(f"/{characters(':@')}*"))
        absolute = seq(read("/"), optional(seq(plus(character), segments)))
        paths = alt(seq(authority, segments), absolute, EMPTY)
        end = seq(
            optional(seq(text("?"), star(read(characters(f"/?{private}:@"))))),
            optional(seq(text("#"), star(read(characters("/?:@"))))),
        )
        full = seq(read("[A-Za-z][A-Za-z0-9+.-]*:"), alt(paths, seq(plus(character), segments)), end)
        relative = seq(alt(paths, seq(plus(read(characters("@"))), segments)), end)
        return alt(full, relative) if may_be_relative else full

    return reference


_POINTER: Final = "(?:/(?:[^~/]|~[01])*)*"
_VARIABLE_CHARACTER: Final = "(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})"
_VARIABLE: Final = f"{_VARIABLE_CHARACTER}(?:\\.?{_VARIABLE_CHARACTER})*(?::[1-9][0-9]{{0,3}}|\\*)?"
_URI_TEMPLATE: Final = (
    f"(?:[!#$&'(-;=?-\\[\\]_a-z~{_UCS}{_PRIVATE}]|%[0-9A-Fa-f]{{2}}"
    f"|\\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\\}})*"
)


def _regex(read: Read) -> Expr:
    """Regular expressions of ECMA-262 that are valid with the `u` flag."""
    escape = (
        "\\\\(?:[dDwWsSfnrtv^$\\\\.*+?()\\[\\]{}|/]|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}"
        "|u\\{0*(?:10[0-9A-Fa-f]{4}|[0-9A-Fa-f]{1,5})\\}|[pP]\\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)\\})"
    )
    item = f"(?:0-[0-9]|1-[1-9]|a-[a-z]|A-[A-Z]|[^\\\\\\]^-]|{escape})"
    char_class = f"\\[\\^?(?:-?{item}(?:{item}|\\^)*)?-?\\]"
    counts = "|".join(f"{n},(?:[{n}-9]|[1-9][0-9]+)" for n in range(10))
    quantifier = read(f"(?:(?:[*+?]|\\{{(?:[0-9]+,?|{counts})\\}})\\??)?")
    atom = read(f"[^\\^$\\\\.*+?()\\[\\]{{}}|]|\\.|{escape}|{char_class}")
    edge, open_look, open_group = read("[|^$]|\\\\[bB]"), read("\\(\\?<?[=!]"), read("\\((?:\\?:)?")
    atoms, close = star(atom), text(")")
    terms = star(alt(edge, seq(atom, quantifier)))
    for _ in range(2):
        look, group = seq(open_look, terms, close), seq(open_group, terms, close)
        terms = star(alt(edge, look, seq(alt(atom, group), quantifier)))
    named = seq(read("\\(\\?<[A-Za-z_$][A-Za-z0-9_$]*>"), atoms, close)
    back = [seq(text(f"(?<{c}>"), atoms, close, star(alt(atom, read(f"\\\\k<{c}>")))) for c in ascii_lowercase]
    return alt(seq(optional(named), terms), *back)


FORMATS: Final[dict[str, Format]] = {
    "date": _DATE,
    "time": _time,
    "date-time": _date_time,
    "date-time-local": f"{_DATE}[Tt]{_LOCAL_TIME}",
    "time-local": _LOCAL_TIME,
    "duration": _DURATION,
    "ipv4": IPV4,
    "ip-address": IPV4,
    "ipv6": IPV6,
    "ipvanyaddress": f"(?:{IPV4}|{IPV6})",
    "ipv4interface": IPV4_INTERFACE,
    "ipv6interface": IPV6_INTERFACE,
    "ipvanyinterface": f"(?:{IPV4_INTERFACE}|{IPV6_INTERFACE})",
    "ipv4network": IPV4_NETWORK,
    "ipv6network": IPV6_NETWORK,
    "ipvanynetwork": f"(?:{IPV4_NETWORK}|{IPV6_NETWORK})",
    "hostname": _HOSTNAME,
    "host-name": _HOSTNAME,
    "email": _mail(_LOCAL_PART, _HOSTNAME),
    "idn-email": _mail(_IDN_LOCAL_PART, _IDN_DOMAIN),
    "idn-hostname": _IDN_HOSTNAME,
    "regex": _regex,
    "uuid": _UUID,
    **_UUID_VERSIONS,
    "base64": _base64("A-Za-z0-9+/"),
    "base64url": _base64("A-Za-z0-9_-"),
    "uri": _uri(),
    "uri-reference": _uri(may_be_relative=True),
    "iri": _uri(_UCS, _PRIVATE),
    "iri-reference": _uri(_UCS, _PRIVATE, may_be_relative=True),
    "uri-template": _URI_TEMPLATE,
    "json-pointer": _POINTER,
    "relative-json-pointer": f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})",
}


def _integer_formats() -> dict[str, tuple[int, int]]:
    limits = {}
    for bits in (8, 16, 32, 64):
        limits[f"int{bits}"] = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        limits[f"uint{bits}"] = 0, 2**bits - 1
    return limits


# The least and the greatest of the integers in a format.
INTEGER_FORMATS: Final = _integer_formats()


def limits_integers(name: str, schema: dict[str, Any]) -> bool:
    """Whether a format limits the numbers of the schema object that it stands in, which are integers by their type."""
    if name not in INTEGER_FORMATS:
        return False
    kind = schema.get("type")
    return kind == "integer" or (type(kind) is list and "integer" in kind and "number" not in kind)


# What is certainly not in a format that is matched in part: what not even these match.
_WIDE_TIME: Final = f"{_HOUR_MINUTE}:(?:[0-5][0-9]|60){_SECOND_FRACTION}(?:[Zz]|[+-]{_HOUR_MINUTE})"
_WIDE_LABEL: Final = f"{_ALNUM}(?:{_LDH}{{0,61}}{_ALNUM})?"
_WIDE_HOSTNAME: Final = f"{_WIDE_LABEL}(?:\\.{_WIDE_LABEL})*"
WIDER_FORMATS: Final[dict[str, Format]] = {
    "time": _WIDE_TIME,
    "date-time": f"{_DATE}[Tt]{_WIDE_TIME}",
    "hostname": _WIDE_HOSTNAME,
    "host-name": _WIDE_HOSTNAME,
    "email": _mail(_LOCAL_PART, _WIDE_HOSTNAME),
}
MAX_LENGTHS: Final = {"hostname": 253, "host-name": 253, "idn-hostname": 253}
# Those of which the grammar above is the whole, so that "not in this format" can be said as well.
EXACT_FORMATS: Final = frozenset(
    (
        "date",
        "duration",
        "ipv4",
        "ip-address",
        "ipv6",
        "ipvanyaddress",
        "uuid",
        *_UUID_VERSIONS,
        "uri",
        "uri-reference",
        "json-pointer",
        "relative-json-pointer",
    )
)


@lru_cache(maxsize=128)
def format_text(name: str, encode: Encoding, *, wide: bool = False) -> Expr:
    """Return the texts in a format; with `wide`, all that might be in it, where that is known in part."""
    known = WIDER_FORMATS.get(name, FORMATS[name]) if wide else FORMATS[name]
    return _piece(known, encode) if isinstance(known, str) else known(lambda piece: _piece(piece, encode))


@lru_cache(maxsize=256)
def _piece(pattern: str, encode: Encoding) -> Expr:
    return regex_to_expr(pattern, encode=encode, dialect="ecma")
