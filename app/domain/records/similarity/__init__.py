"""Similarity of the names of people and companies."""
