"""Uploads whose addresses and numbers are verified: their price, and the verdicts beside their rows."""
