"""`maskwright generate`: read the structure, load the model, stream the text, print the figures.

The output is complete within `--max-tokens`, which is the matcher's budget.

Tested by tests/cli/test_generate.py.
"""

from __future__ import annotations

import argparse

from maskwright.errors import UnsatisfiableError
from maskwright.generation import GenerationStats, SamplingOptions

from .backends import load_backend
from .errors import EXIT_OK, CommandError
from .output import StdoutWriter, print_stats
from .sources import read_structure


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    structure = read_structure(arguments)
    backend = load_backend(arguments.model)
    stats = GenerationStats()
    compiled, stats.compile_us = structure.compiled(backend.tokenizer_info)
    options = SamplingOptions(arguments.max_tokens, arguments.temperature, arguments.top_p, arguments.seed)
    writer = StdoutWriter()
    try:
        backend.run(arguments.prompt, compiled, options, stats, writer.write)
    except UnsatisfiableError as error:  # nothing was written yet
        hint = "pass a larger --max-tokens, or a shorter prompt if the model's context is full"
        raise CommandError(f"{error.message}\n  hint: {hint}") from error
    writer.finish()
    if arguments.stats:
        print_stats(stats)
    return EXIT_OK
