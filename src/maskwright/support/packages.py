"""Optional packages: what needs one says so, and how to install it, where it is missing.

    with needed_by("maskwright.integrations.mlx", mlx="mlx-lm"):
        from maskwright.integrations.mlx.processor import GrammarLogitsProcessor

Also a decorator, for functions that import what they need. Tested by tests/support/test_packages.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from maskwright.errors import MissingPackageError


@contextmanager
def needed_by(module: str, **packages: str) -> Iterator[None]:
    """Raise a MissingPackageError where one of these packages is not found: names to import, as pip calls them.

    What is missing within an installed package is that package's own error.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in packages:
            raise
        hint = f"pip install {' '.join(packages.values())}"
        raise MissingPackageError(f"{module} needs {error.name}", package=error.name, hint=hint) from error
