"""Formats that are probably misspelled: with `datetime`, every string is valid, and nobody would notice.

    format_meant_by("datetime")   →   "did you mean 'date-time'?"
    format_meant_by("phone")      →   None: an annotation, as the standard has it

A name is taken for a format if it is one but for capitals, `-` and `_`, if it differs in a letter or so, or if other
languages call it that.
Tested by tests/frontends/json_schema/sets/test_misspelled_formats.py.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from maskwright.frontends.json_schema.read.look_alikes import bare
from maskwright.frontends.json_schema.sets.formats import FORMATS
from maskwright.support.interruption import interrupt_checkpoint
from maskwright.support.memos import remembered

_MAX_LENGTH: Final = 30
_CUTOFF: Final = 0.8
_ELSEWHERE: Final = {
    **dict.fromkeys(("url", "httpurl"), "uri"),
    "guid": "uuid",
    **dict.fromkeys(("mail", "emailaddress"), "email"),
    **dict.fromkeys(("ipv4address", "ip4"), "ipv4"),
    **dict.fromkeys(("ipv6address", "ip6"), "ipv6"),
    **dict.fromkeys(("fqdn", "domain", "domainname"), "hostname"),
    "timedelta": "duration",
}


_BY_BARE_NAME: Final = {bare(name): name for name in sorted(FORMATS)}  # hostname, which comes after host-name


@remembered(1024)
def format_meant_by(name: str) -> str | None:
    """Return what was probably meant by a format that is not known, as a question; None if that is nothing."""
    if len(name) > _MAX_LENGTH:
        return None
    same = bare(name)
    meant = _BY_BARE_NAME.get(same) or _ELSEWHERE.get(same)
    if meant is None:
        interrupt_checkpoint()
        near = get_close_matches(name.lower(), FORMATS, 1, _CUTOFF)
        meant = near[0] if near else None
    return None if meant is None else f"did you mean {meant!r}?"
