"""Verifies mailboxes at simulated mail systems, and compares the verdicts with the truth."""
