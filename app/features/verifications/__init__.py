"""Verifications of addresses and numbers that a workspace brings itself: single ones and lists of 10,000."""
