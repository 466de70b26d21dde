"""Tools and tool choice in the shape of OpenAI's Chat Completions, as pydantic models with XGrammar's fields.

    >>> FunctionToolParam(function={"name": "now"}).function.name
    'now'

Tested by tests/compat/test_xgrammar_tags.py.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel


class FunctionDefinition(BaseModel):
    """A function: its name, and the JSON Schema of its arguments."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class FunctionToolParam(BaseModel):
    """A tool that is a function of the caller's."""

    type: Literal["function"] = "function"
    function: FunctionDefinition


class BuiltinToolParam(BaseModel):
    """A tool that a model has built in."""

    type: str
    name: str | None = None
    parameters: dict[str, Any] | None = None


class NamedToolChoiceFunction(BaseModel):
    """The name of a function."""

    name: str


class NamedToolChoiceParam(BaseModel):
    """This function must be called."""

    type: Literal["function"] = "function"
    function: NamedToolChoiceFunction


class BuiltinToolChoiceParam(BaseModel):
    """This built-in tool must be called."""

    type: str
    name: str | None = None


class AllowedToolRef(BaseModel):
    """A tool among those that may be called."""

    type: str
    function: NamedToolChoiceFunction | None = None
    name: str | None = None


class AllowedToolsParam(BaseModel):
    """The tools that may be called, and whether one must be."""

    mode: Literal["auto", "required"]
    tools: list[AllowedToolRef]


class AllowedToolChoiceParam(BaseModel):
    """Only these tools may be called."""

    type: Literal["allowed_tools"] = "allowed_tools"
    allowed_tools: AllowedToolsParam
