"""Read a tokenizer of transformers (fast or slow) or of tokenizers.

The texts come from the vocabulary, their meaning from the tokenizer's own decoder: for a fast one the configuration
that tokenizer.json holds, for a slow one its SentencePiece model, its byte map, or what `convert_tokens_to_string`
answers to three small questions. Nothing is taken from how tokens look: `▁` in byte-level BPE is an underline.

Added tokens that are not special match by their text. Special are: added tokens flagged so, the tokens that
transformers names (bos, eos, unk, ..., but not a padding token that is otherwise an ordinary one), and the model's
unknown token. Stop tokens are the tokenizer's eos token and the eos list of the model's generation_config.json, where
that file lies in the tokenizer's folder or in the local hub cache. Nothing is downloaded.
Cost: 0.5 s for 200,000 tokens, a third of it in the library's own listing.
Tested by tests/tokenizer/test_huggingface_fast.py and test_huggingface_slow.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maskwright.errors import TokenizerError
from maskwright.tokenizer import from_mistral, from_sentencepiece
from maskwright.tokenizer.raw import RawTokenizer, check_vocab_size, import_library, library_of, wrong_type
from maskwright.tokenizer.text_decoders import (
    TextDecoder,
    byte_level_decoder,
    decoder_of_pre_tokenizer,
    latin1_decoder,
    metaspace_decoder,
    parse_decoder,
    wordpiece_decoder,
)


def read(tokenizer: Any) -> RawTokenizer:
    """Translate a transformers tokenizer, a `tokenizers.Tokenizer`, or what mlx-lm wraps around one."""
    library = library_of(tokenizer)
    if library == "mlx_lm" and hasattr(tokenizer, "_tokenizer"):
        return read(tokenizer._tokenizer)._replace(stop_token_ids=sorted(tokenizer.eos_token_ids))
    if library not in ("transformers", "tokenizers") or not hasattr(tokenizer, "get_vocab"):
        raise wrong_type(tokenizer, "from_huggingface", "a tokenizer of transformers or tokenizers")
    if library == "tokenizers":
        fast = getattr(tokenizer, "_tokenizer", tokenizer)
        return _read_fast(fast)._replace(encode=lambda text: fast.encode(text, add_special_tokens=False).ids)
    inner = getattr(tokenizer, "tokenizer", None)
    if library_of(inner) == "mistral_common":
        return from_mistral.read(inner)
    backend = getattr(tokenizer, "backend_tokenizer", None)
    raw = _read_slow(tokenizer) if backend is None else _read_fast(backend)
    return raw._replace(
        special_token_ids={*raw.special_token_ids, *_named_special_ids(tokenizer)},
        stop_token_ids=_declared_stops(tokenizer),
        encode=lambda text: tokenizer.encode(text, add_special_tokens=False),
    )


def _read_fast(backend: Any) -> RawTokenizer:
    added = backend.get_added_tokens_decoder()
    texts = _texts_by_id(backend.get_vocab(with_added_tokens=True), added)
    for i, text in enumerate(texts):
        if text is None:  # no such id, or an id that shares its text with another
            texts[i] = backend.id_to_token(i)
    model, decoder = backend.model, _fast_decoder(backend)
    beyond_model = {i for i, token in added.items() if model.token_to_id(token.content) != i}
    unknown = getattr(model, "unk_token", None)
    special = {i for i, token in added.items() if token.special}
    if unknown is not None and (unknown_id := backend.token_to_id(unknown)) is not None:
        special.add(unknown_id)
    return RawTokenizer(_decode_all(texts, beyond_model, decoder), special, (), decoder.drops_leading_space)


def _fast_decoder(backend: Any) -> TextDecoder:
    if backend.decoder is not None:
        return parse_decoder(_configuration(backend.decoder, "decoder"))
    if backend.pre_tokenizer is not None:
        decoder = decoder_of_pre_tokenizer(_configuration(backend.pre_tokenizer, "pre-tokenizer"))
        if decoder is not None:
            return decoder
    raise TokenizerError(
        "the tokenizer has no decoder, which says how its tokens are joined to text",
        hint="set tokenizer.decoder (for example tokenizers.decoders.ByteLevel()), or use TokenizerInfo.from_vocab",
    )


def _configuration(component: Any, role: str) -> dict[str, Any]:
    try:
        config = json.loads(component.__getstate__())
    except Exception as error:  # the library raises bare Exception for a component written in Python
        raise TokenizerError(
            f"the tokenizer's {role} is custom code, which cannot be read", hint="use TokenizerInfo.from_vocab"
        ) from error
    return config  # type: ignore[no-any-return]


def _read_slow(tokenizer: Any) -> RawTokenizer:
    vocab, added = tokenizer.get_vocab(), tokenizer.added_tokens_decoder
    texts = _texts_by_id(vocab, added)
    for i, text in enumerate(texts):
        if text is None:
            texts[i] = _slow_text(tokenizer, vocab, i)
    decoder = _slow_decoder(tokenizer)
    special = [i for i, token in added.items() if token.special]
    return RawTokenizer(_decode_all(texts, set(added), decoder), special, (), decoder.drops_leading_space)


def _slow_text(tokenizer: Any, vocab: Mapping[str, int], token_id: int) -> str | None:
    """Ask for an id that the vocabulary does not list. An answer with the unknown token means that there is none."""
    try:
        text = tokenizer.convert_ids_to_tokens(token_id)
    except (LookupError, TypeError, ValueError):
        return None
    return text if isinstance(text, str) and vocab.get(text) != tokenizer.unk_token_id else None


def _slow_decoder(tokenizer: Any) -> TextDecoder:
    processor = getattr(tokenizer, "sp_model", None)
    if library_of(processor) == "sentencepiece":
        return from_sentencepiece.piece_decoder(processor)
    byte_characters = getattr(tokenizer, "byte_decoder", None)
    if isinstance(byte_characters, Mapping):
        return byte_level_decoder(byte_characters)
    if _joins(tokenizer, ["a", "▁b"], "a b") and _joins(tokenizer, ["a", "b"], "ab"):
        return metaspace_decoder(drops_leading_space=True)
    if _joins(tokenizer, ["a", "##b", "c"], "ab c"):
        return wordpiece_decoder()
    if _joins(tokenizer, ["\u00c3", "\u00a9"], "é"):
        return latin1_decoder()
    raise TokenizerError(
        f"the slow tokenizer {type(tokenizer).__qualname__} joins its tokens in an unknown way",
        hint="use its fast version, or TokenizerInfo.from_vocab with the bytes of every id",
    )


def _joins(tokenizer: Any, tokens: list[str], text: str) -> bool:
    try:
        return bool(tokenizer.convert_tokens_to_string(tokens).strip() == text)
    except (LookupError, TypeError, ValueError):
        return False  # it takes only tokens of its own, so this is not its way of writing them


def _texts_by_id(vocab: Mapping[str, int], added: Mapping[int, Any]) -> list[str | None]:
    highest = max(max(vocab.values(), default=-1), max(added, default=-1))
    texts: list[str | None] = [None] * check_vocab_size(highest + 1)
    for text, i in vocab.items():
        texts[i] = text
    for i, token in added.items():
        texts[i] = token.content
    return texts


def _decode_all(texts: list[str | None], added: set[int], decoder: TextDecoder) -> list[bytes]:
    decode = decoder.decode
    try:
        return [b"" if text is None else decode(text, added=i in added) for i, text in enumerate(texts)]
    except UnicodeEncodeError as error:
        raise TokenizerError(
            f"a token is not valid text: {error.reason}", hint="use TokenizerInfo.from_vocab with the bytes of every id"
        ) from error


def _named_special_ids(tokenizer: Any) -> set[int]:
    # Any ordinary token may be made the padding; it stays text unless it is also flagged or named for something else.
    names = {name: text for name, text in tokenizer.special_tokens_map.items() if name != "pad_token"}
    texts = {str(t) for text in names.values() for t in (text if isinstance(text, (list, tuple)) else [text])}
    return {i for i in tokenizer.convert_tokens_to_ids(sorted(texts)) if i is not None}


def _declared_stops(tokenizer: Any) -> list[int]:
    eos = tokenizer.eos_token_id
    return [*_as_ids(eos), *_as_ids(_generation_config(str(tokenizer.name_or_path)).get("eos_token_id"))]


def _as_ids(value: Any) -> list[int]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _generation_config(name_or_path: str) -> dict[str, Any]:
    path = Path(name_or_path, "generation_config.json")
    if not name_or_path or not path.is_file():
        path = _cached_file(name_or_path)
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def _cached_file(repository: str) -> Path:
    """Find a model's generation_config.json in the local hub cache; a path that does not exist where there is none."""
    try:
        found = import_library("huggingface_hub").try_to_load_from_cache(repository, "generation_config.json")
    except (TokenizerError, ValueError):  # not installed, or a name that no repository can have
        return Path()
    return Path(found) if isinstance(found, str) else Path()
