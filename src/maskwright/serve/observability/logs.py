"""Logs as one JSON object a line, on stderr.

    {"time": "2026-01-31T12:00:00.123Z", "level": "info", "event": "request", "path": "/v1/chat/completions",
     "status": 200, "seconds": 0.41, "request_id": "…", "prompt_tokens": 12, "output_tokens": 40, …}

What users wrote and what models answered is never logged, nor are keys. Fields are passed as `extra={"fields": {…}}`.
Tested by tests/serve/test_metrics.py.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import datetime, timezone
from typing import Any

LOGGER = logging.getLogger("maskwright.serve")
_MAX_TRACEBACK = 8_000


class JsonFormatter(logging.Formatter):
    """Writes a record as a JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, timezone.utc)
        entry: dict[str, Any] = {
            "time": when.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        entry.update(getattr(record, "fields", {}))
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)[-_MAX_TRACEBACK:]
        return json.dumps(entry, default=str)


class TextFormatter(logging.Formatter):
    """Writes a record for a person who watches a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={value}" for name, value in getattr(record, "fields", {}).items())
        line = f"{self.formatTime(record, '%H:%M:%S')} {record.levelname.lower():<7} {record.getMessage()} {fields}"
        return line.rstrip() + (f"\n{self.formatException(record.exc_info)}" if record.exc_info else "")


def log(event: str, *, level: int = logging.INFO, **fields: Any) -> None:
    """Write an entry; fields that are None are left out."""
    LOGGER.log(level, event, extra={"fields": {name: value for name, value in fields.items() if value is not None}})


def set_up_logs(style: str, level: int = logging.INFO) -> None:
    """Send the server's logs, and uvicorn's, to stderr in one style: "json" or "text"."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    for name in (LOGGER.name, "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level if name == LOGGER.name else logging.WARNING)
    logging.getLogger("uvicorn.access").disabled = True
