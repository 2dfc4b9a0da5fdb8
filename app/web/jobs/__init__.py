"""Requests of queued endpoints: submission, waiting and responses."""
