"""`--model` with a transformers model from a directory made here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: E402

from maskwright.errors import EngineError  # noqa: E402

Cli = Callable[..., tuple[int, str, str]]


def make_tokenizer() -> Any:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<eos>", bos_token="<bos>")


@pytest.fixture(scope="module")
def model_directory(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = str(tmp_path_factory.mktemp("model"))
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(directory)
    torch.manual_seed(0)
    ids = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    config = transformers.GPT2Config(vocab_size=264, n_positions=256, n_embd=16, n_layer=1, n_head=2, **ids)
    transformers.GPT2LMHeadModel(config).save_pretrained(directory)
    return directory


@pytest.mark.parametrize("prompt", ["", "A date: "])
def test_the_output_follows(cli: Cli, model_directory: str, prompt: str) -> None:
    pattern = "20[0-9]{2}-[0-9]{2}-[0-9]{2}"
    code, out, err = cli("generate", "--regex", pattern, "--model", model_directory, "--seed", "3", "--prompt", prompt)
    assert code == 0, err
    assert re.fullmatch(pattern, out.removesuffix("\n"))
    assert "10  (" in err
    assert "first mask" in err


def test_a_seed_makes_it_repeatable(cli: Cli, model_directory: str) -> None:
    arguments = ("generate", "--regex", "[a-z]{20}", "--model", model_directory, "--no-stats")
    runs = [cli(*arguments, "--seed", str(seed)) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_a_schema_is_followed(cli: Cli, model_directory: str) -> None:
    schema = '{"type": "array", "items": {"enum": ["é", 12]}}'
    code, out, err = cli("generate", "--schema", schema, "--model", model_directory, "--temperature", "0")
    assert (code, "tokens" in err) == (0, True)
    assert set(map(str, json.loads(out))) <= {"é", "12"}


def test_a_chat_template_is_used(cli: Cli, model_directory: str, tmp_path: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(model_directory)
    model.save_pretrained(tmp_path)
    tokenizer = make_tokenizer()
    tokenizer.chat_template = "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}[assistant]"
    tokenizer.save_pretrained(tmp_path)
    code, out, _ = cli("generate", "--choice", "ok", "--model", str(tmp_path), "--prompt", "Hi", "--no-stats")
    assert (code, out) == (0, "ok\n")


def test_an_output_is_complete_within_max_tokens(cli: Cli, model_directory: str) -> None:
    arguments = ("generate", "--regex", "a{9}", "--model", model_directory, "--no-stats", "--max-tokens")
    assert cli(*arguments, "4")[:2] == (2, "")
    assert cli(*arguments, "9")[:2] == (0, "aaaaaaaaa\n")


def test_an_output_fits_the_context_and_a_prompt_that_fills_it_is_refused(cli: Cli, model_directory: str) -> None:
    arguments = ("generate", "--regex", "a{200,400}", "--model", model_directory, "--no-stats", "--prompt")
    assert cli(*arguments, "x" * 56)[:2] == (0, "a" * 200 + "\n")
    code, out, err = cli(*arguments, "x" * 57)
    assert (code, out) == (2, "")
    assert "the shortest output needs 200 tokens, but --max-tokens is 199" in err
    code, out, err = cli(*arguments, "x" * 256)
    assert (code, out) == (2, "")
    assert "--prompt: the prompt has 256 tokens, which fill the model's context of 256" in err


def test_a_directory_without_a_model_is_a_clean_error(cli: Cli, tmp_path: Path) -> None:
    code, out, err = cli("generate", "--choice", "a", "--model", str(tmp_path))
    assert (code, out) == (2, "")
    assert "has no config.json" in err


def test_a_broken_model_is_a_clean_error(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "no-such-type"}')
    code, out, err = cli("generate", "--choice", "a", "--model", str(tmp_path))
    assert (code, out) == (2, "")
    assert "transformers cannot load it: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("name", "is_looked_for"), [("no-such-model", True), ("embedded", False), ("./none", False)])
def test_a_search_on_the_network_is_announced(cli: Cli, name: str, is_looked_for: bool, monkeypatch: Any) -> None:
    def load_nothing(given: str, **_options: Any) -> Any:
        raise EngineError(f"{given}: not loaded")

    monkeypatch.setattr("maskwright.cli.generate.load_engine", load_nothing)
    code, _, err = cli("generate", "--regex", "a", "--model", name)
    assert code == 2
    assert ("looking for it on the Hugging Face hub" in err) == is_looked_for
