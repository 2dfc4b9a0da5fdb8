"""The commands of `dev.py`."""
