"""`check`: how each keyword of a JSON Schema is handled, before anything is served with it.

    >>> report = check({"items": {"maxItems": 2}, "uniqueItems": True, "title": "tags"})
    >>> report.verdict
    'refused'
    >>> [(k.pointer, k.outcome) for k in report.keywords]
    [('/items', 'enforced'), ('/uniqueItems', 'refused'), ('/title', 'annotation'), ('/items/maxItems', 'enforced')]

The front-end itself is run, leaving out what it cannot enforce and saying so; no table of what it can do is kept.
So a schema is refused here if and only if compiling it raises an error.
Cost: that of `Grammar.from_json_schema`, and a walk over the schema.
Tested by tests/frontends/json_schema/report/test_schema_check.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from maskwright.errors import LimitError, UnsatisfiableError, UnsupportedSchemaError
from maskwright.inputs.option_signatures import takes_schema_options
from maskwright.inputs.schema_inputs import schema_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from maskwright.frontends.json_schema import Finding, JsonSchemaKeywords, JsonSchemaOptions

Outcome: TypeAlias = Literal["enforced", "annotation", "relaxed", "refused"]
OUTCOMES: tuple[Outcome, ...] = ("enforced", "annotation", "relaxed", "refused")

_REWRITES = {
    "uniqueItems": "let items be scalars, arrays or objects of any size, or check it later",
    "minProperties": "name the members that must be there in required",
    "maxProperties": "set additionalProperties to false and declare fewer members",
    "multipleOf": "round the number, or narrow minimum and maximum",
    "contains": "let items say what all elements are, or write the required ones as prefixItems",
    "patternProperties": "join the patterns, or make them begin differently",
    "pattern": "write the pattern without back-references",
    "oneOf": "give each branch a required member with a const of its own, or use anyOf",
    "not": "say what is allowed: an enum, bounds or anyOf",
    "if": "write the cases as anyOf, each with a const of its own",
}


class KeywordOutcome(NamedTuple):
    """How one keyword is handled.

    Attributes:
        pointer: Its JSON pointer in the schema; "" if the schema as a whole is meant.
        keyword: Its name, or None if the schema as a whole is meant.
        outcome: `"enforced"`: no output violates it. `"annotation"`: it asserts nothing there. `"relaxed"`: it is left
            out, as the options say. `"refused"`: because of it, compiling raises an error.
        reason: Why it is not enforced, or what it surely should be instead.
        suggestion: How to rewrite it, if there is a way.
    """

    pointer: str
    keyword: str | None
    outcome: Outcome
    reason: str | None = None
    suggestion: str | None = None

    @property
    def is_mistake(self) -> bool:
        """Whether it asserts nothing, or something else, and was surely meant to: compiling the schema issues a
        `SchemaWarning`.
        """
        from maskwright.frontends.json_schema.options import is_mistake

        return self.outcome in ("annotation", "enforced") and self.reason is not None and is_mistake(self.reason)

    @property
    def label(self) -> str:
        """The outcome, or `"warning"` for a mistake."""
        return "warning" if self.is_mistake else self.outcome

    def __str__(self) -> str:
        reason = "" if self.reason is None else f": {self.reason}"
        hint = "" if self.suggestion is None else f"\n{'':<10}  hint: {self.suggestion}"
        return f"{self.label:<10}  #{self.pointer}{reason}{hint}"


@dataclass(frozen=True)
class SchemaReport:
    """How a schema is handled, keyword by keyword; as a `str`, what `maskwright check` shows.

    Attributes:
        keywords: Keywords that apply, those of one schema object together, sub-schemas after it. Definitions
            that nothing refers to are not among them.
        complete: False if the front-end had to stop at an error: the last of `keywords` says which, and no keyword
            is called enforced.
    """

    keywords: tuple[KeywordOutcome, ...]
    complete: bool = True

    @property
    def verdict(self) -> Literal["enforced", "relaxed", "refused"]:
        """`"refused"` if compiling raises an error, `"relaxed"` if something is left out, else `"enforced"`."""
        outcomes = {k.outcome for k in self.keywords}
        return "refused" if "refused" in outcomes else "relaxed" if "relaxed" in outcomes else "enforced"

    @property
    def warnings(self) -> tuple[KeywordOutcome, ...]:
        """The keywords that surely mean something else than they assert, such as misspelled ones."""
        return tuple([k for k in self.keywords if k.is_mistake])

    def counts(self) -> dict[Outcome, int]:
        """Return the number of keywords by outcome."""
        counter = Counter(k.outcome for k in self.keywords)
        return {outcome: counter[outcome] for outcome in OUTCOMES}

    def __str__(self) -> str:
        warnings = and_warnings(len(self.warnings))
        lines = [f"  {line}" for keyword in self.keywords for line in str(keyword).split("\n")]
        counts = ", ".join([f"{n} {outcome}" for outcome, n in self.counts().items()])
        return "\n".join([self.verdict + warnings, *lines, counts + warnings])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # in IPython and notebooks
        printer.text(str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data: `verdict`, `complete`, the pointers of `warnings`, and `keywords` with the
        fields of each.
        """
        return {
            "verdict": self.verdict,
            "complete": self.complete,
            "warnings": [k.pointer for k in self.warnings],
            "keywords": [k._asdict() for k in self.keywords],
        }


@takes_schema_options
def check(schema: Any, **options: Unpack[JsonSchemaKeywords]) -> SchemaReport:
    """Report how each keyword of a JSON Schema is handled.

    Args:
        schema: As in `Grammar.from_json_schema`.
        **options: The fields of `JsonSchemaOptions`. With `on_unsupported="relax"`, keywords that cannot be enforced
            are relaxed instead of refused.

    Raises:
        SchemaError: The schema is malformed; `pointer` says where.
        OptionError: An option is wrong, or contradicts another one.

    >>> [k.suggestion for k in check({"minLenght": 3}).keywords]
    ["did you mean 'minLength'?"]
    """
    from maskwright.frontends.json_schema import read_options, schema_to_ir, why_unsatisfiable
    from maskwright.frontends.json_schema.read.documents import read_schema
    from maskwright.ir.emptiness import admits_nothing

    chosen = read_options(options)
    findings: list[Finding] = []
    try:
        data = read_schema(schema_of(schema))
        relaxed = replace(chosen, on_unsupported="relax")
        if admits_nothing(schema_to_ir(data, relaxed, findings)):
            raise why_unsatisfiable(data, relaxed)
    except (UnsupportedSchemaError, UnsatisfiableError, LimitError) as error:
        return SchemaReport((*(_found(f, chosen) for f in findings), _stopped(error)), complete=False)
    return SchemaReport(tuple(_merged(data, chosen, findings)))


def and_warnings(number: int) -> str:
    """How a verdict goes on."""
    return "" if not number else ", 1 warning" if number == 1 else f", {number} warnings"


def _merged(schema: Any, options: JsonSchemaOptions, findings: list[Finding]) -> list[KeywordOutcome]:
    """All keywords that apply; what the front-end found of them counts."""
    from maskwright.frontends.json_schema.options import OF_OTHER_TYPE, UNKNOWN_KEYWORD
    from maskwright.frontends.json_schema.read.guidance import NOT_HERE
    from maskwright.frontends.json_schema.report.reached import reached_keywords

    outcomes: dict[str, KeywordOutcome] = {}
    for pointer, keyword, annotation, suggestion in reached_keywords(schema, options.registry):
        outcome: Outcome = "enforced" if annotation is None else "annotation"
        outcomes[pointer] = KeywordOutcome(pointer, keyword, outcome, annotation, suggestion)
    for finding in findings:
        known_already = finding.is_extension or finding.reason.startswith((UNKNOWN_KEYWORD, OF_OTHER_TYPE, NOT_HERE))
        if finding.pointer in outcomes and known_already:  # with the suggestion apart
            continue
        place = _nearest(finding.pointer, outcomes)
        known = outcomes.get(place)
        if known is None or known.outcome != "refused":
            found = _found(finding, options)
            outcomes[place] = found._replace(pointer=place, keyword=known.keyword if known else found.keyword)
    return list(outcomes.values())


def _nearest(pointer: str, places: Container[str]) -> str:
    """The place that a pointer names, or the one around it: under a `not`, the front-end names what it made itself."""
    place = pointer
    while place and place not in places:
        place = place.rpartition("/")[0]
    return place or pointer


def _found(finding: Finding, options: JsonSchemaOptions) -> KeywordOutcome:
    pointer, keyword, outcome, reason = finding
    if outcome != "relaxed":
        return KeywordOutcome(pointer, keyword, outcome, reason)
    kept: Outcome = "refused" if options.on_unsupported == "error" else "relaxed"
    return KeywordOutcome(pointer, keyword, kept, reason, _REWRITES.get(keyword))


def _stopped(error: UnsupportedSchemaError | UnsatisfiableError | LimitError) -> KeywordOutcome:
    """The error that ended the front-end's work."""
    if isinstance(error, UnsupportedSchemaError):
        keyword = error.keyword
        rewrite = error.hint if keyword is None else _REWRITES.get(keyword, error.hint)
        return KeywordOutcome(error.pointer, keyword, "refused", error.message, rewrite)
    return KeywordOutcome("", None, "refused", error.message, error.hint)
