"""The HTTP API: one module per endpoint."""
