"""`maskwright serve`: an OpenAI-compatible server on an engine of `maskwright.engine`.

    app = create_app(load_engine("embedded"), Settings(api_keys=("secret",)))       an ASGI application

For development, small machines and tests of clients; docs/serve.md says when to run vLLM or SGLang instead. A request
passes through these folders:

    app              routes
    http/            whose requests come in, JSON within limits, one request with its reply, cancelled with its client
    endpoints/       chat completions, completions, responses, tokenize: each leads a request through what follows
    protocol/        the fields of each endpoint: known, ignored or refused
    limits/          whose turn it is; how many outputs and tokens
    structure/       response_format, tools, structured_outputs, …: compiled once, found by content
    generation/      messages as token ids, sampling parameters, outputs of the engine as they come
    replies/         an output by the matcher's events: text, reasoning, calls; forced text; logprobs
    observability/   metrics, traces, logs
    static/          the page at `/`

`server` is what the endpoints share, `settings` how it was started, `errors` how errors read, `run` the process.
Needs the extra `serve`. Tested by tests/serve/.
"""

from __future__ import annotations

from maskwright.serve.app import create_app as create_app
from maskwright.serve.settings import Settings as Settings

__all__ = ["Settings", "create_app"]
