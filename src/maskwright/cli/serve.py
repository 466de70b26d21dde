"""`maskwright serve`: an OpenAI-compatible server on a model; with `--dry-run`, its answers to schemas instead.

Tested by tests/cli/test_serve_command.py and tests/serve/test_process.py.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import importlib.util
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maskwright.errors import OptionError, RequestError

from .errors import EXIT_BAD_INPUT, EXIT_OK, EXIT_PROBLEMS, CommandError
from .serve_arguments import API_KEY_VARIABLE
from .sources import is_inline_json, parse_json, read_text
from .texts import printable

if TYPE_CHECKING:
    from maskwright.engine import Engine
    from maskwright.serve import Settings
    from maskwright.serve.dry_run import Answer

_PACKAGES = ("starlette", "uvicorn", "prometheus_client", "pydantic")
_OF_REQUESTS = ("messages", "input", "prompt", "response_format", "structured_outputs", "tools")
_DEFAULT_FORMAT = "hermes"
_OPTIONS = {  # where they are not called as the settings are
    "api_keys": "--api-key",
    "served_names": "--served-model-name",
    "allowed_hosts": "--allow-host",
    "allowed_origins": "--allow-origin",
}


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        names = " ".join(name.replace("_", "-") for name in missing)
        instead = "; maskwright check FILE needs none of them" if arguments.dry_run else ""
        raise CommandError(f"maskwright serve needs the packages {names}\n  hint: pip install {names}{instead}")
    _settings(arguments, arguments.model)  # mistakes show now, as loading a model takes a while
    if arguments.dry_run:
        engine = _engine(arguments.model, arguments.max_running, arguments.max_model_len)
        try:
            return _dry_run(arguments.dry_run, engine, _settings(arguments, engine.model_name))
        finally:
            engine.close()
    listener = _bound(arguments.host, arguments.port)
    try:
        engine = _engine(arguments.model, arguments.max_running, arguments.max_model_len)
        return _serve(arguments, engine, _settings(arguments, engine.model_name), listener)
    finally:
        listener.close()


def _engine(name: str, max_running: int | None, max_model_len: int | None) -> Engine:
    from maskwright.engine import load_engine
    from maskwright.serve import Settings

    from .generate import announce_hub

    announce_hub(name)
    return load_engine(name, num_slots=max_running or Settings.max_running, max_model_len=max_model_len)


def _settings(arguments: argparse.Namespace, model_name: str) -> Settings:
    """The settings that the options and the environment make."""
    from maskwright.serve import Settings

    given = {name: value for name, value in vars(arguments).items() if value is not None}
    made = {
        **{name: value for name, value in given.items() if name in Settings.__dataclass_fields__},
        "served_names": tuple(arguments.served_model_name or [_served_name(model_name)]),
        "api_keys": (*arguments.api_key, *_keys_from_environment()),  # an empty one is refused: it protects nothing
        "allowed_hosts": _hosts(arguments.host, arguments.allow_host),
        "allowed_origins": tuple(arguments.allow_origin),
        "tool_format": _tool_format(arguments.tool_format, model_name),
    }
    try:
        return Settings(**made)
    except OptionError as error:
        is_from_environment = error.option == "api_keys" and not arguments.api_key
        name = API_KEY_VARIABLE if is_from_environment else _option_of(error.option or "")
        raise CommandError(f"{name}: {error}") from error


def _keys_from_environment() -> list[str]:
    """The keys in the environment variable.

    Raises:
        CommandError: It is set and holds none: whoever set it did not want a server without keys.
    """
    given = os.environ.get(API_KEY_VARIABLE)
    if given is None:
        return []
    keys = [key.strip() for key in given.split(",") if key.strip()]
    if not keys:
        raise CommandError(f"{API_KEY_VARIABLE} holds no key\n  hint: unset it to serve without keys")
    return keys


def _hosts(host: str, allowed: list[str]) -> tuple[str, ...]:
    """The names that clients may use for the server: the one that it listens on, and those that were allowed."""
    from maskwright.serve.http.hosts import is_address

    return tuple(allowed) if not host or is_address(host) else (host, *allowed)


def _option_of(setting: str) -> str:
    """The option that a setting comes from.

    >>> _option_of("api_keys"), _option_of("max_running")
    ('--api-key', '--max-running')
    """
    return _OPTIONS.get(setting, f"--{setting.replace('_', '-')}")


def _served_name(model_name: str) -> str:
    """The name of a model in the API: of a folder or a file, the last part of its path.

    >>> _served_name("Qwen/Qwen3-8B")
    'Qwen/Qwen3-8B'
    """
    path = Path(model_name)
    return path.resolve().name if path.exists() else model_name


def _tool_format(given: str | None, model_name: str) -> str:
    """The family that writes tool calls as the model does.

    Raises:
        CommandError: It was given and is unknown.
    """
    from maskwright.structural_tag import default_reasoning

    for name in (given, model_name):
        if name is None:
            continue
        try:
            default_reasoning(name)
        except RequestError as error:
            if name == given:
                raise CommandError(f"--tool-format: {error.message}\n  hint: {error.hint}") from error
        else:
            return name
    return _DEFAULT_FORMAT


def _bound(host: str, port: int) -> socket.socket:
    """The socket to listen on.

    Raises:
        CommandError: There is no such address, or it is taken.
    """
    from maskwright.serve.run import bind

    try:
        return bind(host, port)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        is_port = isinstance(error, OverflowError) or getattr(error, "errno", None) in (errno.EADDRINUSE, errno.EACCES)
        hint = 'pass an address of this machine as --host, or "" for all of them'
        if is_port:
            hint = "pass another --port, or 0 for any that is free"
        raise CommandError(f"cannot listen on {host or '*'}:{port}: {reason}\n  hint: {hint}") from error


def _serve(arguments: argparse.Namespace, engine: Engine, settings: Settings, listener: socket.socket) -> int:
    from maskwright import __version__
    from maskwright.serve.observability.logs import log, set_up_logs
    from maskwright.serve.run import serve, url_of

    listener.listen()
    url = url_of(arguments.host, listener.getsockname()[1])
    name = settings.served_names[0]
    set_up_logs(arguments.log_format)
    if arguments.log_format == "json":
        log("serving", model=name, url=f"{url}/v1", version=__version__)
    else:
        print(f"serving {name} at {url}/v1 (a page to try it: {url}); Ctrl-C ends it", file=sys.stderr)
    serve(engine, settings, listener, arguments.log_format)
    return EXIT_OK


def _dry_run(names: list[str], engine: Engine, settings: Settings) -> int:
    """Print how the server would answer requests with these schemas."""
    from maskwright.serve.dry_run import dry_run
    from maskwright.serve.errors import ApiError
    from maskwright.serve.server import Server

    server = Server(engine, settings)
    code = EXIT_OK
    for name in names:
        try:
            label, body = _read_request(name)
        except CommandError as error:
            code = EXIT_BAD_INPUT
            print(f"unreadable: {error}")
            continue
        try:
            answer = asyncio.run(dry_run(server, body))
        except ApiError as error:
            code = max(code, EXIT_PROBLEMS)
            print(printable(f"{label}: refused with HTTP {error.status} at {error.param}: {error.message}"))
        else:
            _print_accepted(label, answer)
    return code


def _print_accepted(label: str, answer: Answer) -> None:
    structure = answer.structure
    print(f"{label}: accepted, compiled in {structure.seconds * 1e3:.1f} ms")
    for found in structure.compiled.grammar.report if structure.compiled else ():
        if not found.is_extension:
            print(printable(f"  warning: #{found.pointer}: {found.reason}"))
    if answer.caveat is not None:
        print(f"  warning: {answer.caveat}")


def _read_request(argument: str) -> tuple[str, Mapping[str, Any]]:
    """A label for messages, and a request: what is in the file, or one with it as the schema of the answer.

    Raises:
        CommandError: It cannot be read, or is not JSON.
    """
    ways = "a file with a schema or a request, - for stdin, or JSON that begins with '{'"
    inline = is_inline_json(argument)
    label, text = ("--dry-run", argument) if inline else read_text(argument, "--dry-run", ways)
    data = parse_json(label, text)
    if isinstance(data, Mapping) and any(name in data for name in _OF_REQUESTS):
        return label, data
    return label, {"response_format": {"type": "json_schema", "json_schema": {"name": "output", "schema": data}}}
