"""Providers that are described in a TOML file instead of in Python."""
