"""Documents of the ready grammars (`maskwright.grammars`), each of many small, varied parts: of any length.

    >>> document("csv", 2)
    'owner,"a ""b"", c",0\\r\\ntotal,"a ""b"", c",7\\r\\n'

A document is a beginning, parts with a number in them, and an end.
"""

from __future__ import annotations

_NAMES = ["owner", "total", "item", "price", "label", "size", "address", "street"]

# beginning, part, what stands between parts, end; {i} is a number, {n} a name, {x} the seven-fold number
_DOCUMENTS = {
    "arithmetic": ("1 + ", "{i} * ({x}.5 - -{i}) ^ 2 / 3", " + ", ""),
    "chess_san": ("", "{j}. e4 e5 {j}. Nf3 Nc6 {j}. Bb5 a6 {j}. exd8=Q+ Rad1 {j}. O-O O-O-O", " ", " 1-0"),
    "csv": ("", '{n},"a ""b"", c",{x}', "\r\n", "\r\n"),
    "graphql_query": ("query Q {{ ", '{n}{i}: {n}(first: {x}, s: "x y") {{ id ...F @include(if: true) }}', " ", " }}"),
    "iso_dates": ("", "2024-02-29T13:45:{s}.{x}+05:30", "", ""),
    "json": ("[", '{{"{n}": {i}, "list": [1.5e{s}, "a b \\n", true], "more": {{"x": null}}}}', ", ", "]"),
    "markdown_table": ("| a | b | c |\n| --- | :--: | --: |\n", "| {n} | some words {i} | {x} |", "\n", "\n"),
    "python_subset": ("", "{n}{i} = [f(x, k={x}) for x in {n} if x % 2 == 0 and not y]\nif a: b += 'c'", "\n", "\n"),
    "sql_select": (
        "",
        "SELECT t.{n}, COUNT(*) AS n{i} FROM t JOIN u ON t.i = u.i WHERE a > {x} AND b LIKE 'x%' GROUP BY a",
        " UNION ALL ",
        ";",
    ),
    "toml": (
        "",
        '[{n}.s{i}]\nkey = "some text"\nnumbers = [{i}, {x}, 0xFF]\nt = {{a = 1.5, b = true}} # c',
        "\n",
        "\n",
    ),
    "url": ("https://example.org/", "{n}/%20{i}", "/", "?q=1&r=x#f"),
    "xml": ("<list>", '<item id="{n}{i}" class="c">text &amp; more<!-- c --><row/></item>', "\n", "</list>"),
}
_ALONE = ("iso_dates",)  # one part is a whole document


def document(name: str, num_parts: int) -> str:
    """Return a document of so many parts."""
    begin, part, between, end = _DOCUMENTS[name]
    if name in _ALONE:
        num_parts = 1
    parts = (part.format(i=i, j=i + 1, x=i * 7, s=f"{i % 60:02}", n=_NAMES[i % 8]) for i in range(num_parts))
    return begin.format() + between.join(parts) + end.format()
