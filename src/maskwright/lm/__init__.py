"""The embedded language model, for trying things out without a download.

`words.py` and `corpus.py` write the training text, `bpe.py` learns the vocabulary, `ngram.py` the probabilities, and
`model.py` puts them together. Tested by tests/lm/.
"""

from __future__ import annotations

from .model import EmbeddedModel as EmbeddedModel
from .model import load_embedded_model as load_embedded_model

__all__ = ["EmbeddedModel", "load_embedded_model"]
