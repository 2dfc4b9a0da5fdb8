"""Folding of texts, and the word lists of this package."""
