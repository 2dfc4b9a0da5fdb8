"""The language of a request, and texts, dates and numbers in it."""
