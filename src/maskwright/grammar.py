"""`Grammar`: a structure, from whatever language it was written in, before any tokenizer is known.

    >>> g = Grammar.from_regex(r"[ab]c?")
    >>> print(g.dump())
    root ::= [a-b] "c"?

A grammar is immutable and holds an IR (maskwright.ir) and what was reported while it was read. One that a compiler
keeps, and that can be read again from what the compiler keeps anyway, lets go of its IR until somebody asks for it: the
IR is most of a grammar's memory, and its objects are what Python's garbage collector would go through.
Tested by tests/test_public_api.py, tests/frontends/test_printing.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from maskwright import ir
from maskwright.errors import GrammarError, GrammarWarning, RegexSyntaxError, UnsatisfiableError, wrong_argument
from maskwright.frontends.warnings.schema_warnings import warn_of
from maskwright.inputs.option_signatures import takes_schema_options
from maskwright.inputs.schema_inputs import schema_of
from maskwright.ir import GrammarIR
from maskwright.report.sources import Source
from maskwright.support.argument_names import of_a_grammar
from maskwright.support.arguments import as_tuple, check_pattern, instance
from maskwright.support.interruption import compiling

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from maskwright.frontends.json_schema import Finding, JsonSchemaKeywords
    from maskwright.saved_grammars import Notes
    from maskwright.structural_tag import StructuralTag
    from maskwright.tokenizer import TokenizerInfo

# Front-ends are imported where they are used: a program that only matches JSON Schemas does not pay for the others.

_NOTHING = GrammarIR((ir.Rule("root", ir.never()),), 0)


class Grammar:
    """A structure for outputs to follow.

    Make one with a `from_` method, or from a `GrammarIR`. Combine grammars with `concat` or `+`, and with `union` or
    `|`.

    Attributes:
        ir: the rules, including those of subgrammars (maskwright.ir.subgrammars).
        compact_ir: the rules with the subgrammars as leaves, as the kernel reads them.
        report: a `Finding` for each keyword of a JSON Schema that does not constrain the output, but for the standard's
            own annotations, such as `title`; and for each that surely should do so otherwise. For structural tags,
            pointers lead to the schema in the tag, or in the tools that the tag was made from.
        warnings: each `GrammarWarning` that was issued when the text was read, in EBNF, Lark or as a regex.
    """

    __slots__ = ("_ir", "_read_again", "_source", "_tag", "report", "warnings")

    def __init__(
        self,
        ir: GrammarIR,
        report: tuple[Finding, ...] = (),
        warnings: tuple[GrammarWarning, ...] = (),
        *,
        source: Source | None = None,
    ) -> None:
        hint = "use Grammar.from_json_schema, from_regex, from_ebnf, from_lark or from_choices"
        self._ir: GrammarIR | None = instance("ir", ir, GrammarIR, hint)
        self._read_again: Callable[[], Grammar] | None = None
        self._source: Source | Callable[[], Source] | None = source
        self._tag: StructuralTag | None = None  # that it was read from, if without a tokenizer
        self.report = report
        self.warnings = warnings

    @property
    def ir(self) -> GrammarIR:
        return ir.spelled_out(self.compact_ir)

    @property
    def compact_ir(self) -> GrammarIR:
        if self._ir is None:
            assert self._read_again is not None
            self._ir = self._read_again().compact_ir
        return self._ir

    @property
    def source(self) -> Source | None:
        """What the grammar was read from; None if it was made from rules or from other grammars. The source is the
        caller's own object, which may have been changed since.
        """
        if self._source is None and self._read_again is not None:
            return self._read_again().source
        return self._source() if callable(self._source) else self._source

    def release_ir(self, read_again: Callable[[], Grammar], source: Callable[[], Source] | None = None) -> None:
        """Forget the IR and the source until they are asked for. `read_again` must return this very grammar; its source
        is asked of that if not of `source`.
        """
        self._ir, self._source, self._read_again = None, source, read_again

    def serialize(self) -> bytes:
        """Return the grammar as bytes, for `deserialize` in any process that has the same release of Maskwright.

        With it go its report, its warnings and what it was read from, unless that is more than plain data, such as a
        schema with a registry: then no keyword is named where a text is rejected. What would be compiled when it is
        first needed, such as the arguments of tools, is compiled now. `maskwright compile` writes such bytes, too.

        Raises:
            LimitError: It is too large.
            GrammarError: It is a structural tag that was read without a tokenizer and holds more than plain data.

        >>> saved = Grammar.from_regex("[ab]c?").serialize()
        >>> Grammar.deserialize(saved).dump()
        'root ::= [a-b] "c"?'
        """
        from maskwright.saved_grammars import written

        return written(self.compact_ir, self.notes())

    def notes(self) -> Notes:
        """What is saved of it beside its rules."""
        from maskwright.saved_grammars import Notes

        return Notes(self.report, self.warnings, self.source, self._tag is not None)

    @classmethod
    def deserialize(cls, data: bytes) -> Grammar:
        """Read what `serialize` returned, of a grammar or of a compiled one. The bytes may come from anybody.

        Raises:
            GrammarError: They are something else, were damaged, or were written in another version of the format.
            StructuralTagError: The structural tag in them is malformed.
            LimitError: They are too many, or a limit on what is in them is passed.
        """
        from maskwright.saved_grammars import read_ir, read_notes

        given = instance("data", data, bytes, "pass what serialize() returned")
        notes = read_notes(given)
        return cls.saved(notes, read_ir(given, notes))

    @classmethod
    def saved(cls, notes: Notes, rules: GrammarIR | None = None) -> Grammar:
        """Make a grammar that was saved with these notes; without its rules, `release_ir` must say how to read it."""
        made = cls(rules or _NOTHING, notes.report, notes.warnings, source=notes.source)
        if notes.is_unbound and notes.source is not None and notes.source.kind == "structural_tag":
            made._tag = notes.source.text
        return made

    @classmethod
    @takes_schema_options
    def from_json_schema(cls, schema: Any, **options: Unpack[JsonSchemaKeywords]) -> Grammar:
        """Read a JSON Schema.

        Args:
            schema: A dict, a bool or a JSON text; or, with pydantic installed, a pydantic model or `TypeAdapter`, a
                dataclass, a TypedDict, a NamedTuple, an Enum, any type that pydantic knows (`int`, `datetime.date`,
                `Literal[...]`), or a function, which means the object of its parameters.
            **options: The fields of `JsonSchemaOptions`: white space, strictness, unsupported keywords, …

        Raises:
            SchemaError: The schema is malformed, or a keyword cannot be enforced; `pointer` says where.
            UnsatisfiableError: No value is valid.
            OptionError: An option is wrong, or contradicts another one; `option` names it.

        Warns:
            SchemaWarning: A keyword or a format is probably misspelled, or one of another language, so it has no
                effect; the schema uses none; `$schema` names a draft that is not supported, or one that drops a
                constraint; or a pattern holds a backspace, where the string around it has read the escape \\b.

        >>> Grammar.from_json_schema({"type": "null"}).dump()
        'root ::= "null"'
        """
        made = cls.from_known_schema(schema, options)
        warn_of(made.report)
        return made

    @classmethod
    def from_known_schema(cls, schema: Any, options: Mapping[str, Any]) -> Grammar:
        """Read a JSON Schema again: as `from_json_schema`, without warnings."""
        from maskwright.frontends.json_schema import read_options, schema_to_ir

        report: list[Finding] = []
        chosen = read_options(options)
        data = schema_of(schema)
        with compiling:
            made = schema_to_ir(data, chosen, report)
        return cls(made, tuple(report), source=Source("json_schema", data, options))

    @classmethod
    @of_a_grammar
    def from_regex(cls, pattern: str, *, flags: str = "") -> Grammar:
        """Read a regular expression that the whole output must match.

        Args:
            pattern: In the syntax of Python's `re`. A back-reference needs a group that has certainly matched.
            flags: Any of the letters `imsxua`.

        Raises:
            RegexSyntaxError: The pattern is malformed or not regular; `span` says where.

        Warns:
            GrammarWarning: The pattern looks like a grammar, a JSON Schema or a structural tag; or it holds a
                backspace, where the string around it has read the escape \\b; or a POSIX class stands alone.
        """
        from maskwright.frontends.regex import whole_regex_to_expr
        from maskwright.frontends.warnings.issuing import issue
        from maskwright.frontends.warnings.misread import warning_of_misread_pattern
        from maskwright.frontends.warnings.other_languages import warning_of_other_language, with_language

        check_pattern(pattern, flags)
        try:
            with compiling:
                made = whole_regex_to_expr(pattern, flags=flags)
        except RegexSyntaxError as error:
            raise with_language(error, pattern)  # noqa: B904
        found = (warning_of_other_language(pattern), warning_of_misread_pattern(pattern, flags))
        warned = tuple([warning for warning in found if warning is not None])
        issue(warned)
        return cls(_single(made), warnings=warned, source=Source("regex", pattern, {"flags": flags}))

    @classmethod
    @of_a_grammar
    def from_ebnf(cls, source: str, root_rule_name: str = "root") -> Grammar:
        """Read a grammar in EBNF or GBNF.

        Args:
            source: Rules `name ::= body`.
            root_rule_name: The rule that the whole output must match.

        Raises:
            EbnfSyntaxError: The text is malformed or names an undefined rule; `span` says where.

        Warns:
            GrammarWarning: A constraint has no effect, because free text beside it matches all that it matches; a
                stop text must occur twice; a string has read an escape of the regular expression in it; or a part is
                surely meant as something else, such as a regular expression in quotes.
        """
        from maskwright.frontends.ebnf import ebnf_to_ir
        from maskwright.frontends.warnings.grammar_warnings import issue_warnings
        from maskwright.frontends.warnings.notes import no_notes

        instance("source", source, str)
        instance("root_rule_name", root_rule_name, str)
        notes = no_notes()
        with compiling:
            made = ebnf_to_ir(source, root_rule_name, notes=notes)
        return cls(made, warnings=issue_warnings(made, source, "::=", notes), source=Source("ebnf", source))

    @classmethod
    @takes_schema_options
    def from_lark(
        cls,
        source: str,
        start: str = "start",
        *,
        grammars: Mapping[str, Grammar] | None = None,
        modules: Mapping[str, str] | None = None,
        **options: Unpack[JsonSchemaKeywords],
    ) -> Grammar:
        """Read a grammar in Lark's syntax, or llguidance's dialect of it.

        Args:
            source: Rules `name: body`, terminals `NAME: body`, statements such as `%ignore`.
            start: The rule that the whole output must match.
            grammars: The grammars of `@name` and of terminals that are declared with `%declare`. A declared terminal
                that is not among them matches nothing, as in Lark without a post-lexer.
            modules: Lark texts for `%import name.rule`; `common` is built in.
            **options: The fields of `JsonSchemaOptions`, for each `%json`.

        Raises:
            LarkSyntaxError: The text is malformed, names something undefined, or uses something that is not
                supported; `span` says where.
            SchemaError: A `%json` is malformed, or cannot be enforced; `line` and `column` say which one.
            OptionError: An option is wrong, or contradicts another one; `option` names it.

        Warns:
            GrammarWarning: A constraint has no effect, because free text beside it matches all that it matches; a
                stop text must occur twice; a string has read an escape of the regular expression in it; or a part is
                surely meant as something else, such as a regular expression in quotes.
            SchemaWarning: Of a `%json`, as for `from_json_schema`.

        >>> print(Grammar.from_lark('start: "[" (NUM ("," NUM)*)? "]"\\nNUM: /[0-9]+/').dump())
        start ::= "[" (NUM ("," NUM)*)? "]"
        NUM ::= [0-9]+
        """
        from maskwright.frontends.lark import lark_to_ir
        from maskwright.frontends.warnings.grammar_warnings import issue_warnings
        from maskwright.frontends.warnings.notes import no_notes

        instance("source", source, str)
        instance("start", start, str)
        supplied = {name: _grammar(each).ir for name, each in by_name("grammars", grammars).items()}
        for each in by_name("modules", modules).values():
            instance("each of modules", each, str, "pass a dict from names to texts in Lark's syntax")
        report: list[Finding] = []
        chosen = None
        if options:  # a grammar without schemas does not load their front-end
            from maskwright.frontends.json_schema import read_options

            chosen = read_options(options)
        notes = no_notes()
        with compiling:
            made = lark_to_ir(
                source, start, grammars=supplied, modules=modules, options=chosen, report=report, notes=notes
            )
        warn_of(report)
        return cls(made, tuple(report), issue_warnings(made, source, ":", notes), source=Source("lark", source))

    @classmethod
    @of_a_grammar
    def from_choices(cls, choices: Iterable[str | bytes]) -> Grammar:
        """Admit exactly these strings.

        Raises:
            UnsatisfiableError: There are no choices.

        >>> Grammar.from_choices(["yes", "no"]).dump()
        'root ::= "yes" | "no"'
        """
        texts = checked_choices(choices)
        if not texts:
            raise UnsatisfiableError("there are no choices", hint="pass at least one")
        with compiling:
            made = ir.alt(*[ir.literal(_encoded(each)) for each in texts])
        return cls(_single(made))

    @classmethod
    @takes_schema_options
    def from_structural_tag(
        cls,
        tag: StructuralTag | str | bytes | Mapping[str, Any],
        *,
        tokenizer_info: TokenizerInfo | None = None,
        **options: Unpack[JsonSchemaKeywords],
    ) -> Grammar:
        """Read a structural tag: free text with structures in it.

        Args:
            tag: A `StructuralTag`, its dict, or its JSON text.
            tokenizer_info: The tokenizer, in which special tokens are looked up: their text inside a string of the tag
                means the token. Without a tokenizer, tokens are looked up when the grammar is compiled. If the grammar
                is combined with others before that, such strings are matched as text.
            **options: The fields of `JsonSchemaOptions`, for `json_schema` formats that do not set them.

        Raises:
            StructuralTagError: The tag is malformed or contradicts itself; `pointer` says where.
            SchemaError: A schema in it is malformed or cannot be enforced.
            OptionError: An option is wrong, or contradicts another one; `option` names it.
            LimitError: The tag nests too deep.

        Warns:
            SchemaWarning: Of a schema in it, as for `from_json_schema`; or what `from_ebnf` and `from_regex` would say
                of a grammar or a pattern in it.

        >>> Grammar.from_structural_tag({"format": {"type": "const_string", "value": "hi"}}).dump()
        'root ::= "hi"'
        """
        from maskwright.structural_tag.formats.defaults import read_tag
        from maskwright.structural_tag.lowering.lower import lower_tag
        from maskwright.structural_tag.texts.tokens import tokens_of

        with compiling:
            known = read_tag(tag, options)
            made = lower_tag(known, tokens_of(tokenizer_info))
        grammar = cls(*made, source=Source("structural_tag", known))
        warn_of(grammar.report)
        if tokenizer_info is None:
            grammar._tag = known
        return grammar

    def bound_to(self, tokenizer_info: TokenizerInfo) -> Grammar:
        """Return the grammar for a tokenizer. Only a structural tag that was read without a tokenizer changes.

        Raises:
            StructuralTagError: The tokenizer has no token that the tag names.
        """
        if self._tag is None:
            return self
        from maskwright.structural_tag.lowering.lower import lower_tag
        from maskwright.structural_tag.texts.tokens import tokens_of

        lowered = lower_tag(self._tag, tokens_of(tokenizer_info))
        return Grammar(*lowered, source=Source("structural_tag", self._tag))

    @classmethod
    def concat(cls, *grammars: Grammar) -> Grammar:
        """Admit an output of each grammar, one after the other."""
        builder, roots = ir.joined([_grammar(g).compact_ir for g in grammars])
        return cls(builder.build(ir.seq(*roots)), *_findings(grammars))

    @classmethod
    def union(cls, *grammars: Grammar) -> Grammar:
        """Admit the outputs of any of the grammars."""
        builder, roots = ir.joined([_grammar(g).compact_ir for g in grammars])
        return cls(builder.build(ir.alt(*roots)), *_findings(grammars))

    def __add__(self, other: Grammar) -> Grammar:
        return Grammar.concat(self, other)

    def __or__(self, other: Grammar) -> Grammar:
        return Grammar.union(self, other)

    def to_ebnf(self) -> str:
        """Write the grammar in EBNF, with the root rule `root`; `from_ebnf` reads it. So does `str()`."""
        from maskwright.frontends.notation.printing import to_ebnf

        return to_ebnf(self.ir)

    def to_lark(self) -> str:
        """Write the grammar in Lark's syntax, with the root rule `start`; `from_lark` reads it.

        Raises:
            GrammarError: The grammar has bytes that are not whole characters.
        """
        from maskwright.frontends.notation.printing import to_lark

        return to_lark(self.ir)

    def to_gbnf(self) -> str:
        """Write the grammar in the GBNF of llama.cpp, with the root rule `root`: for `llama-server` and other programs
        that are built on llama.cpp. Captures and temperatures are left out; `from_ebnf` reads it, too.

        Raises:
            GrammarError: The grammar has something that GBNF cannot write, or admits nothing.
            LimitError: It is too large to print.
        """
        from maskwright.frontends.notation.printing import to_gbnf

        return to_gbnf(self.ir)

    def to_regex(self) -> str:
        """Write the grammar as a regular expression that the whole output matches; `from_regex` reads it.

        Raises:
            GrammarError: The grammar is recursive, or has something that regular expressions cannot express.
        """
        from maskwright.frontends.notation.printing import to_regex

        return to_regex(self.ir)

    __str__ = to_ebnf

    def dump(self) -> str:
        """Show the rules, one a line, the root first."""
        return self.ir.dump()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grammar) and self.ir == other.ir

    def __hash__(self) -> int:
        # Of names alone: hashing bodies would recurse as deep as they nest.
        return hash((tuple(rule.name for rule in self.ir.rules), self.ir.root))

    def __repr__(self) -> str:
        count = len(self.ir.rules)
        return f"<Grammar of {count} rule{'s' if count != 1 else ''}, root {self.ir.rules[self.ir.root].name!r}>"


def checked_choices(choices: Iterable[str | bytes]) -> tuple[str | bytes, ...]:
    """Return the choices, each a text.

    Raises:
        ArgumentError: They are one text or an open file, whose lines hold their line breaks, or not all texts.
    """
    if hasattr(choices, "read"):
        lines = "pass the lines without their line breaks: file.read().splitlines()"
        raise wrong_argument("choices", choices, "a list of str or bytes", lines)
    hint = "pass [text] for a single choice" if isinstance(choices, str | bytes) else None
    options = as_tuple("choices", choices, "a list of str or bytes", hint)
    for option in options:
        if not isinstance(option, str | bytes):
            raise wrong_argument("each of choices", option, "a str or bytes", _of_choices(option))
    return options


def _of_choices(option: Any) -> str:
    """How to pass what is no text as a choice."""
    if isinstance(option, Enum):
        return f"pass the values: [each.value for each in {type(option).__name__}]"
    if "typing.Literal[" in str(option):  # iterating over a Literal gives it, unpacked
        return "pass the values of the Literal: list(typing.get_args(...))"
    return "pass str(choice)"


def _encoded(choice: str | bytes) -> bytes:
    try:
        return choice.encode() if isinstance(choice, str) else choice
    except UnicodeEncodeError as error:
        raise GrammarError(f"the choice {choice[:60]!r} is not valid text: {error.reason}") from error


def _grammar(value: Any) -> Grammar:
    hint = "pass what Grammar.from_regex or another from_ method returns"
    if isinstance(getattr(value, "grammar", None), Grammar):
        hint = "pass its grammar attribute"
    elif isinstance(value, str):
        hint = "pass Grammar.from_choices([text]) for the text itself, or what another from_ method returns"
    return instance("each of grammars", value, Grammar, hint)


def by_name(name: str, value: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return a mapping, empty for None."""
    if value is None or isinstance(value, Mapping):
        return value or {}
    raise wrong_argument(name, value, "a dict by names")


def _findings(grammars: Iterable[Grammar]) -> tuple[tuple[Finding, ...], tuple[GrammarWarning, ...]]:
    """What was reported of any of the grammars."""
    each = tuple(grammars)
    return sum((g.report for g in each), ()), sum((g.warnings for g in each), ())


def _single(body: ir.Expr) -> GrammarIR:
    return GrammarIR((ir.Rule("root", body),), 0)
