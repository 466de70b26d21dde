"""A decoding loop of one's own in NumPy: a mask, a token, and tokens that need no model.

pip install .
python examples/own_loop.py
"""

import numpy as np

import maskwright as mw

# TokenizerInfo.from_huggingface, from_tiktoken, ... read real tokenizers; this one has the bytes and a few words.
WORDS = [b'{"name": "', b'", "age": ', b"Ada", b"Bob", b"<end>"]
info = mw.TokenizerInfo.from_vocab([*(bytes([byte]) for byte in range(256)), *WORDS], stop_token_ids=[260])
grammar = mw.GrammarCompiler(info).compile_json_schema(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": "^[A-Z][a-z]{1,5}$"},
            "age": {"type": "integer", "maximum": 99},
        },
        "required": ["name", "age"],
        "additionalProperties": False,
    },
    any_whitespace=False,
)
random = np.random.default_rng(8)
matcher = mw.GrammarMatcher(grammar, max_tokens=40)  # follows one output; complete within 40 tokens
bitmask = mw.allocate_token_bitmask(1, info.vocab_size)
tokens: list[int] = []
num_steps = 0
while not matcher.is_terminated():
    logits = random.normal(size=(1, info.vocab_size)).astype(np.float32)  # a model's, in earnest
    if matcher.fill_next_token_bitmask(bitmask):  # False: every token is allowed
        mw.apply_token_bitmask_inplace(logits, bitmask)  # writes -inf over the others
    token = int(logits[0].argmax())
    if not matcher.accept_token(token):
        raise RuntimeError(f"token {token} is not allowed")
    tokens.append(token)
    num_steps += 1
    while (forced := matcher.forced_token()) is not None:  # the model is not asked where there is no choice
        matcher.accept_token(forced)  # what is forced is allowed
        tokens.append(forced)

print(info.decode(tokens[:-1]).decode())  # without the stop token
print(f"{len(tokens)} tokens in {num_steps} steps of the model")
