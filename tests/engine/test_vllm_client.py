"""A vLLM server behind the interface of engines: a small server here speaks as vLLM's does, token by token."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

pytest.importorskip("httpx", reason="needs httpx")
pytest.importorskip("transformers")

from maskwright import GrammarCompiler, GrammarMatcher
from maskwright.engine import Output, Request, SamplingParams, complete, generate
from maskwright.engine.vllm_client import VllmEngine
from maskwright.errors import EngineError, LimitError, MatcherError, OptionError, RequestError
from small_models import make_tokenizer

TOKENIZER = make_tokenizer()
END = TOKENIZER.eos_token_id


class Server(ThreadingHTTPServer):
    """Answers every request with the same text; notes what it was asked, and who hung up."""

    daemon_threads = True
    text = '{"a": 12}'
    finish_reason = "stop"
    failure: dict[str, Any] | str | None = None
    failure_status = 400
    key: str | None = None
    last_event: str | None = None
    pause_s = 0.0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.hung_up = threading.Event()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if self.server.key is not None and self.headers["authorization"] != f"Bearer {self.server.key}":
            self._reply(401, {"error": "Unauthorized"})
            return
        if self.path != "/v1/models":
            self._reply(404, {"detail": "Not Found"})
            return
        self._reply(200, {"data": [{"id": "tiny", "max_model_len": 64}]})

    def do_POST(self) -> None:
        server = self.server
        server.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        if server.failure is not None:
            self._reply(server.failure_status, server.failure)
            return
        self.send_response(200)
        self.end_headers()
        ids = TOKENIZER(server.text)["input_ids"]
        try:
            if server.last_event is not None:
                self.wfile.write(f"data: {server.last_event}\n\n".encode())
                return
            for token in ids:
                self._event({"choices": [{"index": 0, "token_ids": [token], "finish_reason": None}]})
                time.sleep(server.pause_s)
            last = {"index": 0, "token_ids": [END], "finish_reason": server.finish_reason}
            self._event({"choices": [last]} if server.finish_reason else {"error": {"message": "out of memory"}})
            self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            server.hung_up.set()

    def _event(self, data: Any) -> None:
        self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())
        self.wfile.flush()

    def _reply(self, status: int, data: Any) -> None:
        self.send_response(status)
        if status == 503:
            self.send_header("Retry-After", "7")
        self.end_headers()
        self.wfile.write(json.dumps(data).encode())

    def log_message(self, *_: Any) -> None:
        """Nothing on stderr."""


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.fixture
def engine(server: Server) -> Iterator[VllmEngine]:
    with VllmEngine(f"http://127.0.0.1:{server.server_port}", TOKENIZER) as made:
        yield made


def grammar(engine: VllmEngine, pattern: str = r'\{"a": [0-9]{1,3}\}') -> Any:
    return GrammarCompiler(engine.tokenizer_info).compile_regex(pattern)


def test_an_output_with_its_grammar(server: Server, engine: VllmEngine) -> None:
    params = SamplingParams(max_tokens=20, temperature=0.5, seed=3, top_k=4, logit_bias={5: 1.0})
    whole = complete(engine, Request(engine.encode("A: "), params, grammar=grammar(engine)))
    assert (whole.text, whole.finish_reason) == ('{"a": 12}', "stop")
    assert whole.usage.completion_tokens == len(whole.token_ids)
    (asked,) = server.asked
    assert asked["prompt"] == engine.encode("A: ")
    assert (asked["model"], asked["temperature"], asked["seed"], asked["top_k"]) == ("tiny", 0.5, 3, 4)
    assert asked["logit_bias"] == {"5": 1.0}
    sent = GrammarCompiler(engine.tokenizer_info).compile_grammar(asked["structured_outputs"]["grammar"])
    assert GrammarMatcher(sent).accept_string('{"a": 999}')
    assert not GrammarMatcher(sent).accept_string('{"b')
    assert engine.stats().num_finished == 1


def test_the_future_of_a_grammar(engine: VllmEngine) -> None:
    pending = GrammarCompiler(engine.tokenizer_info).compile_regex_async(r'\{"a": [0-9]{1,3}\}')
    assert complete(engine, Request([5], grammar=pending)).text == '{"a": 12}'


def test_free_text_and_stop_strings(server: Server, engine: VllmEngine) -> None:
    assert complete(engine, Request([5])).text == server.text
    assert "structured_outputs" not in server.asked[0]
    stopped = complete(engine, Request([5], SamplingParams(stop=[": "])))
    assert (stopped.text, stopped.finish_reason, stopped.stop_reason) == ('{"a"', "stop", ": ")
    assert complete(engine, Request([5], SamplingParams(max_tokens=3))).finish_reason == "length"


def test_a_token_that_the_grammar_does_not_allow_is_an_error(engine: VllmEngine) -> None:
    with pytest.raises(MatcherError, match="does not allow there"):
        complete(engine, Request([5], grammar=grammar(engine, "[a-z]+")))


def test_errors_of_the_server_come_in_its_words(server: Server, engine: VllmEngine) -> None:
    server.failure = {"error": {"message": "no such thing", "param": "seed", "code": 400}}
    with pytest.raises(RequestError, match="no such thing") as wrong:
        complete(engine, Request([5]))
    assert wrong.value.pointer == "/seed"
    server.failure_status = 503
    with pytest.raises(EngineError, match="no such thing") as busy:
        complete(engine, Request([5]))
    assert (busy.value.can_retry, busy.value.retry_after_s) == (True, 7.0)
    server.failure, server.finish_reason = None, ""
    with pytest.raises(EngineError, match="out of memory"):
        complete(engine, Request([5]))


@pytest.mark.parametrize(
    ("event", "kind", "message"),
    [
        ('{"error": {"message": "too long", "code": 400, "param": "prompt"}}', RequestError, "too long"),
        ('{"error": {"message": "it died", "code": 500}}', EngineError, "it died"),
        ("{not JSON", EngineError, "not valid JSON"),
        ('{"choices": []}', EngineError, "without a reason"),
    ],
)
def test_events_that_end_an_output(server: Server, engine: VllmEngine, event: str, kind: Any, message: str) -> None:
    server.last_event = event
    with pytest.raises(kind, match=message):
        complete(engine, Request([5]))


def test_a_wrong_key_and_a_wrong_address_are_named(server: Server) -> None:
    url = f"http://127.0.0.1:{server.server_port}"
    with pytest.raises(EngineError, match="without /v1"):
        VllmEngine(f"{url}/v1", TOKENIZER)
    server.key = "secret"
    with pytest.raises(EngineError, match="does not accept the API key") as refused:
        VllmEngine(url, TOKENIZER, api_key="guess")
    assert not refused.value.can_retry
    VllmEngine(url, TOKENIZER, api_key="secret").close()


def test_a_cancelled_request_hangs_up(server: Server, engine: VllmEngine) -> None:
    server.text, server.pause_s = "a" * 60, 0.02
    outputs = generate(engine, Request([5]))
    assert next(outputs).token_ids
    outputs.close()
    assert engine.drain(10)
    assert server.hung_up.wait(10)


def test_what_can_be_refused_is_refused_at_once(engine: VllmEngine) -> None:
    def submit(*arguments: Any, **more: Any) -> None:
        outputs: list[Output] = []
        engine.submit(Request(*arguments, **more), outputs.append)

    with pytest.raises(LimitError, match="64"):
        submit([0] * 64)
    with pytest.raises(OptionError, match="logprobs"):
        submit([0], SamplingParams(logprobs=1))
    assert engine.drain(1)
    with pytest.raises(EngineError, match="no more"):
        submit([0])


def test_no_server_is_a_typed_error() -> None:
    with pytest.raises(EngineError, match="no vLLM server"):
        VllmEngine("http://127.0.0.1:9", TOKENIZER)
