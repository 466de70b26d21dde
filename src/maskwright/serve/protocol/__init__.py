"""The bodies of requests, one file an endpoint: what fields there are, and what becomes of others.

`fields.py` has the policy for unknown fields and reads a body into one of the models; `sampling.py` has the fields
that all endpoints share, `structure.py` those about the form of the output.
"""
