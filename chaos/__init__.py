"""Fault injection: run the real service under load, break its parts, and check that its guarantees hold."""
