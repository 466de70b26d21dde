"""What `referencing` uses of rpds, whose wheels hold compiled code and do not come for every Pyodide: maps and sets
that are copied where they change, and a list. Registries of a schema are small, so copying costs little.
Tested by web/tests/frontends.test.js.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class HashTrieMap(Mapping[K, V], Generic[K, V]):
    __slots__ = ("_items",)

    def __init__(self, value: Any = (), **items: Any) -> None:
        self._items: dict[K, V] = dict(value, **items)

    @classmethod
    def convert(cls, value: Any) -> HashTrieMap[K, V]:
        return value if isinstance(value, cls) else cls(value)

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def insert(self, key: K, value: V) -> HashTrieMap[K, V]:
        return HashTrieMap({**self._items, key: value})

    def remove(self, key: K) -> HashTrieMap[K, V]:
        if key not in self._items:
            raise KeyError(key)
        return self.discard(key)

    def discard(self, key: K) -> HashTrieMap[K, V]:
        return HashTrieMap({k: v for k, v in self._items.items() if k != key})

    def update(self, *others: Any, **items: V) -> HashTrieMap[K, V]:
        made = dict(self._items)
        for other in others:
            made.update(other)
        made.update(items)  # type: ignore[arg-type]
        return HashTrieMap(made)


class HashTrieSet(AbstractSet[K], Generic[K]):
    __slots__ = ("_members",)

    def __init__(self, members: Iterable[K] = ()) -> None:
        self._members = frozenset(members)

    def __contains__(self, member: object) -> bool:
        return member in self._members

    def __iter__(self) -> Iterator[K]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __hash__(self) -> int:
        return hash(self._members)

    def insert(self, member: K) -> HashTrieSet[K]:
        return HashTrieSet(self._members | {member})

    def remove(self, member: K) -> HashTrieSet[K]:
        if member not in self._members:
            raise KeyError(member)
        return self.discard(member)

    def discard(self, member: K) -> HashTrieSet[K]:
        return HashTrieSet(self._members - {member})

    def update(self, *others: Iterable[K]) -> HashTrieSet[K]:
        return HashTrieSet(self._members.union(*others))


class List(Generic[V]):
    __slots__ = ("_items",)

    def __init__(self, *given: Any) -> None:
        self._items: tuple[V, ...] = tuple(given[0]) if len(given) == 1 and not isinstance(given[0], str) else given

    def push_front(self, item: V) -> List[V]:
        return List((item, *self._items))

    def __iter__(self) -> Iterator[V]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, List) and self._items == other._items

    def __hash__(self) -> int:
        return hash(self._items)
