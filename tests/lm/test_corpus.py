"""The corpus: the same everywhere, of a modest size, and its records are JSON."""

from __future__ import annotations

import json
import random

import pytest

from maskwright.lm import words
from maskwright.lm.corpus import RECORDS, Writer, documents


def test_the_corpus_is_deterministic_and_of_modest_size() -> None:
    corpus = documents()
    assert corpus == documents()
    assert corpus != documents(seed=1)
    assert 100_000 < sum(len(text.encode()) for text in corpus) < 300_000


@pytest.mark.parametrize(("kind", "make"), RECORDS, ids=[kind for kind, _ in RECORDS])
def test_records_are_json_objects(kind: str, make: object) -> None:
    w = Writer(random.Random(3))
    for _ in range(20):
        record = make(w)  # type: ignore[operator]
        assert json.loads(json.dumps(record)) == record


def test_documents_that_begin_with_a_brace_parse() -> None:
    records = [text for text in documents() if text.startswith("{")]
    assert len(records) > 100
    for text in records:
        json.loads(text)


def test_word_lists_have_no_doubles_and_no_stray_blanks() -> None:
    lists = {name: value for name, value in vars(words).items() if name.isupper()}
    assert len(lists) > 20
    for name, entries in lists.items():
        assert len(set(entries)) == len(entries), name
        assert all(entry == entry.strip() != "" and "\n" not in entry for entry in entries), name
