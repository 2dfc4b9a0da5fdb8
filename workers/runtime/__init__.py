"""The worker process: queue consumption, supervision and shutdown."""
