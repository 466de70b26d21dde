"""vLLM: the structured-output backend `maskwright`.

    vllm serve MODEL --structured-outputs-config.backend maskwright
    LLM(model, structured_outputs_config={"backend": "maskwright"})

vLLM has no registry of backends, so an entry point adds this one when vLLM loads its plugins: `register`
(`vllm.general_plugins`, in every process). `LLM(...)` and `StructuredOutputsConfig(...)` check the name before that;
for them `add_name` is called as soon as `vllm.config` is imported (`vllm.platform_plugins`; it is not a platform, and
says so). There vLLM passes over errors, as where its modules are still being imported. What is replaced is listed in
hooks.py; each replacement passes on to vLLM's own code unless the backend is `maskwright`. Both functions may be called
any number of times.

Modules: `versions` (is this vLLM supported), `config` (the name), `frontend` (requests are validated), `requests`
(structures are compiled), `budget` (`max_tokens`), `backend` (masks), `worker` (they are applied), `hooks` (where these
are put into vLLM).
Tested by tests/integrations/test_vllm_adapter.py, with a real vLLM by those in tests/engines.
"""

from __future__ import annotations

from maskwright.support.packages import needed_by

_in_vllm = needed_by("maskwright.integrations.vllm", vllm="vllm")


@_in_vllm
def add_name() -> None:
    """Let vLLM's configuration take the backend name. Returns None: there is no platform of this name."""
    from maskwright.integrations.vllm import config

    config.add_backend_name()


@_in_vllm
def register() -> None:
    """Make the backend `maskwright` work in this process."""
    from maskwright.integrations.vllm import config, hooks, versions

    if config.has_added_backend_name() and versions.why_unsupported() is None:
        hooks.install()
