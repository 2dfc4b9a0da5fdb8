"""Measures how the service's times grow with the number of stored rows, on PostgreSQL."""
