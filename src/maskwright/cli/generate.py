"""`maskwright generate`: read the structure, load the model, stream the text, print the figures.

The output is complete within `--max-tokens`, which is the matcher's budget.

Tested by tests/cli/test_generate.py and tests/cli/test_generate_with_models.py.
"""

from __future__ import annotations

import argparse
import sys

from maskwright.engine import Completion, Engine, Request, SamplingParams, generate, load_engine
from maskwright.engine.loading import is_hub_id
from maskwright.errors import EngineError, LimitError, UnsatisfiableError

from .errors import EXIT_OK, CommandError
from .output import Figures, StdoutWriter, print_figures
from .sources import read_structure
from .texts import print_findings


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    structure = read_structure(arguments)
    params = SamplingParams(arguments.max_tokens, arguments.temperature, arguments.top_p, seed=arguments.seed)
    with load_model(arguments.model, num_slots=1) as engine:
        compiled, compile_us = structure.compiled(engine.tokenizer_info)
        print_findings(compiled.grammar.report)
        request = Request(prompt_ids(engine, arguments.prompt), params, grammar=compiled)
        writer, whole = StdoutWriter(), Completion()
        try:
            for output in generate(engine, request):
                whole.add(output)
                writer.write(output.data)
        except UnsatisfiableError as error:  # nothing was written yet
            hint = "pass a larger --max-tokens, or a shorter prompt if the model's context is full"
            raise CommandError(f"{error.message.replace('max_tokens', '--max-tokens')}\n  hint: {hint}") from error
        except LimitError as error:
            if error.limit != "max_model_len":
                raise
            raise CommandError(f"--prompt: {error.message}\n  hint: {error.hint}") from error
    writer.finish()
    if arguments.stats:
        print_figures(Figures.of(whole, compile_us))
    return EXIT_OK


def announce_hub(name: str) -> None:
    """Say that a model is looked for on the network, as that may take a minute even where there is none."""
    if is_hub_id(name):
        print(f"maskwright: there is no folder {name!r} here; looking for it on the Hugging Face hub", file=sys.stderr)


def load_model(name: str, *, num_slots: int) -> Engine:
    """Load the model of `--model`.

    Raises:
        CommandError: It cannot be loaded.
    """
    announce_hub(name)
    try:
        return load_engine(name, num_slots=num_slots)
    except EngineError as error:
        hint = "" if error.hint is None else f"\n  hint: {error.hint}"
        raise CommandError(f"--model {error.message}{hint}") from error


def prompt_ids(engine: Engine, prompt: str) -> list[int]:
    """Return the tokens of a prompt: as a message, if the model was made for chats."""
    if prompt and engine.has_chat_template:
        return engine.apply_chat_template([{"role": "user", "content": prompt}])
    return engine.encode(prompt)
