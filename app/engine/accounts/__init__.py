"""Accounts, their workspaces, sessions, API keys and sign-in limits."""
