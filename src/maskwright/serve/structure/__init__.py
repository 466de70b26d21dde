"""What a request asks of the output's form, compiled: `structures`, with `answers` for outputs that hold more."""
