"""A tool call, shown while it is generated: which tool, which argument, and the value as it grows.

pip install .
python examples/streaming_events.py
"""

from maskwright import GrammarCompiler
from maskwright.engine import Request, SamplingParams, generate, load_engine
from maskwright.events import CallDone, CallStarted, FieldDone, FieldStarted, TextDelta, ValueDelta
from maskwright.structural_tag import get_model_structural_tag

SAVE_NOTE = {
    "name": "save_note",
    "parameters": {
        "type": "object",
        "properties": {"title": {"type": "string", "maxLength": 20}, "pinned": {"type": "boolean"}},
        "required": ["title", "pinned"],
        "additionalProperties": False,
    },
}

with load_engine() as engine:
    tag = get_model_structural_tag("hermes", [SAVE_NOTE], tool_choice="required")
    grammar = GrammarCompiler(engine.tokenizer_info).compile_structural_tag(tag)
    params = SamplingParams(max_tokens=100, seed=6)
    for output in generate(engine, Request(engine.encode("A call: "), params, grammar=grammar, read_events=True)):
        for event in output.events:  # of this step
            if isinstance(event, TextDelta):
                print(event.text, end="", flush=True)
            elif isinstance(event, CallStarted):
                print(f"calling {event.name}:")
            elif isinstance(event, FieldStarted):
                print(f"  {event.name} = ", end="")
            elif isinstance(event, ValueDelta):
                print(event.json, end="", flush=True)
            elif isinstance(event, FieldDone):
                print()
            elif isinstance(event, CallDone):
                print("arguments:", event.arguments)
