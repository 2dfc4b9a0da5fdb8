"""Searches for the people of a company: those who are stored at once, others through the providers."""
