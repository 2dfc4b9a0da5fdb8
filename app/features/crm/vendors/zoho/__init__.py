"""Zoho CRM: contacts, leads and accounts by version 8 of the API."""
