"""What a server is started with: names, keys, limits.

    Settings(api_keys=("secret",), max_running=8)

Invariant: a value that cannot work is an `OptionError` here, before a model is loaded.
Tested by tests/serve/test_serve_limits.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Final

from maskwright.errors import OptionError

_ORIGIN: Final = re.compile(r"\*|null|[a-z][a-z0-9+.-]*://[^/\sA-Z]+")  # as browsers write it
_NUMBERS_FROM_ZERO = ("max_waiting", "max_waiting_per_key")


@dataclass(frozen=True)
class Settings:
    """How a server behaves.

    Attributes:
        served_names: The names of the model in requests and in `/v1/models`; the first is the one in replies.
        tool_format: The model family in whose format tools are called and reasoning is written.
        strict: Whether objects have no undeclared properties, unless their schema or the request says otherwise.
        relax: Whether keywords of schemas that cannot be enforced are left out instead of refused.
        api_keys: The keys that are accepted; none means that no key is needed.
        allowed_hosts: The host names in the addresses that clients use, besides IP addresses and localhost, or "*".
        allowed_origins: The origins whose pages may call the server from a browser, or "*".
        max_body_bytes: The largest body of a request.
        max_structure_bytes: The largest JSON text of what a request says about its structure, tools included.
        structure_cache_bytes: How much compiled structures may hold that are kept for later requests.
        max_output_tokens: The most tokens of an output.
        default_output_tokens: The tokens of an output where the request does not say how many.
        max_choices: The most outputs of a request, `n` times the number of prompts.
        max_running: How many outputs are generated at the same time.
        max_waiting: How many requests may wait for that.
        max_waiting_per_key: How many requests of one client may wait.
        max_queue_seconds: How long a request waits before it is refused.
        max_request_seconds: How long a request may run.
        max_stall_seconds: How long a client may send nothing more of a request, or read nothing more of its reply.
        drain_seconds: How long running requests may go on after SIGTERM.
        max_compile_threads: The most threads that compile structures.
    """

    served_names: tuple[str, ...] = ("embedded",)
    tool_format: str = "hermes"
    strict: bool = False
    relax: bool = False
    api_keys: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    max_body_bytes: int = 8 << 20
    max_structure_bytes: int = 2 << 20
    structure_cache_bytes: int = 128 << 20
    max_output_tokens: int = 16_384
    default_output_tokens: int = 1024
    max_choices: int = 16
    max_running: int = 16
    max_waiting: int = 256
    max_waiting_per_key: int = 128
    max_queue_seconds: float = 60.0
    max_request_seconds: float = 600.0
    max_stall_seconds: float = 60.0
    drain_seconds: float = 600.0
    max_compile_threads: int = 2

    def __post_init__(self) -> None:
        if not self.served_names or not all(self.served_names):
            raise OptionError("the model has no name", option="served_names", hint="pass at least one name")
        for key in self.api_keys:
            if not key or not key.isascii() or not key.isprintable() or " " in key:
                message, hint = "an API key is empty", "is the variable that it comes from set?"
                if key:
                    message = "an API key contains a space or a character that is not printable ASCII"
                    hint = "use letters, digits and punctuation"
                raise OptionError(message, option="api_keys", hint=hint)
        for host in self.allowed_hosts:
            if not host or set(host) & set("/:[]@ "):
                hint = "pass a name without scheme, port and path, such as gpu-box.example.com"
                raise OptionError(f"{host!r} is not a host name", option="allowed_hosts", hint=hint)
        for origin in self.allowed_origins:
            if not _ORIGIN.fullmatch(origin):
                hint = "pass scheme, host and port in lower case, such as https://app.example.com"
                raise OptionError(f"{origin!r} is not an origin", option="allowed_origins", hint=hint)
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            least = 0 if each.name in _NUMBERS_FROM_ZERO else 1
            if isinstance(value, float):
                if not 0 < value < float("inf"):
                    raise OptionError(f"{each.name} must be finite and > 0, not {value}", option=each.name)
            elif value < least:
                raise OptionError(f"{each.name} must be >= {least}, not {value}", option=each.name)
