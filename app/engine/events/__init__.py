"""Events of a workspace, the endpoints that receive them, and the table of webhooks to deliver."""
