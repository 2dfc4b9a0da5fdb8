"""Benchmarks: each file is a command of its own; `comparison` is that of `dev.py bench`."""
