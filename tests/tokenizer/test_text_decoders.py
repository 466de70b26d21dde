"""The decoders of tokenizer.json, each compared with the tokenizers library over tokens chosen to be awkward."""

from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright.errors import TokenizerError
from maskwright.tokenizer.text_decoders import (
    TextDecoder,
    byte_level_decoder,
    byte_level_map,
    decoder_of_pre_tokenizer,
    latin1_decoder,
    metaspace_decoder,
    parse_decoder,
    wordpiece_decoder,
)

TOKENS = (
    *(
        "a",
        "Ġa",
        "▁a",
        "▁",
        "▁▁",
        "a▁b",
        "##a",
        "##",
        "#",
        "a##b",
        " a",
        "a ",
        "  ",
        "</w>",
        "a</w>",
        "",
        "é",
        "Ã©",
        "Ċ",
    ),
    *("<0x0A>", "<0x61>", "<0xe2>", "<0xFF>", "<0x0>", "<0x0G>", "<0x100>", "x<0x0A>", "<s>", "Ġ é", "日本", "ĠæĹ¥"),
    *(".", "?", "!", ",", "'", "n't", "'m", "do", "do not", "'s", "'ve", "'re", "##n't", "a .b", "\n", "\t", "\x00"),
)


def replace(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


def strip(start: int, stop: int, content: str = " ") -> dict[str, Any]:
    return {"type": "Strip", "content": content, "start": start, "stop": stop}


def sequence(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(parts)}


def metaspace(scheme: str) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True}


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
FALLBACK, FUSE = {"type": "ByteFallback"}, {"type": "Fuse"}
DECODERS = {
    "gpt2": BYTE_LEVEL,
    "llama2": sequence(replace("▁", " "), FALLBACK, FUSE, strip(1, 0)),
    "gemma": sequence(replace("▁", " "), FALLBACK, FUSE),
    "fallback first": sequence(FALLBACK, metaspace("never"), FUSE),
    "t5": metaspace("always"),
    "metaspace first": metaspace("first"),
    "metaspace never": metaspace("never"),
    "bert": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "bert plain": {"type": "WordPiece", "prefix": "##", "cleanup": False},
    "fuse": FUSE,
    "clip": sequence(replace("</w>", " "), BYTE_LEVEL),
    "strip starts": sequence(strip(2, 0), FUSE),
    "strip letters": sequence(strip(1, 0, "▁"), FUSE),
    "nested": sequence(sequence(replace("▁", " ")), sequence(FALLBACK, FUSE), replace("é", "e")),
}


def library_decoder(config: dict[str, Any]) -> Any:
    """Make the library's own decoder out of a configuration, by way of a whole tokenizer.json."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = json.loads(tokenizers.Tokenizer(tokenizers.models.BPE()).to_str())
    return tokenizers.Tokenizer.from_str(json.dumps(tokenizer | {"decoder": config})).decoder


@pytest.mark.parametrize("config", DECODERS.values(), ids=DECODERS.keys())
def test_joined_tokens_are_what_the_library_decodes(config: dict[str, Any]) -> None:
    theirs, ours = library_decoder(config), parse_decoder(config)
    for token in TOKENS:
        joined = b"".join(map(ours.decode, ["X", token, "Y"]))
        if ours.drops_leading_space:
            joined = joined.removeprefix(b" ")
        assert joined.decode("utf-8", "replace") == theirs.decode(["X", token, "Y"]), token


@pytest.mark.parametrize(
    ("name", "drops"),
    [("gpt2", False), ("llama2", True), ("gemma", False), ("t5", True), ("metaspace never", False), ("bert", True)],
)
def test_leading_space(name: str, drops: bool) -> None:
    ours, theirs = parse_decoder(DECODERS[name]), library_decoder(DECODERS[name])
    assert ours.drops_leading_space is drops
    first = "Ġx" if name == "gpt2" else "x" if name == "bert" else "▁x"
    assert theirs.decode([first, "##y"]).startswith("x") is drops
    assert ours.decode(first) == b" x"


def test_byte_level_covers_every_byte_in_any_order() -> None:
    characters = {byte: c for c, byte in byte_level_map().items()}
    assert sorted(characters) == list(range(256))
    data = bytes(range(256)) + bytes(reversed(range(256)))
    assert byte_level_decoder().decode("".join(characters[b] for b in data)) == data


def test_byte_fallback_covers_every_byte() -> None:
    decoder = parse_decoder(FALLBACK)
    for byte in range(256):
        assert decoder.decode(f"<0x{byte:02X}>") == bytes([byte]) == decoder.decode(f"<0x{byte:02x}>")


def test_an_added_token_is_not_byte_level() -> None:
    decoder = parse_decoder(BYTE_LEVEL)
    assert decoder.decode("é", added=True) == "é".encode()
    assert decoder.decode("é") == b"\xe9"
    assert parse_decoder(DECODERS["gemma"]).decode("▁▁", added=True) == b"  "


def test_a_byte_piece_only_where_the_model_says_so() -> None:
    decoder = metaspace_decoder(drops_leading_space=True, byte_pieces={"<0x0A>": 10, "<0x00>": 0})
    assert [decoder.decode(t) for t in ("<0x0A>", "<0x00>", "<0x0B>", "▁a")] == [b"\n", b"\0", b"<0x0B>", b" a"]


def test_strip_takes_no_more_than_it_says() -> None:
    decoder = parse_decoder(sequence(strip(1, 2), FUSE))
    assert [decoder.decode(t) for t in ("  a   ", " ", "a", "")] == [b" a ", b"", b"a", b""]


def test_small_decoders() -> None:
    assert [wordpiece_decoder().decode(t) for t in ("a", "##b", ".")] == [b" a", b"b", b" ."]
    assert latin1_decoder().decode("\u00c3\u00a9") == "é".encode()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"type": "BPEDecoder", "suffix": "</w>"}, "'BPEDecoder' does not give each token a text of its own"),
        ({"type": "CTC"}, "'CTC' does not give"),
        ({"type": "Tomorrow"}, "'Tomorrow' does not give"),
        ({"type": "Replace", "pattern": {"Regex": "a+"}, "content": ""}, "regular expression"),
        (sequence(FUSE, replace("ab", "")), "may lie across tokens"),
        (sequence(FUSE, strip(0, 1)), "more than the space at the start"),
        (sequence(FUSE, strip(1, 0, "x")), "more than the space at the start"),
        (sequence(FUSE, FALLBACK), "'ByteFallback' comes after the tokens were joined"),
        (sequence(BYTE_LEVEL, metaspace("always")), "'Metaspace' comes after"),
    ],
)
def test_refuses(config: dict[str, Any], message: str) -> None:
    with pytest.raises(TokenizerError, match=message) as caught:
        parse_decoder(config)
    assert "from_vocab" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("config", "token"),
    [
        (BYTE_LEVEL, "Ġx"),
        (metaspace("first"), "▁x"),
        ({"type": "Sequence", "pretokenizers": [{"type": "Digits"}, BYTE_LEVEL]}, "Ġx"),
        ({"type": "Whitespace"}, None),
        ({"type": "Sequence", "pretokenizers": []}, None),
    ],
)
def test_without_a_decoder_the_pre_tokenizer_tells(config: dict[str, Any], token: str | None) -> None:
    decoder = decoder_of_pre_tokenizer(config)
    assert (decoder is None) is (token is None)
    assert decoder is None or (isinstance(decoder, TextDecoder) and decoder.decode(token or "") == b" x")
