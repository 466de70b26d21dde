"""From a structure to a grammar bound to a tokenizer.

`compiler.py` has the public `GrammarCompiler`. A structure becomes a task (`tasks.py`), which is found among those that
were compiled (`cache.py`), or becomes a `CompiledGrammar` (`compiled_grammar.py`) by `task_compiler.py`, which may also
find it on the disk (`kept_grammars.py` over `disk_cache.py`). Tested by tests/contract and tests/saved.
"""
