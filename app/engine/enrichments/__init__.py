"""Enrichments of lists: whom a list skips, and what the others may cost."""
