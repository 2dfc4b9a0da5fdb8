"""State shared by all workers for each provider: throttles, statistics and opt-outs."""
