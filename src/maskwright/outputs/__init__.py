"""What an output is to be, and what usually comes next in it.

`output_types.py` makes grammars of Python types and objects of the outputs, `tool_outputs.py` does the same for tools
and calls; `grammar_drafts.py` proposes tokens by what earlier outputs of the same grammar held.
Tested by tests/outputs.
"""
