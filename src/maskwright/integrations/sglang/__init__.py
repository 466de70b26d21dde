"""SGLang: the grammar backend `maskwright`.

    python -m sglang.launch_server --model-path … --grammar-backend maskwright

SGLang calls `register` in each of its processes (entry point `sglang.srt.plugins`) before it reads its arguments. It
makes the name known and does nothing else; the backend is loaded when it is chosen.

    backend      what SGLang asks for a grammar: schema, regex, EBNF, structural tag; errors as its invalid grammars
    grammar      one request's grammar: tokens, masks, jump-forward
    reasoning    the grammar begins after the reasoning; the reasoning ends in time
    budget       a request's max_new_tokens becomes the budget of its grammar
    versions     SGLang's versions
    drafts       with n-gram speculative decoding: what the grammar forces, and what is likely

Tested by tests/engines/test_sglang.py and tests/engines/test_sglang_drafts.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from maskwright.integrations.environment import is_on
from maskwright.support.packages import needed_by

NAME = "maskwright"
_in_sglang = needed_by("maskwright.integrations.sglang", sglang="sglang")


@_in_sglang
def register() -> None:
    """Make `--grammar-backend maskwright` known to SGLang.

    Raises:
        OptionError: SGLang's version has another interface, or the environment says neither yes nor no to budgets.
    """
    import_module("sglang")
    from maskwright.integrations.sglang import budget, versions

    try:
        from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices
        from sglang.srt.constrained.base_grammar_backend import register_grammar_backend
        from sglang.srt.plugins.hook_registry import HookRegistry, HookType
    except ImportError as error:
        raise versions.another_interface(str(error)) from error
    has_budgets = is_on(budget.SWITCH, by_default=True)
    if NAME not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([NAME])
    register_grammar_backend(NAME, create_backend)
    if has_budgets:
        for method, hook in budget.HOOKS.items():
            HookRegistry.register(f"{budget.MANAGER}.{method}", hook, HookType.AFTER)


@_in_sglang
def create_backend(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Any = None) -> Any:
    """Make the backend; SGLang calls it in its scheduler.

    Raises:
        OptionError: SGLang's version has another interface, or reasoning cannot be limited as asked for.
        TokenizerError: The tokenizer cannot be read.
    """
    from maskwright.integrations.sglang.backend import make_backend

    if getattr(server_args, "speculative_algorithm", None) == "NGRAM":
        from maskwright.integrations.sglang.drafts import take_ngram_slot

        take_ngram_slot()
    return make_backend(server_args, tokenizer, vocab_size, eos_token_ids)
