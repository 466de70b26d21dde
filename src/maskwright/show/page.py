"""One self-contained page: an output held to a grammar, token by token, and the grammar as railroad diagrams.

    html = page(compiled, trace(GrammarMatcher(compiled), ids), title="person.json")

No script, nothing loaded; the styles are `page.css`. Tables have headers, sections have names, and every token of the
strip is a link to its row. Limits are said on the page where they cut something off.
Tested by tests/show/test_page.py.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

from maskwright.errors import MaskwrightError
from maskwright.report.rejection import Explanation, Origin, listed
from maskwright.show.diagrams import MOST_RULES, anchor, diagrams
from maskwright.show.markup import Markup, cut, element, joined, visible, with_code
from maskwright.show.trace import MOST_EXPLAINED, MOST_TOKENS, Step, Trace

if TYPE_CHECKING:
    from maskwright.compiling.compiled_grammar import CompiledGrammar

_MOST_TEXT = 100_000  # characters of the grammar in EBNF
_MOST_CAPTURES = 200
_THE_END = ("the end of the output",)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(compiled: CompiledGrammar, found: Trace | None, *, title: str, likely_by: str = "") -> str:
    """Return the page as HTML.

    Args:
        compiled: The grammar.
        found: What happened to an output; None for the grammar alone.
        title: What the page shows.
        likely_by: Who said which refused tokens are likely.
    """
    sections = [] if found is None else list(_output(found, compiled.tokenizer_info.vocab_size, likely_by))
    sections.append(_grammar(compiled))
    names = [(each[0], each[1]) for each in sections]
    links = [element("a", name, href=f"#{identity}") for identity, name in names]
    rules = _counted(len(compiled.grammar.ir.rules), "rule")
    about = f"{rules}; a vocabulary of {compiled.tokenizer_info.vocab_size:,} tokens"
    body = joined(
        element("a", "Skip to the content", class_="skip", href="#content"),
        element(
            "header", element("h1", cut(title, 200)), element("p", about), element("nav", *links, aria_label="Sections")
        ),
        element("main", *[_section(*each) for each in sections], id="content"),
        element("footer", element("p", "Made by ", element("code", "maskwright show"), ".")),
    )
    style = Markup(f"<style>{files(__package__).joinpath('page.css').read_text('utf-8')}</style>")
    head = joined(
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        element("title", cut(title, 200)),
        style,
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _section(identity: str, name: str, *content: str) -> Markup:
    heading = element("h2", name, id=f"{identity}-name")
    return element("section", heading, *content, id=identity, aria_labelledby=f"{identity}-name")


def _output(found: Trace, vocab_size: int, likely_by: str) -> Iterator[tuple[str, ...]]:
    yield "output", "Output", *_summary(found)
    if found.steps:
        yield "steps", "Step by step", *_steps(found, vocab_size, likely_by)
    if found.captures:
        yield "captures", "Captures", *_captures(found)


def _summary(found: Trace) -> Iterator[Markup]:
    kind, verdict = _verdict(found)
    yield element("p", verdict, class_=f"verdict {kind}")
    if found.refusal is not None:
        yield from _refusal(found.refusal)
    elif found.expected not in ((), _THE_END) and not found.num_left_out:
        yield element("p", with_code(f"Next may come {listed(found.expected)}."))
    items = [element("li", _chip(step, number)) for number, step in enumerate(found.steps, 1)]
    items += [element("li", element("span", visible(text) or "∅", class_="unread")) for text in found.unread]
    yield element("ol", *items, class_="tokens", aria_label="Tokens")
    yield _key()
    yield _figures(found)


def _verdict(found: Trace) -> tuple[str, str]:
    accepted = sum(step.is_accepted for step in found.steps)
    if found.refusal is not None:
        return (
            "bad",
            f"Token {accepted + 1} of {len(found.steps) + len(found.unread) + found.num_left_out:,} is refused.",
        )
    if found.num_left_out:
        more = f"{found.num_left_out:,} more were not read (the limit is {MOST_TOKENS})"
        return "open", f"The first {accepted:,} tokens are accepted; {more}."
    return (
        ("good", "The output is complete and valid.")
        if found.is_complete
        else ("open", "Accepted so far; not complete yet.")
    )


def _refusal(why: Explanation) -> Iterator[Markup]:
    yield element("p", with_code(_reason(why) + "."), class_="why")
    if why.continuation:
        shown = element("code", visible(why.continuation, 200))
        yield element(
            "p", f"Valid after {_counted(why.offset, 'byte')} of it: " if why.offset else "Valid instead: ", shown
        )


def _reason(why: Explanation) -> str:
    """Why a token is refused, as a sentence without its end."""
    if why.reason == "end":
        return "The output is not complete" + (f": expected {listed(why.expected)}" if why.expected else "")
    if why.reason != "structure":
        return {
            "budget": "No output that goes on with it fits into the budget",
            "special_token": "It is a special token, which nothing names here",
            "terminated": "The output is over",
        }.get(why.reason, "Allowed")
    if why.offset == 1:
        words = "Its first byte fits; then expected "
    else:
        words = f"Its first {why.offset} bytes fit; then expected " if why.offset else "Expected "
    origin = f"; {why.origin}" if why.origin != Origin() else ""
    return words + (listed(why.expected) if why.expected else "nothing more") + origin


def _chip(step: Step, number: int) -> Markup:
    state = "refused" if not step.is_accepted else "forced" if step.is_forced else None
    label = f"{number}: {visible(step.text) or 'no text'}{', ' + state if state else ''}"
    return element("a", visible(step.text) or "∅", class_=state, href=f"#step-{number}", aria_label=label)


def _key() -> Markup:
    kinds = (
        (None, "accepted"),
        ("forced", "forced: no other text could stand there"),
        ("refused", "refused"),
    )
    entries = [
        element("span", element("span", element("span", "abc", class_=kind), class_="tokens"), words)
        for kind, words in kinds
    ]
    return element("p", *entries, class_="note key")


def _figures(found: Trace) -> Markup:
    steps = found.steps
    forced = sum(step.is_forced and step.is_accepted for step in steps)
    entries = [("Tokens accepted", f"{sum(step.is_accepted for step in steps):,}"), ("Forced", f"{forced:,}")]
    if steps:
        first, again = [step.first_us for step in steps], [step.again_us for step in steps]
        entries += [
            ("Mask, first time, median", f"{statistics.median(first):,.1f} µs"),
            ("The longest", f"{max(first):,.1f} µs"),
            ("The same mask again, median", f"{statistics.median(again):,.1f} µs"),
        ]
    return element("dl", *[element("div", element("dt", name), element("dd", value)) for name, value in entries])


def _steps(found: Trace, vocab_size: int, likely_by: str) -> Iterator[Markup]:
    heads = (
        ("#", None),
        ("Token", None),
        ("Allowed", "number"),
        ("Mask, µs", "number"),
        ("Likely tokens that are refused", None),
    )
    head = element("thead", element("tr", *[element("th", name, scope="col", class_=kind) for name, kind in heads]))
    rows = [_row(step, number, vocab_size) for number, step in enumerate(found.steps, 1)]
    if found.refusal is None:
        rows.append(_last_row(found.num_allowed, vocab_size))
    caption = element("caption", "How many tokens were allowed, and what each mask cost the first time.")
    table = element("table", caption, head, element("tbody", *rows), class_="steps")
    yield element("div", table, class_="scroll", tabindex=0, role="region", aria_labelledby="steps-name")
    if likely_by:
        more = f" Only the first {MOST_EXPLAINED} steps have them." if len(found.steps) > MOST_EXPLAINED else ""
        yield element("p", f"Which tokens are likely is said by {likely_by}.{more}", class_="note")
    yield element("p", "Times are of one run on this machine, the interpreter's call included.", class_="note")


def _row(step: Step, number: int, vocab_size: int) -> Markup:
    states = [] if step.is_accepted else [element("span", "refused", class_="tag refused")]
    if step.is_forced:
        states.append(element("span", "forced", class_="tag"))
    reasons = [
        element(
            "li",
            element("code", visible(why.text, 24) or "∅"),
            " ",
            element("span", with_code(_reason(why)), class_="why"),
        )
        for why in step.refused
    ]
    return element(
        "tr",
        element("td", f"{number}", class_="count"),
        element("th", element("code", visible(step.text) or "∅"), f" {step.token_id}", *states, scope="row"),
        _allowed(step.num_allowed, vocab_size),
        element("td", f"{step.first_us:,.1f}", class_="number", data_label="µs"),
        element("td", element("ul", *reasons) if reasons else "", class_="reasons"),
        id=f"step-{number}",
    )


def _last_row(num_allowed: int, vocab_size: int) -> Markup:
    return element(
        "tr",
        element("td", "", class_="count"),
        element("th", "what may come next", scope="row"),
        _allowed(num_allowed, vocab_size),
        element("td", "", class_="number"),
        element("td", "", class_="reasons"),
    )


def _allowed(number: int, vocab_size: int) -> Markup:
    bar = element("span", class_="share", style=f"width:{max(1.0, 100 * number / vocab_size):.1f}%", aria_hidden="true")
    return element("td", f"{number:,}", bar, class_="number", data_label="allowed")


def _captures(found: Trace) -> Iterator[Markup]:
    head = element("tr", *[element("th", name, scope="col") for name in ("Name", "Text", "Bytes")])
    rows = [
        element(
            "tr",
            element("th", element("code", cut(each.name, 60)), scope="row"),
            element("td", element("code", visible(each.data, 300))),
            element("td", f"{each.start}–{each.end}"),
        )
        for each in found.captures[:_MOST_CAPTURES]
    ]
    table = element("table", element("thead", head), element("tbody", *rows))
    yield element("div", table, class_="scroll", tabindex=0, role="region", aria_labelledby="captures-name")
    if len(found.captures) > _MOST_CAPTURES:
        yield element("p", f"And {len(found.captures) - _MOST_CAPTURES:,} more.", class_="note")


def _grammar(compiled: CompiledGrammar) -> tuple[str, ...]:
    return "grammar", "Grammar", *_drawn(compiled)


def _drawn(compiled: CompiledGrammar) -> Iterator[Markup]:
    try:
        ebnf = compiled.grammar.to_ebnf()
    except MaskwrightError as error:
        yield element("p", f"It cannot be written as EBNF: {error.message}.")
        return
    try:
        drawn = diagrams(ebnf)
    except ImportError:
        drawn = []
        yield element(
            "p", "For railroad diagrams: ", element("code", "pip install railroad-diagrams"), ".", class_="note"
        )
    for each in drawn:
        picture = element(
            "div", each.svg, class_="scroll", tabindex=0, role="group", aria_label=cut(f"{each.rule}: {each.body}", 500)
        )
        yield element("div", element("h3", each.rule), picture, class_="rule", id=anchor(each.rule))
    num_rules = ebnf.count("\n") + 1
    if num_rules > MOST_RULES and drawn:
        yield element("p", f"And {num_rules - MOST_RULES:,} more rules, in the text below.", class_="note")
    text = element("pre", cut(ebnf, _MOST_TEXT), tabindex=0)
    short = f" (the first {_MOST_TEXT:,} characters)" if len(ebnf) > _MOST_TEXT else ""
    yield element("details", element("summary", f"As EBNF{short}"), text)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
