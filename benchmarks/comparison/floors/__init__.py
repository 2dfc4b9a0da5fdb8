"""Floors: what single parts cost on this machine, such as a round trip through Redis."""
