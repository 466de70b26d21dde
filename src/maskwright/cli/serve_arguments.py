"""The options of `maskwright serve`.

Tested by tests/cli/test_serve_command.py.
"""

from __future__ import annotations

import argparse
from typing import Final

from .commands import Commands, add_command

API_KEY_VARIABLE: Final = "MASKWRIGHT_API_KEY"

_EPILOG = f"""\
examples:
  maskwright serve
  maskwright serve --model ./my-model --tool-format qwen_3 --max-running 16
  maskwright serve --model smollm2 --host 0.0.0.0 --api-key "$KEY" --log-format json
  maskwright serve --dry-run person.json

Then: curl http://127.0.0.1:8000/v1/models, or any client of OpenAI's API with this base URL.
Keys can also come from the environment: {API_KEY_VARIABLE}, separated by commas.

exit codes: 0 stopped by SIGTERM; with --dry-run, all accepted   1 with --dry-run, something is refused
            2 invalid usage, or the model cannot be loaded; with --dry-run, something cannot be read   130 interrupted
"""


def add_serve(commands: Commands) -> None:
    command = add_command(
        commands,
        "serve",
        help="serve a model with OpenAI's API",
        description="Serve a model with OpenAI's API: for development, small machines and tests of clients.",
        epilog=_EPILOG,
    )
    _add_model(command.add_argument_group("model"))
    _add_network(command.add_argument_group("network"))
    _add_limits(command.add_argument_group("limits"))
    command.add_argument("--log-format", choices=("text", "json"), default="text", help="on stderr (default: text)")
    command.add_argument(
        "--dry-run",
        nargs="+",
        metavar="FILE",
        help="start no server; say whether it would accept each schema, or the structure of each request: a file, "
        "- for stdin, or the JSON text; needs the packages of the server",
    )


def _add_model(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--model",
        default="embedded",
        help="a transformers model directory, a GGUF file, smollm2, or the built-in %(default)r (default)",
    )
    group.add_argument(
        "--served-model-name",
        action="append",
        metavar="NAME",
        help="the model's name in the API; repeat the option for more",
    )
    group.add_argument(
        "--tool-format",
        "--model-family",
        metavar="NAME",
        help="the model family whose tool call format to use (default: by the model's name, else hermes)",
    )
    group.add_argument(
        "--strict",
        action="store_true",
        help="allow no undeclared properties in JSON objects, also where a request does not ask for that",
    )
    group.add_argument(
        "--relax", action="store_true", help="leave out keywords that cannot be enforced instead of refusing the schema"
    )


def _add_network(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--host", default="127.0.0.1", help='the address to listen on; "" for all (%(default)s)')
    group.add_argument("--port", type=_integer_from(0), default=8000, help="the port; 0 for any (%(default)s)")
    group.add_argument(
        "--api-key",
        action="append",
        default=[],
        metavar="KEY",
        help="a key that requests must have; repeat the option for more",
    )
    group.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a host name of the server, besides its IP addresses and localhost, or * for any; may be repeated",
    )
    group.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="URL",
        help="a web site whose pages may call the server, or * for any; repeat the option for more",
    )


def _add_limits(group: argparse._ArgumentGroup) -> None:
    numbers = (
        ("--max-running", 1, "N", "outputs generated at the same time (16)"),
        (
            "--max-model-len",
            2,
            "N",
            "tokens of prompt and output together (the model's own limit); llama.cpp reserves "
            "memory for that many per running output",
        ),
        ("--max-waiting", 0, "N", "requests in the queue; more are answered with 503 (256)"),
        ("--max-waiting-per-key", 0, "N", "requests of one client in the queue; more are answered with 429 (128)"),
        ("--max-output-tokens", 1, "N", "tokens of an output (16384)"),
        ("--default-output-tokens", 1, "N", "tokens of an output if the request sets no limit (1024)"),
        ("--max-choices", 1, "N", "outputs of a request (16)"),
        ("--max-body-bytes", 1, "N", "bytes of a request (8 MiB)"),
        ("--max-structure-bytes", 1, "N", "bytes of schemas and tools in a request (2 MiB)"),
        ("--structure-cache-bytes", 1, "N", "bytes of compiled structures kept for later requests (128 MiB)"),
    )
    for name, least, metavar, text in numbers:
        group.add_argument(name, type=_integer_from(least), metavar=metavar, help=text)
    seconds = (
        ("--max-queue-seconds", "how long a request may wait for its turn (60)"),
        ("--max-request-seconds", "how long a request may run (600)"),
        ("--max-stall-seconds", "how long a client may neither send the rest of its request nor read its reply (60)"),
        ("--drain-seconds", "how long running requests may go on after SIGTERM (600)"),
    )
    for name, text in seconds:
        group.add_argument(name, type=float, metavar="S", help=text)


class _integer_from:
    """Reads a whole number that is not less than another."""

    def __init__(self, least: int) -> None:
        self._least = least

    def __call__(self, text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = self._least - 1
        if value < self._least:
            raise argparse.ArgumentTypeError(f"{text[:40]!r} must be a whole number >= {self._least}")
        return value
