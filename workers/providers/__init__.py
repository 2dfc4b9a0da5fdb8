"""Data providers: their common interface, one adapter per vendor, and the registry."""
