"""What accounts change about their API keys and about spending limits."""
