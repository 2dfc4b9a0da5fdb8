"""Schedules: a list of a CRM is enriched regularly within a budget, and its records are filled."""
