r"""From EBNF text to the IR, in one pass.

One compiled pattern finds the next token; a stack of open groups holds what is unfinished, so nesting costs no Python
frames and is limited. A rule gets its index when its name is first met, so rules may come in any order, left recursion
and mutual recursion included; what is still undefined at the end is an error at its first use.

    >>> grammar = ebnf_to_ir('''
    ... root ::= item ("," item)*   # a list
    ... item ::= [a-z]{1,8} | "(" root ")"
    ... ''')
    >>> print(grammar.dump())
    root ::= item ("," item)*
    item ::= [a-z]{1,8} | "(" root ")"

`name=item` remembers what the item matches, up to the end of its alternative, and `$name` is that text again. A rule's
body ends where the next line starts with `name ::=`. An alternative may be empty. Cost: about two
microseconds a token.
Tested by tests/frontends/test_ebnf.py.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

from maskwright.errors import EbnfSyntaxError, LimitError, Span
from maskwright.frontends.ebnf.arguments import parse_arguments
from maskwright.frontends.ebnf.macros import MACROS, Context, regex_macro
from maskwright.frontends.ebnf.terminals import class_expr
from maskwright.frontends.notation.mistakes import hint_at, hint_at_head, malformed_head_at
from maskwright.frontends.notation.quoted import BYTE_ORDER_MARK, STRING, Quoted, string_value
from maskwright.frontends.notation.rule_options import (
    BRACKETS,
    FoldedText,
    Reading,
    RegexValue,
    RuleOption,
    has_empty_budget,
    may_have_any_body,
    parse_options,
    stop_text,
    with_options,
)
from maskwright.frontends.notation.token_literals import token_set
from maskwright.frontends.nullable import without_empty_budgets
from maskwright.frontends.regex import regex_to_expr
from maskwright.frontends.regular import SpelledOut, is_regular, matches_empty, spelled_out
from maskwright.frontends.substrings import MAX_IN_RULES
from maskwright.frontends.texts import ANY_CHARACTER
from maskwright.frontends.warnings.notes import Notes
from maskwright.ir import (
    EMPTY,
    MAX_TEXT_NUMBER,
    OP_DISTINCT,
    OP_REPEAT,
    UNBOUNDED,
    Copies,
    Expr,
    GrammarIR,
    IRBuilder,
    alt,
    and_,
    changed,
    distinct,
    not_,
    optional,
    recall,
    remember,
    repeat,
    seq,
    text,
    with_scopes,
)
from maskwright.support.interruption import interrupt_checkpoint

MAX_DEPTH: Final = 100
MAX_COUNT: Final = 2**31 - 1

# No alternative can match the same text in two ways, so a token that fails, fails in linear time.
_TOKEN: Final = re.compile(
    rf"""(?:
        ({STRING})
        | \[((?:[^\]\\\n]|\\.)*)\]
        | (Regex|Substring|TagDispatch|TokenTagDispatch|ExcludeToken|Token|Byte|Distinct)\s*\(
        | ([A-Za-z_][A-Za-z0-9_]*)=(?=[^\s=|)])
        | (?=\.*[A-Za-z0-9_\-])([A-Za-z_.\-][A-Za-z0-9_.\-]*)
          ((?:\s*({BRACKETS}))?\s*::=)?
        | (\{{\s*([0-9]*)\s*(?:(,)\s*([0-9]*)\s*)?\}})
        | (!?<(?:\[[^\]\n]*\]|[^<>\s]+)>)
        | (\(=|[()|*+?.&~])
        | (\s+|\#[^\n]*)
        | (\$[A-Za-z_][A-Za-z0-9_]*)
    )[ ]*""",
    re.VERBOSE,
)
_IS_STRING, _IS_CLASS, _IS_MACRO, _IS_BINDING, _IS_NAME, _IS_DEFINITION, _OPTIONS, _IS_COUNT = 1, 2, 3, 4, 5, 6, 7, 8
_IS_TOKEN, _IS_SYMBOL, _IS_BLANK, _IS_RECALL = 12, 13, 14, 15
_COUNTS: Final = {"*": (0, UNBOUNDED), "+": (1, UNBOUNDED), "?": (0, 1)}
_UNEXPECTED: Final = {
    '"': ("unterminated string", 'add "'),
    "'": ("unterminated string", "add '"),
    "[": ("unterminated character class", "add ]"),
    "{": ("malformed repetition", "write {n}, {n,}, {n,m} or {,m}; ( … )* for any number of times"),
    "<": ("malformed token literal", "write <name> or <[1,2-5]>"),
}


def ebnf_to_ir(source: str, root_rule_name: str = "root", *, notes: Notes | None = None) -> GrammarIR:
    """Parse a grammar.

    Args:
        source: The rules.
        root_rule_name: The rule that the whole text must match.
        notes: Filled, for the warnings.

    Raises:
        EbnfSyntaxError: The text is not a grammar, a rule is missing or defined twice, or something is not supported.
        LimitError: It nests too deep.
    """
    parser = _Parser(source)
    grammar = parser.parse(root_rule_name)
    if notes is not None:
        for name, options in parser.options.items():
            stop = stop_text(options)
            if stop is not None:
                notes.stops[parser.references[name][1]] = stop
    return grammar


class _Binding:
    """A name for the text of an item."""

    __slots__ = ("is_recalled", "item", "name", "number", "place")

    def __init__(self, name: str, number: int, item: int, place: int) -> None:
        self.name = name
        self.number = number
        self.item = item  # the item's place in its branch
        self.place = place
        self.is_recalled = False


class _Group:
    """A group or body that is open: its finished branches, and the parts of its last one."""

    __slots__ = ("bindings", "branches", "is_hint", "items", "operands", "repetitions", "start", "tildes")

    def __init__(self, start: int, is_hint: bool = False) -> None:
        self.start = start
        self.is_hint = is_hint  # `(= …)` says what follows a rule anyway
        self.branches: list[Expr] = []
        self.operands: list[Expr] = []  # of the & that is open
        self.items: list[Expr] = []
        self.tildes: list[int] = []  # that the next item is complemented by
        self.repetitions = 0  # of the last item
        self.bindings: list[_Binding] = []  # of the last branch


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.builder = IRBuilder()
        self.references: dict[str, Expr] = {}
        self.places: dict[str, int] = {}  # of the definition, or else of the first use
        self.bodies: dict[str, Expr] = {}
        self.options: dict[str, tuple[RuleOption, ...]] = {}
        self.restricted: dict[str, Expr] = {}
        self.restricting: list[str] = []  # rules with options that are being spelled out, each within the one before
        self.names: dict[int, str] = {}  # by index, if there are options
        self.rule: str | None = None
        self.remembered: dict[int, tuple[Expr, int]] = {}  # by identity: what is remembered, and where
        self.lists: dict[int, tuple[Expr, int]] = {}  # by identity: lists of distinct elements, and where they stand
        self.group = _Group(0)
        self.stack: list[_Group] = []  # the groups around it

    def error(self, message: str, start: int, end: int, hint: str | None = None) -> EbnfSyntaxError:
        rule = malformed_head_at(self.source, start, "::=") or self.rule
        return EbnfSyntaxError(message, source=self.source, span=Span(start, end), hint=hint, rule=rule)

    def parse(self, root_rule_name: str) -> GrammarIR:
        try:
            self._rules()
        except EbnfSyntaxError as error:
            raise error.name_rule(self.rule)  # noqa: B904
        return self._grammar(root_rule_name)

    def _rules(self) -> None:
        source, end = self.source, len(self.source)
        position = 1 if source.startswith(BYTE_ORDER_MARK) else 0
        match_token = _TOKEN.match
        while position < end:
            interrupt_checkpoint()
            token = match_token(source, position)
            if token is None:
                raise self._unexpected(position)
            kind = token.lastindex
            if kind == _IS_DEFINITION:
                self._define(token)
            elif kind == _IS_BLANK:
                pass
            elif self.rule is None:
                raise self._unexpected(position)
            elif kind == _IS_SYMBOL:
                self._symbol(token[_IS_SYMBOL], position)
            elif kind == _IS_MACRO:
                position = self._macro(token)
                continue
            elif kind == _IS_COUNT:
                self._count(token)
            elif kind == _IS_BINDING:
                self._bind(token)
            else:
                self._push(self._atom(token, kind), position)
            position = token.end()
        self._finish_rule()

    def _atom(self, token: re.Match[str], kind: int | None) -> Expr:
        if kind == _IS_NAME:
            return self._reference(token[_IS_NAME], token.start())
        if kind == _IS_RECALL:
            return self._recall(token[_IS_RECALL], token.start())
        if kind == _IS_STRING:
            return text(string_value(Quoted(token[_IS_STRING], token.start()), self.source, EbnfSyntaxError))
        if kind == _IS_TOKEN:
            span = Span(*token.span(_IS_TOKEN))
            return self.builder.add_tokens(token_set(token[_IS_TOKEN], span, self.source, EbnfSyntaxError))
        return class_expr(token[_IS_CLASS], token.start() + 1, self.source)

    def _push(self, item: Expr, position: int) -> None:
        group = self.group
        if group.tildes:
            self._check_regular(item, position)
            for _ in group.tildes:
                item = not_(item)
            group.tildes = []
        group.items.append(item)
        group.repetitions = 0

    def _check_regular(self, expr: Expr, position: int) -> None:
        if not is_regular(expr):
            hint = "rules and tokens cannot be intersected or complemented"
            raise self.error("the operands of & and ~ must be regular", position, position + 1, hint)

    def _reference(self, name: str, place: int) -> Expr:
        reference = self.references.get(name)
        if reference is None:
            reference = self.references[name] = self.builder.declare(name)
            self.places[name] = place
        return reference

    def _define(self, token: re.Match[str]) -> None:
        name, start = token[_IS_NAME], token.start()
        self._finish_rule()
        self.rule = name
        if self.source[self.source.rfind("\n", 0, start) + 1 : start].strip().strip(BYTE_ORDER_MARK):
            raise self.error(
                "a rule must start on a line of its own", start, token.end(_IS_NAME), "begin a new line before it"
            )
        if name in self.bodies:
            line = self.source.count("\n", 0, self.places[name]) + 1
            hint = f"the first definition is on line {line}; join them with |"
            raise self.error(f"rule {name[:60]!r} is defined twice", start, token.end(_IS_NAME), hint)
        self._reference(name, start)
        self.places[name] = start
        if token[_OPTIONS]:
            self.options[name] = parse_options(token[_OPTIONS], token.start(_OPTIONS), self.source, EbnfSyntaxError)

    def _finish_rule(self) -> None:
        if self.stack:
            start = self.group.start
            raise self.error("unclosed group", start, start + 1, "add )")
        if self.rule is not None:
            self.bodies[self.rule] = self._body()
            self.group = _Group(0)

    def _end_branch(self) -> None:
        group = self.group
        if group.tildes:
            raise self.error("nothing to complement", group.tildes[-1], group.tildes[-1] + 1)
        self._remember()
        last = seq(*group.items)
        group.items = []
        if group.operands:
            self._check_regular(last, group.start)
            last = and_(*group.operands, last)
            group.operands = []
        group.branches.append(last)

    def _bind(self, token: re.Match[str]) -> None:
        name, start = token[_IS_BINDING], token.start()
        if start == 0 or self.source[start - 1] == "\n":
            raise self.error("expected a rule", start, start + 1, "write name ::= body; indent a name for a text")
        if any(binding.name == name for binding in self._bindings()):
            raise self.error(f"{name[:60]!r} names a text already", start, token.end(), "use another name")
        number = MAX_TEXT_NUMBER - len(self._bindings())
        if number < 1:
            message = f"more than {MAX_TEXT_NUMBER} texts are remembered at once"
            raise LimitError(message, limit="remembered_texts", hint="begin an alternative of its own: ( … )")
        self.group.bindings.append(_Binding(name, number, len(self.group.items), start))

    def _bindings(self) -> list[_Binding]:
        """Of all open groups, in their branches that are open."""
        return [binding for group in (*self.stack, self.group) for binding in group.bindings]

    def _recall(self, dollar_name: str, place: int) -> Expr:
        name, end = dollar_name[1:], place + len(dollar_name)
        for group in (*self.stack, self.group):
            for binding in group.bindings:
                if binding.name == name and binding.item < len(group.items):
                    binding.is_recalled = True
                    return recall(binding.number)
        before = f"write {name[:60]}=( … ) before it, in the same alternative or in one around it"
        hint = f"{before}; for a literal $, write text in quotes"
        raise self.error(f"no text is named {name[:60]!r} here", place, end, hint)

    def _remember(self) -> None:
        items = self.group.items
        for binding in self.group.bindings:
            if binding.item >= len(items):
                end = binding.place + len(binding.name) + 1
                raise self.error("nothing to remember", binding.place, end, "write name=item without spaces")
            if binding.is_recalled:
                items[binding.item] = remembered = remember(items[binding.item], binding.number)
                self.remembered[id(remembered)] = remembered, binding.place
        self.group.bindings = []

    def _body(self) -> Expr:
        self._end_branch()
        branches = self.group.branches
        return alt(*branches) if len(branches) > 1 else branches[0]

    def _symbol(self, symbol: str, position: int) -> None:
        if symbol in _COUNTS:
            self._repeat(*_COUNTS[symbol], position, position + 1)
        elif symbol == "|":
            self._end_branch()
        elif symbol in ("(", "(="):
            if len(self.stack) >= MAX_DEPTH:
                raise LimitError(f"the grammar nests more than {MAX_DEPTH} groups", limit="ebnf depth")
            self.stack.append(self.group)
            self.group = _Group(position, symbol == "(=")
        elif symbol == ")":
            if not self.stack:
                raise self.error("unmatched ')'", position, position + 1, 'remove it, or write ")" for the character')
            body = EMPTY if self.group.is_hint else self._body()
            start, self.group = self.group.start, self.stack.pop()
            self._push(body, start)
        elif symbol == "~":
            self.group.tildes.append(position)
        elif symbol == "&":
            self._remember()
            operand = seq(*self.group.items)
            self._check_regular(operand, position)
            self.group.operands.append(operand)
            self.group.items = []
        else:
            self._push(ANY_CHARACTER, position)

    def _count(self, token: re.Match[str]) -> None:
        _, low, comma, high = token.groups()[_IS_COUNT - 1 : _IS_COUNT + 3]
        start, end = token.span(_IS_COUNT)
        if any(digits and (len(digits) > 10 or int(digits) > MAX_COUNT) for digits in (low, high)):
            raise self.error(f"a count above {MAX_COUNT:,} is not supported", start, end)
        if comma is None and not low:
            raise self.error(*_UNEXPECTED["{"][:1], start, end, _UNEXPECTED["{"][1])
        minimum = int(low or 0)
        maximum = minimum if comma is None else int(high) if high else UNBOUNDED
        if maximum != UNBOUNDED and maximum < minimum:
            raise self.error("the upper bound is below the lower bound", start, end)
        self._repeat(minimum, maximum, start, end)

    def _repeat(self, minimum: int, maximum: int, start: int, end: int) -> None:
        group = self.group
        if not group.items or group.tildes:
            raise self.error("nothing to repeat", start, end, 'write "…" around characters that stand for themselves')
        group.repetitions += 1
        if group.repetitions > MAX_DEPTH:
            raise LimitError(f"an item has more than {MAX_DEPTH} repetition operators", limit="ebnf depth")
        group.items[-1] = repeat(group.items[-1], minimum, maximum)

    def _macro(self, token: re.Match[str]) -> int:
        name, start = token[_IS_MACRO], token.start()
        if name != "Regex":
            given = parse_arguments(self.source, token.end())
            made = MACROS[name](given, Context(self.source, self.builder, self._reference))
            if name == "Distinct":
                self.lists[id(made)] = made, start
            self._push(made, start)
            return given.end
        given = parse_arguments(self.source, token.end())
        self._push(regex_macro(given, Span(start, token.end(_IS_MACRO)), self.source), start)
        return given.end

    def _unexpected(self, position: int) -> EbnfSyntaxError:
        character = self.source[position]
        message, hint = _UNEXPECTED.get(character, ("unexpected character", None))
        if self.rule is None:
            message, hint = "expected a rule", hint_at_head(self.source, position, "::=")
        return self.error(message, position, position + 1, hint or hint_at(self.source, position))

    def _grammar(self, root_rule_name: str) -> GrammarIR:
        for name, reference in self.references.items():
            if name not in self.bodies:
                near = get_close_matches(name, list(self.bodies)[:200], 1)
                hint = f"did you mean {near[0]!r}?" if near else "define it, or put text in quotes"
                place = self.places[name]
                self.rule = max((self.places[rule], rule) for rule in self.bodies if self.places[rule] <= place)[1]
                raise self.error(f"rule {name[:60]!r} is not defined", place, place + len(name), hint)
            self.builder.define(reference, self.bodies[name])
        if self.options or self.remembered or self.lists:
            self.names = {reference[1]: name for name, reference in self.references.items()}
        if self.lists:
            self._spell_elements_out()
        if self.remembered:
            self._set_scopes()
        for name in self.options:
            self.builder.define(self.references[name], self._restricted(name))
        root = self.references.get(root_rule_name)
        if root is None:
            there_are = ", ".join(list(self.bodies)[:10]) + (", …" if len(self.bodies) > 10 else "")
            hint = f"the rules are: {there_are}; or pass root_rule_name" if self.bodies else "write name ::= body"
            raise EbnfSyntaxError(f"there is no rule {root_rule_name[:60]!r}", hint=hint)
        grammar = self.builder.build(root)
        return without_empty_budgets(grammar) if any(map(has_empty_budget, self.options.values())) else grammar

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
        if name in self.restricted:
            return self.restricted[name]
        options, self.rule = self.options[name], name
        body: Expr | None = self.bodies[name]
        if not may_have_any_body(options):
            if len(self.restricting) >= MAX_DEPTH:
                raise LimitError(f"rules with options nest more than {MAX_DEPTH} levels deep", limit="ebnf depth")
            self.restricting.append(name)
            body = spelled_out(self.bodies[name], self._body_of)
            self.restricting.pop()
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

        restricted = self.restricted[name] = with_options(name, body, options, Reading(value_expr, error))
        return restricted

    def _body_of(self, index: int) -> Expr | None:
        """What a rule matches that is named within a rule with options; None where that is not a regular language."""
        name = self.names.get(index)
        if name is None:
            return self.builder.body_of(index)  # of a substring
        if name in self.restricting:
            return None
        return self._restricted(name) if name in self.options else self.bodies[name]
