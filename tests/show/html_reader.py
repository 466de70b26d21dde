"""HTML read back: its elements and attributes, its text, and whether elements are closed in order."""

from __future__ import annotations

from html.parser import HTMLParser

_VOID = {"meta"}


class Page(HTMLParser):
    """What a page or a fragment holds."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of this name."""
        return [dict(attrs) for name, attrs in self.tags if name == tag]
