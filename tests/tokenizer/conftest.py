"""Texts to send through real tokenizers, and where real vocabularies may lie."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from corpora import DATA

TEXTS = {
    "english": "The quick brown fox, it's 42 years old; isn't it?",
    "spaces": "a  b   c    d\te\r\n\r\n  f \n",
    "leading space": "  x",
    "json": '{"name": "J\\u00f8rn", "list": [1, -2.5e-3, true, null], "nested": {"a b": ""}}\n',
    "code": "def f(x):\n\treturn [y**2 for y in x if y != 0]  # <0x0A> ▁ ##ing Ġ\n",
    "german": "Größe, Straße, Übermut, Äpfel",
    "french": "Où est-ce que ça s'arrête, cœur d'été ?",
    "russian": "Съешь же ещё этих мягких французских булок",
    "greek": "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία",
    "chinese": "我能吞下玻璃而不傷身體。",
    "japanese": "いろはにほへと ちりぬるを",
    "korean": "다람쥐 헌 쳇바퀴에 타고파",
    "arabic": "نص حكيم له سر قاطع",
    "hebrew": "דג סקרן שט בים",
    "hindi": "ऋषियों को सताने वाले",
    "thai": "เป็นมนุษย์สุดประเสริฐ",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🇳🇴 👍🏽 ☕️",
    "combining": "e\u0301 a\u030a \u200b\u200d\ufeff",
    "rare": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 \U0010fffd",
    "control": "\x01\x02\x1b[0m\x7f\x00",
}


@pytest.fixture(params=TEXTS.values(), ids=TEXTS.keys())
def text(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def peers() -> Any:
    """The benchmark module that knows how to load the shared vocabularies."""
    path = DATA / "bench" / "peers.py"
    if not path.is_file():
        pytest.skip("the shared vocabularies are not here")
    spec = importlib.util.spec_from_file_location("shared_peers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
