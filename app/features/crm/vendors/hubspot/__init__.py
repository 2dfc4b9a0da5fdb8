"""HubSpot: contacts by the CRM API."""
