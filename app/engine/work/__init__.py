"""The queue of durable work: what workers have to do besides jobs, in one table."""
