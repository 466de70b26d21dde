"""How many tool calls of a small model are right through the server, with the constraint and without?

    python benchmarks/bench_tool_accuracy.py --model smollm2 --questions 300

The questions are those of tool_questions.py, in the manner of the Berkeley Function Calling Leaderboard. Each is asked
in three ways, with the same prompt and temperature 0:

    free       nothing is constrained; what counts stands between <tool_call> and </tool_call>, or is the first JSON
               object
    auto       tool_choice "auto": the model may answer in text, and a call that it begins follows its schema
    required   tool_choice "required"

    parsed     a call could be read: a JSON object with a name and arguments
    valid      … of a tool that is there, with arguments that its JSON Schema accepts (by jsonschema)
    name       … of the tool that was meant
    exact      … with the very arguments

All shares are of all questions. Seconds are for all of them, --clients at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import jsonschema
from soak_serve import Server
from tool_questions import Question, questions

_MAX_TOKENS = 160
_MARKED = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)


class Verdict(NamedTuple):
    """What a reply is."""

    parsed: bool
    valid: bool
    name: bool
    exact: bool


def judge(question: Question, call: Any) -> Verdict:
    """Judge a call, as data; None for none."""
    if not isinstance(call, dict) or not isinstance(call.get("arguments"), dict) or "name" not in call:
        return Verdict(False, False, False, False)
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in question.tools}
    schema = schemas.get(str(call["name"]))
    is_valid = schema is not None and jsonschema.Draft202012Validator(schema).is_valid(call["arguments"])
    is_meant = call["name"] == question.name
    return Verdict(True, is_valid, is_meant, is_meant and call["arguments"] == question.arguments)


def read(text: str) -> Any:
    """The call in a free text, or None."""
    marked = _MARKED.search(text)
    candidate = marked[1] if marked else text[text.find("{") :]
    try:
        return json.JSONDecoder().raw_decode(candidate)[0]
    except (json.JSONDecodeError, RecursionError):
        return None


async def ask(http: httpx.AsyncClient, question: Question, way: str) -> Any:
    messages = [{"role": "user", "content": question.text}]
    if way == "free":
        prompt = await http.post("/tokenize", json={"messages": messages, "tools": question.tools})
        body = {"prompt": prompt.json()["tokens"], "max_tokens": _MAX_TOKENS, "temperature": 0}
        reply = await http.post("/v1/completions", json=body)
        return read(reply.raise_for_status().json()["choices"][0]["text"])
    body = {"messages": messages, "tools": question.tools, "tool_choice": way, "parallel_tool_calls": False}
    body.update(temperature=0, max_completion_tokens=_MAX_TOKENS)
    reply = await http.post("/v1/chat/completions", json=body)
    calls = reply.raise_for_status().json()["choices"][0]["message"].get("tool_calls")
    if not calls:
        return None
    function = calls[0]["function"]
    return {"name": function["name"], "arguments": json.loads(function["arguments"])}


async def measure(url: str, asked: list[Question], way: str, clients: int) -> tuple[list[Verdict], float]:
    turns = asyncio.Semaphore(clients)
    async with httpx.AsyncClient(base_url=url, timeout=600) as http:

        async def one(question: Question) -> Verdict:
            async with turns:
                return judge(question, await ask(http, question, way))

        began = time.perf_counter()
        verdicts = await asyncio.gather(*map(one, asked))
        return list(verdicts), time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--log", type=Path, default=Path("build/bench_tool_accuracy.log"))
    arguments = parser.parse_args()
    arguments.log.parent.mkdir(parents=True, exist_ok=True)
    asked = questions(arguments.questions)
    server = Server(arguments.model, arguments.log, "--max-running", str(arguments.clients), "--max-model-len", "4096")
    try:
        print(f"{arguments.model}, {len(asked)} questions\n\n| | parsed | valid | name | exact | seconds |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        for way in ("free", "auto", "required"):
            verdicts, seconds = asyncio.run(measure(server.url, asked, way, arguments.clients))
            shares = " | ".join(f"{100 * sum(each) / len(asked):.1f} %" for each in zip(*verdicts, strict=True))
            print(f"| {way} | {shares} | {seconds:.0f} |", flush=True)
    finally:
        server.process.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
