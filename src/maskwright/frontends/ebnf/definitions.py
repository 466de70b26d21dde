"""The rules of an EBNF grammar: what the parser gathers, and what becomes of it once all rules are known.

    rules.reference("item", place)      a reference to a rule, whether it is defined already or not
    rules.grammar("root")               the grammar

Rules with options about whole texts, what is remembered, and the elements of lists of distinct texts are spelled
out as regular expressions. An error names the rule in which it stands.
Tested by tests/frontends/test_ebnf.py.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from maskwright.errors import EbnfSyntaxError, LimitError, Span
from maskwright.frontends.ebnf.macros import MACRO_NAMES
from maskwright.frontends.notation.mistakes import hint_at_flags, macro_meant, malformed_head_at
from maskwright.frontends.notation.rule_options import (
    FoldedText,
    Reading,
    RegexValue,
    RuleOption,
    has_empty_budget,
    may_have_any_body,
    with_options,
)
from maskwright.frontends.nullable import without_empty_budgets
from maskwright.frontends.regex import regex_to_expr
from maskwright.frontends.regular import SpelledOut, matches_empty, spelled_out
from maskwright.frontends.substrings import MAX_IN_RULES
from maskwright.ir import (
    OP_DISTINCT,
    OP_REPEAT,
    Copies,
    Expr,
    GrammarIR,
    IRBuilder,
    changed,
    distinct,
    optional,
    with_scopes,
)
from maskwright.support.entrances import OR_PASS_ROOT
from maskwright.support.near_names import nearest

MAX_DEPTH: Final = 100
_MOST_NAMES: Final = 200  # that are compared


class Definitions:
    """The rules of one grammar.

    Attributes:
        source: The text.
        builder: Where rules go.
        references: References to rules, by name.
        places: Where each rule is defined, or else first used.
        bodies: What each rule matches, without its options.
        options: The options of the rules that have some.
        remembered: By identity: what is remembered, and where that stands.
        lists: By identity: lists of distinct elements, and where they stand.
        rule: The rule that is being read or finished.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.builder = IRBuilder()
        self.references: dict[str, Expr] = {}
        self.places: dict[str, int] = {}
        self.bodies: dict[str, Expr] = {}
        self.options: dict[str, tuple[RuleOption, ...]] = {}
        self.remembered: dict[int, tuple[Expr, int]] = {}
        self.lists: dict[int, tuple[Expr, int]] = {}
        self.rule: str | None = None
        self._restricted_bodies: dict[str, Expr] = {}
        self._restricting: list[str] = []  # rules with options that are being spelled out, each within the one before
        self._names: dict[int, str] = {}  # by index, if there are options

    def error(self, message: str, start: int, end: int, hint: str | None = None) -> EbnfSyntaxError:
        rule = malformed_head_at(self.source, start, "::=") or self.rule
        return EbnfSyntaxError(message, source=self.source, span=Span(start, end), hint=hint, rule=rule)

    def reference(self, name: str, place: int) -> Expr:
        reference = self.references.get(name)
        if reference is None:
            reference = self.references[name] = self.builder.declare(name)
            self.places[name] = place
        return reference

    def grammar(self, root_rule_name: str) -> GrammarIR:
        for name, reference in self.references.items():
            if name not in self.bodies:
                place = self.places[name]
                self.rule = max((self.places[rule], rule) for rule in self.bodies if self.places[rule] <= place)[1]
                raise self.error(
                    f"rule {name[:60]!r} is not defined", place, place + len(name), self._meant(name, place)
                )
            self.builder.define(reference, self.bodies[name])
        if self.options or self.remembered or self.lists:
            self._names = {reference[1]: name for name, reference in self.references.items()}
        if self.lists:
            self._spell_elements_out()
        if self.remembered:
            self._set_scopes()
        for name in self.options:
            self.builder.define(self.references[name], self._restricted(name))
        root = self.references.get(root_rule_name)
        if root is None:
            there_are = ", ".join(list(self.bodies)[:10]) + (", …" if len(self.bodies) > 10 else "")
            hint = (
                f"the rules are: {there_are}; rename one to {root_rule_name[:60]!r}{OR_PASS_ROOT}"
                if self.bodies
                else "write name ::= body"
            )
            raise EbnfSyntaxError(f"there is no rule {root_rule_name[:60]!r}", hint=hint)
        grammar = self.builder.build(root)
        return without_empty_budgets(grammar) if any(map(has_empty_budget, self.options.values())) else grammar

    def _meant(self, name: str, place: int) -> str:
        """What to write instead of a rule that is not defined: a macro if parentheses follow, or another rule."""
        end = place + len(name)
        macro = macro_meant(self.source, end, MACRO_NAMES) if self.source.startswith("(", end) else None
        if macro is not None:
            return macro[2]
        flag = hint_at_flags(self.source, place, name, 'write Regex("…", flags="i") for text in upper or lower case')
        if flag is not None:
            return flag
        if name == "-":
            return "write a & ~b for a without b"
        if "." in name and name.partition(".")[0] in self.bodies:
            return "put a space before ., if it stands for any character"
        near = nearest(name, islice(self.bodies, _MOST_NAMES))
        if near is not None:
            return f"did you mean {near!r}?"
        return "write text in quotes" if name[0].isdigit() else "define it, or put text in quotes"

    def _spell_elements_out(self) -> None:
        """Elements that must be distinct are regular, and never empty."""
        spelled_rules, known = SpelledOut(), dict[int, Expr]()

        def change(expr: Expr) -> Expr | None:
            if id(expr) not in self.lists:
                return None
            place = self.lists[id(expr)][1]
            bare = expr[1] if expr[0] == OP_REPEAT else expr  # min=0
            element = spelled_out(bare[1] if bare[0] == OP_DISTINCT else bare, self._body_of, spelled_rules)
            if element is None:
                hint = "its rules may not be recursive, or hold tokens or remembered texts"
                raise self.error("elements of Distinct must be regular", place, place + 1, hint)
            if matches_empty(element):
                hint = "let each have at least one character, by + instead of * or ?"
                raise self.error("an element of Distinct may be empty", place, place + 1, hint)
            spelled = distinct(element, *bare[2:]) if bare[0] == OP_DISTINCT else element
            return optional(spelled) if bare is not expr else spelled

        for name, body in self.bodies.items():
            self.rule = name
            self.bodies[name] = changed(body, change, known)
            self.builder.define(self.references[name], self.bodies[name])

    def _set_scopes(self) -> None:
        copies, spelled_rules = Copies(), SpelledOut()

        def regular(remembered: Expr) -> Expr:
            spelled = spelled_out(remembered[1], self._body_of, spelled_rules)
            if spelled is None:
                place = self.remembered[id(remembered)][1]
                hint = "its rules may not be recursive, or hold tokens or texts that are remembered themselves"
                raise self.error("what is remembered must be regular", place, place + 1, hint)
            return spelled

        for name, body in self.bodies.items():
            self.rule = name
            self.bodies[name] = with_scopes(body, regular, copies)
            self.builder.define(self.references[name], self.bodies[name])

    def _restricted(self, name: str) -> Expr:
        """The body of a rule with its options. Those about whole texts need it spelled out as a regular expression."""
        if name in self._restricted_bodies:
            return self._restricted_bodies[name]
        options, self.rule = self.options[name], name
        body: Expr | None = self.bodies[name]
        if not may_have_any_body(options):
            if len(self._restricting) >= MAX_DEPTH:
                hint = "let fewer of these rules use each other"
                raise LimitError(
                    f"rules with options nest more than {MAX_DEPTH} levels deep", limit="ebnf depth", hint=hint
                )
            self._restricting.append(name)
            body = spelled_out(self.bodies[name], self._body_of)
            self._restricting.pop()
        if body is None:
            names = ", ".join(option.name for option in options)
            hint = f"its body must be regular: no recursion, no tokens, {MAX_IN_RULES:,} chunks of Substring at most"
            raise self.error(f"rule {name[:60]!r} cannot have the option {names}", *options[0].span, hint)

        def value_expr(option: RuleOption) -> Expr:
            value = option.value.as_regex() if isinstance(option.value, FoldedText) else option.value
            if isinstance(value, RegexValue):
                return regex_to_expr(value.pattern, flags=value.flags)
            raise self.error(f"the option {option.name} takes a string or a /regex/", *option.span)

        def error(message: str, span: Span, hint: str) -> EbnfSyntaxError:
            return self.error(message, *span, hint)

        restricted = self._restricted_bodies[name] = with_options(name, body, options, Reading(value_expr, error))
        return restricted

    def _body_of(self, index: int) -> Expr | None:
        """What a rule matches that is named within a rule with options; None where that is not a regular language."""
        name = self._names.get(index)
        if name is None:
            return self.builder.body_of(index)  # of a substring
        if name in self._restricting:
            return None
        return self._restricted(name) if name in self.options else self.bodies[name]
