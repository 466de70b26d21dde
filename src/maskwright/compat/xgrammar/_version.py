"""The version of XGrammar whose interface this is. What it runs on is `maskwright.__version__`."""

from __future__ import annotations

from typing import Final

__version__ = version = "0.2.8"
__version_tuple__ = version_tuple = (0, 2, 8)
__commit_id__ = commit_id = None

__all__: Final = ["__commit_id__", "__version__", "__version_tuple__", "commit_id", "version", "version_tuple"]
