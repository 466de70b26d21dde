r"""Grammars in Lark's syntax, with the additions of llguidance's dialect: `lark_to_ir` makes the IR.

    >>> print(lark_to_ir('start: "(" start ")" | /[0-9]+/').dump())
    start ::= "(" start ")" | [0-9]+

The files in the order of the work: `ast.py`, `parser.py` (over a `cursor.py`, with `body.py`, `statements.py` and, for
parametric rules, `parameters.py`), `resolve.py` (names, imports), `terminals.py` (regular languages, over one of the
`alphabets.py`; `lazy.py`), `lower.py` (rules, templates), over `ignored.py` and `embedded.py` (grammars within the
grammar). `common.lark` is what `%import common` finds.
Tested by tests/frontends/test_lark.py, tests/frontends/test_lark_peers.py, tests/corpus/lark.toml.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from maskwright.errors import SchemaError, Span, UnsatisfiableError, line_and_column
from maskwright.frontends.lark.lower import lower
from maskwright.frontends.lark.parser import parse as parse
from maskwright.frontends.warnings.notes import Notes, no_notes
from maskwright.ir import GrammarIR, spelled_out

if TYPE_CHECKING:
    from maskwright.frontends.json_schema import Finding, JsonSchemaOptions


def lark_to_ir(
    source: str,
    start: str = "start",
    *,
    grammars: Mapping[str, GrammarIR] | None = None,
    modules: Mapping[str, str] | None = None,
    options: JsonSchemaOptions | None = None,
    report: list[Finding] | None = None,
    notes: Notes | None = None,
) -> GrammarIR:
    """Read a grammar.

    Args:
        source: The rules.
        start: The rule that the whole text must match.
        grammars: What `@name` and declared terminals stand for, by name.
        modules: Lark texts that `%import name.rule` takes from, beside `common`.
        options: How each `%json` is read.
        report: Receives what was reported of these schemas.
        notes: Filled, for the warnings.

    Raises:
        LarkSyntaxError: The text is not a grammar, a name is missing or defined twice, or something is not supported.
        SchemaError: A `%json` is malformed, or cannot be enforced; `line` and `column` say which.
        LimitError: It nests too deep, or templates make too many rules.
    """

    def read_schema(schema: object, text: str, span: Span) -> GrammarIR:
        from maskwright.frontends.json_schema import DEFAULTS, schema_to_ir

        found: list[Finding] = []
        try:
            made = spelled_out(schema_to_ir(schema, options or DEFAULTS, found))
        except (SchemaError, UnsatisfiableError) as error:
            error.stands_at(text, span)
            raise
        if report is not None and found:
            line, column = line_and_column(text, span)
            place = f" (in the %json at {line}:{column})"
            report.extend([each._replace(reason=each.reason + place) for each in found])
        return made

    noted = notes or no_notes()
    return lower(parse(source, noted.misread), start, grammars or {}, modules or {}, read_schema, noted)
