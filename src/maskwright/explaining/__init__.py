"""What a grammar says about texts and about itself, in words.

`explainer.py` tells why a text or a token is not allowed, by `origins.py`, which finds the keyword or the rule in the
source of the grammar; `grammar_report.py` has `lint`. Tested by tests/report.
"""
