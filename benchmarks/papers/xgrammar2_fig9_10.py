"""XGrammar 2, Fig. 9 and 10: how many calls are right, and how many outputs are right JSON, with masks and without?

    python benchmarks/papers/xgrammar2_fig9_10.py

With the weak model of weak_model.py, which is trained first, and says what is judged and how: `name` and `exact` are
the accuracy of calls, `valid` is JSON that follows the schema of its function. Masks make outputs valid; how many of
them are right is up to the model. Three of them: trained for half of `--steps`, for these, and for three times as many.
Source: Li et al., "XGrammar-2: Efficient Dynamic Structured Generation Engine for Agentic LLMs" (2026).
"""

from __future__ import annotations

import weak_model
from common import report


def main() -> None:
    arguments = weak_model.options(__doc__)
    notes = f"{arguments.samples} outputs a row, of at most {arguments.max_tokens} tokens, temperature 1"
    report("XGrammar 2, Fig. 9 and 10: accuracy of calls, correctness of JSON", notes)
    for num_steps in (arguments.steps // 2, arguments.steps, 3 * arguments.steps):
        model = weak_model.train(num_steps)
        print(f"{model.note}:\n")
        weak_model.show(weak_model.measured_calls(model, arguments.samples, arguments.max_tokens))


if __name__ == "__main__":
    main()
