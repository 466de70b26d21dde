"""transformers: a pydantic model, regular expressions, a list and a tool call from one small model, as Python objects.

pip install ".[transformers,pydantic]"
python examples/transformers_generate.py
"""

import re
from typing import Literal

from pydantic import BaseModel, Field
from transformers import AutoModelForCausalLM, AutoTokenizer

import maskwright as mw

NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"


class City(BaseModel):
    name: str = Field(max_length=30)
    country: Literal["France", "Japan", "Peru"]
    population: int = Field(ge=0, le=50_000_000)


def get_weather(city: str, days: int = 1) -> str:
    """Get the weather forecast of a city."""
    return f"{city}: rain for {days} days"


def ask(question: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": question}]


tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModelForCausalLM.from_pretrained(NAME)

city = mw.generate(model, tokenizer, ask("Tell me about Tokyo, as JSON."), City, max_new_tokens=60)
print(repr(city))

questions = [ask("What is the capital of France?"), ask("What is the capital of Japan?")]
pattern = re.compile(r"The capital of [A-Z][a-z]+ is (Lima|Paris|Tokyo)\.")
print(mw.generate(model, tokenizer, questions, pattern, temperature=0))

print(mw.generate(model, tokenizer, "The first prime numbers: ", list[int], max_new_tokens=20))

question = ask("What will the weather be in Paris for the next 3 days? Call get_weather.")
for call in mw.generate(model, tokenizer, question, [get_weather], tool_format="hermes", max_new_tokens=60):
    print(call.name, call.arguments, "->", call.tool(**call.arguments))
