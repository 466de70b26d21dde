"""Read a SentencePiece model: `▁` is a space, byte pieces are bytes, control pieces and the unknown piece are special.

Decoding a whole text drops the space with which it begins, if the model says so (its dummy prefix); the bytes of a
token never depend on that, see `TokenizerInfo.drops_leading_space`. The stop token is the model's `</s>`, where it
has one. Cost: about a microsecond a token. Source: Kudo and Richardson 2018, "SentencePiece". Tested by
tests/tokenizer/test_sentencepiece.py.
"""

from __future__ import annotations

import os
from typing import Any

from maskwright.errors import TokenizerError
from maskwright.tokenizer.raw import RawTokenizer, check_vocab_size, import_library, library_of, wrong_type
from maskwright.tokenizer.text_decoders import METASPACE, TextDecoder, metaspace_decoder


def read(processor_or_path: Any) -> RawTokenizer:
    """Translate a `SentencePieceProcessor`, or the model file at a path."""
    processor = _load(processor_or_path) if isinstance(processor_or_path, (str, os.PathLike)) else processor_or_path
    if library_of(processor) != "sentencepiece" or not hasattr(processor, "GetPieceSize"):
        raise wrong_type(processor, "from_sentencepiece", "a SentencePieceProcessor or the path of a model file")
    ids = range(check_vocab_size(processor.GetPieceSize()))
    decoder = piece_decoder(processor)
    return RawTokenizer(
        token_bytes=[decoder.decode(processor.IdToPiece(i)) for i in ids],
        special_token_ids=[i for i in ids if processor.IsControl(i) or processor.IsUnknown(i)],
        stop_token_ids=[i for i in (processor.eos_id(),) if i >= 0],
        drops_leading_space=decoder.drops_leading_space,
        encode=processor.EncodeAsIds,
    )


def piece_decoder(processor: Any) -> TextDecoder:
    """Make the decoder for the pieces of a model."""
    # A piece that looks like a byte but is not one is plain text, so the model is asked.
    pieces = {f"<0x{byte:02X}>": byte for byte in range(256)}
    byte_pieces = {piece: byte for piece, byte in pieces.items() if processor.IsByte(processor.PieceToId(piece))}
    return metaspace_decoder(drops_leading_space=_drops_leading_space(processor), byte_pieces=byte_pieces)


def _drops_leading_space(processor: Any) -> bool:
    """Ask the model itself: decode a piece that begins with a space."""
    for i in range(processor.GetPieceSize()):
        piece = processor.IdToPiece(i)
        if len(piece) > 1 and piece.startswith(METASPACE) and not processor.IsControl(i):
            return bool(processor.DecodeIds([i]) != piece.replace(METASPACE, " "))
    return False


def _load(path: str | os.PathLike[str]) -> Any:
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise TokenizerError(f"no SentencePiece model file at {name!r}")
    try:
        return import_library("sentencepiece").SentencePieceProcessor(model_file=name)
    except (OSError, RuntimeError) as error:
        raise TokenizerError(f"{name!r} is not a SentencePiece model: {error}") from error
