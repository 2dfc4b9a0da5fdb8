"""The endpoints of CRM connections and pushes."""
