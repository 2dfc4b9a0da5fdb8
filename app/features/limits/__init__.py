"""Spending limits: what the accounts and API keys of a workspace may spend; the ledger keeps to them."""
