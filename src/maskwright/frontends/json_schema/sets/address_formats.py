"""Addresses of the Internet Protocol, and networks and interfaces of them, as regular expressions.

    10.0.0.7, 2001:db8::7      addresses: IPV4, IPV6
    10.0.0.7/8, 10.0.0.7       an interface: an address with the length of its network's prefix, or alone
    10.0.0.0/8, 10.0.0.7       a network: no bit after the prefix is set; an address alone is a network of one

A network of IPv6 has `::` for all groups after the prefix (2001:db8::/32), or eight groups, or is one address.
Sources: RFC 2673 and 4291 (addresses), RFC 4632 and 4291 (prefixes), and the classes of Python's `ipaddress`, by which
Pydantic reads formats such as `ipv4network`.
Tested by tests/frontends/json_schema/sets/test_pydantic_formats.py and test_schema_formats.py.
"""

from __future__ import annotations

from typing import Final

_OCTET: Final = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
IPV4: Final = f"{_OCTET}(?:\\.{_OCTET}){{3}}"
_H16: Final = "[0-9A-Fa-f]{1,4}"
_LS32: Final = f"(?:{_H16}:{_H16}|{IPV4})"


def _one_of(forms: list[str]) -> str:
    return "(?:" + "|".join(forms) + ")"


def _ipv6() -> str:
    forms = [f"(?:{_H16}:){{6}}{_LS32}", f"::(?:{_H16}:){{5}}{_LS32}"]
    for after in (4, 3, 2, 1, 0):
        before = f"(?:(?:{_H16}:){{0,{4 - after}}}{_H16})?"
        forms.append(f"{before}::(?:{_H16}:){{{after}}}{_LS32}")
    forms.append(f"(?:(?:{_H16}:){{0,5}}{_H16})?::{_H16}")
    forms.append(f"(?:(?:{_H16}:){{0,6}}{_H16})?::")
    return _one_of(forms)


IPV6: Final = _ipv6()


def _ipv4_network() -> str:
    """One address, or in each octet that a prefix ends in, those numbers of which it holds all bits that are set."""
    forms = [IPV4]
    for octet in range(4):
        for bits in range(1 if octet else 0, 9):
            numbers = _one_of([str(number) for number in range(0, 256, 2 ** (8 - bits))]) if bits < 8 else _OCTET
            forms.append(f"(?:{_OCTET}\\.){{{octet}}}{numbers}(?:\\.0){{{3 - octet}}}/{8 * octet + bits}")
    return _one_of(forms)


def _group_with_prefix(bits: int) -> str:
    """Four hexadecimal digits of which only the first `bits` bits are set, without zeros in front or with some."""
    digits = [_digits_with(min(4, max(0, bits - 4 * i))) for i in range(4)]
    return _one_of(["".join(f"[{each}]" for each in digits[i:]) for i in range(4)])


def _digits_with(bits: int) -> str:
    """Hexadecimal digits of which only the first bits are set."""
    numbers = range(0, 16, 2 ** (4 - bits))
    return "".join(f"{n:X}" for n in numbers) + "".join(f"{n:x}" for n in numbers if n > 9)


def _ipv6_network() -> str:
    """One address, or groups that the prefix holds, of which it may end in the last, then `::`, or eight groups."""
    forms = [f"{IPV6}(?:/128)?", f"::/{_one_of([str(length) for length in range(128)])}"]
    for before, after in ((6, ":0"), (7, "")):  # Python writes no `::` for one group
        groups, start = f"(?:{_H16}:){{{before}}}", 16 * before
        forms += [f"{groups}{_group_with_prefix(bits)}{after}/{start + bits}" for bits in range(16)]
    for before in range(7):
        groups, start = f"(?:{_H16}:){{{before}}}", 16 * before
        lengths = _one_of([str(length) for length in range(start + 16, 128)])
        forms.append(f"{groups}{_H16}::/{lengths}")
        forms += [f"{groups}{_group_with_prefix(bits)}::/{start + bits}" for bits in range(1, 16)]
    return _one_of(forms)


IPV4_NETWORK: Final = _ipv4_network()
IPV6_NETWORK: Final = _ipv6_network()
IPV4_INTERFACE: Final = f"{IPV4}(?:/(?:3[0-2]|[12]?[0-9]))?"
IPV6_INTERFACE: Final = f"{IPV6}(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?"
