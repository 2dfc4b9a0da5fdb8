"""Infrastructure: database, Redis, queue, clocks, logging, metrics and passwords."""
