"""The routes of the server, as a Starlette application.

    app = create_app(load_engine("embedded"))           run it with any ASGI server

Tested by tests/serve/.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from maskwright import __version__
from maskwright.engine import Engine
from maskwright.serve.endpoints.chat import chat
from maskwright.serve.endpoints.completions import complete
from maskwright.serve.endpoints.endpoint import Endpoint, Handler
from maskwright.serve.endpoints.responses import respond
from maskwright.serve.endpoints.tokens import detokenize, tokenize
from maskwright.serve.errors import ApiError
from maskwright.serve.http.hosts import HostCheck
from maskwright.serve.http.paths import hint_for
from maskwright.serve.observability import metrics
from maskwright.serve.observability.logs import log
from maskwright.serve.server import Server
from maskwright.serve.settings import Settings

_STATIC = Path(__file__).parent / "static"
# The page loads nothing from elsewhere, and no other page may frame it.
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
_POSTS: dict[str, tuple[str, Handler]] = {
    "/v1/chat/completions": ("chat", chat),
    "/v1/completions": ("completions", complete),
    "/v1/responses": ("responses", respond),
    "/tokenize": ("tokenize", tokenize),
    "/detokenize": ("detokenize", detokenize),
}

_GETS = ("/v1/models", "/version", "/health", "/ready", "/metrics")
_MAX_SHOWN = 100


def create_app(engine: Engine, settings: Settings | None = None) -> Starlette:
    """Return the application that serves an engine.

    Args:
        engine: The engine, already loaded; the caller closes it.
        settings: How to serve it.

    Raises:
        RequestError: `settings.tool_format` is not a model family.
    """
    server = Server(engine, settings or Settings())
    routes = [
        Route(path, Endpoint(server, name, handler), methods=["POST"]) for path, (name, handler) in _POSTS.items()
    ]
    made = Starlette(
        routes=[*routes, *_gets(server), Mount("/static", StaticFiles(directory=_STATIC))],
        middleware=[
            Middleware(HostCheck, names=server.settings.allowed_hosts),
            Middleware(
                _Origins,
                allow_origins=server.settings.allowed_origins,
                allow_methods=["GET", "POST"],
                allow_headers=["*"],
                expose_headers=["x-request-id", "x-schema-warning", "x-budget-warning", "retry-after"],
            ),
        ],
        exception_handlers={HTTPException: _http_error, ApiError: _refused},
    )
    made.router.redirect_slashes = False  # behind a proxy, a redirect would lead past its prefix
    made.state.server = server
    return made


class _Origins(CORSMiddleware):
    """Says in the log which origin was refused: a browser shows its page only that something was."""

    def preflight_response(self, request_headers: Headers) -> Response:
        made = super().preflight_response(request_headers)
        if made.status_code != 200:
            log("origin refused", origin=request_headers["origin"][:_MAX_SHOWN], reason=bytes(made.body).decode())
        return made


def _gets(server: Server) -> list[Route]:
    """The endpoints that only read."""

    async def page(_: Request) -> Response:
        return FileResponse(_STATIC / "index.html", headers=_PAGE_HEADERS)

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def version(_: Request) -> Response:
        return JSONResponse({"version": __version__})

    async def ready(_: Request) -> Response:
        if server.gate.is_draining:
            return JSONResponse({"status": "draining"}, 503, {"Retry-After": "1"})
        return JSONResponse({"status": "ready"})

    async def read_metrics(_: Request) -> Response:
        return Response(server.metrics.text(), media_type=metrics.CONTENT_TYPE)

    async def models(request: Request) -> Response:
        server.keys.client(request)
        return JSONResponse({"object": "list", "data": [_model(server, name) for name in server.settings.served_names]})

    async def model(request: Request) -> Response:
        server.keys.client(request)
        if not request.path_params["name"]:
            raise HTTPException(404)
        return JSONResponse(_model(server, server.check_model(request.path_params["name"])))

    return [
        Route("/", page),
        Route("/version", version),
        Route("/health", health),
        Route("/ready", ready),
        Route("/metrics", read_metrics),
        Route("/v1/models", models),
        Route("/v1/models/{name:path}", model),
    ]


def _model(server: Server, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "object": "model",
        "created": server.created,
        "owned_by": "maskwright",
        "max_model_len": server.engine.max_model_len,
        "tool_format": server.settings.tool_format,
    }


async def _refused(request: Request, error: Exception) -> Response:
    """Answer where no exchange does, and log it."""
    assert isinstance(error, ApiError)
    path = request.url.path[:_MAX_SHOWN]
    log("refused", status=error.status, method=request.method, path=path, error=error.code)
    return JSONResponse(error.body, error.status, error.headers)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers, path = dict(error.headers or {}), request.url.path
    message, code, hint = str(error.detail), None, None
    if error.status_code == 404:
        message, code = f"there is nothing at {path[:_MAX_SHOWN]}", "no_such_endpoint"
        hint = hint_for(path, (*_POSTS, *_GETS))
    elif error.status_code == 405:
        message, code = f"{request.method} is not allowed here", "method_not_allowed"
        hint = f"use {'POST' if 'POST' in headers.get('Allow', '') else 'GET'}"
    return await _refused(request, ApiError(error.status_code, message, code=code, hint=hint, headers=headers))
