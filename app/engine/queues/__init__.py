"""State of the queues and their workers, for probes and metrics."""
