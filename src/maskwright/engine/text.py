"""The bytes of an output as they come, up to the first stop string.

    text = OutputText(info, params)
    text.add(17); text.take()               what can be shown: what may begin a stop string is held back
    text.stopped_by                         the stop string that came, if one did

Tested by tests/engine/test_text.py.
"""

from __future__ import annotations

from maskwright.engine.requests import SamplingParams
from maskwright.tokenizer import TokenizerInfo


class OutputText:
    """The bytes of one output."""

    def __init__(self, info: TokenizerInfo, params: SamplingParams) -> None:
        self._token_bytes = info.token_bytes
        self._hidden = frozenset(info.special_token_ids) if params.skip_special_tokens else frozenset()
        self._stops = {text.encode("utf-8", "surrogatepass"): text for text in params.stop}
        self._includes_stop = params.include_stop
        self._held = b""
        self._ready: list[bytes] = []
        self.stopped_by: str | None = None

    def add(self, token: int, *, skip: int = 0) -> None:
        """Add the bytes of a token, but for the first few. Those after a stop string are dropped."""
        if token >= len(self._token_bytes) or token in self._hidden or self.stopped_by is not None:
            return
        data = self._token_bytes[token][skip:]
        if self._stops:
            data = self._up_to_stop(self._held + data)
        if data:
            self._ready.append(data)

    def take(self, *, is_last: bool = False) -> bytes:
        """Return the bytes that were not taken yet, but for those held back; with `is_last`, these as well."""
        if is_last and self.stopped_by is None:
            self._ready.append(self._held)
            self._held = b""
        data = b"".join(self._ready)
        self._ready.clear()
        return data

    def _up_to_stop(self, data: bytes) -> bytes:
        found = min(((data.find(stop), stop) for stop in self._stops if stop in data), default=None)
        if found is not None:
            at, stop = found
            self.stopped_by, self._held = self._stops[stop], b""
            return data[: at + len(stop)] if self._includes_stop else data[:at]
        kept = max(_length_of_beginning(data, stop) for stop in self._stops)
        self._held = data[len(data) - kept :]
        return data[: len(data) - kept]


def _length_of_beginning(data: bytes, stop: bytes) -> int:
    """How many bytes at the end of the data a stop string begins with."""
    longest = min(len(data), len(stop) - 1)
    return next((size for size in range(longest, 0, -1) if stop.startswith(data[len(data) - size :])), 0)
