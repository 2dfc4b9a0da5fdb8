"""Usage: what a workspace spent, by day, account, API key, kind of request or provider."""
