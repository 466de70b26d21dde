"""How many tool calls of a small model are right through the server, with the constraint and without?

    python benchmarks/serve/tool_accuracy.py --model smollm2 --questions 300

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

All shares are of the questions that were answered in all --ways. Each verdict is appended to --verdicts as soon as it
is known, and what is in there is not asked again: a run that was cut short goes on where it ended, two runs with
different values of --first share the work, and --questions 0 prints the table so far.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import jsonschema
from soak_serve import Server
from tool_questions import Question, questions

_MAX_TOKENS = 160
_MARKED = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)


WAYS = ("free", "auto", "required")


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


async def ask(http: httpx.AsyncClient, question: Question, way: str) -> tuple[Any, int]:
    """The call in a reply, as data, and how many tokens the reply has."""
    messages = [{"role": "user", "content": question.text}]
    if way == "free":
        prompt = await http.post("/tokenize", json={"messages": messages, "tools": question.tools})
        body = {"prompt": prompt.json()["tokens"], "max_tokens": _MAX_TOKENS, "temperature": 0}
        reply = (await http.post("/v1/completions", json=body)).raise_for_status().json()
        return read(reply["choices"][0]["text"]), reply["usage"]["completion_tokens"]
    body = {"messages": messages, "tools": question.tools, "tool_choice": way, "parallel_tool_calls": False}
    body.update(temperature=0, max_completion_tokens=_MAX_TOKENS)
    reply = (await http.post("/v1/chat/completions", json=body)).raise_for_status().json()
    calls, num_tokens = reply["choices"][0]["message"].get("tool_calls"), reply["usage"]["completion_tokens"]
    if not calls:
        return None, num_tokens
    function = calls[0]["function"]
    return {"name": function["name"], "arguments": json.loads(function["arguments"])}, num_tokens


class Verdicts:
    """What was found of each question in each way, in a file that grows by a line a reply."""

    def __init__(self, path: Path, model: str) -> None:
        self._path, self._model = path, model
        self._found: dict[tuple[int, str], dict[str, Any]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        for line in path.read_text().splitlines() if path.exists() else ():
            found = json.loads(line)
            if found["model"] == model:
                self._found[found["question"], found["way"]] = found

    def __contains__(self, key: tuple[int, str]) -> bool:
        return key in self._found

    def add(self, index: int, way: str, verdict: Verdict, num_tokens: int) -> None:
        found = {"model": self._model, "question": index, "way": way, "tokens": num_tokens, **verdict._asdict()}
        self._found[index, way] = found
        with self._path.open("a") as file:
            file.write(json.dumps(found) + "\n")

    def table(self, ways: Sequence[str]) -> str:
        whole = [i for i, way in self._found if way == ways[0] and all((i, each) in self._found for each in ways)]
        lines = [f"{self._model}, {len(whole)} questions", "", f"| | {' | '.join(Verdict._fields)} | tokens a reply |"]
        lines.append("| --- | ---: | ---: | ---: | ---: | ---: |")
        for way in ways if whole else ():
            rows = [self._found[index, way] for index in whole]
            shares = " | ".join(f"{100 * sum(row[name] for row in rows) / len(rows):.1f} %" for name in Verdict._fields)
            lines.append(f"| {way} | {shares} | {sum(row['tokens'] for row in rows) / len(rows):.0f} |")
        return "\n".join(lines)


async def measure(url: str, asked: dict[int, Question], ways: Sequence[str], verdicts: Verdicts, clients: int) -> None:
    turns = asyncio.Semaphore(clients)
    async with httpx.AsyncClient(base_url=url, timeout=1200) as http:

        async def one(index: int, way: str) -> None:
            async with turns:
                call, num_tokens = await ask(http, asked[index], way)
                verdicts.add(index, way, judge(asked[index], call), num_tokens)

        owed = [(index, way) for index in asked for way in ways if (index, way) not in verdicts]
        await asyncio.gather(*(one(*each) for each in owed))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="the number of the first question")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--verdicts", type=Path, default=Path("build/tool_accuracy.jsonl"))
    parser.add_argument("--log", type=Path, default=Path("build/tool_accuracy.log"))
    arguments = parser.parse_args()
    verdicts = Verdicts(arguments.verdicts, arguments.model)
    first, last = arguments.first, arguments.first + arguments.questions
    asked = dict(enumerate(questions(last)[first:], first))
    if asked:
        arguments.log.parent.mkdir(parents=True, exist_ok=True)
        sizes = ("--max-running", str(arguments.clients), "--max-model-len", "4096")
        server = Server(arguments.model, arguments.log, *sizes)
        try:
            asyncio.run(measure(server.url, asked, arguments.ways, verdicts, arguments.clients))
        finally:
            server.process.kill()
    print(verdicts.table(arguments.ways))
    return 0


if __name__ == "__main__":
    sys.exit(main())
