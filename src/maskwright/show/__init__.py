"""Pages to look at: a grammar as railroad diagrams, and an output held to it, token by token.

`trace.py` runs a matcher over tokens and writes down what it says; `diagrams.py` draws rules; `page.py` makes one page
of both for `maskwright show`, `notebook.py` small fragments for notebooks; `markup.py` escapes. No page has a script
or loads anything. Tested by tests/show/.
"""
