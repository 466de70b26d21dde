"""What `help()`, inspect and IPython show for functions that take the options of JSON Schemas.

    @takes_schema_options
    def from_json_schema(cls, schema: Any, **options: Unpack[JsonSchemaKeywords]) -> Grammar: …

    >>> from maskwright import Grammar
    >>> "on_unsupported" in inspect.signature(Grammar.from_json_schema).parameters
    True

Editors and type checkers read the annotation. What looks at the function itself would show `**options`, so it gets a
signature that spells them out, made when somebody asks for it: `import maskwright` does not load the front-end.
Tested by tests/contract/test_option_keywords.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])


def takes_schema_options(function: _F) -> _F:
    """Let a function whose last parameter is `**options` show the options by name."""
    function.__signature__ = _Signature(function)  # type: ignore[attr-defined]
    return function


class _Signature(inspect.Signature):
    """The signature of a function, its options spelled out."""

    __slots__ = ("__dict__",)

    def __init__(self, function: Callable[..., Any]) -> None:
        written = inspect.Signature.from_callable(function)
        *self._own, self._options = written.parameters.values()
        super().__init__(self._own, return_annotation=written.return_annotation)

    @cached_property
    def _spelled(self) -> Mapping[str, inspect.Parameter]:
        from maskwright.frontends.json_schema.options import JsonSchemaOptions

        taken = {each.name for each in self._own}
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
            for name, each in JsonSchemaOptions.__dataclass_fields__.items()
            if name not in taken
        ]
        return inspect.Signature([*self._own, *options]).parameters

    @property
    def parameters(self) -> Any:
        return self._spelled

    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]
        plain = inspect.Signature(list(self.parameters.values()), return_annotation=self.return_annotation)
        return plain.replace(**changes)
