"""`maskwright show`: the page that it writes, and wrong usage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("railroad", reason="needs railroad-diagrams, of the extra `show`")

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lark(tmp_path: Path) -> str:
    path = tmp_path / "sum.lark"
    path.write_text('start: NUM ("+" NUM)*\nNUM: /[0-9]+/')
    return str(path)


def test_a_file_and_a_text(cli: Cli, lark: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    code, out, err = cli("show", lark, "--text", "1+x", "-o", str(page))
    assert (code, out) == (0, "")
    html = page.read_text("utf-8")
    assert err == f"{page}: {len(html.encode()):,} bytes\n"
    assert "Token 3 of 3 is refused." in html
    assert "in the rule <code>start</code> (line 1, column 1)" in html
    assert "the built-in model" in html
    assert '<svg class="railroad-diagram"' in html


def test_a_grammar_alone(cli: Cli, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert cli("show", "--regex", "a<b>", "-o", str(page))[0] == 0
    html = page.read_text("utf-8")
    assert "<h1>Regex a&lt;b&gt;</h1>" in html
    assert "Step by step" not in html


def test_a_page_on_stdout(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, html, err = cli("show", "--regex", "a+", "-o", "-")
    assert code == 0
    assert html.startswith("<!doctype html>")
    assert err == f"<stdout>: {len(html.encode()):,} bytes\n"
    assert not list(tmp_path.iterdir())


def test_every_kind_of_file(cli: Cli, tmp_path: Path) -> None:
    page = str(tmp_path / "page.html")
    for name, text in (("a.json", '{"type": "null"}'), ("a.ebnf", 'root ::= "null"'), ("a.regex", "null\n")):
        (tmp_path / name).write_text(text)
        assert cli("show", str(tmp_path / name), "--text", "null", "-o", page)[0] == 0
        assert "The output is complete and valid." in Path(page).read_text("utf-8")


def test_token_ids_and_a_budget(cli: Cli, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert cli("show", "--regex", "[a-z]+", "--tokens", "[97, 98,99]", "--max-tokens", "3", "-o", str(page))[0] == 0
    html = page.read_text("utf-8")
    assert "The output is complete and valid." in html
    assert "Tokens accepted</dt><dd>3</dd>" in html


def test_a_tokenizer_of_ones_own(cli: Cli, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="needs tokenizers, of the extra `tokenizers`")
    vocab = {chr(0x61 + i): i for i in range(26)} | {"<end>": 26}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=[]))
    made.decoder = tokenizers.decoders.Fuse()
    made.add_special_tokens(["<end>"])
    made.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "<end>"}')
    page = tmp_path / "page.html"
    code, _, err = cli("show", "--regex", "abc", "--text", "abc<end>", "--tokenizer", str(tmp_path), "-o", str(page))
    assert (code, "error" in err) == (0, False)
    html = page.read_text("utf-8")
    assert "a vocabulary of 27 tokens" in html
    assert "The output is complete and valid." in html


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--regex", "a"), "the following arguments are required: -o/--output"),
        (("-o", "x.html"), "one of the arguments"),
        (("a.lark", "--regex", "a", "-o", "x.html"), "not allowed with"),
        (("a.txt", "-o", "x.html"), "a.txt: unknown language"),
        (("a.lark", "-o", "x.html"), "cannot read 'a.lark'"),
        (("--regex", "a", "--text", "a", "--tokens", "1", "-o", "x.html"), "not allowed with"),
        (("--regex", "a", "--tokens", "1,x", "-o", "x.html"), "'x' is not a token id below"),
        (("--regex", "a", "--tokens", "99999999", "-o", "x.html"), "is not a token id below"),
        (("--regex", "(", "-o", "x.html"), "the group is not closed"),
        (("--regex", "a", "-o", "no/such/folder.html"), "--output: cannot write 'no/such/folder.html'"),
    ],
)
def test_wrong_usage(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = cli("show", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
