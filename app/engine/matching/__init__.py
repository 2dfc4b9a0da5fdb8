"""Matches requested subjects to stored contacts."""
