"""The scenarios of `dev.py chaos`, one module for each kind of failure."""
