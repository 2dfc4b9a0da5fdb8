"""Normal forms of profile URLs."""
