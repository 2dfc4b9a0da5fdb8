"""The endpoints of the company filter."""
