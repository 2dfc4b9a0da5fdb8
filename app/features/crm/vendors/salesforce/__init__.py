"""Salesforce: contacts, leads and accounts by the REST API."""
