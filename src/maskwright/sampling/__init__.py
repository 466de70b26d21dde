"""Faithful sampling: outputs from the model's own distribution, conditioned on the structure.

A mask takes away what is not allowed next and scales the rest up, at every token alone. The outputs are valid, but not
distributed as the model's valid outputs are: a beginning that the model likes is chosen as often as before, however
unlikely it has made the only ways to go on.

    sampler = StructureSampler(compiled_grammar, next_logits, prompt_ids, max_tokens=64)
    sampler.sample(10)          from the model's distribution over the valid outputs, exactly
    sampler.masked(10)          what masks alone give, with the weights that correct it
    sampler.resampled(10, 100)  of 100 such outputs, 10 drawn by their weights: nearly faithful, at a fixed cost
    sampler.best_of(10)         the likeliest of 10 such outputs

`sampler` holds the walks, `trie` what they learnt, `choices` what the model says of one beginning, and `cached_model`
keeps a model's keys and values from one call to the next.
Tested by tests/sampling/test_sampler.py; docs/sampling.md is for users.
"""

from __future__ import annotations

from maskwright.sampling.cached_model import CachedModel as CachedModel
from maskwright.sampling.sampler import Sample as Sample
from maskwright.sampling.sampler import SamplingStats as SamplingStats
from maskwright.sampling.sampler import StructureSampler as StructureSampler

__all__ = ["CachedModel", "Sample", "SamplingStats", "StructureSampler"]
