"""Feedback on values, refunds, and re-verification of e-mails."""
