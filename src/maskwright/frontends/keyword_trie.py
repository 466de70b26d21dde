"""The trie of strings that are looked for in a text, and how they overlap.

    KeywordTrie((b"<a>", b">b")).inspect(b">b")     None, 1: `<a>` may end with its first byte

Source: Aho and Corasick, Efficient string matching: an aid to bibliographic search, 1975.
Cost: linear in the length of all strings.
Tested by tests/structural_tag/lowering/test_triggers.py and tests/frontends/test_texts.py.
"""

from __future__ import annotations

from collections.abc import Sequence


class KeywordTrie:
    """The strings' trie with the links of Aho and Corasick: from each prefix to its longest suffix that is one too."""

    def __init__(self, strings: Sequence[bytes]) -> None:
        self.children: list[dict[int, int]] = [{}]
        self.whole: list[bytes | None] = [None]
        for string in strings:
            node = 0
            for byte in string:
                child = self.children[node].get(byte)
                if child is None:
                    child = self.children[node][byte] = len(self.children)
                    self.children.append({})
                    self.whole.append(None)
                node = child
            self.whole[node] = string
        self._link()

    def _link(self) -> None:
        children = self.children
        self.suffix = [0] * len(children)  # the link
        self.inside: list[bytes | None] = [None] * len(children)  # a string that ends here, the node's own aside
        queue = list(children[0].values())
        for node in queue:
            link = self.suffix[node]
            self.inside[node] = self.whole[link] or self.inside[link]
            for byte, child in children[node].items():
                target = link
                while target and byte not in children[target]:
                    target = self.suffix[target]
                self.suffix[child] = children[target].get(byte, 0)
                queue.append(child)
        # Prefixes with which another string ends.
        self.overlapped = [False] * len(children)
        for node, string in enumerate(self.whole):
            link = self.suffix[node] if string is not None else 0
            while link and not self.overlapped[link]:
                self.overlapped[link] = True
                link = self.suffix[link]

    def inspect(self, string: bytes) -> tuple[bytes | None, int]:
        """Return a string that ends within this one, if any, and the length of the longest prefix that overlaps."""
        node, overlap = 0, 0
        for length, byte in enumerate(string, 1):
            node = self.children[node][byte]
            if self.overlapped[node]:
                overlap = length
            found = self.whole[node] or self.inside[node]
            if found is not None and length < len(string):
                return found, overlap
        return None, overlap
