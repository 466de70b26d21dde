"""A grammar in Lark's language: a query whose column names come from a list, with a JSON Schema inside it.

pip install .
python examples/lark_grammar.py
"""

from maskwright import GrammarCompiler, GrammarMatcher
from maskwright.engine import Request, SamplingParams, complete, load_engine

QUERY = r"""
start: "SELECT " column (", " column)* " FROM orders" [" WHERE " condition] " -- " note
column: "id" | "price" | "city"
condition: column (" = " | " < ") NUMBER
NUMBER: /[1-9][0-9]{0,3}/
note: %json {
  "type": "object",
  "properties": {"limit": {"enum": [10, 100]}},
  "required": ["limit"],
  "additionalProperties": false
}
"""

with load_engine() as engine:
    grammar = GrammarCompiler(engine.tokenizer_info).compile_lark(QUERY)
    params = SamplingParams(max_tokens=60, seed=4)
    output = complete(engine, Request(engine.encode("The query: "), params, grammar=grammar))
    print(output.text)

    matcher = GrammarMatcher(grammar)  # follows one output; here, one that is there already
    for text in ('SELECT id, price FROM orders -- {"limit": 10}', "SELECT name FROM orders"):
        matcher.reset()
        print("valid  " if matcher.accept_string(text) and matcher.is_completed() else "invalid", text)
