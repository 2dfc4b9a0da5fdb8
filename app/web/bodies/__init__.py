"""Bodies of requests and downloads."""
