"""`Trials`: how far a text gets in a value that only some sub-schemas apply to.

    trials.reached(parts, b'{"a": ', b"x}", 0)                    0: these sub-schemas reject it at once
    trials.reached(parts, b'{"a": ', b"x}", 0, any_order=True)    the same, had this option been chosen

Sub-schemas are compiled on their own; what is kept of them is bounded. Not thread-safe.
Tested by tests/frontends/json_schema/report/test_schema_blame.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from maskwright import _kernel
from maskwright.errors import MaskwrightError
from maskwright.frontends.json_schema.emit.emitter import Emitter
from maskwright.frontends.json_schema.emit.layout import layout_of
from maskwright.frontends.json_schema.normalise.normaliser import Normaliser
from maskwright.frontends.json_schema.options import JsonSchemaOptions
from maskwright.frontends.json_schema.read.documents import Document
from maskwright.frontends.json_schema.read.places import Conj, Node
from maskwright.frontends.json_schema.text.ascii_only import in_ascii
from maskwright.frontends.json_schema.text.escapes import with_escapes
from maskwright.ir import OP_NEVER
from maskwright.tokenizer import TokenizerInfo

END_BYTES: Final = frozenset((b"", b",", b"]", b"}", b" ", b"\t", b"\r", b"\n"))  # b"": where the text ends
MAX_AHEAD: Final = 200  # bytes behind the place that are looked at
_MAX_KEPT: Final = 512
_MEMORY_BYTES: Final = 1 << 20
_END: Final = 256


class Trials:
    """Tries texts on sub-schemas of a document.

    Args:
        document: What the sub-schemas belong to.
        options: Those of the schema's grammar.
        letters: The escapes that it allows, if it says so itself.
        tracks: As `Normaliser` takes it.
    """

    def __init__(self, document: Document, options: JsonSchemaOptions, letters: Any, tracks: bool) -> None:
        self._document, self._options, self._letters, self._tracks = document, options, letters, tracks
        self._kept: OrderedDict[Any, tuple[Any, _kernel.CompiledGrammar | None]] = OrderedDict()

    def reached(self, parts: Sequence[Node], text: bytes, rest: bytes, depth: int, any_order: bool = False) -> int:
        """How many bytes of the rest a value can have after this text, the byte that ends it included; 1 for the end
        of the text.
        """
        grammar = self._grammar(tuple(parts), depth, any_order)
        if grammar is None:
            return 0
        matcher = _kernel.Matcher(grammar, [_END], False)
        if not matcher.accept_bytes(text):
            return 0
        for i in range(min(len(rest), MAX_AHEAD)):
            if not matcher.accept_bytes(rest[i : i + 1]):
                return i + (rest[i : i + 1] in END_BYTES and matcher.is_completed())
        ahead = min(len(rest), MAX_AHEAD)
        return ahead + (ahead == len(rest) and matcher.is_completed())

    def takes(self, parts: Sequence[Node], text: bytes, rejected: bytes | None, depth: int) -> bool | None:
        """Whether a value can begin with this text and go on with this byte; None if that takes too much work to tell.

        A number is ended by what follows it, or by the end of the text, which is `b""`.
        """
        grammar = self._grammar(tuple(parts), depth, False)
        if grammar is None:
            return None
        matcher = _kernel.Matcher(grammar, [_END], False)
        if not matcher.accept_bytes(text):
            return False
        if rejected is None:
            return True
        if rejected and matcher.accept_bytes(rejected):
            return True
        return rejected in END_BYTES and matcher.is_completed()

    def _grammar(self, conj: Conj, depth: int, any_order: bool) -> _kernel.CompiledGrammar | None:
        options = replace(self._options, any_order=True) if any_order else self._options
        level = min(depth, len(layout_of(options).styles) - 1)
        key = (tuple([id(node.schema) for node in conj]), level, any_order)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][1]
        made = self._made(conj, level, options)
        self._kept[key] = (conj, made)  # who is known by identity stays alive
        if len(self._kept) > _MAX_KEPT:
            self._kept.popitem(last=False)
        return made

    def _made(self, conj: Conj, depth: int, options: JsonSchemaOptions) -> _kernel.CompiledGrammar | None:
        try:
            emitter = Emitter(Normaliser(self._document, options, [], self._tracks), layout_of(options))
            root = emitter.root(conj, depth)
            if root[0] == OP_NEVER:
                return None
            grammar = emitter.builder.build(root)
            if options.ensure_ascii:
                grammar = in_ascii(grammar, emitter.layout.prelude)
            if self._letters is not None:
                grammar = with_escapes(grammar, self._letters)
            return _kernel.compile(_bytes().kernel_vocabulary, grammar.rules, grammar.root, _MEMORY_BYTES)
        except (MaskwrightError, RecursionError):
            return None


@cache
def _bytes() -> TokenizerInfo:
    return TokenizerInfo.from_vocab([*(bytes((byte,)) for byte in range(256)), b""], stop_token_ids=[_END])
