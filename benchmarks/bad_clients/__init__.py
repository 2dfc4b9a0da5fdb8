"""What clients that stall, guess or stop in the middle of a request cost the service."""
