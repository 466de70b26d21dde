"""A tiny tokenizer and tiny models of transformers with random weights, built on the spot: nothing is downloaded."""

from __future__ import annotations

from typing import Any

PADDED_VOCAB_SIZE = 320


def make_tokenizer() -> Any:
    """Byte-level BPE: 256 bytes, a few merges, an end token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [('"', "a"), ("Ġ", '"'), ('"', ":"), ("1", "2"), ("a", "b"), ("ab", "c"), ('"', ","), (",", 'Ġ"')]
    vocabulary = [*alphabet, *(left + right for left, right in merges)]
    inner = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(vocabulary)}, merges=merges))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<eos>", bos_token="<bos>", pad_token="<pad>")
    tokenizer.padding_side = "left"
    return tokenizer


def make_model(kind: str, tokenizer: Any) -> Any:
    """A model with random weights, `"gpt2"` or `"llama"`, whose output layer is wider than the tokenizer."""
    import torch
    import transformers

    torch.set_num_threads(1)  # these models are so small that threads only wait for each other
    ids = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    ids["pad_token_id"] = tokenizer.pad_token_id
    torch.manual_seed(0)
    if kind == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=PADDED_VOCAB_SIZE, n_positions=512, n_embd=16, n_layer=1, n_head=2, **ids
        )
        return transformers.GPT2LMHeadModel(config).eval()
    llama = transformers.LlamaConfig(
        vocab_size=PADDED_VOCAB_SIZE,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=512,
        **ids,
    )
    return transformers.LlamaForCausalLM(llama).eval()
