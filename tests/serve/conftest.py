"""A server with the embedded model, in a thread of this process; tests of it need the extra `serve`."""

from __future__ import annotations

import importlib.util
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_NEEDED = ("starlette", "uvicorn", "prometheus_client", "pydantic", "httpx")
_MISSING = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
collect_ignore_glob = ["test_*.py"] if _MISSING else []


class Running:
    """A server that runs.

    Attributes:
        url: where.
        server: the `Server`.
    """

    def __init__(self, app: Any, listener: socket.socket) -> None:
        import uvicorn

        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.server = app.state.server
        config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=5)
        self._process = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._process.run, args=([listener],), daemon=True)
        self._thread.start()
        while not self._process.started:
            time.sleep(0.01)

    def stop(self) -> None:
        self._process.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()

    def wait_until_idle(self) -> None:
        """Wait until no request runs or waits; a server that does not get there has lost a slot."""
        until = time.monotonic() + 20
        gate = self.server.gate
        while gate.running or gate.waiting:
            assert time.monotonic() < until, (gate.running, gate.waiting)
            time.sleep(0.01)


@pytest.fixture(scope="session")
def engine() -> Iterator[Any]:
    from maskwright.engine import load_engine

    made = load_engine("embedded")
    yield made
    made.close()


@contextmanager
def _serving(engine: Any, **settings: Any) -> Iterator[Running]:
    from maskwright.serve import Settings, create_app
    from maskwright.serve.run import bind

    running = Running(create_app(engine, Settings(**settings)), bind("127.0.0.1", 0))
    try:
        yield running
        running.wait_until_idle()
    finally:
        running.stop()


@pytest.fixture(scope="session")
def serving(engine: Any) -> Callable[..., Any]:
    """A context manager with a server of these settings, and of another engine if one is given."""
    return lambda engine=engine, **settings: _serving(engine, **settings)


@pytest.fixture(scope="session")
def running(engine: Any) -> Iterator[Running]:
    """The server that most tests share."""
    with _serving(engine) as made:
        yield made


@pytest.fixture
def http(running: Running) -> Iterator[Any]:
    import httpx

    with httpx.Client(base_url=running.url, timeout=30) as client:
        yield client
    running.wait_until_idle()
