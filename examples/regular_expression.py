"""An output that matches a regular expression, and one of a list of strings.

pip install .
python examples/regular_expression.py
"""

import re

from maskwright import GrammarCompiler
from maskwright.engine import Request, SamplingParams, complete, load_engine

LOG_LINE = r"20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]) (INFO|WARN|ERROR) \[[a-z]{2,8}\] [a-z ]{5,30}\."

with load_engine() as engine:
    compiler = GrammarCompiler(engine.tokenizer_info)
    prompt = engine.encode("A line of the log:\n")
    params = SamplingParams(max_tokens=80, seed=3)

    output = complete(engine, Request(prompt, params, grammar=compiler.compile_regex(LOG_LINE)))
    print(output.text)
    assert re.fullmatch(LOG_LINE, output.text)

    levels = compiler.compile_choices(["debug", "info", "warning", "error"])
    output = complete(engine, Request(prompt, params, grammar=levels))
    print("one of the choices:", output.text)
