"""Formats that Pydantic writes for its types: what they allow, its own validation takes."""

from __future__ import annotations

import datetime
import ipaddress
import random
import uuid
from typing import Any

import pytest

import maskwright as mw
from frontends.json_schema.random_outputs import random_output
from maskwright.frontends.json_schema.sets.formats import FORMATS
from maskwright.inputs.schema_inputs import schema_of

pydantic = pytest.importorskip("pydantic", reason="an optional dependency")

TYPES: dict[str, Any] = {
    **{f"uuid{version}": getattr(pydantic, f"UUID{version}") for version in (1, 3, 4, 5, 6, 7, 8)},
    "uuid": uuid.UUID,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "ipvanyaddress": pydantic.IPvAnyAddress,
    "ipv4interface": ipaddress.IPv4Interface,
    "ipv6interface": ipaddress.IPv6Interface,
    "ipvanyinterface": pydantic.IPvAnyInterface,
    "ipv4network": ipaddress.IPv4Network,
    "ipv6network": ipaddress.IPv6Network,
    "ipvanynetwork": pydantic.IPvAnyNetwork,
    "base64": pydantic.Base64Bytes,
    "base64url": pydantic.Base64UrlBytes,
    "date-time-local": pydantic.NaiveDatetime,
}
BYTES = [bytes([byte]) for byte in range(256)]
COMPILER = mw.GrammarCompiler(mw.TokenizerInfo.from_vocab([*BYTES, b""], stop_token_ids=[256]))


def matches(name: str, text: str) -> bool:
    matcher = mw.GrammarMatcher(COMPILER.compile_json_schema({"type": "string", "format": name}))
    return matcher.accept_string(f'"{text}"') and matcher.is_completed()


@pytest.mark.parametrize("name", TYPES)
def test_what_is_generated_is_valid(name: str) -> None:
    adapter, rng = pydantic.TypeAdapter(TYPES[name]), random.Random(name)
    schema = schema_of(adapter)
    assert schema["format"] == name
    grammar = COMPILER.compile_json_schema(schema)
    for after in range(300):
        # Digits and colons are likely, so that texts are not all zeros; then what ends one.
        likely = [*(b"%d" % digit for digit in range(10)), b":", b"f", b"A"] if after % 2 else BYTES
        text = random_output(grammar, BYTES, rng, likely=likely, closing=[b'"', b"/"], after=after % 40)
        adapter.validate_json(text)


@pytest.mark.parametrize(("network", "most"), [(ipaddress.IPv4Network, 32), (ipaddress.IPv6Network, 128)])
def test_networks_as_python_writes_them(network: Any, most: int) -> None:
    rng, name = random.Random(most), f"ipv{4 if most == 32 else 6}"
    for length in range(1, most):
        bits = rng.getrandbits(length) | 1
        text = str(network((bits << (most - length), length)))
        for each in (f"{name}network", f"{name}interface", "ipvanynetwork", "ipvanyinterface"):
            assert matches(each, text), text
        address = text.partition("/")[0]
        assert all(matches(f"{name}{each}", address) for each in ("network", "interface"))
        for wrong in (f"{address}/{length - 1}", f"{address}/0{length}", f"{address}/{most + 1}", f"{address}/"):
            assert not matches(f"{name}network", wrong), wrong


def test_formats_of_every_type_are_known() -> None:
    aware = [datetime.datetime, datetime.date, datetime.time, datetime.timedelta]
    assert {schema_of(pydantic.TypeAdapter(kind))["format"] for kind in aware} <= FORMATS.keys()
