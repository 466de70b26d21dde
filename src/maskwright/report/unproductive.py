"""Why a grammar in EBNF or Lark admits nothing: the rule that is the reason, where it stands, and what to change.

    root ::= "[" list "]"
    list ::= item "," list     2:1: in 'list': no text matches this rule: each alternative needs 'list' again

Starting at the root, a rule without texts is followed to one that it calls and that has none either, as far as that
goes. Whether a rule has texts is asked of the kernel, with the rule as the root.
Invariant: it always gives an error, if need be one without a rule.
Cost: that of compiling the grammar a few times, at most `_MOST_ASKED`, when an error is made.
Tested by tests/report/test_unproductive.py.
"""

from __future__ import annotations

from maskwright.errors import MaskwrightError, UnsatisfiableError
from maskwright.ir import OP_AND, OP_NEVER, GrammarIR, postorder, references
from maskwright.ir.emptiness import admits_nothing
from maskwright.report.sources import Source, rule_places, span_of_rule

_MOST_ASKED = 64


def why_nothing(grammar: GrammarIR, source: Source) -> UnsatisfiableError:
    """Return the error for a grammar that admits nothing, read from a source in EBNF or Lark."""
    try:
        path, again = _path_to_reason(grammar)
    except MaskwrightError:  # a limit
        return UnsatisfiableError("no output at all satisfies this grammar")
    names = [grammar.rules[index].name for index in path]
    places = rule_places(source)
    known = [name for name in names if name in places]
    if not known:
        return UnsatisfiableError("no output at all satisfies this grammar")
    rule = known[-1]
    message, hint = "no text matches this rule", _hint(grammar, path[-1], names[-1] in places)
    if again is not None and rule == names[-1]:
        loop = grammar.rules[again].name
        message += f": each alternative needs {loop!r} again, so it never ends"
        hint = f"give {rule!r} an alternative that does not need {loop!r}"
    return UnsatisfiableError(
        message, hint=hint, source=source.text, span=span_of_rule(source.text, rule, places[rule]), rule=rule
    )


def _path_to_reason(grammar: GrammarIR) -> tuple[list[int], int | None]:
    """Rules without texts, each called by the one before; and one of them that the last calls, if it does."""
    path = [grammar.root]
    asked: dict[int, bool] = {grammar.root: True}
    while True:
        called = references(grammar.rules[path[-1]].body)
        for index in called[: _MOST_ASKED - len(asked)]:
            if index not in asked:
                asked[index] = admits_nothing(grammar._replace(root=index))
                if asked[index]:
                    path.append(index)
                    break
        else:
            return path, next((index for index in called if index in path), None)


def _hint(grammar: GrammarIR, index: int, is_defined: bool) -> str | None:
    rule = grammar.rules[index]
    if rule.body[0] == OP_NEVER:
        return of_nothing(rule.name, is_defined)
    body = rule.body
    if any(part[0] == OP_AND for part in postorder(body)):
        return "no text matches all operands of &: change one of them"
    return None


def of_nothing(name: str, is_defined: bool) -> str:
    """What to do about a rule whose own body matches nothing."""
    if not is_defined:
        return f"define {name!r}, or supply a grammar of that name"
    return "change its regular expressions; an assertion such as (?=b) sees its own one alone: /a(?=b)b/"
