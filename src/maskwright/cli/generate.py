"""`maskwright generate`: read the structure, load the model, stream the text, print the figures.

Tested by tests/cli/test_generate.py.
"""

from __future__ import annotations

import argparse
import sys

from maskwright.generation import GenerationStats, SamplingOptions

from .backends import load_backend
from .errors import EXIT_INCOMPLETE, EXIT_OK
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
    backend.run(arguments.prompt, compiled, options, stats, writer.write)
    writer.finish()
    if arguments.stats:
        print_stats(stats)
    if stats.finish_reason == "length":
        full = stats.num_tokens < options.max_tokens
        reason = "the model's context is full" if full else f"--max-tokens {options.max_tokens} was reached"
        print(f"maskwright: the output is not complete: {reason}", file=sys.stderr)
        return EXIT_INCOMPLETE
    return EXIT_OK
