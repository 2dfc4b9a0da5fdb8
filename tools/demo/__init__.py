"""The demo: sample data, and a client that calls every endpoint once."""
