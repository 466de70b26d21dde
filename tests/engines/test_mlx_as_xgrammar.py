"""XGrammar's names for MLX, on Maskwright: the logits processor in mlx-lm's own generation, and the kernel."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mlx", reason="MLX is not installed: make engines")
pytest.importorskip("mlx_lm", reason="mlx-lm is not installed: make engines")
pytest.importorskip("torch", reason="an optional dependency")
import mlx.core as mx

import maskwright.compat.xgrammar as xgr


def test_the_kernel() -> None:
    from maskwright.compat.xgrammar.kernels.apply_token_bitmask_mlx import apply_token_bitmask_mlx

    bitmask = mx.array(np.array([[5]], dtype=np.int32))
    masked = np.array(apply_token_bitmask_mlx(bitmask, mx.zeros((1, 5)), 5))
    assert np.isinf(masked).tolist() == [[False, True, False, True, True]]


def test_generation(smollm2: Path) -> None:
    from mlx_lm import generate, load

    model, tokenizer = load(str(smollm2))
    info = xgr.TokenizerInfo.from_huggingface(tokenizer._tokenizer, vocab_size=model.args.vocab_size)
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    compiled = xgr.GrammarCompiler(info).compile_json_schema(schema, any_whitespace=False)
    processor = xgr.contrib.mlxlm.XGrammarLogitsProcessor(compiled)
    text = generate(model, tokenizer, "Is it so?", max_tokens=20, logits_processors=[processor])
    assert isinstance(json.loads(text)["ok"], bool)
    with pytest.raises(TypeError, match="CompiledGrammar"):
        xgr.contrib.mlxlm.XGrammarLogitsProcessor(3)
