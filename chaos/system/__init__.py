"""The service under test: its processes and servers, and the proxies and fake vendor around them."""
