"""An output that is read as a pydantic model, and one of the values of a type.

pip install ".[pydantic]"
python examples/pydantic_model.py
"""

from typing import Literal

from pydantic import BaseModel, Field, TypeAdapter

from maskwright import GrammarCompiler
from maskwright.engine import Request, SamplingParams, complete, load_engine


class Customer(BaseModel):
    name: str = Field(max_length=16)
    age: int = Field(ge=18, le=99)
    plan: Literal["free", "pro"] = "free"


with load_engine() as engine:
    compiler = GrammarCompiler(engine.tokenizer_info)
    params = SamplingParams(max_tokens=60, seed=2)
    prompt = engine.encode("A customer as JSON: ")

    grammar = compiler.compile_json_schema(Customer)  # the class itself, in place of its schema
    output = complete(engine, Request(prompt, params, grammar=grammar))
    print(repr(Customer.model_validate_json(output.text)))

    grammar = compiler.compile_json_schema(Literal["free", "pro"])  # any type that pydantic knows
    output = complete(engine, Request(prompt, params, grammar=grammar))
    print(repr(TypeAdapter(Literal["free", "pro"]).validate_json(output.text)))
