"""An output of a recursive grammar in EBNF (GBNF): arithmetic whose parentheses close.

pip install .
python examples/ebnf_grammar.py
"""

from maskwright import Grammar, GrammarCompiler, lint
from maskwright.engine import Request, SamplingParams, complete, load_engine

ARITHMETIC = """
root   ::= sum
sum    ::= term (" + " term | " - " term)*
term   ::= factor (" * " factor)*
factor ::= number | "(" sum ")"
number ::= [1-9] [0-9]{0,2}
"""

grammar = Grammar.from_ebnf(ARITHMETIC)  # an EbnfSyntaxError has the line, the column and a hint
assert not lint(grammar).problems  # no unused rules, no rules without an end

with load_engine() as engine:
    compiled = GrammarCompiler(engine.tokenizer_info).compile_grammar(grammar)
    for seed in range(3):
        params = SamplingParams(max_tokens=24, seed=seed)
        output = complete(engine, Request(engine.encode("Calculate: "), params, grammar=compiled))
        print(output.text, "=", eval(output.text))  # what the grammar admits is arithmetic, and nothing else
