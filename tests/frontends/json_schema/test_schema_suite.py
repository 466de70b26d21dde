"""The official test suite: no group accepts an invalid instance, and docs/json_schema.md tells how each does.

`python tools/make_json_schema_page.py` writes that page anew. Where the suite is not at hand, a selection of groups in
its form stands in; all of those are right.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from frontends.json_schema.suite import SELECTION, SUITE, Group, groups_of, outcome, page

PAGE = Path(__file__).resolve().parents[3] / "docs" / "json_schema.md"


@pytest.mark.skipif(not SUITE.is_dir(), reason="the official test suite is not here")
def test_the_page_tells_how_each_group_does() -> None:
    assert PAGE.read_text(encoding="utf-8").endswith(page())


@pytest.mark.parametrize("group", [*groups_of(SELECTION, "draft2020-12")], ids=lambda group: group.name)
def test_the_selection_is_right(group: Group) -> None:
    assert outcome(group, numbers="any") == ("right", "", [])
