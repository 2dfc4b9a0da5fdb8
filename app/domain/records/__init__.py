"""Merging, matching and provenance of stored contacts and companies."""
