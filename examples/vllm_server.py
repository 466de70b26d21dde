"""A vLLM server asked through the OpenAI client: a schema, a tool that must be called, and a request that is refused.

    pip install . vllm openai
    python -m vllm.entrypoints.openai.api_server --model HuggingFaceTB/SmolLM2-135M-Instruct --max-model-len 1024 \\
        --enable-auto-tool-choice --tool-call-parser hermes --structured-outputs-config.backend maskwright
    python examples/vllm_server.py http://localhost:8000/v1
"""

import sys

import openai

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 40}, "population": {"type": "integer", "minimum": 0}},
    "required": ["city", "population"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "get_population", "strict": True, "parameters": CITY}}


def main(base_url: str) -> None:
    client = openai.OpenAI(base_url=base_url, api_key="none")
    model = client.models.list().data[0].id
    asked = {"model": model, "messages": [{"role": "user", "content": "How large is Kyoto?"}], "max_tokens": 64}
    schema = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}}
    answer = client.chat.completions.create(**asked, response_format=schema)
    print("answer:", answer.choices[0].message.content)
    answer = client.chat.completions.create(**asked, tools=[TOOL], tool_choice="required")
    print("call:", answer.choices[0].message.tool_calls[0].function.arguments)
    schema["json_schema"]["schema"] = {"type": "object", "properties": {"city": {"type": "strin"}}}
    try:
        client.chat.completions.create(**asked, response_format=schema)
    except openai.BadRequestError as error:
        print("refused:", error.message)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        print(__doc__)
