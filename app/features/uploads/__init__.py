"""Uploaded lists: read, priced, and enriched in the background."""
