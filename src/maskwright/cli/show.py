"""`maskwright show`: one page of a grammar and of an output held to it.

    maskwright show person.json --text '{"age": 36}' -o page.html

Which tokens are likely is asked of the built-in model, whatever the tokenizer: it says texts, and those that are tokens
count. Tested by tests/cli/test_show_command.py.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence

from maskwright import CompiledGrammar, GrammarMatcher
from maskwright.errors import MaskwrightError
from maskwright.show.page import page
from maskwright.show.trace import Trace, trace

from .errors import EXIT_OK, CommandError
from .output import write_output
from .sources import placed, read_structure
from .texts import print_findings, read_output, without_last_line_break
from .tokenizers import Tokenizer, read_tokenizer

_LIKELY = 24  # texts asked of the model at each step
_CONTEXT = 200  # characters that it is shown


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    tokenizer = read_tokenizer(arguments.tokenizer)
    given = _tokens(arguments, tokenizer)
    structure = read_structure(arguments)
    compiled, _ = structure.compiled(tokenizer.info)
    print_findings(compiled.grammar.report)
    try:
        found = None if given is None else _trace(compiled, given, arguments.max_tokens)
        html = page(
            compiled, found, title=_title(arguments, structure.label), likely_by="the built-in model, a small n-gram"
        )
    except MaskwrightError as error:
        raise CommandError(placed(structure.label, error)) from error
    write_output(arguments.output, html.encode())
    return EXIT_OK


def _title(arguments: argparse.Namespace, label: str) -> str:
    return arguments.file or {"--regex": f"Regex {arguments.regex}"}.get(label, label.removeprefix("--"))


def _tokens(arguments: argparse.Namespace, tokenizer: Tokenizer) -> Sequence[int] | None:
    """The output as token ids; None if there is none.

    Raises:
        CommandError: It is not text, or an id is not one.
    """
    if arguments.tokens is not None:
        words = re.split(r"[\s,]+", arguments.tokens.strip(" ,[]\n"))
        size = tokenizer.info.vocab_size
        for word in words:
            if not (word.isdecimal() and word.isascii() and len(word) < 10 and int(word) < size):
                raise CommandError(f"--tokens: {word[:40]!r} is not a token id below {size}")
        return [int(word) for word in words]
    if arguments.text is None and arguments.text_file is None:
        return None
    data = read_output(arguments)
    try:
        return tokenizer.encode((data if arguments.text_file is None else without_last_line_break(data)).decode())
    except UnicodeDecodeError as error:
        raise CommandError(f"the text is not UTF-8: {error.reason} at byte {error.start}") from error


def _trace(compiled: CompiledGrammar, ids: Sequence[int], max_tokens: int | None) -> Trace:
    from maskwright.lm import load_embedded_model

    model = load_embedded_model()

    def likely(before: bytes) -> Iterator[bytes]:
        logits = model.logits(model.encode(before.decode("utf-8", "replace")[-_CONTEXT:]))
        return (model.token_bytes[i] for i in logits.argsort()[::-1][:_LIKELY] if i != model.end_id)

    stops = compiled.tokenizer_info.stop_token_ids  # a tokenizer.json may have none
    return trace(GrammarMatcher(compiled, override_stop_tokens=stops, max_tokens=max_tokens), ids, likely)
