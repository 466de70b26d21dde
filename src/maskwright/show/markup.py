"""HTML without surprises: everything is escaped but what was made here.

    >>> element("p", "a < b", element("b", "!"), title='"x"')
    '<p title="&quot;x&quot;">a &lt; b<b>!</b></p>'
    >>> visible(b"a b\\n"), visible(b"\\xff\\x00")
    ('a·b⏎', '0xFF 0x00')

Tested by tests/show/test_markup.py.
"""

from __future__ import annotations

import html

_SIGNS = {"\n": "⏎", "\t": "⇥", "\r": "␍", " ": "·"}


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str | int | None) -> Markup:
    """Return an element; of texts that are not `Markup`, the characters. `class_` is the attribute `class`, `a_b` is
    `a-b`, and None leaves an attribute out.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*children: str) -> Markup:
    """Return texts and elements one after the other."""
    return Markup("".join(each if isinstance(each, Markup) else _escaped(each) for each in children))


def with_code(text: str) -> Markup:
    """A text in which what stands between backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one of them is a backtick of the text itself
        return joined(text)
    return joined(*[element("code", part) if i % 2 else part for i, part in enumerate(parts)])


def _escaped(text: str) -> str:
    """Control characters and those that turn the direction of a text around are shown by their number."""
    return html.escape("".join(c if c.isprintable() or c == "\n" else f"\\u{{{ord(c):x}}}" for c in text))


def visible(data: bytes, most: int = 60) -> str:
    """Text as it is, with white space visible; what is not whole characters in hexadecimal; cut where it is long."""
    try:
        text = "".join(_SIGNS.get(c, c) for c in data.decode())
    except UnicodeDecodeError:
        text = " ".join(f"0x{byte:02X}" for byte in data[:most])
    return cut(text, most)


def cut(text: str, most: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
