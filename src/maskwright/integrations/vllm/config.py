"""The name `maskwright` in vLLM's configuration.

`StructuredOutputsConfig.backend` is a `Literal` that pydantic has compiled into a validator. The name is added to it,
and the validator is made again, as is that of the configuration that contains it. The class's own check of the options
is passed over for `maskwright` alone, which supports all of them; it is where an unsupported vLLM is refused. A vLLM
whose configuration has another form is left as it is, with a warning: an error would end it whatever its backend.

`MASKWRIGHT_VLLM_AUTO=1` lets the backend `auto` mean `maskwright`.
Tested by tests/integrations/test_vllm_adapter.py.
"""

from __future__ import annotations

import logging
import sys
from functools import wraps
from importlib import import_module
from typing import Any, Literal, get_args

from maskwright.integrations.environment import is_on
from maskwright.integrations.vllm.versions import why_unsupported

NAME = "maskwright"
_AUTO = "MASKWRIGHT_VLLM_AUTO"
_VALIDATOR = "_validate_structured_output_config"
_logger = logging.getLogger("vllm.maskwright")


def is_chosen(backend: str) -> bool:
    """Whether this backend of a configuration means `maskwright`."""
    return backend == NAME or (backend == "auto" and is_on(_AUTO))


def add_backend_name() -> None:
    """Let `StructuredOutputsConfig` take the name, and refuse it there if this vLLM is not supported.

    Raises:
        AttributeError, ImportError, KeyError: The configuration has another form, or is still being imported.
    """
    module = import_module("vllm.config.structured_outputs")
    config = module.StructuredOutputsConfig
    field = config.__pydantic_fields__["backend"]
    validator = config.__pydantic_decorators__.model_validators[_VALIDATOR]
    names = get_args(field.annotation)
    if NAME in names:
        return
    widened: Any = Literal.__getitem__((*names, NAME))
    vars(module)["StructuredOutputsBackend"] = widened
    config.__annotations__["backend"] = config.__dataclass_fields__["backend"].type = field.annotation = widened
    validator.func = _checked(validator.func)
    setattr(config, _VALIDATOR, validator.func)
    _rebuild(config)
    outer = getattr(sys.modules.get("vllm.config.vllm"), "VllmConfig", None)
    if outer is not None:
        _rebuild(outer)


def has_added_backend_name() -> bool:
    """Add the name when everything is imported, or say in the log why this vLLM cannot take it."""
    try:
        add_backend_name()
    except (ImportError, AttributeError, KeyError) as error:
        reason = why_unsupported() or f"the structured-output backend 'maskwright' does not fit this vLLM: {error!r}"
        _logger.warning("%s; the other backends work as usual", reason)
        return False
    return True


def _checked(check: Any) -> Any:
    @wraps(check)
    def check_options(self: Any) -> Any:
        if not is_chosen(self.backend):
            return check(self)
        reason = why_unsupported()
        if reason is not None:
            raise ValueError(reason)
        return self

    return check_options


def _rebuild(config: Any) -> None:
    import_module("pydantic.dataclasses").rebuild_dataclass(config, force=True)
