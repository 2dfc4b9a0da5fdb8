"""Stored contacts, companies, e-mails and phones, and how incoming records are merged into them."""
