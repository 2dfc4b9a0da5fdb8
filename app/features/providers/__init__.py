"""Providers: what they answered and cost, whether their credentials work, and whom they know at a company."""
