"""`maskwright serve`: an OpenAI-compatible server on an engine of `maskwright.engine`.

    app = create_app(load_engine("embedded"), Settings(api_keys=("secret",)))       an ASGI application

For development, small machines and tests of clients; docs/serve.md says when to run vLLM or SGLang instead. In the
order in which a request passes through:

    app         routes → exchange: one request and its reply, cancelled when the client goes away
    auth, body, protocol/     keys; JSON within limits; fields, known, ignored or refused
    chat, completions, responses, tokens      the endpoints
    admission, limits         whose turn it is; how many outputs and tokens
    structure                 response_format, tools, structured_outputs, … compiled, by content
    prompts, sampling, runs   messages to token ids; what the engine is to do; its outputs as they come
    parts, pieces, logprobs   an output taken apart by the matcher's events; forced text; logprobs
    metrics, tracing, logs    what operators see
    static/                   the page at `/`

Needs the extra `serve`. Tested by tests/serve/.
"""

from __future__ import annotations

from maskwright.serve.app import create_app as create_app
from maskwright.serve.settings import Settings as Settings

__all__ = ["Settings", "create_app"]
