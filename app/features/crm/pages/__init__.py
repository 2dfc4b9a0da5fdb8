"""The pages of CRM connections, of authorizations and of pushes."""
