"""From a request to outputs: `prompts` (messages and tools as token ids), `sampling` (parameters), `runs` (outputs)."""
