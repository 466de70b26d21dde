"""What notebooks show of a compiled grammar and of a matcher: small fragments of HTML.

Colours are the notebook's own, so that they are readable in dark ones; styles are on the elements, so that they touch
nothing else. Bounded: the first lines of a grammar, the last tokens of an output. They never raise: where something
cannot be said, it is left out. Tested by tests/show/test_notebook.py.
"""

from __future__ import annotations

from maskwright import _kernel
from maskwright.errors import MaskwrightError
from maskwright.grammar import Grammar
from maskwright.report.rejection import expected, listed
from maskwright.show.markup import Markup, cut, element, visible
from maskwright.tokenizer import TokenizerInfo

_MOST_RULES = 2_000  # of a grammar that is written out
_MOST_LINES, _MOST_CHARACTERS = 12, 2_000
_MOST_TOKENS = 100

_BOX = "font:14px/1.5 system-ui,sans-serif;border:1px solid rgba(128,128,128,.5);border-radius:6px;padding:8px 12px"
_CODE = "font:13px/1.5 ui-monospace,monospace;background:transparent;color:inherit;white-space:pre-wrap;margin:6px 0 0"
_TOKEN = (
    "font:13px/1.5 ui-monospace,monospace;background:rgba(90,140,220,.22);color:inherit;border-radius:3px;"
    "padding:0 3px;margin:0 2px 2px 0;display:inline-block"
)


def grammar_html(grammar: Grammar, info: TokenizerInfo) -> str:
    """Return what a notebook shows of a compiled grammar."""
    head = element("div", element("b", "CompiledGrammar"), f" for {info.vocab_size:,} tokens")
    try:
        num_rules = len(grammar.ir.rules)
        text = grammar.to_ebnf() if num_rules <= _MOST_RULES else f"{num_rules:,} rules"
    except MaskwrightError as error:
        text = f"not to be written as EBNF: {error.message}"
    lines = text.split("\n")
    short = cut("\n".join(lines[:_MOST_LINES]), _MOST_CHARACTERS)
    more = f"\n… and {len(lines) - _MOST_LINES:,} more rules" if len(lines) > _MOST_LINES else ""
    return element("div", head, element("pre", short + more, style=_CODE), style=_BOX)


def matcher_html(matcher: _kernel.Matcher, info: TokenizerInfo) -> str:
    """Return what a notebook shows of a matcher: its last tokens, and what may come next."""
    state = "terminated" if matcher.is_terminated() else "complete" if matcher.is_completed() else "open"
    head = element("div", element("b", "GrammarMatcher"), f" after {matcher.num_accepted_tokens:,} tokens: {state}")
    return element("div", head, element("div", *_tokens(matcher, info)), *_next(matcher), style=_BOX)


def _tokens(matcher: _kernel.Matcher, info: TokenizerInfo) -> list[Markup]:
    texts = info.token_bytes
    history = matcher.history()
    shown = [element("span", "… ")] if len(history) > _MOST_TOKENS else []
    for each in history[-_MOST_TOKENS:]:
        text = each if isinstance(each, bytes) else texts[each] if each < len(texts) else b""
        shown.append(element("span", visible(text) or "∅", style=_TOKEN))
    return shown


def _next(matcher: _kernel.Matcher) -> list[Markup]:
    if matcher.is_terminated():
        return []
    try:
        return [element("div", f"next: {listed(expected(matcher))}")]
    except MaskwrightError:
        return []
