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
from typing import Final

from maskwright.errors import EbnfSyntaxError, LimitError, Span
from maskwright.frontends.ebnf.arguments import parse_arguments
from maskwright.frontends.ebnf.definitions import MAX_DEPTH, Definitions
from maskwright.frontends.ebnf.escapes_in_quotes import misread_in_quotes
from maskwright.frontends.ebnf.macros import MACRO_NAMES, MACROS, Context, regex_macro
from maskwright.frontends.ebnf.terminals import class_expr
from maskwright.frontends.ebnf.tokens import (
    COUNTS,
    IS_BINDING,
    IS_BLANK,
    IS_CLASS,
    IS_COUNT,
    IS_DEFINITION,
    IS_MACRO,
    IS_NAME,
    IS_RECALL,
    IS_STRING,
    IS_SYMBOL,
    IS_TOKEN,
    OPTIONS,
    TOKEN,
    UNEXPECTED,
)
from maskwright.frontends.notation.mistakes import (
    CLOSE_OPTIONS,
    NO_OPERAND,
    NUMBERED,
    PRODUCTION_NUMBER,
    has_broken_options,
    hint_at,
    hint_at_head,
    hint_at_repetition,
    macro_meant,
)
from maskwright.frontends.notation.quoted import BYTE_ORDER_MARK, GBNF_ESCAPES, Quoted, string_value
from maskwright.frontends.notation.rule_options import (
    parse_options,
    stop_text,
)
from maskwright.frontends.notation.token_literals import token_set
from maskwright.frontends.regular import is_regular
from maskwright.frontends.texts import ANY_CHARACTER
from maskwright.frontends.warnings.misread import misread_class, misread_comment, misread_range, misread_text
from maskwright.frontends.warnings.notes import Misread, MisreadAt, Notes
from maskwright.ir import (
    EMPTY,
    MAX_TEXT_NUMBER,
    UNBOUNDED,
    Expr,
    GrammarIR,
    alt,
    and_,
    not_,
    recall,
    remember,
    repeat,
    seq,
    text,
)
from maskwright.support.interruption import interrupt_checkpoint

MAX_COUNT: Final = 2**31 - 1


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
        notes.misread.extend(parser.misread)
        for name, options in parser.rules.options.items():
            stop = stop_text(options)
            if stop is not None:
                notes.stops[parser.rules.references[name][1]] = stop
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

    __slots__ = ("ampersand", "bindings", "branches", "is_hint", "items", "operands", "repetitions", "start", "tildes")

    def __init__(self, start: int, is_hint: bool = False) -> None:
        self.start = start
        self.is_hint = is_hint  # `(= …)` says what follows a rule anyway
        self.branches: list[Expr] = []
        self.operands: list[Expr] = []  # of the & that is open
        self.ampersand = 0  # where that is
        self.items: list[Expr] = []
        self.tildes: list[int] = []  # that the next item is complemented by
        self.repetitions = 0  # of the last item
        self.bindings: list[_Binding] = []  # of the last branch


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.rules = Definitions(source)
        self.misread: list[MisreadAt] = []
        self.group = _Group(0)
        self.stack: list[_Group] = []  # the groups around it

    def parse(self, root_rule_name: str) -> GrammarIR:
        try:
            self._rules()
        except EbnfSyntaxError as error:
            raise error.name_rule(self.rules.rule)  # noqa: B904
        return self.rules.grammar(root_rule_name)

    def _rules(self) -> None:
        source, end = self.source, len(self.source)
        position = 1 if source.startswith(BYTE_ORDER_MARK) else 0
        match_token = TOKEN.match
        while position < end:
            interrupt_checkpoint()
            token = match_token(source, position)
            if token is None:
                raise self._unexpected(position)
            kind = token.lastindex
            if kind == IS_DEFINITION:
                self._define(token)
            elif kind == IS_BLANK:
                if source[position] == "#":
                    self._note(misread_comment(token[IS_BLANK]), Span(position, token.end(IS_BLANK)))
            elif self.rules.rule is None:
                raise self._unexpected(position)
            elif kind == IS_SYMBOL:
                self._symbol(token[IS_SYMBOL], position)
            elif kind == IS_MACRO:
                position = self._macro(token)
                continue
            elif kind == IS_COUNT:
                self._count(token)
            elif kind == IS_BINDING:
                self._bind(token)
            else:
                self._push(self._atom(token, kind), position)
            position = token.end()
        self._finish_rule()

    def _atom(self, token: re.Match[str], kind: int | None) -> Expr:
        if kind == IS_NAME:
            return self.rules.reference(token[IS_NAME], token.start())
        if kind == IS_RECALL:
            return self._recall(token[IS_RECALL], token.start())
        if kind == IS_STRING:
            quoted = Quoted(token[IS_STRING], token.start())
            value = string_value(quoted, self.source, EbnfSyntaxError, GBNF_ESCAPES)
            self._note(misread_text(value, f"Regex({quoted.text})"), quoted.span)
            return text(value)
        if kind == IS_TOKEN:
            span = Span(*token.span(IS_TOKEN))
            return self.rules.builder.add_tokens(token_set(token[IS_TOKEN], span, self.source, EbnfSyntaxError))
        span = Span(token.start(), token.end(IS_CLASS) + 1)
        made = class_expr(token[IS_CLASS], span.start + 1, self.source)
        self._note(misread_class(token[IS_CLASS]), span)
        return made

    def _note(self, misread: Misread | None, span: Span) -> None:
        if misread is not None:
            self.misread.append(MisreadAt(self.rules.rule, span, misread))

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
            raise self.rules.error("the operands of & and ~ must be regular", position, position + 1, hint)

    def _define(self, token: re.Match[str]) -> None:
        name, start = token[IS_NAME], token.start()
        self._finish_rule()
        self.rules.rule = name
        before = self.source[self.source.rfind("\n", 0, start) + 1 : start].strip().strip(BYTE_ORDER_MARK)
        if before:
            hint = NUMBERED if PRODUCTION_NUMBER.fullmatch(before) else "begin a new line before it"
            raise self.rules.error("a rule must start on a line of its own", start, token.end(IS_NAME), hint)
        if name in self.rules.bodies:
            line = self.source.count("\n", 0, self.rules.places[name]) + 1
            hint = f"the first definition is on line {line}; join them with |"
            raise self.rules.error(f"rule {name[:60]!r} is defined twice", start, token.end(IS_NAME), hint)
        self.rules.reference(name, start)
        self.rules.places[name] = start
        if token[OPTIONS]:
            self.rules.options[name] = parse_options(token[OPTIONS], token.start(OPTIONS), self.source, EbnfSyntaxError)

    def _finish_rule(self) -> None:
        if self.stack:
            start = self.group.start
            raise self.rules.error("unclosed group", start, start + 1, "add )")
        if self.rules.rule is not None:
            self.rules.bodies[self.rules.rule] = self._body()
            self.group = _Group(0)

    def _sequence(self) -> Expr:
        group = self.group
        if group.tildes:
            raise self.rules.error("nothing to complement", group.tildes[-1], group.tildes[-1] + 1)
        self._remember()
        last = seq(*group.items)
        group.items = []
        return last

    def _operand(self, ampersand: int, place: int) -> Expr:
        if not self.group.items and not self.group.tildes:
            raise self.rules.error(NO_OPERAND[0], ampersand, ampersand + 1, NO_OPERAND[1])
        operand = self._sequence()
        self._check_regular(operand, place)
        return operand

    def _end_branch(self) -> None:
        group = self.group
        if group.operands:
            last = and_(*group.operands, self._operand(group.ampersand, group.start))
            group.operands = []
        else:
            last = self._sequence()
        group.branches.append(last)

    def _bind(self, token: re.Match[str]) -> None:
        name, start = token[IS_BINDING], token.start()
        if start == 0 or self.source[start - 1] == "\n":
            raise self.rules.error("expected a rule", start, start + 1, "write name ::= body; indent a name for a text")
        if any(binding.name == name for binding in self._bindings()):
            raise self.rules.error(f"{name[:60]!r} names a text already", start, token.end(), "use another name")
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
        raise self.rules.error(f"no text is named {name[:60]!r} here", place, end, hint)

    def _remember(self) -> None:
        items = self.group.items
        for binding in self.group.bindings:
            if binding.item >= len(items):
                end = binding.place + len(binding.name) + 1
                raise self.rules.error("nothing to remember", binding.place, end, "write name=item without spaces")
            if binding.is_recalled:
                items[binding.item] = remembered = remember(items[binding.item], binding.number)
                self.rules.remembered[id(remembered)] = remembered, binding.place
        self.group.bindings = []

    def _body(self) -> Expr:
        self._end_branch()
        branches = self.group.branches
        return alt(*branches) if len(branches) > 1 else branches[0]

    def _symbol(self, symbol: str, position: int) -> None:
        if symbol in COUNTS:
            self._repeat(*COUNTS[symbol], position, position + 1)
        elif symbol == "|":
            self._end_branch()
        elif symbol in ("(", "(="):
            if len(self.stack) >= MAX_DEPTH:
                hint = "move inner groups into rules of their own"
                raise LimitError(f"the grammar nests more than {MAX_DEPTH} groups", limit="ebnf depth", hint=hint)
            self.stack.append(self.group)
            self.group = _Group(position, symbol == "(=")
        elif symbol == ")":
            if not self.stack:
                raise self.rules.error(
                    "unmatched ')'", position, position + 1, 'remove it, or write ")" for the character'
                )
            body = EMPTY if self.group.is_hint else self._body()
            start, self.group = self.group.start, self.stack.pop()
            self._push(body, start)
        elif symbol == "~":
            self.group.tildes.append(position)
        elif symbol == "&":
            self.group.operands.append(self._operand(position, position))
            self.group.ampersand = position
        else:
            self._note(misread_range(self.source, position), Span(position, position + 1))
            self._push(ANY_CHARACTER, position)

    def _count(self, token: re.Match[str]) -> None:
        _, low, comma, high = token.groups()[IS_COUNT - 1 : IS_COUNT + 3]
        start, end = token.span(IS_COUNT)
        if any(digits and (len(digits) > 10 or int(digits) > MAX_COUNT) for digits in (low, high)):
            raise self.rules.error(f"a count above {MAX_COUNT:,} is not supported", start, end, "use a smaller count")
        if comma is None and not low:
            raise self.rules.error(*UNEXPECTED["{"][:1], start, end, UNEXPECTED["{"][1])
        minimum = int(low or 0)
        maximum = minimum if comma is None else int(high) if high else UNBOUNDED
        if maximum != UNBOUNDED and maximum < minimum:
            hint = f"write {{{maximum},{minimum}}}"
            raise self.rules.error("the upper bound is below the lower bound", start, end, hint)
        self._repeat(minimum, maximum, start, end)

    def _repeat(self, minimum: int, maximum: int, start: int, end: int) -> None:
        group = self.group
        if not group.items or group.tildes:
            hint = hint_at_repetition(self.source, start, "#", 'Regex("…")')
            raise self.rules.error("nothing to repeat", start, end, hint)
        group.repetitions += 1
        if group.repetitions > MAX_DEPTH:
            hint = "use one of them: (a*)* means a*"
            raise LimitError(f"an item has more than {MAX_DEPTH} repetition operators", limit="ebnf depth", hint=hint)
        group.items[-1] = repeat(group.items[-1], minimum, maximum)

    def _macro(self, token: re.Match[str]) -> int:
        name, start = token[IS_MACRO], token.start()
        if name != "Regex":
            given = parse_arguments(self.source, token.end())
            made = MACROS[name](given, Context(self.source, self.rules.builder, self.rules.reference))
            if name == "Distinct":
                self.rules.lists[id(made)] = made, start
            self._push(made, start)
            return given.end
        given = parse_arguments(self.source, token.end())
        self._push(regex_macro(given, Span(start, token.end(IS_MACRO)), self.source), start)
        place = given.positional[0].span
        flags = given.named["flags"].value if "flags" in given.named else ""
        self._note(misread_in_quotes(self.source[place.start : place.end], flags), place)
        return given.end

    def _unexpected(self, position: int) -> EbnfSyntaxError:
        character = self.source[position]
        message, hint = UNEXPECTED.get(character, ("unexpected character", None))
        if has_broken_options(self.source, position):
            message = "the options of the rule do not end on this line"
            return self.rules.error(message, position, position + 1, CLOSE_OPTIONS)
        if self.rules.rule is None:
            message, hint = "expected a rule", hint_at_head(self.source, position, "::=")
        for group in reversed((*self.stack, self.group)):
            meant = macro_meant(self.source, group.start, MACRO_NAMES) if group.start else None
            if meant is not None:
                name, span, hint = meant
                return self.rules.error(f"there is no macro {name!r}", *span, hint)
        return self.rules.error(message, position, position + 1, hint or hint_at(self.source, position))
