"""Do-not-call registers that operators load, and what they say about numbers."""
