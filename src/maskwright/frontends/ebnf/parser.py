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

A rule's body ends where the next line starts with `name ::=`. An alternative may be empty. Cost: about two
microseconds a token.
Tested by tests/frontends/test_ebnf.py.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from maskwright.errors import EbnfSyntaxError, LimitError, Span
from maskwright.frontends.charset import ALL_CHARACTERS, utf8
from maskwright.frontends.ebnf.terminals import class_expr, regex_expr
from maskwright.frontends.quoted import STRING, Quoted, string_value
from maskwright.ir import UNBOUNDED, Expr, GrammarIR, Rule, alt, ref, repeat, seq, text

MAX_DEPTH = 100
MAX_COUNT = 10**9

# No alternative can match the same text in two ways, so a token that fails, fails in linear time.
_TOKEN = re.compile(
    rf"""(?:
        ({STRING})
        | \[((?:[^\]\\\n]|\\.)*)\]
        | (Regex|Substring|TagDispatch|TokenTagDispatch|ExcludeToken|Token)\s*\(
        | (?=\.*[A-Za-z0-9_\-])([A-Za-z_.\-][A-Za-z0-9_.\-]*)
          (?:(\s*::=)|(\[(?:[^\]\n"']|{STRING}){{0,200}}\]\s*::=))?
        | (\{{\s*([0-9]*)\s*(?:(,)\s*([0-9]*)\s*)?\}})
        | (\(=|!?<|[()|*+?.])
        | (\s+|\#[^\n]*)
    )[ ]*""",
    re.VERBOSE,
)
_IS_STRING, _IS_CLASS, _IS_MACRO, _IS_NAME, _IS_DEFINITION, _HAS_OPTIONS, _IS_COUNT, _IS_SYMBOL, _IS_BLANK = (
    1, 2, 3, 4, 5, 6, 7, 11, 12
)  # fmt: skip
_REGEX_ARGUMENTS = re.compile(rf"\s*({STRING})\s*(?:,\s*flags\s*=\s*({STRING})\s*)?,?\s*\)")
_COUNTS = {"*": (0, UNBOUNDED), "+": (1, UNBOUNDED), "?": (0, 1)}
_REFUSED = {
    "(=": ("a lookahead hint is not supported", "leave it out: masks are exact without it"),
    "<": ("a token literal is not supported", "write the token's text as a string"),
    "!<": ("a negated token literal is not supported", "describe the text that is allowed"),
}
_UNEXPECTED = {
    '"': ("a string that is not closed", 'add "'),
    "'": ("a string that is not closed", "add '"),
    "[": ("a class that is not closed", "add ]"),
    "{": ("a malformed repetition", "write {n}, {n,}, {n,m} or {,m}"),
    ":": ("an unexpected character", "a rule is written name ::= body"),
    "=": ("an unexpected character", "a rule is written name ::= body"),
}


def ebnf_to_ir(source: str, root_rule_name: str = "root") -> GrammarIR:
    """Parse a grammar.

    Args:
        source: The rules.
        root_rule_name: The rule that the whole text must match.

    Raises:
        EbnfSyntaxError: The text is no grammar, a rule is missing or defined twice, or something is not supported.
        LimitError: It nests too deep.
    """
    return _Parser(source).parse(root_rule_name)


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.indices: dict[str, int] = {}
        self.bodies: list[Expr | None] = []
        self.places: list[int] = []  # of the definition, or else of the first use
        self.rule = -1
        # The group that is open: its finished branches, and the items of its last one.
        self.branches: list[Expr] = []
        self.items: list[Expr] = []
        self.stack: list[tuple[list[Expr], list[Expr], int]] = []
        self.repetitions = 0

    def error(self, message: str, start: int, end: int, hint: str | None = None) -> EbnfSyntaxError:
        return EbnfSyntaxError(message, source=self.source, span=Span(start, end), hint=hint)

    def parse(self, root_rule_name: str) -> GrammarIR:
        source, position, end = self.source, 0, len(self.source)
        match_token = _TOKEN.match
        while position < end:
            token = match_token(source, position)
            if token is None:
                raise self._unexpected(position)
            kind = token.lastindex
            if kind == _IS_DEFINITION:
                self._define(token)
            elif kind == _IS_BLANK:
                pass
            elif kind == _HAS_OPTIONS:
                raise self.error("rule options are not supported", *token.span(_HAS_OPTIONS), "leave out […]")
            elif self.rule < 0:
                raise self.error("a rule is expected here", position, position + 1, "write name ::= body")
            elif kind == _IS_SYMBOL:
                self._symbol(token[_IS_SYMBOL], position)
            elif kind == _IS_MACRO:
                position = self._macro(token)
                continue
            elif kind == _IS_COUNT:
                self._count(token)
            else:
                self.items.append(self._atom(token, kind))
                self.repetitions = 0
            position = token.end()
        self._finish_rule()
        return self._grammar(root_rule_name)

    def _atom(self, token: re.Match[str], kind: int | None) -> Expr:
        if kind == _IS_NAME:
            return ref(self._index(token[_IS_NAME], token.start()))
        if kind == _IS_STRING:
            return text(string_value(Quoted(token[_IS_STRING], token.start()), self.source, EbnfSyntaxError))
        return class_expr(token[_IS_CLASS], token.start() + 1, self.source)

    def _index(self, name: str, place: int) -> int:
        index = self.indices.get(name)
        if index is None:
            index = self.indices[name] = len(self.bodies)
            self.bodies.append(None)
            self.places.append(place)
        return index

    def _define(self, token: re.Match[str]) -> None:
        name, start = token[_IS_NAME], token.start()
        self._finish_rule()
        if self.source[self.source.rfind("\n", 0, start) + 1 : start].strip():
            raise self.error("a rule must start on a line of its own", start, token.end(_IS_NAME))
        known = name in self.indices
        self.rule = self._index(name, start)
        if not known:
            return
        if self.bodies[self.rule] is not None:
            line = self.source.count("\n", 0, self.places[self.rule]) + 1
            hint = f"the first definition is on line {line}; join them with |"
            raise self.error(f"rule {name[:60]!r} is defined twice", start, token.end(_IS_NAME), hint)
        self.places[self.rule] = start

    def _finish_rule(self) -> None:
        if self.stack:
            start = self.stack[-1][2]
            raise self.error("a group that is not closed", start, start + 1, "add )")
        if self.rule >= 0:
            self.bodies[self.rule] = self._body()

    def _body(self) -> Expr:
        last = seq(*self.items)
        body = alt(*self.branches, last) if self.branches else last
        self.branches, self.items = [], []
        return body

    def _symbol(self, symbol: str, position: int) -> None:
        if symbol in _COUNTS:
            self._repeat(*_COUNTS[symbol], position, position + 1)
        elif symbol == "|":
            self.branches.append(seq(*self.items))
            self.items = []
        elif symbol == "(":
            if len(self.stack) >= MAX_DEPTH:
                raise LimitError(f"the grammar nests more than {MAX_DEPTH} groups", limit="ebnf depth")
            self.stack.append((self.branches, self.items, position))
            self.branches, self.items = [], []
        elif symbol == ")":
            if not self.stack:
                raise self.error("a ) without its (", position, position + 1)
            body = self._body()
            self.branches, self.items, _ = self.stack.pop()
            self.items.append(body)
            self.repetitions = 0
        elif symbol == ".":
            self.items.append(utf8(ALL_CHARACTERS))
            self.repetitions = 0
        else:
            message, hint = _REFUSED[symbol]
            raise self.error(message, position, position + len(symbol), hint)

    def _count(self, token: re.Match[str]) -> None:
        _, low, comma, high = token.groups()[_IS_COUNT - 1 : _IS_COUNT + 3]
        start, end = token.span(_IS_COUNT)
        if any(digits and (len(digits) > 10 or int(digits) > MAX_COUNT) for digits in (low, high)):
            raise self.error(f"a count above {MAX_COUNT:,}", start, end)
        if not low and not high:
            raise self.error(*_UNEXPECTED["{"][:1], start, end, _UNEXPECTED["{"][1])
        minimum = int(low or 0)
        maximum = minimum if comma is None else int(high) if high else UNBOUNDED
        if maximum != UNBOUNDED and maximum < minimum:
            raise self.error("an upper bound below the lower bound", start, end)
        self._repeat(minimum, maximum, start, end)

    def _repeat(self, minimum: int, maximum: int, start: int, end: int) -> None:
        if not self.items:
            raise self.error("nothing to repeat", start, end, 'write "…" around characters that stand for themselves')
        self.repetitions += 1
        if self.repetitions > MAX_DEPTH:
            raise LimitError(f"more than {MAX_DEPTH} repetitions of one item", limit="ebnf depth")
        self.items[-1] = repeat(self.items[-1], minimum, maximum)

    def _macro(self, token: re.Match[str]) -> int:
        name, start = token[_IS_MACRO], token.start()
        if name != "Regex":
            raise self.error(f"the macro {name} is not supported", start, token.end(_IS_MACRO))
        arguments = _REGEX_ARGUMENTS.match(self.source, token.end())
        if arguments is None:
            raise self.error(
                "malformed Regex", start, token.end(_IS_MACRO), 'write Regex("…") or Regex("…", flags="i")'
            )
        pattern = Quoted(arguments[1], arguments.start(1))
        flags = Quoted(arguments[2], arguments.start(2)) if arguments[2] else None
        self.items.append(regex_expr(pattern, flags, self.source))
        self.repetitions = 0
        return arguments.end()

    def _unexpected(self, position: int) -> EbnfSyntaxError:
        character = self.source[position]
        message, hint = _UNEXPECTED.get(character, ("an unexpected character", None))
        return self.error(message, position, position + 1, hint)

    def _grammar(self, root_rule_name: str) -> GrammarIR:
        rules = []
        defined = [name for name, index in self.indices.items() if self.bodies[index] is not None]
        for (name, place), body in zip(zip(self.indices, self.places, strict=True), self.bodies, strict=True):
            if body is None:
                near = get_close_matches(name, defined[:200], 1)
                hint = f"did you mean {near[0]!r}?" if near else None
                raise self.error(f"rule {name[:60]!r} is not defined", place, place + len(name), hint)
            rules.append(Rule(name, body))
        root = self.indices.get(root_rule_name)
        if root is None:
            there_are = ", ".join(defined[:10]) + (", …" if len(defined) > 10 else "")
            hint = f"the rules are: {there_are}" if defined else "write name ::= body"
            raise EbnfSyntaxError(f"there is no rule {root_rule_name[:60]!r}", hint=hint)
        return GrammarIR(tuple(rules), root)
