"""Verification of mailboxes over DNS and SMTP."""
