"""Pushes of owned contacts to a workspace's CRM: connections, what was pushed, and the outbox."""
