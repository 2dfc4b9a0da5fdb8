"""Jobs from submission to settlement, their provider calls, and the webhooks sent at the end."""
