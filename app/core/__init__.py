"""Persistence and business rules, one package for each subject."""
