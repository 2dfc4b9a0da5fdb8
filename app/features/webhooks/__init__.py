"""Webhooks: events and the ends of jobs are delivered to URLs of the workspace; attempts are logged."""
