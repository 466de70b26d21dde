"""One module per endpoint: a body is read, a structure compiled, outputs generated, and a reply written."""
