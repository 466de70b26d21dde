"""TokenizerInfo itself, by plain vocabularies: fields, refusals, fingerprint, pickling, laziness."""

from __future__ import annotations

import copy
import dataclasses
import doctest
import pickle
import subprocess
import sys
import threading
import time
import types
from typing import Any

import numpy as np
import pytest

from maskwright import GrammarCompiler, GrammarMatcher, allocate_token_bitmask
from maskwright.errors import TokenizerError
from maskwright.tokenizer import TokenizerInfo, from_vocab, info, raw, text_decoders

LONG = b"x" * 5000
ODD = [b"a", b"a", b"", LONG, b"\xff", "é", b"</s>"]


def odd(**changes: Any) -> TokenizerInfo:
    arguments: dict[str, Any] = {"stop_token_ids": [6], "special_token_ids": [6], "vocab_size": 10}
    return TokenizerInfo.from_vocab(ODD, **(arguments | changes))


def test_fields() -> None:
    it = odd()
    assert it.token_bytes == (b"a", b"a", b"", LONG, b"\xff", b"\xc3\xa9", b"</s>")
    assert (it.vocab_size, it.special_token_ids, it.stop_token_ids) == (10, (6,), (6,))
    assert it.drops_leading_space is False


def test_vocab_size_is_the_number_of_tokens_by_default() -> None:
    assert odd(vocab_size=None).vocab_size == len(ODD)


def test_ids_are_sorted_unique_and_plain() -> None:
    it = odd(stop_token_ids=np.array([6, 0, 6]), vocab_size=np.int64(10))
    assert it.stop_token_ids == (0, 6)
    assert {type(i) for i in (*it.stop_token_ids, it.vocab_size)} == {int}


def test_stop_token_in_the_padding_becomes_an_empty_token() -> None:
    it = odd(stop_token_ids=[8])
    assert it.token_bytes[7:] == (b"", b"")
    assert it.stop_token_ids == (8,)


def test_no_stop_token_where_the_caller_says_so() -> None:
    assert odd(stop_token_ids=[]).stop_token_ids == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocab_size": 6}, "vocab_size is 6, but there are 7 token texts"),
        ({"vocab_size": -1}, "vocab_size is -1"),
        ({"vocab_size": 1 << 40}, "too large"),
        ({"vocab_size": "10"}, "vocab_size is of type str"),
        ({"vocab_size": 10.0}, "vocab_size is of type float"),
        ({"vocab_size": True}, "vocab_size is of type bool"),
        ({"stop_token_ids": [10]}, "stop token id 10 is not in the vocabulary of 10 ids"),
        ({"stop_token_ids": ["</s>"]}, r"a stop token id is of type str.*\n.*pass its id"),
        ({"stop_token_ids": [b"</s>"]}, r"a stop token id is of type bytes.*\n.*pass its id"),
        ({"stop_token_ids": [None]}, r"a stop token id is of type NoneType.*\n.*has no such token"),
        ({"stop_token_ids": [-1]}, r"stop token id -1 is not in .*\n.*has no such token"),
        ({"stop_token_ids": 6}, "stop_token_ids is of type int, not a list"),
        ({"special_token_ids": [2**31]}, "special token id 2147483648 is not in the vocabulary"),
        ({"special_token_ids": 6}, "special_token_ids is of type int, not a list"),
    ],
)
def test_refuses(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TokenizerError, match=message):
        odd(**changes)


@pytest.mark.parametrize("tokens", [[], ()])
def test_refuses_an_empty_vocabulary(tokens: Any) -> None:
    with pytest.raises(TokenizerError, match="vocab_size is 0"):
        TokenizerInfo.from_vocab(tokens, stop_token_ids=[])


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("abc", "not str"),
        (b"abc", "not bytes"),
        (None, "not NoneType"),
        ([b"a", 1], "token 1 is of type int"),
        (["a", "\ud800"], "token 1 is not valid text"),
    ],
)
def test_from_vocab_refuses_what_is_no_list_of_texts(tokens: Any, message: str) -> None:
    with pytest.raises(TokenizerError, match=message):
        TokenizerInfo.from_vocab(tokens, stop_token_ids=[])


def test_the_constructor_wants_bytes() -> None:
    with pytest.raises(TokenizerError, match="not bytes"):
        TokenizerInfo(("a",), 1)  # type: ignore[arg-type]


CONSTRUCTORS = ("from_huggingface", "from_tiktoken", "from_sentencepiece", "from_mistral", "from_vocab")


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
@pytest.mark.parametrize("thing", [None, 3, object(), print, TokenizerInfo])
def test_every_constructor_names_a_wrong_type(constructor: str, thing: Any) -> None:
    arguments = {"stop_token_ids": []} if constructor == "from_vocab" else {}
    with pytest.raises(TokenizerError, match=f"{constructor} takes .*, not ") as caught:
        getattr(TokenizerInfo, constructor)(thing, **arguments)
    assert caught.value.hint is not None


@pytest.mark.parametrize("constructor", CONSTRUCTORS[:4])
@pytest.mark.parametrize(
    ("library", "right"),
    [
        ("transformers", "from_huggingface"),
        ("tokenizers", "from_huggingface"),
        ("tiktoken", "from_tiktoken"),
        ("sentencepiece", "from_sentencepiece"),
        ("mistral_common", "from_mistral"),
    ],
)
def test_a_wrong_type_is_sent_to_the_right_constructor(constructor: str, library: str, right: str) -> None:
    base = type("Thing", (), {"__module__": f"{library}.core"})
    thing = type("Mine", (base,), {})()
    hint = "pass the tokenizer object itself" if constructor == right else f"use TokenizerInfo.{right}"
    with pytest.raises(TokenizerError, match=hint):
        getattr(TokenizerInfo, constructor)(thing)


def test_a_name_and_a_list_get_advice_of_their_own() -> None:
    with pytest.raises(TokenizerError, match="load it first: "):
        TokenizerInfo.from_huggingface("gpt2")
    with pytest.raises(TokenizerError, match=r"use TokenizerInfo\.from_vocab"):
        TokenizerInfo.from_tiktoken([b"a"])


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    path = tmp_path / "some.model"
    path.write_bytes(b"")
    with pytest.raises(TokenizerError, match="sentencepiece is not installed") as caught:
        TokenizerInfo.from_sentencepiece(path)
    assert "pip install" in str(caught.value)


def test_is_immutable() -> None:
    it = odd()
    with pytest.raises(dataclasses.FrozenInstanceError):
        it.vocab_size = 11  # type: ignore[misc]
    assert isinstance(it.token_bytes, tuple)


def test_decode() -> None:
    it = odd()
    assert it.decode([0, 2, 5, 4, 6, 9, 1]) == b"a\xc3\xa9\xffa"
    assert it.decode([0, 6], skip_special_tokens=False) == b"a</s>"
    assert it.decode(np.array([3, 0])) == LONG + b"a"
    assert it.decode(()) == b""


@pytest.mark.parametrize("token_id", [-1, 10, 2**31 - 1, "0", 1.0, None])
def test_decode_refuses_what_is_no_id(token_id: Any) -> None:
    with pytest.raises(TokenizerError):
        odd().decode([token_id])


def test_repr_is_short_and_names_the_stop_tokens() -> None:
    assert repr(odd()) == "TokenizerInfo(vocab_size=10, padding=3, special=1, stop={6: '</s>'})"
    many = TokenizerInfo.from_vocab([b"\xff"] * 50, stop_token_ids=range(50))
    assert repr(many).endswith("7: '\ufffd', ...})")


def test_fingerprint_is_the_same_everywhere() -> None:
    assert odd().fingerprint == "b26c5eb163eeafab3075f407e6e3904963287608cc2f242dca51cf25aa6cb162"


@pytest.mark.parametrize(
    "changes", [{"vocab_size": 11}, {"stop_token_ids": [6, 0]}, {"stop_token_ids": []}, {"special_token_ids": []}]
)
def test_fingerprint_covers_what_matters(changes: dict[str, Any]) -> None:
    assert odd(**changes).fingerprint != odd().fingerprint
    assert odd(**changes) != odd()


def test_fingerprint_tells_token_borders_apart() -> None:
    one, other = (TokenizerInfo.from_vocab(tokens, stop_token_ids=[]) for tokens in ([b"ab", b"c"], [b"a", b"bc"]))
    assert one.fingerprint != other.fingerprint


def test_equal_content_is_equal() -> None:
    assert odd() == odd()
    assert hash(odd()) == hash(odd())
    assert odd() != "odd"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_copies_and_pickles(copied: Any) -> None:
    assert copied(odd()) == odd()
    assert copied(odd()).fingerprint == odd().fingerprint


class FakeVocabulary:
    """Takes what the kernel takes, slowly, and counts."""

    built = 0

    def __init__(self, token_bytes: list[bytes], special: list[int], stop: list[int], vocab_size: int) -> None:
        time.sleep(0.05)
        type(self).built += 1
        self.arguments = (token_bytes, special, stop, vocab_size)

    def __reduce__(self) -> Any:
        raise AssertionError("the kernel's object is never pickled")


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> type[FakeVocabulary]:
    fake = types.ModuleType("maskwright._kernel")
    vocabulary = type("Vocabulary", (FakeVocabulary,), {})
    fake.Vocabulary = vocabulary  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "maskwright._kernel", fake)
    return vocabulary


def test_the_kernel_gets_lists_and_its_object_is_kept(kernel: type[FakeVocabulary]) -> None:
    it = odd()
    assert kernel.built == 0
    assert it.kernel_vocabulary.arguments == (list(it.token_bytes), [6], [6], 10)
    assert it.kernel_vocabulary is it.kernel_vocabulary
    assert kernel.built == 1
    assert pickle.loads(pickle.dumps(it)) == it


def test_the_trie_is_built_once_by_many_threads(kernel: type[FakeVocabulary]) -> None:
    it, found = odd(), []
    threads = [threading.Thread(target=lambda: found.append(it.kernel_vocabulary)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kernel.built == 1
    assert len(found) == 8
    assert len({id(one) for one in found}) == 1


def test_the_real_kernel_takes_odd_vocabularies() -> None:
    pytest.importorskip("maskwright._kernel", reason="the kernel is not built")
    for it in (odd(), odd(stop_token_ids=[]), odd(special_token_ids=[]), odd(stop_token_ids=[2, 8])):
        assert it.kernel_vocabulary is it.kernel_vocabulary
        assert it.kernel_vocabulary.build_us >= 0
        assert it.kernel_vocabulary.memory_bytes > 0


def test_importing_is_light() -> None:
    libraries = (
        "transformers",
        "tokenizers",
        "tiktoken",
        "sentencepiece",
        "mistral_common",
        "huggingface_hub",
        "torch",
    )
    code = f"import sys, maskwright.tokenizer; print([name for name in {libraries} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("module", [info, raw, text_decoders, from_vocab])
def test_examples(module: types.ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_longest_tokens() -> None:
    """Characters of a token are counted in 16 bits: longer ones are refused rather than miscounted."""
    longest = TokenizerInfo.from_vocab([b"a", b"a" * 65_534], stop_token_ids=[])
    compiler = GrammarCompiler(longest)
    for limit, fits in ((65_533, False), (65_534, True)):
        matcher = GrammarMatcher(compiler.compile_regex(f"a{{1,{limit}}}"), override_stop_tokens=[])
        assert matcher.fork().accept_token(1) is fits
        bitmask = allocate_token_bitmask(1, 2)
        matcher.fill_next_token_bitmask(bitmask)
        assert bitmask[0, 0] == (0b11 if fits else 0b01)
    with pytest.raises(TokenizerError, match="65535 bytes"):
        _ = TokenizerInfo.from_vocab([b"a", b"a" * 65_535], stop_token_ids=[]).kernel_vocabulary


def test_encode() -> None:
    with pytest.raises(TokenizerError):
        TokenizerInfo.from_vocab([b"a"], stop_token_ids=[]).encode("a")


def test_missing_bytes_of_a_long_vocabulary() -> None:
    """A byte may come late, or in the name of a special token alone."""
    tokens = [b"a"] * 10_000 + [bytes([byte]) for byte in range(255)] + [b"\xff"]
    special = [len(tokens) - 1]
    assert TokenizerInfo.from_vocab(tokens, stop_token_ids=[], special_token_ids=special).missing_bytes == b"\xff"
    assert TokenizerInfo.from_vocab(tokens, stop_token_ids=[], special_token_ids=[]).missing_bytes == b""
