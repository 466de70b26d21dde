"""Real engines with real models."""
