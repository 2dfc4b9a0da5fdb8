"""Pipedrive: persons and organizations by version 2 of the API."""
