"""Reads of stored data for a workspace: lookups, leads, company hashes, and the disclosure of values."""
