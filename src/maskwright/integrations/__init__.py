"""Adapters for inference engines, one module each: they translate names and hold no logic.

Nothing is imported here: each module needs its engine installed.
"""
