"""The version of the API that this service speaks (contract 2.2)."""

API_VERSION = "1"
