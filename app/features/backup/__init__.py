"""Backups: encrypted copies of the database, a stream of its changes, and restoring them."""
