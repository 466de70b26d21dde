"""docs/serve.md: each curl command is run against a server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from serve.requests_of_tests import sse

PAGE = Path(__file__).resolve().parents[2] / "docs" / "serve.md"
COMMANDS = re.findall(r"^```bash\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("command", COMMANDS, ids=range(len(COMMANDS)))
def test_curl(running: Any, command: str) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    assert command.startswith("curl http://127.0.0.1:8000/")
    here = command.replace("http://127.0.0.1:8000", running.url).replace("curl ", "curl -sS ", 1)
    done = subprocess.run(["bash", "-c", here], capture_output=True, text=True, timeout=60, check=True)
    if '"stream": true' in command:
        *chunks, last = sse(done.stdout)
        assert last == "[DONE]"
        assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"
    else:
        assert "error" not in json.loads(done.stdout) or json.loads(done.stdout)["error"] is None


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 5
