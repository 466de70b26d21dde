"""`maskwright explain`: whether a text follows a structure; if not, where, why, and how it could go on.

    maskwright explain --schema person.json --text '{"age": x}'

A text is judged as text, so that it does not matter how it would be tokenized. With a tokenizer it goes token by token
where that matters: with a budget, and where it holds special tokens.
Tested by tests/cli/test_explain_command.py.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from maskwright import CompiledGrammar, GrammarMatcher
from maskwright.report.rejection import Origin, Reason, Rejection, listed, place_of

from .errors import EXIT_OK, EXIT_PROBLEMS, CommandError
from .sources import Structure, in_options, read_structure
from .texts import marked, print_findings, printable, read_output, without_last_line_break
from .tokenizers import Tokenizer, bytes_as_tokens, read_tokenizer

_NO_FIT = "the structure allows it, but no output that goes on with it fits into --max-tokens"


class Verdict(NamedTuple):
    """What is said of a text: None for `rejection` if it is valid."""

    data: bytes
    rejection: Rejection | None = None
    reason: Reason | None = None


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    if arguments.max_tokens is not None and arguments.tokenizer is None:
        raise CommandError("--max-tokens needs --tokenizer\n  hint: pass --tokenizer embedded, or a tokenizer.json")
    data = read_output(arguments)
    structure = read_structure(arguments)
    tokenizer = bytes_as_tokens() if arguments.tokenizer is None else read_tokenizer(arguments.tokenizer)
    compiled, _ = structure.compiled(tokenizer.info)
    print_findings(compiled.grammar.report)
    verdict = _verdict(compiled, tokenizer, data, arguments.max_tokens)
    if verdict.rejection is not None and arguments.text is None:
        shorter = without_last_line_break(data)
        if shorter != data:
            verdict = _verdict(compiled, tokenizer, shorter, arguments.max_tokens)
    if arguments.json:
        print(json.dumps(_to_dict(verdict, with_tokens=arguments.tokenizer is not None), indent=2))
    else:
        print("\n".join(_lines(verdict, structure)))
    return EXIT_OK if verdict.rejection is None else EXIT_PROBLEMS


def _verdict(compiled: CompiledGrammar, tokenizer: Tokenizer, data: bytes, max_tokens: int | None) -> Verdict:
    if max_tokens is None:
        rejection = compiled.explain_rejection(data)
        if rejection is None:
            return Verdict(data)
        ids = _cut(tokenizer, data)
        if ids is None or not set(ids) & set(tokenizer.info.special_token_ids):
            return Verdict(data, rejection, "structure")
    else:
        ids = _cut(tokenizer, data)
        if ids is None:
            raise CommandError(
                "--max-tokens: decoding with this tokenizer changes the text, so its tokens cannot be counted"
            )
    matcher = GrammarMatcher(compiled, override_stop_tokens=tokenizer.info.stop_token_ids, max_tokens=max_tokens)
    return _by_tokens(matcher, tokenizer, data, ids)


def _cut(tokenizer: Tokenizer, data: bytes) -> Sequence[int] | None:
    """The tokens of a text; None where their bytes are not the text."""
    try:
        ids = tokenizer.encode(data.decode())
    except UnicodeDecodeError:
        return None
    return ids if b"".join(tokenizer.info.token_bytes[i] for i in ids) == data else None


def _by_tokens(matcher: GrammarMatcher, tokenizer: Tokenizer, data: bytes, ids: Sequence[int]) -> Verdict:
    num_accepted = matcher.accept_tokens(list(ids))
    offset = sum(len(tokenizer.info.token_bytes[i]) for i in ids[:num_accepted])
    if num_accepted == len(ids) and (matcher.is_completed() or matcher.is_terminated()):
        return Verdict(data)
    why = matcher.explain(b"" if num_accepted == len(ids) else ids[num_accepted])
    offset += why.offset
    place = place_of(data, offset)
    end = (why.continuation, why.continuation_token_ids)
    reason: Reason = "structure" if why.allowed else why.reason
    return Verdict(data, Rejection(offset, *place, why.expected, *end, why.origin), reason)


def _to_dict(verdict: Verdict, *, with_tokens: bool) -> dict[str, Any]:
    if verdict.rejection is None:
        return {"valid": True}
    why = verdict.rejection.to_dict()
    if not with_tokens:
        del why["continuation_token_ids"]
    return {"valid": False, "reason": verdict.reason, **why}


def _lines(verdict: Verdict, structure: Structure) -> list[str]:
    why = verdict.rejection
    if why is None:
        return ["valid"]
    found = f"found `{printable(why.found)}`" if why.found else "the text ends too early"
    lines = [f"line {why.line}, column {why.column} (byte {why.offset}): {found}"]
    lines += [f"    {line}" for line in marked(verdict.data, why.offset)]
    if verdict.reason == "budget":
        lines.append(f"  refused: {_NO_FIT}")
    if why.expected:
        lines.append(f"  expected: {listed(why.expected)}")
    if why.origin != Origin():
        lines.append(f"  {structure.label}: {in_options(printable(str(why.origin)))}")
    if why.continuation is None:
        lines.append("  no short way to go on was found")
    elif why.continuation:
        lines.append(f"  valid here: {printable(why.continuation.decode('utf-8', 'backslashreplace'))}")
    else:
        lines.append("  the text is complete before that")
    return lines
