"""Providers configured in a TOML file instead of Python."""
