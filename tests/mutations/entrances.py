"""All that reads what callers give: for one input of a kind, each entrance as a name and a function to call.

What compiles is used as a server would: masks, tokens that they allow, a refused one, a rollback, and events.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import maskwright as mw
from maskwright import lint, openai_shapes
from maskwright.events import EventReader
from maskwright.structural_tag import get_model_structural_tag, model_families
from mutations.mutate import mutated_options

TOKENS = [*(bytes((b,)) for b in range(256)), b'{"', b'":', b'", "', b"  ", b"aa", b"</", b"<tool_call>", b"</s>"]
SPECIAL = [len(TOKENS) - 2, len(TOKENS) - 1]
INFO = mw.TokenizerInfo.from_vocab(TOKENS, special_token_ids=SPECIAL, stop_token_ids=SPECIAL[1:])
FAMILIES = model_families()
NUM_ACCEPTED = 20
Case = tuple[str, Callable[[], object]]
Mask = tuple[int, ...]


def _allowed(matcher: mw.GrammarMatcher) -> list[int]:
    bitmask = mw.allocate_token_bitmask(1, INFO.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    return [t for t in range(INFO.vocab_size) if bitmask[0, t // 32] >> (t % 32) & 1]


def use(compiled: mw.CompiledGrammar, rng: random.Random) -> None:
    """Accept tokens that the masks allow, look at everything on the way, and go back and on again."""
    matcher = mw.GrammarMatcher(compiled)
    reader = EventReader(matcher) if compiled.has_captures else None
    masks = [_allowed(matcher)]
    while len(masks) <= NUM_ACCEPTED and not matcher.is_terminated():
        refused = rng.randrange(INFO.vocab_size)
        assert masks[-1], "an empty mask"
        assert refused in masks[-1] or not matcher.accept_token(refused), "a token beside the mask was accepted"
        assert matcher.accept_token(rng.choice(masks[-1])), "a token of the mask was refused"
        if reader is not None:
            reader.read()
        if not matcher.is_terminated():
            masks.append(_allowed(matcher))
    back = rng.randrange(len(masks))
    matcher.rollback(matcher.num_accepted_tokens - back)
    if reader is not None:
        reader.read()
    matcher.find_jump_forward_string()
    assert _allowed(matcher) == masks[back], "another mask after a rollback"


def _of(compile_it: Callable[[], mw.CompiledGrammar], rng: random.Random) -> Callable[[], object]:
    return lambda: use(compile_it(), rng)


def _printed(name: str, read: Callable[[], mw.Grammar]) -> list[Case]:
    """Reading alone, and each way to show what was read."""
    shown: dict[str, Callable[[mw.Grammar], object]] = {
        "read": lambda grammar: None,
        "str": str,
        "to_ebnf": lambda grammar: grammar.to_ebnf(),
        "to_lark": lambda grammar: grammar.to_lark(),
        "to_regex": lambda grammar: grammar.to_regex(),
        "dump": lambda grammar: grammar.dump(),
        "lint": lint,
    }
    known: list[mw.Grammar] = []

    def show(with_what: Callable[[mw.Grammar], object]) -> None:
        if not known:
            known.append(read())
        with_what(known[0])

    return [(f"{name} {how}", partial(show, function)) for how, function in shown.items()]


def from_schema(data: Any, rng: random.Random, compiler: mw.GrammarCompiler) -> list[Case]:
    options = mutated_options(rng)
    return [
        ("check", lambda: json.dumps(mw.check(data, **options).to_dict())),
        *_printed("from_json_schema", lambda: mw.Grammar.from_json_schema(data, **options)),
        ("compile_json_schema", _of(lambda: compiler.compile_json_schema(data, **options), rng)),
    ]


def from_tag(data: Any, rng: random.Random, compiler: mw.GrammarCompiler) -> list[Case]:
    options = mutated_options(rng)
    info = rng.choice((INFO, None))
    return [
        *_printed("from_structural_tag", lambda: mw.Grammar.from_structural_tag(data, tokenizer_info=info, **options)),
        ("compile_structural_tag", _of(lambda: compiler.compile_structural_tag(data, **options), rng)),
    ]


def from_request(data: Any, rng: random.Random, compiler: mw.GrammarCompiler) -> list[Case]:
    family, options = rng.choice(FAMILIES), mutated_options(rng)
    reasoning = rng.choice((None, None, "auto", "enabled", "disabled", True, "no", []))
    shape = rng.choice((openai_shapes.chat_completion, openai_shapes.responses))

    def tag() -> mw.CompiledGrammar:
        request = data if isinstance(data, dict) else {"tools": data}
        chosen = {name: request[name] for name in ("tools", "tool_choice", "parallel_tool_calls") if name in request}
        return compiler.compile_structural_tag(
            get_model_structural_tag(family, reasoning=reasoning, **chosen, **options)
        )

    def read(model: str | None) -> None:
        grammar = shape(data, model=model, reasoning=reasoning, tokenizer_info=INFO, **options)
        if grammar is not None:
            use(compiler.compile_grammar(grammar), rng)

    return [
        (f"get_model_structural_tag {family}", _of(tag, rng)),
        (f"{shape.__name__} {family}", lambda: read(family)),
        (f"{shape.__name__} without a model", lambda: read(None)),
    ]


def from_parameters(data: Any, rng: random.Random, compiler: mw.GrammarCompiler) -> list[Case]:
    options = mutated_options(rng)

    def read(shape: Callable[..., mw.Grammar | None]) -> None:
        grammar = shape(data, tokenizer_info=INFO, **options)
        if grammar is not None:
            use(compiler.compile_grammar(grammar), rng)

    return [("vllm", lambda: read(openai_shapes.vllm)), ("sglang", lambda: read(openai_shapes.sglang))]


def from_name(name: str, rng: random.Random, compiler: mw.GrammarCompiler) -> list[Case]:
    return [
        ("get_model_structural_tag", _of(lambda: compiler.compile_structural_tag(get_model_structural_tag(name)), rng))
    ]


def from_choices(data: Any, rng: random.Random, compiler: mw.GrammarCompiler) -> list[Case]:
    return [
        *_printed("from_choices", lambda: mw.Grammar.from_choices(data)),
        ("compile_choices", _of(lambda: compiler.compile_choices(data), rng)),
    ]


def from_text(language: str) -> Callable[[str, random.Random, mw.GrammarCompiler], list[Case]]:
    def cases(text: str, rng: random.Random, compiler: mw.GrammarCompiler) -> list[Case]:
        grammar = getattr(mw.Grammar, f"from_{language}")
        return [
            *_printed(f"from_{language}", lambda: grammar(text)),
            (f"compile of {language}", _of(lambda: compiler.compile_grammar(grammar(text)), rng)),
        ]

    return cases
