"""The audit log: who did what, append-only and chained by hashes."""
