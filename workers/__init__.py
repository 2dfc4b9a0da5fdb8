"""The worker processes: they run jobs from the queues, and are the only part that calls providers."""
