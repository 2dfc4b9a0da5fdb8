"""Erasure of people, and redaction of what jobs have stored about them."""
