"""What an output holds, as replies have it: `parts` (text, reasoning, calls), `items`, `pieces`, `logprobs`."""
