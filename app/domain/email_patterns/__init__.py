"""E-mail patterns of companies, and the addresses they generate for a name."""
