"""How hints name the entrance that a text belongs to: the methods of Python.

    f"this looks like Lark: {USE_LARK}"

Where something else is read, the command line, a request, a page of the browser or a string in a schema, these words
are replaced by those that exist there (`cli/sources.py`, `serve/structure/structures.py`,
`web/frontends/maskwright_web.py`, `frontends/json_schema/sets/text_grammars.py`, and `integrations/` for vLLM and
SGLang), so a hint that sends somebody to Python uses one of them.
Tested by tests/cli/test_hints.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

USE_LARK: Final = "use compile_lark, or Grammar.from_lark"
USE_EBNF: Final = "use compile_grammar, or Grammar.from_ebnf"
USE_SCHEMA: Final = "use compile_json_schema, or Grammar.from_json_schema"
USE_TAG: Final = "use compile_structural_tag, or Grammar.from_structural_tag"
USE_REGEX: Final = "use compile_regex, or Grammar.from_regex"
USE_TOOLS: Final = "use get_model_structural_tag(model, tools)"
OF_A_LIST: Final = f"for a list of tools, {USE_TOOLS}"
A_SCHEMA: Final = "pass a dict, a bool, or a JSON text"
A_DICT_OR_TEXT: Final = "pass a dict, or the text of a JSON object"
FROM_YAML: Final = "pass the dict that yaml.safe_load(text) returns"
PASS_GRAMMARS: Final = "pass grammars={name: grammar}"
RELAX: Final = 'pass on_unsupported="relax"'
# Appended to a way out that exists everywhere.
OR_PASS_ROOT: Final = ", or pass root_rule_name"
OR_PASS_START: Final = ", or pass start"
OR_PASS_MODULES: Final = "; pass others as modules={name: text}"
OR_PASS_REGISTRY: Final = ", or pass a registry"
OR_OPENAI_SHAPES: Final = ", or use maskwright.openai_shapes"
ONLY_IN_PYTHON: Final = tuple(
    (words, "") for words in (OR_PASS_ROOT, OR_PASS_START, OR_PASS_MODULES, OR_PASS_REGISTRY, OR_OPENAI_SHAPES)
)

# Where schemas come in requests.
IN_REQUESTS: Final = (
    (USE_TOOLS, "use the field tools"),
    (FROM_YAML, "convert it to JSON"),
    (A_SCHEMA, "pass an object, or its JSON text"),
    (A_DICT_OR_TEXT, "pass an object, or its JSON text"),
    (PASS_GRAMMARS, "write its rules here"),
    *ONLY_IN_PYTHON,
)
# Where `structured_outputs` is a field, as vLLM has it.
IN_STRUCTURED_OUTPUTS: Final = (
    (USE_LARK, 'use structured_outputs: {"grammar": …}'),
    (USE_EBNF, 'use structured_outputs: {"grammar": …}'),
    (USE_SCHEMA, 'use structured_outputs: {"json": …}'),
    (USE_TAG, 'use structured_outputs: {"structural_tag": …}'),
    (USE_REGEX, 'use structured_outputs: {"regex": …}'),
    *IN_REQUESTS,
)
# Where the syntax of a definition is named beside it, as in the `x-grammar` of a schema.
IN_DEFINITIONS: Final = (
    (USE_LARK, 'let syntax be "lark"'),
    (USE_EBNF, 'let syntax be "ebnf"'),
    (USE_REGEX, 'let syntax be "regex"'),
    (USE_SCHEMA, 'let syntax be "lark", and write start: %json {…}'),
    (USE_TAG, "put it around the schema"),
    (PASS_GRAMMARS, "write its rules here"),
    *ONLY_IN_PYTHON,
)
# Where nothing but the schema itself can say that it is to be relaxed.
RELAX_IN_SCHEMA: Final = (RELAX, 'write "x-guidance": {"lenient": true} in the schema')


def in_words_of(entrance: Iterable[tuple[str, str]], message: str) -> str:
    """A message with the words of an entrance in place of Python's.

    >>> in_words_of([(USE_LARK, "use --lark FILE")], f"this looks like Lark: {USE_LARK}")
    'this looks like Lark: use --lark FILE'
    """
    for in_python, here in entrance:
        message = message.replace(in_python, here)
    return message
