"""From the tree of a Lark grammar to the IR.

Every rule becomes a rule of the IR, every terminal too, with what is ignored after it (`ignored.py`); the root begins
with what is ignored. So ignored terminals may stand between any two terminals and at both ends, and nothing else is
changed: the grammar stays context-free, with no lexer that would have to choose.

    >>> from maskwright.frontends.lark import lark_to_ir
    >>> print(lark_to_ir('start: "a" B\\nB: "b"+\\n%ignore " "').dump())
    root ::= ignored start
    ignored ::= " "*
    start ::= "a" ignored B
    B ::= "b"+ ignored

Rules wait in a queue until their turn, so no recursion is deeper than a body nests. An instance of a template is a
rule of its own, found again by what its arguments mean.
Grammars within the grammar are those of `embedded.py`.
Tested by tests/frontends/test_lark.py, tests/corpus/lark.toml.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final, NamedTuple

from maskwright.errors import LarkSyntaxError, LimitError, RegexSyntaxError, Span
from maskwright.frontends.lark import ast
from maskwright.frontends.lark.alphabets import BYTES, CHARACTERS
from maskwright.frontends.lark.embedded import Embedded
from maskwright.frontends.lark.grammar_options import ignores_once
from maskwright.frontends.lark.ignored import Ignored
from maskwright.frontends.lark.parameters import condition_of, value_of
from maskwright.frontends.lark.resolve import Entry, Scope, resolve
from maskwright.frontends.lark.terminals import Terminals, check_no_regex_rules
from maskwright.frontends.notation.rule_options import (
    FoldedText,
    NameValue,
    Reading,
    RegexValue,
    RuleOption,
    as_span,
    capture_name,
    has_empty_budget,
    may_have_any_body,
    stop_text,
    with_options,
)
from maskwright.frontends.nullable import without_empty_budgets
from maskwright.frontends.regular import SpelledOut, spelled_out
from maskwright.frontends.warnings.notes import Notes, no_notes
from maskwright.ir import (
    EMPTY,
    Copies,
    Expr,
    GrammarIR,
    IRBuilder,
    alt,
    call,
    capture,
    guard,
    recall,
    remember,
    repeat,
    seq,
    with_scopes,
)
from maskwright.ir.parameters import FALSE, TRUE
from maskwright.support.entrances import OR_PASS_START

MAX_INSTANCES: Final = 10_000


class Argument(NamedTuple):
    """What a template's parameter stands for: `key` tells whether two arguments mean the same."""

    key: Hashable
    expr: Expr


class Context(NamedTuple):
    """Where a body stands: whose names it uses, what they stand for in a template, and whether it has a parameter."""

    scope: Scope
    environment: Mapping[str, Argument]
    has_parameter: bool = False


class Pending(NamedTuple):
    """A rule that is declared and not yet defined, with its branches, its name and its options."""

    rule: Expr
    branches: Sequence[tuple[ast.Node, Context]]
    name: str = ""
    options: tuple[RuleOption, ...] = ()


_NOTHING_BOUND: Final[Mapping[str, Argument]] = {}


def lower(
    document: ast.Document,
    start: str,
    grammars: Mapping[str, GrammarIR],
    modules: Mapping[str, str],
    read_schema: Callable[[object, str, Span], GrammarIR],
    notes: Notes,
) -> GrammarIR:
    """Make the IR.

    Args:
        document: The grammar.
        start: The rule that the whole output must match.
        grammars: What `@name` and declared terminals stand for.
        modules: Lark texts to import from.
        read_schema: Makes the grammar of a JSON Schema, given where it stands in which text.
        notes: Filled, for the warnings.

    Raises:
        LarkSyntaxError: A name is unknown, or something cannot be expressed.
        LimitError: Templates make too many rules.
    """
    builder = IRBuilder()
    lowering = _Lowering(document, builder, grammars, modules, read_schema, notes)
    grammar = builder.build(lowering.root(start))
    return without_empty_budgets(grammar) if lowering.has_empty_budget else grammar


class _Lowering:
    def __init__(
        self,
        document: ast.Document,
        builder: IRBuilder,
        grammars: Mapping[str, GrammarIR],
        modules: Mapping[str, str],
        read_schema: Callable[[object, str, Span], GrammarIR],
        notes: Notes,
    ) -> None:
        self.builder, self.grammars, self.notes = builder, grammars, notes

        def read_lark(inner: ast.Document) -> GrammarIR:
            return lower(inner, "start", grammars, modules, read_schema, no_notes())

        self.embedded = Embedded(builder, grammars, read_schema, read_lark, notes)
        self.scope = resolve(document, modules)
        # Unlike in llguidance, ignored terminals may come first, unless the options say no.
        self.may_start_ignored: bool = document.options.get("allow_initial_skip", True)
        alphabet = BYTES if document.options.get("allow_invalid_utf8") else CHARACTERS
        self.terminals = Terminals(alphabet, self.embedded.inline)
        self.references: dict[Hashable, Expr] = {}  # by id of what scopes and trees keep alive
        self.texts: dict[tuple[str, bool], Expr] = {}
        self.pending: list[Pending] = []
        self.has_empty_budget = False
        # By identity: what is remembered, and where that stands.
        self.remembered: dict[int, tuple[Expr, Span, Scope]] = {}
        self.copies, self.spelled_rules = Copies(), SpelledOut()
        parts = [self.terminals.part(node, self.scope) for node in self.scope.ignored]
        try:
            self.ignored = Ignored(parts, builder, self.terminals, ignores_once(document.options))
        except RegexSyntaxError:
            for node in self.scope.ignored:
                self.terminals.anonymous(node, self.scope)  # the error, at its place
            raise

    def root(self, start: str) -> Expr:
        """The whole grammar, with every definition checked, used or not."""
        if start not in self.scope.entries:
            rules = [name for name, entry in self.scope.entries.items() if not entry.is_terminal]
            there_are = ", ".join(rules[:10]) + (", …" if len(rules) > 10 else "")
            hint = (
                f"the rules are: {there_are}; rename one to {start[:60]!r}{OR_PASS_START}"
                if rules
                else f"write {start[:60]}: body, in lower case"
            )
            raise LarkSyntaxError(f"there is no rule {start[:60]!r}", hint=hint)
        entry = self.scope.entries[start]
        if entry.is_parametric:
            hint = f"begin with one that gives it: {start}: first::0"
            raise self.scope.error(f"the start rule {start!r} has a parameter", entry.span, hint)
        reference = self._entry(entry, entry.span, self.scope)
        only_ignored = {node.name for node in self.scope.ignored if isinstance(node, ast.Name)}  # and checked by that
        for key, entry in self.scope.entries.items():
            if not entry.parameters and entry.bodies[0][1] is self.scope and key not in only_ignored:
                self._entry(entry, entry.span, self.scope)
        while self.pending:
            rule, branches, rule_name, options = self.pending.pop()
            name = capture_name(rule_name, options)
            bodies = (self._captured(name, *branch) if name else self._body(*branch) for branch in branches)
            body = alt(*bodies)
            if self.remembered:
                body = with_scopes(body, self._text_to_remember, self.copies)
            self.builder.define(rule, as_span(body, options))
        return seq(self.ignored.after if self.may_start_ignored else EMPTY, reference, self.ignored.at_end)

    def _body(self, node: ast.Node, context: Context) -> Expr:
        return ast.fold(node, _children_in_rules, lambda at, parts: self._combine(at, parts, context))

    def _combine(self, node: ast.Node, parts: Sequence[Expr], context: Context) -> Expr:
        kind = type(node)
        if kind is ast.Seq:
            return seq(*parts)
        if kind is ast.Text:
            return self._text(node, context.scope)  # type: ignore[arg-type]
        if isinstance(node, ast.Name):
            bound = context.environment.get(node.name) if context.environment else None
            return bound.expr if bound else self._named(node, context.scope)
        if kind is ast.Alt:
            return alt(*parts)
        if isinstance(node, ast.Repeat):
            return repeat(parts[0], node.minimum, node.maximum)
        return self._rarer(node, parts, context)

    def _rarer(self, node: ast.Node, parts: Sequence[Expr], context: Context) -> Expr:
        scope = context.scope
        if isinstance(node, ast.Use):
            return self._use(node, context)
        if isinstance(node, ast.Tokens):
            return seq(self.ignored.at_end, self.builder.add_tokens(node.token_set), self.ignored.after)
        if isinstance(node, ast.Side):
            return seq(self.embedded.side(node, scope), self.ignored.after)
        if isinstance(node, ast.Embedded):
            return seq(self.embedded.inline(node, scope), self.ignored.after)
        if isinstance(node, ast.Parametric):
            return self._call(node, context)
        if isinstance(node, ast.Remember):
            return self._remember(node, scope)
        if isinstance(node, ast.Recall):
            return seq(recall(node.number), self.ignored.after)
        if isinstance(node, ast.Conditional):
            condition = condition_of(node.condition, scope.error)
            if condition not in (TRUE, FALSE):
                _check_has_parameter(context, node.condition.span)
            return guard(condition, parts[0])
        return self.ignored.around(self.terminals.anonymous(node, scope))

    def _remember(self, node: ast.Remember, scope: Scope) -> Expr:
        """A terminal whose text comes again. What is ignored after it is no part of that."""
        if self.ignored.is_open:
            hint = "let the ignored terminal match the end of its line, too"
            raise scope.error(
                "no text can be remembered beside comments that go on until something else", node.span, hint
            )
        remembered = remember(self.terminals.anonymous(node.item, scope), node.number)
        self.remembered[id(remembered)] = remembered, node.span, scope
        return seq(remembered, self.ignored.after)

    def _text_to_remember(self, remembered: Expr) -> Expr:
        spelled = spelled_out(remembered[1], self.builder.body_of, self.spelled_rules)
        if spelled is None:
            _, span, scope = self.remembered[id(remembered)]
            raise scope.error("what is remembered must be regular", span, "use a terminal without %regex")
        return spelled

    def _text(self, node: ast.Text, scope: Scope) -> Expr:
        """A literal with what is ignored beside it: the same ones come again and again."""
        key = node[1:]
        known = self.texts.get(key)
        if known is None:
            known = self.texts[key] = self.ignored.around(self.terminals.anonymous(node, scope))
        return known

    def _named(self, node: ast.Name, scope: Scope) -> Expr:
        """The reference to a rule or terminal that is named without a parameter."""
        entry = scope.entries.get(node.name) or scope.entry(node.name, node.span)
        if entry.is_parametric:
            hint = f"write {entry.name}::0, or {entry.name}::_ to pass one's own"
            raise scope.error(f"rule {entry.name!r} needs a parameter", node.span, hint)
        return self._entry(entry, node.span, scope)

    def _call(self, node: ast.Parametric, context: Context) -> Expr:
        scope = context.scope
        entry = scope.entry(node.name, node.span)
        if not entry.is_parametric:
            hint = f"define it as {entry.name}::_, or leave the parameter out"
            raise scope.error(f"{entry.name!r} has no parameter", node.span, hint)
        value = value_of(node.parameter, scope.error)
        if value.constant is None:
            _check_has_parameter(context, node.parameter.span)
        return call(self._entry(entry, node.span, scope)[1], value)

    def _entry(self, entry: Entry, span: Span, scope: Scope) -> Expr:
        """The reference to a rule or terminal, which is used at `span`."""
        known = self.references.get(id(entry))
        if known is not None:
            return known
        if entry.parameters:
            hint = f"write {entry.name}{{{', '.join(entry.parameters)}}}"
            raise scope.error(f"{entry.name!r} is a template and needs arguments", span, hint)
        reference = self.references[id(entry)] = self.builder.declare(entry.name)
        self.has_empty_budget = self.has_empty_budget or has_empty_budget(entry.options)
        stop = stop_text(entry.options)
        if stop is not None:
            self.notes.stops[reference[1]] = stop
        if entry.is_declared:
            declared = (
                self.embedded.supplied(entry.name, span, scope)
                if entry.name in self.grammars
                else self.terminals.named(entry, span, scope)
            )
            self.builder.define(reference, seq(declared, self.ignored.after))
        elif entry.is_terminal:
            self.builder.define(reference, self.ignored.around(self.terminals.named(entry, span, scope)))
        elif not may_have_any_body(entry.options):
            self.builder.define(reference, self.ignored.around(self._with_options(entry)))
        else:
            branches = [(body, Context(s, _NOTHING_BOUND, entry.is_parametric)) for body, s in entry.bodies]
            self.pending.append(Pending(reference, branches, entry.name, entry.options))
        return reference

    def _with_options(self, entry: Entry) -> Expr:
        """A rule with options is one text, as a terminal is: nothing is ignored inside."""
        bodies = [spelled_out(self.terminals.anonymous(*body), self.builder.body_of) for body in entry.bodies]
        scope = entry.bodies[0][1]
        if None in bodies:
            hint = "the text is too long for that; use a part of it"
            raise scope.error("%regex cannot be combined with options about text here", entry.span, hint)

        def value_expr(option: RuleOption) -> Expr:
            if isinstance(option.value, RegexValue):
                return self.terminals.pattern_expr(option.value.pattern, option.value.flags, option.span, scope)
            if isinstance(option.value, FoldedText):
                return self.terminals.anonymous(ast.Text(option.span, option.value.text, True), scope)
            assert isinstance(option.value, NameValue)
            value = self.terminals.anonymous(ast.Name(option.span, option.value.name), scope)
            check_no_regex_rules(value, option.span, scope)
            return value

        regular = alt(*(body for body in bodies if body is not None))
        return with_options(entry.name, regular, entry.options, Reading(value_expr, scope.error))

    def _captured(self, name: str, node: ast.Node, context: Context) -> Expr:
        """A branch of a rule that is captured. What is ignored after its last terminal is left out of the capture."""
        if isinstance(node, ast.Alt):
            return alt(*(self._captured(name, branch, context) for branch in node.branches))
        items = node.items if isinstance(node, ast.Seq) else (node,)
        if not items or not _is_terminal(items[-1], context.scope):
            return capture(name, self._body(node, context))
        before = [self._body(item, context) for item in items[:-1]]
        ways = self.ignored.before(self.terminals.anonymous(items[-1], context.scope))
        if before:
            captured = capture(name, seq(*before, alt(*(seq(ignored, last) for ignored, last in ways))))
        else:
            captured = alt(*(seq(ignored, capture(name, last)) for ignored, last in ways))
        return seq(captured, self.ignored.after)

    def _use(self, node: ast.Use, context: Context) -> Expr:
        scope = context.scope
        template = scope.entry(node.name, node.span)
        if len(template.parameters) != len(node.arguments):
            wanted = len(template.parameters)
            if not wanted:
                raise scope.error(f"{node.name!r} is not a template", node.span, f"define it as {node.name}{{x}}")
            count = "1 argument" if wanted == 1 else f"{wanted} arguments"
            message = f"{node.name!r} takes {count}, not {len(node.arguments)}"
            raise scope.error(message, node.span, f"write {node.name}{{{', '.join(template.parameters)}}}")
        arguments = [self._argument(argument, context) for argument in node.arguments]
        key = (id(template), *(argument.key for argument in arguments))
        known = self.references.get(key)
        if known is None:
            known = self._declare(key, template.name)
            bound = dict(zip(template.parameters, arguments, strict=True))
            self.pending.append(Pending(known, [(body, Context(s, bound)) for body, s in template.bodies]))
        return known

    def _argument(self, node: ast.Node, context: Context) -> Argument:
        scope, environment, _ = context
        if isinstance(node, ast.Name):
            bound = environment.get(node.name)
            if bound:
                return bound
            reference = self._named(node, scope)
            return Argument(reference, reference)
        if isinstance(node, (ast.Text, ast.Pattern, ast.Range)):
            return Argument(
                (type(node).__name__, *node[1:]), self.ignored.around(self.terminals.anonymous(node, scope))
            )
        key = (id(node), *((name, argument.key) for name, argument in environment.items()))
        known = self.references.get(key)
        if known is None:
            known = self._declare(key, "argument")
            self.pending.append(Pending(known, [(node, Context(scope, environment))]))
        return Argument(known, known)

    def _declare(self, key: Hashable, name: str) -> Expr:
        if len(self.references) >= MAX_INSTANCES:
            hint = "a template must not use itself with arguments that keep growing"
            raise LimitError(
                f"templates expand to more than {MAX_INSTANCES:,} rules", limit="lark templates", hint=hint
            )
        reference = self.references[key] = self.builder.declare(name)
        return reference


def _children_in_rules(node: ast.Node) -> Sequence[ast.Node]:
    """What `&` and `~` apply to is one terminal without a name, as is what is remembered."""
    kind = type(node)
    return () if kind is ast.Name or kind in _ONE_TERMINAL else ast.children_of(node)


_TERMINAL_OPERATORS: Final = frozenset((ast.And, ast.Not))
_ONE_TERMINAL: Final = _TERMINAL_OPERATORS | {ast.Remember}


def _is_terminal(node: ast.Node, scope: Scope) -> bool:
    """Whether an item of a rule is one terminal, named or not."""
    if isinstance(node, ast.Name):
        return ast.is_terminal_name(node.name) and not scope.entry(node.name, node.span).is_declared
    return isinstance(node, (ast.Text, ast.Pattern, ast.Range)) or type(node) in _TERMINAL_OPERATORS


def _check_has_parameter(context: Context, span: Span) -> None:
    if not context.has_parameter:
        message = "only a rule with a parameter can test it or pass it on"
        raise context.scope.error(message, span, "define the rule as name::_")
