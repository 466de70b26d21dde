"""In how many bytes arguments can end, as it is promised before they are compiled; and budgets that rest on that."""

from __future__ import annotations

import random
from typing import Any

import pytest

import maskwright as mw
from frontends.json_schema.normalise.test_schema_deferral import random_schema
from maskwright import _kernel
from maskwright.ir import GrammarIR, subgrammars
from maskwright.structural_tag import get_model_structural_tag
from maskwright.structural_tag.formats.classes import JSONSchemaFormat
from maskwright.structural_tag.formats.kept import KEPT
from oracle.comparing import mask_of, scaled
from structural_tag.arguments.test_deferred_arguments import ALL, INFOS, WHITE_SPACE, is_deferred, matcher, snippet

BYTES = mw.TokenizerInfo.from_vocab([*(bytes([b]) for b in range(256)), b"</s>"], stop_token_ids=[256])


@pytest.mark.parametrize("style", [style for style in ALL if style != "minimax_m3_xml"])  # whose ends repeat names
def test_no_arguments_need_more(style: str) -> None:
    rng = random.Random(f"sizes {style}")
    compared = 0
    for _ in range(scaled(3_000)):
        options: dict[str, Any] = rng.choice(WHITE_SPACE) if style == "json" else {}
        options = {**options, "any_order": rng.random() < 0.6, "ensure_ascii": rng.random() < 0.2}
        info = rng.choice([BYTES, *INFOS.values()])
        try:
            expr = snippet(JSONSchemaFormat(random_schema(rng, 0), style=style, **options), info)
        except mw.MaskwrightError:
            continue
        if not is_deferred(expr) or expr[1].deferred.num_bytes < 0:
            continue
        with pytest.raises((mw.LimitError, mw.UnsatisfiableError)) as refused:
            matcher(expr, info, max_tokens=1)
        assert refused.value.enough_tokens is not None
        assert refused.value.enough_tokens <= len("<f>!") + expr[1].deferred.num_bytes
        compared += 1
    assert compared >= scaled(3_000) // 60


def tool(i: int, rng: random.Random) -> dict[str, Any]:
    types: list[dict[str, Any]] = [
        {"type": "string", "minLength": rng.choice([0, 9])},
        {"type": "integer"},
        {"enum": ["a", "bc", "def"]},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 2},
    ]
    properties = {f"p{k}": rng.choice(types) for k in range(rng.randint(1, 4))}
    required = [name for name in properties if rng.random() < 0.6]
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": f"tool{i}", "parameters": parameters}}


def within(family: str, tools: list[dict[str, Any]], max_tokens: int, **options: Any) -> mw.GrammarMatcher:
    KEPT.clear()
    tag = get_model_structural_tag(family, tools=tools, reasoning="disabled", **options)
    compiled = mw.GrammarCompiler(INFOS["text"], cache_enabled=False).compile_structural_tag(tag)
    return mw.GrammarMatcher(compiled, max_tokens=max_tokens)


@pytest.mark.parametrize("family", ["hermes", "llama", "qwen_3_coder", "gemma_4", "glm_4_5", "deepseek_v3_1"])
def test_masks_within_budgets_are_those_of_tools_compiled_at_once(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(f"within {family}")
    size = INFOS["text"].vocab_size
    for _ in range(scaled(30)):
        tools = [tool(i, rng) for i in range(rng.randint(1, 6))]
        choice = rng.choice(["auto", "required"])
        try:
            within(family, tools, 1, tool_choice="required")
        except (mw.LimitError, mw.UnsatisfiableError) as error:
            enough = error.enough_tokens or 0
        assert enough
        max_tokens = enough + rng.choice([0, 5, 100, 700, 1_000])
        late = within(family, tools, max_tokens, tool_choice=choice)
        with monkeypatch.context() as patch:
            patch.setattr(_kernel, "can_defer", lambda *_: None)  # which compiled front-ends look up as well
            at_once = within(family, tools, max_tokens, tool_choice=choice)
        while not late.is_terminated():
            allowed = mask_of(late, size)
            assert allowed == mask_of(at_once, size)
            assert allowed
            named = [token for token in allowed if token < 256 and chr(token) in '<{"tol'] if choice == "auto" else []
            token = rng.choice(named if named and rng.random() < 0.5 else sorted(allowed))
            assert late.accept_token(token)
            assert at_once.accept_token(token)


def test_tools_are_compiled_within_a_budget_when_they_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random("called")
    tools = [tool(i, rng) for i in range(40)]
    made = []
    make = subgrammars.deferred_grammar

    def makes(number: int) -> GrammarIR:
        made.append(number)
        return make(number)

    monkeypatch.setattr(subgrammars, "deferred_grammar", makes)  # which the kernel calls
    far = within("hermes", tools, 2_000)
    mask_of(far, INFOS["text"].vocab_size)
    assert not made
    for byte in b'<tool_call>\n{"name": "tool7", "arguments": ':
        assert far.accept_token(byte)
    mask_of(far, INFOS["text"].vocab_size)
    assert len(made) == 1
    within("hermes", tools, 150, tool_choice="required")
    assert len(made) > 20
