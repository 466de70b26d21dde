"""Several outputs at once, each with a grammar of its own that is compiled while others are generated.

pip install .
python examples/batch.py
"""

from maskwright import GrammarCompiler
from maskwright.engine import Output, Request, SamplingParams, load_engine

PATTERNS = {"a date": r"20[0-9]{2}-[01][0-9]-[0-3][0-9]", "a color": "#[0-9a-f]{6}", "a time": "[0-2][0-9]:[0-5][0-9]"}

texts = dict.fromkeys(PATTERNS, b"")

with load_engine(num_slots=8) as engine:
    compiler = GrammarCompiler(engine.tokenizer_info)
    for name, pattern in PATTERNS.items():

        def collect(output: Output, name: str = name) -> None:  # called by the engine's thread, once a step
            texts[name] += output.data

        grammar = compiler.compile_regex_async(pattern)  # a future: the prompt is read meanwhile
        engine.submit(Request(engine.encode(f"{name}: "), SamplingParams(max_tokens=20), grammar=grammar), collect)
    engine.drain(60)  # takes no more requests, and waits for those it has

for name, text in texts.items():
    print(f"{name}: {text.decode()}")
