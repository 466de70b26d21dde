"""Metrics, logs and traces: what operators see of requests, and what they must not."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from maskwright import __version__
from maskwright.serve.observability.logs import LOGGER, JsonFormatter, TextFormatter, log
from serve.requests_of_tests import CITY, WEATHER, chat, schema_format


def figures(http: httpx.Client) -> dict[str, float]:
    lines = [line for line in http.get("/metrics").text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_metrics(serving: Any) -> None:
    with serving() as it, httpx.Client(base_url=it.url, timeout=30) as http:
        for asked in (chat(response_format=schema_format(CITY)), chat(response_format=schema_format(CITY)), chat(n=0)):
            http.post("/v1/chat/completions", json=asked)
        found = figures(http)
    assert found['maskwright_requests_total{endpoint="chat",status="200"}'] == 2
    assert found['maskwright_requests_total{endpoint="chat",status="400"}'] == 1
    assert found['maskwright_outputs_total{finish_reason="stop"}'] == 2
    assert (found["maskwright_structure_cache_misses_total"], found["maskwright_structure_cache_hits_total"]) == (1, 1)
    assert found["maskwright_forced_tokens_total"] >= 1
    assert found["maskwright_output_tokens_total"] > found["maskwright_forced_tokens_total"]
    for name in ("request", "queue", "compile", "time_to_first_token", "time_per_output_token", "first_mask", "mask"):
        assert found[f"maskwright_{name}_seconds_count"] >= 1, name
    assert (found["maskwright_requests_running"], found["maskwright_requests_waiting"]) == (0, 0)
    assert found[f'maskwright_build_info{{version="{__version__}"}}'] == 1
    assert found["process_resident_memory_bytes"] > 1 << 20 or not Path("/proc/self/stat").exists()


def test_the_text_format_is_prometheus_own(http: httpx.Client) -> None:
    http.post("/v1/chat/completions", json=chat(response_format=schema_format(CITY)))
    reply = http.get("/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    kinds = {family.name: family.type for family in text_string_to_metric_families(reply.text)}
    assert kinds["maskwright_requests"] == kinds["maskwright_engine_steps"] == "counter"
    assert kinds["maskwright_request_seconds"] == "histogram"
    assert kinds["maskwright_requests_running"] == "gauge"


class Kept(logging.Handler):
    """Keeps formatted entries."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    handler = Kept(JsonFormatter())
    monkeypatch.setattr(LOGGER, "handlers", [handler])
    monkeypatch.setattr(LOGGER, "propagate", False)
    monkeypatch.setattr(LOGGER, "level", logging.INFO)
    LOGGER.manager._clear_cache()  # type: ignore[attr-defined]
    return handler


def test_logs_have_figures_and_no_texts(serving: Any, kept: Kept) -> None:
    secret = "a text that must not be logged"
    with serving(api_keys=("a-key",)) as it:
        headers = {"Authorization": "Bearer a-key", "X-Request-Id": "r-1"}
        asked = chat(messages=[{"role": "user", "content": secret}], tools=[WEATHER], tool_choice="required")
        reply = httpx.post(f"{it.url}/v1/chat/completions", json=asked, headers=headers, timeout=30).json()
    (entry,) = [json.loads(line) for line in kept.lines]
    assert (entry["event"], entry["request_id"], entry["status"], entry["client"]) == ("request", "r-1", 200, "key-0")
    assert entry["output_tokens"] == reply["usage"]["completion_tokens"]
    assert {"queue_ms", "compile_ms", "first_token_ms", "seconds", "prompt_tokens"} <= set(entry)
    arguments = reply["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    for text in (secret, "a-key", arguments):
        assert text not in kept.lines[0]


def test_formats() -> None:
    record = logging.LogRecord("x", logging.WARNING, "", 0, "it happened", None, None)
    record.fields = {"request_id": "r", "line": "a\nb"}
    entry = json.loads(JsonFormatter().format(record))
    assert (entry["level"], entry["event"], entry["line"]) == ("warning", "it happened", "a\nb")
    assert "it happened request_id=r" in TextFormatter().format(record)


def test_what_is_missing_is_left_out(kept: Kept) -> None:
    log("event", a=1, b=None)
    assert "b" not in json.loads(kept.lines[0])


def test_traces(serving: Any) -> None:
    trace = pytest.importorskip("opentelemetry.sdk.trace", reason="needs opentelemetry-sdk")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    in_memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    from opentelemetry import trace as api

    exporter = in_memory.InMemorySpanExporter()
    provider = trace.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    api.set_tracer_provider(provider)
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with serving() as it:
        asked = chat(response_format=schema_format(CITY))
        httpx.post(f"{it.url}/v1/chat/completions", json=asked, headers={"traceparent": parent}, timeout=30)
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert set(spans) == {"chat", "queue", "compile", "generate"}
    assert f"{spans['chat'].context.trace_id:032x}" == parent.split("-")[1]
    assert all(spans[name].parent.span_id == spans["chat"].context.span_id for name in ("queue", "compile", "generate"))
    assert spans["chat"].attributes["maskwright.status"] == 200
    assert spans["generate"].attributes["maskwright.output_tokens"] > 0
    assert [event.name for event in spans["generate"].events] == ["first token"]


MISSPELLED = {
    **CITY,
    "requird": ["city"],
    "x-a": 1,
    "properties": {"city": {"enum": ["Rome"]}, "note": {"enum": ["a"], "type": "string", "format": "datetime"}},
    "required": [],
}
AT = "/response_format/json_schema/schema"


def ask(url: str, schema: Any, **fields: Any) -> httpx.Response:
    asked = chat(response_format=schema_format(schema), **fields)
    return httpx.post(f"{url}/v1/chat/completions", json=asked, headers={"x-request-id": "r-1"}, timeout=30)


@pytest.mark.filterwarnings("ignore::maskwright.SchemaWarning")
def test_each_reply_has_a_header_and_each_schema_an_entry(serving: Any, kept: Kept) -> None:
    with serving() as it:
        replies = [ask(it.url, MISSPELLED), ask(it.url, MISSPELLED, stream=True), ask(it.url, CITY)]
    assert [reply.status_code for reply in replies] == [200, 200, 200]
    said = f"at {AT}/requird: unknown keyword 'requird'; did you mean 'required'? (and 1 more)"
    assert [reply.headers.get("x-schema-warning") for reply in replies] == [said, said, None]
    [entry] = [each for each in map(json.loads, kept.lines) if each["event"] == "schema warning"]
    del entry["time"]
    assert entry == {
        "level": "warning",
        "event": "schema warning",
        "request_id": "r-1",
        "param": f"{AT}/requird",
        "warning": "unknown keyword 'requird'; did you mean 'required'?",
        "num_more": 1,
    }


@pytest.mark.filterwarnings("ignore::maskwright.SchemaWarning")
def test_names_in_a_schema_cannot_write_headers_or_lines(serving: Any, kept: Kept) -> None:
    names = {"a\r\nset-cookie: b=1": {"type": "string", "min": 1}, "ü" * 1000: {"type": "string", "max": 1}}
    with serving() as it:
        for name, member in names.items():
            reply = ask(it.url, {"type": "object", "properties": {name: member}, "additionalProperties": False})
            header = reply.headers["x-schema-warning"]
            assert header.isascii()
            assert len(header) < 400
            assert "set-cookie" not in reply.headers
    entries = [each for each in map(json.loads, kept.lines) if each["event"] == "schema warning"]
    assert len(entries) == 2
    assert all("\n" not in each["param"] and len(each["param"]) < 400 for each in entries)


TAGS = {"type": "array", "uniqueItems": True, "minItems": 3, "items": {"type": "string", "maxLength": 9}}
ANY = {"type": "array", "uniqueItems": True, "minItems": 3}


@pytest.mark.parametrize("schema", [TAGS, ANY])
def test_lists_of_distinct_items_that_cannot_fit_are_refused(http: httpx.Client, kept: Kept, schema: Any) -> None:
    asked = chat(response_format=schema_format(schema), max_completion_tokens=3)
    reply = http.post("/v1/chat/completions", json=asked)
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (400, "/max_completion_tokens")
    assert (error["code"], "x-budget-warning" in reply.headers) == ("unsatisfiable_structure", False)
    assert error["message"].startswith("the shortest output needs at least ")


def test_outputs_that_may_be_cut_off_have_a_header_and_each_structure_an_entry(serving: Any, kept: Kept) -> None:
    with serving() as it:
        replies = [
            ask(it.url, ANY, max_completion_tokens=8),
            ask(it.url, ANY, max_completion_tokens=9, stream=True),
            ask(it.url, TAGS, max_completion_tokens=8),
            ask(it.url, TAGS, max_completion_tokens=120),
            ask(it.url, ANY, max_completion_tokens=120),
        ]
    assert [reply.status_code for reply in replies] == [200] * 5
    at = "at /max_completion_tokens"
    said = "a list of distinct items has no token budget here, so the output may be cut off at max_completion_tokens"
    headers = [reply.headers.get("x-budget-warning") for reply in replies]
    enough = [f"{said}; {tokens} tokens are enough" for tokens in (17, 12)]
    assert headers == [f"{at}: {enough[0]}", f"{at}: {enough[0]}", f"{at}: {enough[1]}", None, None]
    entries = [each for each in map(json.loads, kept.lines) if each["event"] == "budget warning"]
    assert [each["warning"] for each in entries] == enough
    assert [(each["level"], each["request_id"], each["param"]) for each in entries] == [
        ("warning", "r-1", "/max_completion_tokens")
    ] * 2


def test_completions_and_responses_name_their_own_field(http: httpx.Client) -> None:
    completion = {"prompt": "x", "max_tokens": 9, "json_schema": ANY}
    text = {"format": {"type": "json_schema", "name": "x", "schema": ANY}}
    response = {"input": "x", "max_output_tokens": 9, "text": text}
    for path, asked, field in (
        ("/v1/completions", completion, "max_tokens"),
        ("/v1/responses", response, "max_output_tokens"),
    ):
        header = http.post(path, json=asked).headers["x-budget-warning"]
        assert header.startswith(f"at /{field}: ")
        assert header.endswith(f"may be cut off at {field}; 17 tokens are enough")
