"""Messages as chat templates take them, and tools in the prompt.

Templates of models that are trained to call tools write these into the prompt. Where a template does not, as those of
small models, an instruction in the system message says what there is to call, and shows a call as the model's family
writes it, which is the form that the output is held to.
Tested by tests/serve/test_prompts.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from maskwright.engine import Engine
from maskwright.errors import MaskwrightError
from maskwright.serve.errors import api_error
from maskwright.serve.generation.call_texts import call_text
from maskwright.serve.protocol.chat import Call, Effort, Message
from maskwright.structural_tag.custom_tools import INPUT
from maskwright.structural_tag.request import Reasoning

_INSTRUCTION = """\
You can call these functions:
<tools>
{tools}
</tools>
To call one, write its name and its arguments in this form, and nothing else:
{example}"""
_EXAMPLE: Final = ("function_name", {"argument_name": "value"})


def messages_of(given: Sequence[Message]) -> list[dict[str, Any]]:
    """Return messages as chat templates take them: nothing that is missing, and the developer as the system."""
    return [_message(each) for each in given]


def _message(given: Message) -> dict[str, Any]:
    role = "system" if given.role == "developer" else given.role
    made = {"content": "", **given.model_dump(exclude_none=True), "role": role}
    if given.tool_calls:
        made["tool_calls"] = [_call(each) for each in given.tool_calls]
    return made


def _call(given: Call) -> dict[str, Any]:
    """A call as templates take it; of a custom tool, as the function that it is to them."""
    if given.custom is None:
        return given.model_dump(exclude_none=True)
    function = {"name": given.custom.name, "arguments": {INPUT: given.custom.input}}
    return {**given.model_dump(exclude_none=True, exclude={"custom"}), "type": "function", "function": function}


def template_options(effort: Effort | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of the template: those that the request names, and what it says about reasoning."""
    made: dict[str, Any] = {}
    if effort is not None:
        made = {"reasoning_effort": effort, "enable_thinking": effort != "none", "thinking": effort != "none"}
    return {**made, **given}


def reasoning_of(options: Mapping[str, Any]) -> Reasoning | None:
    """Return whether the output begins with reasoning, given the variables of the template; None for the usual."""
    switches = [options[name] for name in ("enable_thinking", "thinking") if name in options]
    return "disabled" if False in switches else None


def chat_prompt(
    engine: Engine,
    family: str,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Any],
    options: Mapping[str, Any],
) -> list[int]:
    """Return the token ids of a chat, up to where the model's answer begins.

    Args:
        engine: Has the chat template.
        family: The model family in whose format tools are called, where the template does not show it.
        messages: The messages, as templates take them.
        tools: The tools that may be called.
        options: Variables of the template.

    Raises:
        ApiError: The template refuses the messages.
    """
    try:
        if not tools:
            return engine.apply_chat_template(messages, **options)
        ids = engine.apply_chat_template(messages, tools=tools, **options)
        if ids != engine.apply_chat_template(messages, **options):
            return ids
        return engine.apply_chat_template(_with_instruction(family, messages, tools), **options)
    except MaskwrightError as error:
        raise api_error(error, "/messages") from error


def _with_instruction(family: str, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]) -> list[dict[str, Any]]:
    """The messages with the tools in the system message, and with calls and their results as text."""
    listed = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    instruction = _INSTRUCTION.format(tools=listed, example=call_text(family, *_EXAMPLE))
    made = [_as_text(family, each) for each in messages]
    if made and made[0]["role"] == "system":
        return [{**made[0], "content": f"{made[0]['content']}\n\n{instruction}"}, *made[1:]]
    return [{"role": "system", "content": instruction}, *made]


def _as_text(family: str, message: Mapping[str, Any]) -> dict[str, Any]:
    """A message for a template that knows neither calls nor their results."""
    content = str(message.get("content") or "")
    if message["role"] == "tool":
        return {"role": "user", "content": f"<tool_response>\n{content}\n</tool_response>"}
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    written = [call_text(family, str(call["name"]), call["arguments"]) for call in calls]
    return {"role": message["role"], "content": "\n".join([content, *written] if content else written)}
