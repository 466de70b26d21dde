"""A tokenizer of single bytes, a stop token and one longer token, and its compiler."""

from __future__ import annotations

import maskwright as mw

INFO = mw.TokenizerInfo.from_vocab(
    [*(bytes((b,)) for b in range(256)), b"</s>", b"ab"], special_token_ids=[256], stop_token_ids=[256]
)
COMPILER = mw.GrammarCompiler(INFO)
