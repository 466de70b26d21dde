"""Formats: what each admits."""

from __future__ import annotations

import calendar
import datetime
import itertools
import random
import re
from pathlib import Path

import pytest

from maskwright.frontends.charset import utf8
from maskwright.frontends.json_schema.sets.formats import (
    EXACT_FORMATS,
    FORMATS,
    INTEGER_FORMATS,
    MAX_LENGTHS,
    WIDER_FORMATS,
    format_text,
)
from maskwright.frontends.json_schema.sets.matching import matches
from maskwright.frontends.regex import parse

CASES: dict[str, tuple[list[str], list[str]]] = {
    "time": (
        ["00:00:00Z", "23:59:59.123z", "12:00:00+23:59", "23:59:60Z", "23:59:60.5+00:00", "00:14:60+00:15"],
        [
            "24:00:00Z",
            "12:60:00Z",
            "12:00:60Z",
            "12:00:00",
            "12:00Z",
            "12:00:00+24:00",
            "1:00:00Z",
            "12:00:00.Z",
            "١2:00:00Z",
        ],
    ),
    "date-time": (
        ["2024-02-29T12:00:00Z", "1985-04-12t23:20:50.52z", "1990-12-31T15:59:50.123-08:00"],
        ["2023-02-29T12:00:00Z", "2024-01-01 12:00:00Z", "2024-01-01T12:00:00", "2024-01-01", "98-12-31T15:59:50Z"],
    ),
    "date-time-local": (
        ["2024-02-29T12:00:00", "1985-04-12t23:20:50.52"],
        ["2023-02-29T12:00:00", "2024-01-01T12:00:00Z", "2024-01-01T12:00", "2024-01-01", "2024-01-01 12:00:00"],
    ),
    "time-local": (["00:00:00", "23:59:59.5"], ["24:00:00", "12:00", "12:00:00Z", "12:00:60", "12:00:00.", "1:00:00"]),
    "duration": (
        ["P1Y", "P1Y2M3DT4H5M6S", "PT1S", "P2W", "P1DT1H", "PT0S", "P4DT12H30M5S"],
        ["", "P", "PT", "P1", "1D", "P1S", "P1YT", "P2D1Y", "P1Y2W", "PT1D", "P1H", "P1.5D", "p1y"],
    ),
    "ipv4": (
        ["0.0.0.0", "255.255.255.255", "87.10.0.1"],
        ["256.0.0.1", "1.2.3", "01.2.3.4", "1.2.3.4.5", "1.2.3.4 ", "0x7f.0.0.1"],
    ),
    "ipv6": (
        [
            "::",
            "::1",
            "1::",
            "1:2:3:4:5:6:7:8",
            "1::8",
            "::ffff:192.168.0.1",
            "1:2:3:4:5:6:1.2.3.4",
            "::42:ff:1",
            "1:2::7:8",
            "::2:3:4:5:6:7:8",
            "1:2:3:4:5:6:7::",
        ],
        [
            "",
            ":",
            ":::",
            "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9",
            "1::2::3",
            "12345::",
            "::1.2.3",
            "::1%eth0",
            "1:2:3:4:5:6:7:1.2.3.4",
            ":2:3:4:5:6:7:8",
            "::1/64",
        ],
    ),
    "uuid": (
        ["2EB8AA08-aa98-11ea-b4aa-73b441d16380"],
        [
            "2eb8aa08aa9811eab4aa73b441d16380",
            "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
            "zeb8aa08-aa98-11ea-b4aa-73b441d16380",
        ],
    ),
    "uuid4": (
        ["2eb8aa08-aa98-41ea-b4aa-73B441D16380", "2eb8aa08-aa98-4fff-8000-73b441d16380"],
        [
            "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
            "2eb8aa08-aa98-41ea-c4aa-73b441d16380",
            "2eb8aa08aa9841eab4aa73b441d16380",
        ],
    ),
    "base64": (
        ["", "QQ==", "QUE=", "QUFB", "/+8="],
        ["Q", "QQ", "QQ=", "QR==", "QUF=", "QU=B", "Q Q=", "QQ==QQ==", "-_8="],
    ),
    "base64url": (["", "QQ==", "-_8="], ["Q", "QQ", "/+8="]),
    "ipvanyaddress": (["1.2.3.4", "::1"], ["", "1.2.3", "1.2.3.4/8", "::1%1"]),
    "ipv4interface": (
        ["1.2.3.4/8", "1.2.3.4/0", "1.2.3.4/32", "1.2.3.4"],
        ["1.2.3.4/33", "1.2.3.4/08", "1.2.3.4/", "::1"],
    ),
    "ipv6interface": (["::1/64", "::/0", "1::8/128", "::1"], ["::1/129", "::1/064", "::1/", "1.2.3.4", "/8"]),
    "ipvanyinterface": (["1.2.3.4/8", "::1/64"], ["::1/129", "1.2.3.4/33"]),
    "ipv4network": (
        ["0.0.0.0/0", "10.0.0.0/8", "10.128.0.0/9", "1.2.3.4/32", "1.2.3.4", "192.168.2.0/23"],
        ["10.0.0.1/8", "10.64.0.0/9", "1.2.3.5/31", "0.0.0.0/33", "10.0.0.0/08", "10.0.0.0/", "192.168.1.0/23"],
    ),
    "ipv6network": (
        [
            "::/0",
            "::/127",
            "2001:db8::/32",
            "2001:DB8::/33",
            "8000::/1",
            "100::/8",
            "1:2:0:ff00::/56",
            "::1/128",
            "::1",
        ],
        ["2001:db8::1/64", "1::/15", "::1/127", "2001:db8::/129", "2001:db8::/031", "c000::/1", "1::/28x", "1.2.3.4/8"],
    ),
    "ipvanynetwork": (["10.0.0.0/8", "1::/16"], ["10.0.0.1/8", "1::/15"]),
    "hostname": (
        ["a", "www.example.com", "a-b.c1", "1host", "x" * 63, "ab-c--d"],
        ["", "-a", "a-", "a..b", "a.", ".a", "x" * 64, "a_b", "xn--X", "ab--c", "é.com"],
    ),
    "email": (
        [
            "joe.bloggs@example.com",
            "te~st@a.b",
            '"joe bloggs"@example.com',
            "joe@[127.0.0.1]",
            "joe@[IPv6:::1]",
            "a+b@c",
        ],
        ["", "@", "a@", "@b", ".a@b", "a.@b", "a..b@c", "joe@[127.0.0.300]", "a b@c", "joe.bloggs@invalid=domain.com"],
    ),
    "uri": (
        [
            "http://a.b/c?d=e#f",
            "urn:x:y",
            "mailto:a@b.c",
            "ldap://[2001:db8::7]/c=GB?one",
            "a:",
            "http://u:p@h:80/",
            "file:///x/y",
        ],
        [
            "",
            "//a.b",
            "/abc",
            "abc",
            ":a",
            "http://a b",
            "http://a/<x>",
            "http://a/%zz",
            "1http://a",
            "http://[::x]/",
            "\\\\a\\b",
            "http://é",
        ],
    ),
    "uri-reference": (["", "//a", "/a", "a/b:c", "#f", "?q", "http://a", "../x"], ["\\a", "a b", "1:2", "#f#g", "%"]),
    "iri": (["http://ƒøø.com/?q=ß#é", "http://a"], ["/ƒ", "http://a b", ""]),
    "iri-reference": (["/ƒ", "#é", "", "http://é"], ["\\é"]),
    "uri-template": (["", "/{a}/{b,c:3}{?d*}", "{+x}", "a'b"], ["{", "}", "{a", "a}", "{}", "{a:0}", "{-a}", "a b"]),
    "idn-email": (
        ["실례@실례.테스트", "é@a.b", "a@cafe\u0301.com", "a@b", '"é x"@a', "a@[1.2.3.4]"],
        ["a", "@a", "a@", "a@-b", "a b@c", "a＠b.c"],
    ),
    "idn-hostname": (["実例.example", "a-b.c", "παρα。gr", "a"], ["", "-a", "a..b", "a_b", "〮a", "a" * 64, "xn--zz"]),
    "regex": (
        [
            "",
            "a|b",
            "^a+?$",
            "[a-z0-9_-]{2,10}",
            "(?:a(b|c))*",
            "(?<n>x)y",
            "(?<n>x)y\\k<n>",
            "(?<=a)(?!b)\\b",
            "[]",
            "[^]",
            "\\p{Lu}",
            "\\/",
            "[^\\]-]",
            "a{1,}",
            "a{3,12}?",
        ],
        [
            "(",
            "a)",
            "[",
            "*",
            "a**",
            "a{2,1}",
            "(?P<n>x)",
            "(?i)a",
            "\\a",
            "\\u00",
            "[z-a]",
            "(?=a)*",
            "{",
            "]",
            "\\",
            "\\k<n>",
            "(?<n>a)\\k<m>",
            "(?<n>a)(?<n>b)",
        ],
    ),
    "json-pointer": (["", "/", "/a~0~1/é/0", '/"'], ["a", "/~", "/~2", "#/a"]),
    "relative-json-pointer": (["0", "10/a", "0#", "1"], ["", "01", "/a", "-1", "0##"]),
}


def _has(name: str, text: str) -> bool:
    expr = format_text(name, utf8)
    return len(text) <= MAX_LENGTHS.get(name, len(text)) and matches(expr, text.encode())


@pytest.mark.parametrize("name", CASES)
def test_format(name: str) -> None:
    good, bad = CASES[name]
    assert [t for t in good if not _has(name, t)] == []
    assert [t for t in bad if _has(name, t)] == []


def test_every_day_of_the_calendar() -> None:
    expr = format_text("date", utf8)
    for year in (1, 4, 100, 400, 1900, 1999, 2000, 2023, 2024, 2100, 9999):
        for month in range(14):
            for day in range(33):
                real = 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]
                assert matches(expr, f"{year:04}-{month:02}-{day:02}".encode()) == real
    for text in ("2024-1-1", "24-01-01", "2024-01-01Z", "+2024-01-01", "2024/01/01"):
        assert not matches(expr, text.encode())
    assert matches(expr, datetime.date.today().isoformat().encode())


def test_a_leap_second_is_the_last_of_a_day_in_utc() -> None:
    for sign, quarter, minute in itertools.product("+-", range(0, 24 * 60, 15), range(14, 24 * 60, 15)):
        offset = quarter if sign == "+" else -quarter
        text = f"{minute // 60:02}:{minute % 60:02}:60{sign}{quarter // 60:02}:{quarter % 60:02}"
        assert _has("time", text) == ((minute - offset) % (24 * 60) == 23 * 60 + 59), text


def test_every_format_has_cases() -> None:
    assert set(FORMATS) - set(CASES) <= {
        "date",
        "ip-address",
        "host-name",
        *(f"uuid{version}" for version in range(1, 9)),
    }
    assert set(FORMATS) >= EXACT_FORMATS


def test_what_is_a_regex_can_be_read() -> None:
    rng = random.Random(5)
    expr = format_text("regex", utf8)
    accepted = 0
    for _ in range(4000):
        text = "".join(rng.choice("ab()[]?:=!<>*+{}1,2|^$\\.dw-") for _ in range(rng.randint(1, 9)))
        if matches(expr, text.encode()):
            accepted += 1
            parse(text, "", "ecma")
    assert accepted > 100


def test_the_documentation_lists_the_formats() -> None:
    page = (Path(__file__).parents[4] / "docs/json_schema.md").read_text(encoding="utf-8")
    section = page.partition("\n## Formats\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    matched = {name: how for names, *_, how in rows for name in re.findall("`([^`]+)`", names)}
    assert matched.keys() == FORMATS.keys() | INTEGER_FORMATS.keys()
    exactly = {name for name, how in matched.items() if how == "exactly"}
    assert exactly >= EXACT_FORMATS | INTEGER_FORMATS.keys()
    assert exactly.isdisjoint(WIDER_FORMATS)
    assert all(how.startswith("in part: ") for name, how in matched.items() if name not in exactly)
