"""XGrammar, Table 4: how many outputs are syntactically right, with masks and without, of function calls and of XML?

    python benchmarks/papers/xgrammar_table4.py

With the weak model of weak_model.py, which is trained first, and says what is judged and how.
Source: Dong et al., "XGrammar: Flexible and Efficient Structured Generation Engine for LLMs" (2024).
"""

from __future__ import annotations

import weak_model
from common import report


def main() -> None:
    arguments = weak_model.options(__doc__)
    model = weak_model.train(arguments.steps)
    notes = f"{arguments.samples} outputs a row, of at most {arguments.max_tokens} tokens, temperature 1"
    report("XGrammar, Table 4: syntactic validity, with masks and without", model.note, notes)
    weak_model.show(weak_model.measured(model, arguments.samples, arguments.max_tokens), ("ended", "valid"))


if __name__ == "__main__":
    main()
