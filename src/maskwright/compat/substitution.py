"""Make `import xgrammar` be `maskwright.compat.xgrammar`.

    from maskwright.compat import install
    install()
    import xgrammar
    xgrammar.GrammarMatcher.__module__  # 'maskwright.compat.xgrammar.matcher'

A finder at the front of `sys.meta_path` answers for the name and for all names below it: each is the module of the same
name here, one object under two names. A submodule that XGrammar has and this package does not is an ImportError, never
the real one. Where XGrammar was imported before, its modules go out of `sys.modules`, and what other modules hold of
them (names, and members of lists, tuples, sets and dicts of their globals) is replaced by what has the same name here.
Objects that XGrammar made stay what they are.
Tested by tests/compat/test_install.py.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

from maskwright.errors import MaskwrightError

_NAME: Final = "xgrammar"
_OURS: Final = "maskwright.compat.xgrammar"


class AlreadyImportedError(MaskwrightError, ImportError):
    """XGrammar was imported before `install`. `modules` are those that hold something of it."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        self.modules = modules
        shown = ", ".join(modules[:5]) + (", ..." if len(modules) > 5 else "")
        by = f" (by {shown})" if modules else ""
        super().__init__(
            f"xgrammar was already imported{by}",
            hint="call maskwright.compat.install() before the first import of xgrammar, or pass replace=True",
        )


class _Alias(Loader):
    """Loads a module here under its name there: the module itself, which is not run again."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._target)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put the alias's there


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _is_below(fullname, _NAME):
            return None
        ours = _OURS + fullname[len(_NAME) :]
        found = find_spec(ours)
        if found is None:
            raise ModuleNotFoundError(f"{_OURS} has no module {fullname!r}", name=fullname)
        spec = ModuleSpec(
            fullname, _Alias(ours), origin=found.origin, is_package=found.submodule_search_locations is not None
        )
        spec.submodule_search_locations = found.submodule_search_locations
        return spec


_FINDER: Final = _Finder()


def is_installed() -> bool:
    """Return whether `import xgrammar` is Maskwright's."""
    return _FINDER in sys.meta_path


def install(*, replace: bool = False) -> tuple[str, ...]:
    """Make `import xgrammar`, and imports of its modules, import Maskwright's. A second call changes nothing.

    Args:
        replace: What to do if XGrammar was imported before: replace it in the modules that hold something of it, or,
            by default, raise an error. Objects that it made, such as compilers, and subclasses of its classes stay.

    Returns:
        The names of the modules in which something was replaced.

    Raises:
        AlreadyImportedError: XGrammar was imported before, and `replace` is False; nothing changes.
        ImportError: torch or pydantic is not installed; nothing changes.
    """
    if is_installed():
        return ()
    real = {name: module for name, module in sys.modules.items() if _is_below(name, _NAME)}
    holders = _holders(real) if real else {}
    if real and not replace:
        raise AlreadyImportedError(tuple(sorted(holders)))
    importlib.import_module(_OURS)
    counterparts = _counterparts(real)
    for name in real:
        del sys.modules[name]
    sys.meta_path.insert(0, _FINDER)
    importlib.import_module(_NAME)
    return tuple(sorted(name for name, module in holders.items() if _replaced(module, counterparts)))


def uninstall() -> None:
    """Let `import xgrammar` be what it was before. What was imported or replaced meanwhile stays Maskwright's."""
    if is_installed():
        sys.meta_path.remove(_FINDER)
        for name in [name for name in sys.modules if _is_below(name, _NAME)]:
            del sys.modules[name]


def _is_below(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def _counterparts(real: dict[str, ModuleType]) -> dict[int, Any]:
    """What stands here for XGrammar's modules, classes and functions, by their identity."""
    found: dict[int, Any] = {}
    for name, module in real.items():
        try:
            ours = importlib.import_module(_OURS + name[len(_NAME) :])
        except ImportError:
            continue  # a part of its insides
        found[id(module)] = ours
        for attribute, value in vars(module).items():
            if _is_below(str(getattr(value, "__module__", "")), _NAME) and hasattr(ours, attribute):
                found[id(value)] = getattr(ours, attribute)
    return found


def _holders(real: dict[str, ModuleType]) -> dict[str, ModuleType]:
    """The other modules that hold a module, a class or a function of XGrammar's."""
    theirs = {id(module) for module in real.values()}
    for module in real.values():
        theirs.update(
            id(value) for value in vars(module).values() if _is_below(str(getattr(value, "__module__", "")), _NAME)
        )
    others = {
        name: module
        for name, module in sys.modules.items()
        if isinstance(module, ModuleType) and name not in real and not _is_below(name, "maskwright")
    }
    return {
        name: module
        for name, module in others.items()
        if any(id(part) in theirs for value in list(vars(module).values()) for part in _parts(value))
    }


def _parts(value: Any) -> list[Any]:
    """A value, and its members if it is a builtin container."""
    if type(value) is dict:
        return [] if value is sys.modules else [value, *value.values()]
    return [value, *value] if type(value) in (list, tuple, set, frozenset) else [value]


def _replaced(module: ModuleType, counterparts: dict[int, Any]) -> bool:
    """Replace what a module's globals hold; return whether anything was."""
    is_changed = False
    for name, value in list(vars(module).items()):
        if not any(id(part) in counterparts for part in _parts(value)):
            continue
        is_changed = True
        new = counterparts.get(id(value))
        setattr(module, name, _with_counterparts(value, counterparts) if new is None else new)
    return is_changed


def _with_counterparts(value: Any, counterparts: dict[int, Any]) -> Any:
    """A container with the counterparts of its members; lists and dicts are changed in place, as others hold them."""
    if type(value) is dict:
        value.update({key: counterparts[id(each)] for key, each in value.items() if id(each) in counterparts})
        return value
    members = [counterparts.get(id(each), each) for each in value]
    if type(value) is list:
        value[:] = members
        return value
    return type(value)(members)
